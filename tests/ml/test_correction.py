"""What a fine-tune adds to the scores: by label name, whatever the order, and nothing to other labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.ml.sce.correction import Correction
from sce_desktop.ml.sce.model import SCEModel
from tests.ml.tiny import tiny_sce_model

TEXTS = ["the parcel was late", "i want a refund", "the weather is wet"]
LABELS = [Label("late"), Label("refund"), Label("weather"), Label("music")]


@pytest.fixture
def corrected() -> SCEModel:
    base = tiny_sce_model()
    config = replace(base.config, corrected=("weather", "late"))
    model = SCEModel(config, base.embedder, base.head, base.tokenizer)
    assert model.correction is not None
    with torch.no_grad():
        model.correction.weight.copy_(
            torch.randn(2, base.config.sce.text_width, generator=torch.Generator().manual_seed(0))
        )
    return model


def test_it_adds_by_name_and_nothing_to_other_labels() -> None:
    correction = Correction(["b", "a"], 3)
    with torch.no_grad():
        correction.weight.copy_(torch.tensor([[1.0, 0, 0], [0, 1.0, 0]]))
    q = torch.tensor([[2.0, 3.0, 5.0]])
    assert correction(q, [Label("a"), Label("c"), Label("b")]).tolist() == [[3.0, 0.0, 2.0]]
    assert correction(q, [Label("c")]).tolist() == [[0.0]]


def test_the_order_of_labels_permutes_the_columns(corrected: SCEModel) -> None:
    whole = corrected.probabilities(TEXTS, LABELS).probabilities
    turned = corrected.probabilities(TEXTS, LABELS[::-1]).probabilities
    np.testing.assert_allclose(turned[:, ::-1], whole, atol=1e-5)


def test_labels_without_one_keep_their_odds(corrected: SCEModel) -> None:
    before = np.log(tiny_sce_model().probabilities(TEXTS, LABELS).probabilities)
    after = np.log(corrected.probabilities(TEXTS, LABELS).probabilities)
    np.testing.assert_allclose(after[:, 1] - after[:, 3], before[:, 1] - before[:, 3], atol=1e-4)
    assert np.abs((after[:, 0] - after[:, 3]) - (before[:, 0] - before[:, 3])).max() > 0.1


def test_independent_probabilities_are_corrected_too(corrected: SCEModel) -> None:
    before = tiny_sce_model().probabilities(TEXTS, LABELS, multi_label=True).probabilities
    after = corrected.probabilities(TEXTS, LABELS, multi_label=True).probabilities
    np.testing.assert_array_equal(after[:, [1, 3]], before[:, [1, 3]])
    assert np.abs(after[:, [0, 2]] - before[:, [0, 2]]).max() > 0.01


def test_a_folder_keeps_it(corrected: SCEModel, tmp_path: Path) -> None:
    corrected.save_pretrained(tmp_path / "mine")
    again = SCEModel.from_pretrained(tmp_path / "mine")
    assert again.config.corrected == ("weather", "late")
    assert again.correction is not None
    assert corrected.correction is not None
    assert torch.equal(again.correction.weight, corrected.correction.weight)
    assert again.fingerprint != tiny_sce_model().fingerprint
