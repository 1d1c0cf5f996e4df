"""A model that knows the table, on vectors whose right answers are known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.runs import Scores
from sce_desktop.core.scoring import softmax
from sce_desktop.ml import transductive
from sce_desktop.ml.finetune.versions import changed_weights, with_changes, with_correction
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.model_config import ModelConfig
from sce_desktop.ml.transductive import TransductiveModel, neighbour_weight, sample
from tests.ml.tiny import tiny_sce_model

LABELS = [Label("a"), Label("b"), Label("c")]


class Directions:
    """A model whose labels are axes: a row's score is how far it goes along each."""

    kind = "similarity"
    name = "directions"
    fingerprint = "directions"
    labels: tuple[Label, ...] = ()
    max_tokens = 8
    sharpness = 20.0
    text_embedder = None  # rows come as vectors here

    def __init__(self, *, says_none: bool = False, directed: bool = True) -> None:
        self.says_none = says_none
        self.directed = directed

    def label_directions(self, labels: object) -> Tensor | None:
        """Axes."""
        return torch.eye(len(labels), 8) if self.directed else None  # type: ignore[arg-type]

    def label_examples(self, labels: object) -> Tensor:
        """None were learned from."""
        return torch.zeros(len(labels))  # type: ignore[arg-type]

    def score(self, vectors: FloatArray, labels: object, **_: object) -> Scores:
        """Softmax of 20 times the cosine."""
        scores = 20 * vectors[:, : len(labels)]  # type: ignore[arg-type]
        none = 1 / (1 + np.exp(scores.max(1))) if self.says_none else None
        return Scores(softmax(scores).astype(np.float32), none)


def clusters(sizes: list[int], *, drift: float, spread: float = 0.25) -> tuple[FloatArray, IdArray]:
    """Rows around directions that lie off their label's axis by ``drift``, and between the labels."""
    random = np.random.default_rng(0)
    middles = np.eye(3, 8) + drift * np.eye(3, 8)[[1, 2, 0]] + np.eye(3, 8, 4)
    y = np.repeat(np.arange(3), sizes)
    rows = middles[y] + spread * random.normal(size=(len(y), 8))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32), y


def accuracy(scores: Scores, y: IdArray) -> float:
    """Share of right answers."""
    return float((scores.probabilities.argmax(1) == y).mean())


@pytest.mark.parametrize("sizes", [[200, 200, 200], [480, 60, 60], [60, 480, 60]])
def test_rows_help_each_other_however_the_labels_are_spread(sizes: list[int]) -> None:
    rows, y = clusters(sizes, drift=0.4, spread=0.45)
    model = Directions()
    alone = accuracy(model.score(rows, LABELS), y)
    together = accuracy(TransductiveModel(model, rows).score(rows, LABELS), y)
    assert alone < 0.9
    assert together > alone + 0.03


def test_the_formula() -> None:
    rows, _ = clusters([30, 20, 10], drift=0.5)
    model = Directions()
    own = model.score(rows, LABELS).probabilities.astype(float)
    names, p = np.eye(3, 8), own
    q = rows.astype(float)
    for _ in range(transductive.ITERATIONS):
        n = p.sum(0)
        means = (p.T @ q) / n[:, None]
        share = (transductive.PROTOTYPE_WEIGHT * n / (n + transductive.PRIOR_ROWS))[:, None]
        mixed = (1 - share) * names + share * means / np.linalg.norm(means, axis=1, keepdims=True)
        d = mixed / np.linalg.norm(mixed, axis=1, keepdims=True) - names
        p = softmax(np.log(own) + 20 * (q @ d.T - (means * d).sum(1)))
    cosines = q @ q.T
    np.fill_diagonal(cosines, -np.inf)
    expected = np.empty_like(p)
    share = min(0.5, 0.5 * 60 * (p.mean(0) ** 2).sum() / 30)
    for i, row in enumerate(cosines):
        near = np.argsort(-row)[: transductive.NEIGHBOURS]
        expected[i] = (1 - share) * p[i] + share * softmax(20 * row[None, near])[0] @ p[near]
    found = TransductiveModel(model, rows).score(rows, LABELS)
    np.testing.assert_allclose(found.probabilities, expected, atol=2e-5)
    np.testing.assert_allclose(found.probabilities.sum(1), 1, atol=1e-5)


