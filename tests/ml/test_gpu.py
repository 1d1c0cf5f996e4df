"""On a GPU the numbers are those of the CPU, and running out of memory is survived."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.ml.hub import catalog
from sce_desktop.ml.hub.session import choose_device, devices
from sce_desktop.ml.similarity import SimilarityModel
from tests.ml.tiny import tiny_sce_model

pytestmark = pytest.mark.gpu
TEXTS = [f"the parcel number {i} was late " * (1 + i % 7) for i in range(300)]
LABELS = [Label(name) for name in ("late", "refund", "weather", "sport")]


def test_auto_takes_it() -> None:
    assert choose_device().type in ("cuda", "mps")
    assert [device.name for device in devices() if device.usable][1:]


@pytest.mark.parametrize("attention", ["joint", "shared"])
@pytest.mark.parametrize("architecture", ["paper", "plus"])
def test_an_sce_gives_the_cpus_probabilities(architecture: str, attention: str) -> None:
    model = tiny_sce_model(architecture=architecture, attention=attention)  # type: ignore[arg-type]
    right = model.probabilities(TEXTS, LABELS).probabilities
    model.to(choose_device())
    np.testing.assert_allclose(model.probabilities(TEXTS, LABELS).probabilities, right, atol=1e-4)


def test_vectors_are_the_cpus_so_that_the_cache_serves_both() -> None:
    cpu = SimilarityModel.from_pretrained(catalog.MINILM)
    gpu = SimilarityModel.from_pretrained(catalog.MINILM, device=choose_device())
    assert cpu.embedder.key == gpu.embedder.key
    np.testing.assert_allclose(gpu.embedder.encode(TEXTS[:50]), cpu.embedder.encode(TEXTS[:50]), atol=1e-5)


def test_a_full_gpu_gets_smaller_batches() -> None:
    if not torch.cuda.is_available():
        pytest.skip("only CUDA lets a program be given less memory")
    device = choose_device("cuda")
    embedder = SimilarityModel.from_pretrained(catalog.MINILM, device=device).embedder
    right = embedder.encode(TEXTS)
    total = torch.cuda.get_device_properties(device).total_memory
    torch.cuda.empty_cache()
    try:
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_allocated() + 50e6) / total)
        np.testing.assert_allclose(embedder.encode(TEXTS), right, atol=1e-5)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
