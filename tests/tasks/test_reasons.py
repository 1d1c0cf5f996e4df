"""Words for a label and labelled rows like a row, on a tiny model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import ACCEPTED, Decision, Label, Origin
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.labelled_rows import LabelledRows, Neighbour
from sce_desktop.tasks.insight.reasons import MOST_AGAINST, MOST_FOR, explain_row
from sce_desktop.tasks.scoring.vectors import KnownVectors
from tests.ml.tiny import DictCache, tiny_sce_model

TEXTS = [
    "the parcel was late",
    "late late delivery",
    "i want a refund",
    "refund my money please",
    "rain and wet weather",
    "",
    "the delivery was late again",
]


@pytest.fixture(scope="module")
def model() -> SCEModel:
    return tiny_sce_model()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "a.sce") as project:
        rows = [(text,) for text in TEXTS]
        project.add_rows(("text",), [rows], text_columns=[0], source={})
        project.set_labels([Label("late"), Label("refund"), Label("weather")])
        yield project


@pytest.fixture
def known(model: SCEModel) -> KnownVectors:
    cache = DictCache()
    model.embed([text for text in TEXTS if text], cache=cache)
    return KnownVectors(model.text_embedder.key, cache)


def ids(project: Project) -> list[int]:
    label_set = project.label_set()
    assert label_set is not None
    return [label.id or 0 for label in label_set.labels]


def labels(project: Project) -> tuple[Label, ...]:
    label_set = project.label_set()
    assert label_set is not None
    return label_set.labels


def nearest(
    rows: LabelledRows, project: Project, known: KnownVectors, model: SCEModel, row_id: int
) -> list[Neighbour]:
    vector = model.embed(project.texts([row_id]))[0]
    return rows.nearest(project, known, row_id, vector, progress=SilentProgress())


def test_words_come_strongest_first_with_all_their_places(model: SCEModel, project: Project) -> None:
    late, refund, _weather = ids(project)
    text = "Late parcel, LATE box, and a refund now"
    found = explain_row(model, text, labels(project), late)
    assert found.label_id == late
    first = found.speak_for[0]
    assert (first.word, first.strong) == ("Late", True)
    assert [text[start:end] for start, end in first.spans] == ["Late", "LATE"]
    assert [reason.lost for reason in found.speak_for] == sorted(
        (reason.lost for reason in found.speak_for), reverse=True
    )
    assert "refund" in [reason.word for reason in found.against]
    assert all(reason.lost < 0 for reason in found.against)
    other = explain_row(model, text, labels(project), refund)
    assert other.speak_for[0].word == "refund"


def test_a_long_text_names_few_words(model: SCEModel, project: Project) -> None:
    text = "late delivery parcel driver courier box refund money rain wet weather the a of lost damaged"
    for label_id in ids(project):
        found = explain_row(model, text, labels(project), label_id)
        assert 1 <= len(found.speak_for) <= MOST_FOR
        assert len(found.against) <= MOST_AGAINST


def test_a_text_without_words_names_none(model: SCEModel, project: Project) -> None:
    found = explain_row(model, "?!", labels(project), ids(project)[0])
    assert (found.speak_for, found.against) == ((), ())


def test_a_language_model_is_refused(project: Project) -> None:
    with pytest.raises(UserError, match="Not available for LLMs"):
        explain_row(object(), "late", labels(project), ids(project)[0])
    with pytest.raises(ValueError, match="is not in list"):
        explain_row(object(), "late", labels(project), 99)


def test_the_most_similar_labelled_rows(model: SCEModel, project: Project, known: KnownVectors) -> None:
    late, refund, weather = ids(project)
    rows = LabelledRows()
    assert nearest(rows, project, known, model, 1) == []
    project.decide([2, 7], Decision.LABEL, (late,))
    project.decide([4], Decision.LABEL, (refund,))
    project.decide([5], Decision.NONE)
    found = nearest(rows, project, known, model, 1)
    assert {row.row_id for row in found[:2]} == {2, 7}
    assert [row.row_id for row in found[2:]] == [4]
    assert [row.similarity for row in found] == sorted((row.similarity for row in found), reverse=True)
    assert found[2].label_ids == (refund,)
    assert found[2].text == "refund my money please"
    assert found[2].position == 3
    # the row itself is not among them, and what has changed since is followed
    project.decide([1], Decision.LABEL, (weather,))
    assert [row.row_id for row in nearest(rows, project, known, model, 2)][-1] == 4
    assert 1 in [row.row_id for row in nearest(rows, project, known, model, 2)]
    project.clear_decision([7])
    assert 7 not in [row.row_id for row in nearest(rows, project, known, model, 2)]


def test_accepted_predictions_are_nobodys_labels(
    model: SCEModel, project: Project, known: KnownVectors
) -> None:
    late, _refund, _weather = ids(project)
    project.decide([2], Decision.LABEL, (late,), origin=Origin.BULK, queue=ACCEPTED)
    assert nearest(LabelledRows(), project, known, model, 1) == []
    project.decide([7], Decision.LABEL, (late,), origin=Origin.BULK, queue="duplicates")
    assert [row.row_id for row in nearest(LabelledRows(), project, known, model, 1)] == [7]


def test_rows_without_a_vector_come_once_they_have_one(model: SCEModel, project: Project) -> None:
    late = ids(project)[0]
    project.decide([2, 7], Decision.LABEL, (late,))
    cache = DictCache()
    known = KnownVectors(model.text_embedder.key, cache)
    rows = LabelledRows()
    assert nearest(rows, project, known, model, 1) == []
    model.embed([TEXTS[1]], cache=cache)
    assert [row.row_id for row in nearest(rows, project, known, model, 1)] == [2]
    model.embed([TEXTS[6]], cache=cache)
    assert {row.row_id for row in nearest(rows, project, known, model, 1)} == {2, 7}
    # another embedder has vectors of its own
    other = KnownVectors("another", DictCache())
    assert nearest(rows, project, other, model, 1) == []


def test_vectors_are_read_once(model: SCEModel, project: Project, known: KnownVectors) -> None:
    asked: list[int] = []

    class Counting(DictCache):
        def get(self, embedder: str, texts: list[str]) -> object:  # type: ignore[override]
            asked.append(len(texts))
            return known.cache.get(embedder, texts)

    counting = KnownVectors(known.embedder, Counting())
    project.decide([2, 7, 4], Decision.LABEL, (ids(project)[0],))
    rows = LabelledRows()
    for _ in range(3):
        assert len(nearest(rows, project, counting, model, 1)) == 3
    assert asked == [3]


def test_looking_for_rows_can_be_cancelled(model: SCEModel, project: Project, known: KnownVectors) -> None:
    class Stopped(SilentProgress):
        def check(self) -> None:
            raise Cancelled

    project.decide([2], Decision.LABEL, (ids(project)[0],))
    vector = np.zeros(model.text_embedder.dim, np.float32)
    with pytest.raises(Cancelled):
        LabelledRows().nearest(project, known, 1, vector, progress=Stopped())