def test_neighbours_have_less_to_say_where_rows_are_few() -> None:
    assert neighbour_weight(torch.eye(4).repeat(1000, 1)) == transductive.NEIGHBOUR_WEIGHT
    assert neighbour_weight(torch.eye(200).repeat(3, 1)) == pytest.approx(transductive.NEIGHBOUR_WEIGHT / 10)
    one_has_most = torch.eye(200)[[0] * 480 + list(range(120))]
    assert neighbour_weight(one_has_most) == transductive.NEIGHBOUR_WEIGHT
    rows, _ = clusters([4, 3, 3], drift=0.6)
    model = Directions()
    alone = model.score(rows, LABELS).probabilities
    changed = np.abs(TransductiveModel(model, rows).score(rows, LABELS).probabilities - alone).max()
    many, _ = clusters([400, 300, 300], drift=0.6)
    apart = model.score(many, LABELS).probabilities
    assert changed < np.abs(TransductiveModel(model, many).score(many, LABELS).probabilities - apart).max()


def test_a_label_keeps_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean change of a label's log-score over its own rows is zero: rare labels are not pushed up."""
    monkeypatch.setattr(transductive, "ITERATIONS", 1)
    rows, _ = clusters([500, 30, 30], drift=0.5)
    fit = TransductiveModel(Directions(), rows)._fit(LABELS, None)
    weights = torch.from_numpy(Directions().score(rows, LABELS).probabilities)
    changes = torch.from_numpy(rows) @ fit.moved.T - fit.level
    assert changes.abs().max() > 1
    torch.testing.assert_close((weights * changes).sum(0) / weights.sum(0), torch.zeros(3), atol=1e-4, rtol=0)


def test_order_of_rows_and_labels_does_not_matter() -> None:
    rows, _ = clusters([40, 30, 20], drift=0.6)
    found = TransductiveModel(Directions(), rows).score(rows, LABELS).probabilities
    turned = TransductiveModel(Directions(), rows[::-1].copy()).score(rows, LABELS).probabilities
    np.testing.assert_allclose(turned, found, atol=1e-5)

    class Turned(Directions):
        def label_directions(self, labels: object) -> Tensor | None:
            return torch.eye(3, 8)[[2, 0, 1]]

        def score(self, vectors: FloatArray, labels: object, **options: object) -> Scores:
            return Scores(super().score(vectors, labels).probabilities[:, [2, 0, 1]])

    other = TransductiveModel(Turned(), rows).score(rows, LABELS).probabilities
    np.testing.assert_allclose(other, found[:, [2, 0, 1]], atol=1e-5)


def test_none_is_shared_among_neighbours_too() -> None:
    rows, _ = clusters([40, 30, 20], drift=0.6)
    model = Directions(says_none=True)
    found = TransductiveModel(model, rows).score(rows, LABELS)
    own = model.score(rows, LABELS)
    assert found.none is not None
    assert own.none is not None
    assert found.none.std() < own.none.std()
    assert found.none.min() >= 0
    assert found.none.max() <= 1


def test_copies_tell_nothing_new() -> None:
    one = F.normalize(torch.tensor([[1.0, 0.4, 0, 0, 0.2, 0, 0, 0]]), dim=1).numpy()
    model = Directions(directed=False)
    own = model.score(one, LABELS).probabilities
    np.testing.assert_allclose(TransductiveModel(model, one).score(one, LABELS).probabilities, own, atol=1e-6)
    many = np.repeat(one, 50, axis=0)
    np.testing.assert_allclose(
        TransductiveModel(model, many).score(many, LABELS).probabilities[:1], own, atol=1e-6
    )


