"""The committed default model keeps what its card and the design promise, whatever its weights are."""

from __future__ import annotations

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.hub import catalog, known_models
from sce_desktop.ml.sce.model import SCEModel

pytestmark = pytest.mark.model
TEXTS = [
    "The parcel came two weeks late and nobody answered the phone.",
    "I was charged twice for the same delivery, please give me my money back!",
    "El conductor fue muy amable.",
    "ok",
]
NAMES = ["Delivery", "Billing", "App", "Praise", "Something else", "Weather", "Complaint about staff"]


@pytest.fixture(scope="module")
def model() -> SCEModel:
    return SCEModel.from_pretrained(catalog.resolve(known_models.SCE_MINI))


def test_it_is_small_and_runs_natively(model: SCEModel) -> None:
    folder = catalog.resolve(known_models.SCE_MINI)
    assert sum(p.numel() for p in model.parameters()) <= 32_000_000
    assert (folder / "model.safetensors").stat().st_size <= 60_000_000
    assert isinstance(model.text_embedder, NativeEmbedder)
    assert (model.name, model.max_tokens, model.config.token_table) == ("sce-mini", 256, "embedder")
    assert catalog.verify(known_models.SCE_MINI).ok


def test_label_order_permutes_the_columns_and_changes_nothing_else(model: SCEModel) -> None:
    labels = [Label(name) for name in NAMES]
    whole = model.probabilities(TEXTS, labels).probabilities
    generator = np.random.default_rng(0)
    for _ in range(20):
        order = generator.permutation(len(labels))
        shuffled = [labels[i] for i in order]
        together = model.probabilities(TEXTS, shuffled).probabilities
        alone = np.concatenate([model.probabilities([text], shuffled).probabilities for text in TEXTS])
        assert np.abs(together - whole[:, order]).max() < 1e-5
        assert np.abs(alone - whole[:, order]).max() < 1e-5


def test_the_label_set_is_context(model: SCEModel) -> None:
    labels = [Label(name) for name in NAMES]
    whole = np.log(model.probabilities(TEXTS, labels).probabilities)
    less = np.log(model.probabilities(TEXTS, labels[:-1]).probabilities)
    odds = (whole[:, 0] - whole[:, 1]) - (less[:, 0] - less[:, 1])
    assert np.abs(odds).max() > 1e-3


def test_it_reads_plain_texts_rightly(model: SCEModel) -> None:
    labels = [Label(name) for name in NAMES[:4]]
    found = model.probabilities(TEXTS[:2], labels).probabilities
    assert found.argmax(1).tolist() == [0, 1]
