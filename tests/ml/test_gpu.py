"""On a GPU the numbers are those of the CPU, nearly so in half precision, and full memory is survived."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.ml.encoder.gpu_encoder import GPUEncoder
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.precision import choose_precision, precisions
from sce_desktop.ml.hub import known_models
from sce_desktop.ml.hub.session import choose_device, devices
from sce_desktop.ml.similarity import SimilarityModel
from tests.ml.tiny import tiny_sce_model, tiny_text_encoder, tiny_tokenizer

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
    cpu = SimilarityModel.from_pretrained(known_models.MINILM)
    gpu = SimilarityModel.from_pretrained(known_models.MINILM, device=choose_device())
    assert cpu.embedder.key == gpu.embedder.key
    np.testing.assert_allclose(gpu.embedder.encode(TEXTS[:50]), cpu.embedder.encode(TEXTS[:50]), atol=1e-5)


def test_a_full_gpu_gets_smaller_batches() -> None:
    if not torch.cuda.is_available():
        pytest.skip("only CUDA lets a program be given less memory")
    device = choose_device("cuda")
    embedder = SimilarityModel.from_pretrained(known_models.MINILM, device=device).embedder
    right = embedder.encode(TEXTS)
    total = torch.cuda.get_device_properties(device).total_memory
    torch.cuda.empty_cache()
    try:
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_allocated() + 50e6) / total)
        np.testing.assert_allclose(embedder.encode(TEXTS), right, atol=1e-5)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


# --- half precision, on NVIDIA cards -----------------------------------------------------------------------


@pytest.fixture(params=["float16", "bfloat16"])
def half(request: pytest.FixtureRequest) -> NativeEmbedder:
    device = choose_device()
    if request.param not in precisions(device):
        pytest.skip(f"this GPU has no {request.param}")
    encoder = tiny_text_encoder().to(device)
    return NativeEmbedder(encoder, tiny_tokenizer(), name="tiny", precision=request.param)


def test_auto_takes_float16_where_there_is_any_half_type() -> None:
    device = choose_device()
    assert choose_precision("auto", device) == precisions(device)[: 2 if device.type == "cuda" else 1][-1]


@pytest.mark.parametrize("packed", [True, False])
def test_half_precision_is_near_float32_and_has_a_key_of_its_own(half: NativeEmbedder, packed: bool) -> None:
    exact = NativeEmbedder(half.encoder, half.tokenizer, name="tiny")
    right = exact.encode(TEXTS)
    if not packed:
        half._gpu = GPUEncoder(half.encoder, getattr(torch, half.precision), None)
    found = half.encode(TEXTS)
    assert found.dtype == np.float32
    cosines = (found * right).sum(1)
    assert cosines.min() > (0.99999 if half.precision == "float16" else 0.999)
    np.testing.assert_array_equal(half.encode(TEXTS), found)  # the same again, bit by bit
    assert half.key == f"{exact.key}:{half.precision}"


def test_windows_tokenised_ahead_come_back_to_their_places(
    half: NativeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = half.encode(TEXTS)
    monkeypatch.setattr("sce_desktop.ml.encoder.embedder.WINDOW", 16)
    np.testing.assert_allclose(half.encode(TEXTS), right, atol=2e-2)


def test_gradients_are_float32s(half: NativeEmbedder) -> None:
    ids = half.token_ids(TEXTS[:4])
    vectors = half.vectors(ids)
    assert vectors.dtype == torch.float32
    (slope,) = torch.autograd.grad(vectors.sum(), [half.encoder.layers[0].qkv.weight])  # type: ignore[union-attr, list-item]
    assert torch.isfinite(slope).all()


def test_a_full_gpu_gets_smaller_batches_in_half_precision(half: NativeEmbedder) -> None:
    texts = TEXTS * 40
    right = half.encode(texts)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(half.device).total_memory
    try:
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_allocated() + 8e6) / total)
        np.testing.assert_allclose(half.encode(texts), right, atol=2e-2)
        assert half._tokens_per_batch is not None  # it did run out
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