def test_the_more_examples_a_label_had_the_less_its_prototype_moves() -> None:
    rows, _ = clusters([40, 40, 40], drift=0.6)

    class Learned(Directions):
        examples = torch.zeros(3)

        def label_examples(self, labels: object) -> Tensor:
            return self.examples

    model = Learned()
    lengths = []
    for examples in (0, 1, 4, 16, torch.inf):
        model.examples = torch.tensor([examples, 0, 0])
        fit = TransductiveModel(model, rows)._fit(LABELS, None)
        lengths.append(float(fit.moved[0].norm()))
        assert fit.moved[1:].abs().max() > 1
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > 2 * lengths[2] > 4 * lengths[3]
    assert lengths[-1] == 0
    assert fit.level[0] == 0


def test_a_fine_tuned_model_says_how_many_examples_a_label_had() -> None:
    base = tiny_sce_model()
    labels = [Label("wet"), Label("blue"), Label("fast")]
    found = base.label_directions(labels)
    assert found is not None
    torch.testing.assert_close(found.norm(dim=1), torch.ones(3))
    assert base.label_examples(labels).tolist() == [0, 0, 0]

    def taught(model: SCEModel, **examples: int) -> SCEModel:
        weight = torch.zeros(len(examples), found.shape[1])
        counts = list(examples.values())
        return with_correction(model, list(examples), weight, examples=counts, labels=labels, temperature=1.0)

    once = taught(base, blue=3)
    assert once.label_examples(labels).tolist() == [0, 3, 0]
    twice = taught(once, fast=2, blue=5)
    assert twice.label_examples(labels).tolist() == [0, 8, 2]
    again = with_changes(base, changed_weights(twice), {"fast": "quick", "blue": "blue"})
    assert again.label_examples([Label("quick"), Label("blue")]).tolist() == [2, 8]
    # made by an older program: nobody counted, and examples hold their label
    once.config = replace(once.config, examples=())
    older = with_changes(base, changed_weights(once))
    assert older.label_examples(labels).tolist() == [0, torch.inf, 0]
    assert taught(older, fast=2).label_examples(labels).tolist() == [0, torch.inf, torch.inf]


def test_a_folder_keeps_how_many_examples_labels_had(tmp_path: Path) -> None:
    base = tiny_sce_model()
    width = base.config.sce.text_width
    tuned = with_correction(base, ["wet"], torch.zeros(1, width), examples=[4], labels=[], temperature=1.0)
    tuned.save_pretrained(tmp_path / "tuned")
    again = SCEModel.from_pretrained(tmp_path / "tuned")
    assert again.label_examples([Label("wet"), Label("dry")]).tolist() == [4, 0]
    config = tuned.config.to_dict() | {"examples": [4, 4]}
    with pytest.raises(ValueError, match="examples of 2 labels"):
        ModelConfig.from_dict(config)


def test_labels_asked_by_themselves_stay_as_they_are() -> None:
    rows, _ = clusters([40, 30, 20], drift=0.6)
    model = Directions()
    table = TransductiveModel(model, rows)
    for labels, several in ((LABELS, True), (LABELS[:1], False)):
        expected = model.score(rows, labels).probabilities
        found = table.score(rows, labels, multi_label=several).probabilities
        np.testing.assert_array_equal(found, expected)


def test_a_new_label_set_is_fitted_anew() -> None:
    rows, _ = clusters([40, 30, 20], drift=0.6)
    table = TransductiveModel(Directions(), rows)
    table.score(rows, LABELS)
    two = table.score(rows, LABELS[:2]).probabilities
    np.testing.assert_allclose(
        two, TransductiveModel(Directions(), rows).score(rows, LABELS[:2]).probabilities
    )


def test_the_sample_is_the_same_in_any_order_and_mostly_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transductive, "MAX_ROWS", 50)
    texts = [f"row {i}" for i in range(400)]
    first = sample(texts)
    assert first == sample(reversed(texts))
    assert len(first) == 50
    more = sample([*texts, *(f"new {i}" for i in range(40))])
    assert len(set(first) & set(more)) >= 40


def test_blank_texts_stand_for_nothing() -> None:
    assert sample(["", "  ", "row", "\n"]) == ["row"]


def test_a_table_without_rows() -> None:
    with pytest.raises(ValueError, match="reference sample is empty"):
        TransductiveModel(Directions(), np.zeros((0, 8), dtype=np.float32))
