"""What a batch holds: right answers that are right, masks that hide others, the same each time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.ml.pretrain.config import DataConfig, MixtureConfig
from sce_desktop.ml.pretrain.mixture import Lists, Mixture, parts_of
from sce_desktop.ml.pretrain.prefetch import drawn
from sce_desktop.ml.pretrain.sets import read_material
from tests.ml.pretrain.conftest import TOPICS, _write


@pytest.fixture
def material(world: Path):
    return read_material(DataConfig(wordings="wordings.json", wordnet="glosses.jsonl"), world)


def _same(one, other) -> bool:
    return all(
        np.array_equal(getattr(one, k), getattr(other, k)) for k in ("texts", "labels", "mask", "right")
    )


def test_a_label_is_worded_as_its_parts_too() -> None:
    assert parts_of("Science and technology (all)")[:4] == [
        "Science and technology (all)",
        "Science and technology",
        "Science",
        "Technology",
    ]
    assert "science" in parts_of("Science and technology")
    assert parts_of("Sports") == ["Sports", "sports"]


def test_the_same_step_gives_the_same_batch_in_any_process(material) -> None:
    make = lambda seed: Mixture(material.train, material.glosses, MixtureConfig(groups=4, rows=8), seed=seed)  # noqa: E731
    assert _same(make(1).batch(5), make(1).batch(5))
    assert not _same(make(1).batch(5), make(1).batch(6))
    assert not _same(make(1).batch(5), make(2).batch(5))
    with drawn(make(1), start=3, workers=2) as ahead:
        assert all(_same(next(ahead), make(1).batch(step)) for step in range(3, 7))


@pytest.mark.parametrize("kind", [{"wordnet": 1.0}, {"wordnet": 0.0}, {"wordnet": 0.0, "mixed": 1.0}])
def test_the_right_label_is_never_masked_and_every_label_is_real(material, kind) -> None:
    mixture = Mixture(material.train, material.glosses, replace(MixtureConfig(groups=6, rows=16), **kind))
    for step in range(5):
        batch = mixture.batch(step)
        p, t = np.indices(batch.right.shape)
        assert batch.mask[p, t, batch.right].all()
        assert (batch.labels[p, batch.right] >= 0).all()
        assert not (batch.mask & (batch.labels == -1)[:, None]).any()


def test_another_right_label_of_a_gloss_is_masked(material) -> None:
    config = MixtureConfig(groups=8, rows=16, wordnet=1.0)
    batch = Mixture(material.train, material.glosses, config).batch(0)
    texts, labels = material.texts.strings, material.labels.strings
    right = {"a broken box": {"box", "thing", "parcel"}, "money that goes back": {"refund", "money", "thing"}}
    seen = 0
    for p, t, k in np.ndindex(batch.mask.shape):
        text, label = texts[batch.texts[p, t]], labels[batch.labels[p, k]]
        if label in right.get(text, ()) and k != batch.right[p, t]:
            assert not batch.mask[p, t, k]
            seen += 1
    assert seen > 50


def test_the_label_belongs_to_the_text(material) -> None:
    config = MixtureConfig(groups=8, rows=16, wordnet=0.0, synonyms=0.0, distractors=1.0)
    batch = Mixture(material.train, material.glosses, config).batch(0)
    for p, t in np.ndindex(batch.right.shape):
        label = material.labels.strings[batch.labels[p, batch.right[p, t]]]
        text = material.texts.strings[batch.texts[p, t]]
        if label == "damaged box":
            assert set(text.split()) <= set(TOPICS[label].split())


def test_test_rows_of_a_train_set_are_held_out(world: Path) -> None:
    _write(world / "train" / "held.jsonl.gz", {"x": "a b c d e f g", "y": "h i j k l m"}, 20, 4, "test")
    with pytest.raises(UserError, match="held"):
        read_material(DataConfig(sets=("held",)), world)


def test_missing_set_is_named(world: Path) -> None:
    with pytest.raises(UserError, match="nothing_here"):
        read_material(DataConfig(sets=("nothing_here",)), world)


def test_lists_draw_only_what_they_hold() -> None:
    lists = Lists.of([[1], [2, 3, 4], [5, 6]])
    rows = np.array([0, 1, 2] * 100)
    found = lists.draw(rows, np.random.default_rng(0).random(300), first=1)
    assert set(found[rows == 0]) == {1}
    assert set(found[rows == 1]) == {3, 4}
    assert set(found[rows == 2]) == {6}
