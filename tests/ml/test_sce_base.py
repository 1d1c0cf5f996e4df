"""The committed larger English model keeps what its card promises; the main wheel does not hold it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.hub import catalog, folders, model_places
from sce_desktop.ml.sce.model import SCEModel

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(model_places.installed("sce-base") is None, reason="sce-base is not here"),
]
EXAMPLES = {
    "The goalkeeper saved two penalties in the final.": "Sport",
    "Parliament passed the new electoral law by a narrow margin.": "Politics",
    "Doctors recommend the flu vaccine before winter.": "Health",
    "Shares fell after the bank reported weak profits.": "Business",
    "My parcel came a week late and the box was crushed.": "Delivery",
}
LABELS = [Label(name) for name in ("Sport", "Politics", "Health", "Business", "Delivery")]


@pytest.fixture(scope="module")
def model() -> SCEModel:
    return SCEModel.from_pretrained(catalog.resolve("sce-base"))


def test_its_files_are_small_and_whole(model: SCEModel) -> None:
    folder = catalog.resolve("sce-base")
    assert all((folder / name).stat().st_size < 50_000_000 for name in folders.weight_files(folder))
    assert folders.folder_size(folder) < 126_000_000
    assert catalog.verify("sce-base").ok
    assert isinstance(model.text_embedder, NativeEmbedder)
    assert (model.name, model.max_tokens, model.config.weight_bits) == ("sce-base", 256, 8)


def test_it_computes_with_floats_that_lie_on_127_steps_a_row(model: SCEModel) -> None:
    weight = model.embedder.state_dict()["layers.11.up.weight"]
    assert weight.dtype == torch.float32
    steps = weight / (weight.abs().amax(1, keepdim=True) / 127)
    assert (steps - steps.round()).abs().max() < 0.1  # float16's digits


@pytest.mark.parametrize("text", EXAMPLES)
def test_it_reads_plain_texts(model: SCEModel, text: str) -> None:
    found = model.probabilities([text], LABELS).probabilities[0]
    assert LABELS[int(found.argmax())].name == EXAMPLES[text]


def test_label_order_permutes_the_columns_and_changes_nothing_else(model: SCEModel) -> None:
    whole = model.probabilities(list(EXAMPLES), LABELS).probabilities
    order = [3, 0, 4, 1, 2]
    other = model.probabilities(list(EXAMPLES), [LABELS[i] for i in order]).probabilities
    assert np.abs(other - whole[:, order]).max() < 1e-5
