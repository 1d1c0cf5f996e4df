from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Annotation, Decision, Origin, RowMarks
from sce_desktop.core.query import RowState
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels


@pytest.fixture
def labels(project: Project) -> list[int]:
    fill(project, ["one", "two", "", "four", "five"])
    return use_labels(project, "a", "b", "c")


def test_decision_is_kept_with_all_about_it(project: Project, labels: list[int], path: Path) -> None:
    before = datetime.now(UTC).isoformat(timespec="milliseconds")
    project.decide([1], Decision.LABEL, [labels[1]], queue="least certain")
    project.decide([2, 4], Decision.NONE, origin=Origin.BULK)
    project.decide([3], Decision.SKIPPED)
    project.close()
    with Project.open(path) as opened:
        found = opened.annotations([5, 4, 3, 2, 1])
    after = datetime.now(UTC).isoformat(timespec="milliseconds")
    assert sorted(found) == [1, 2, 3, 4]
    assert before <= found[1].decided_at <= after
    assert found[1] == Annotation(
        1, Decision.LABEL, (labels[1],), Origin.HAND, found[1].decided_at, "least certain"
    )
    assert (found[4].decision, found[4].origin, found[4].label_ids) == (Decision.NONE, Origin.BULK, ())
    assert found[3].decision is Decision.SKIPPED


def test_deciding_again_replaces(project: Project, labels: list[int]) -> None:
    project.decide([1], Decision.LABEL, [labels[0]], queue="random")
    project.decide([1], Decision.LABEL, [labels[2]])
    annotation = project.annotations([1])[1]
    assert (annotation.label_ids, annotation.queue) == ((labels[2],), "")
    project.decide([1], Decision.NONE)
    assert project.annotations([1])[1].label_ids == ()
    assert project.verify() == []


def test_clearing(project: Project, labels: list[int]) -> None:
    project.decide([1, 2], Decision.LABEL, [labels[0]])
    project.clear_decision([2, 3])
    assert list(project.annotations([1, 2, 3])) == [1]
    assert project.annotation_counts() == {labels[0]: 1, labels[1]: 0, labels[2]: 0}
    assert project.verify() == []


def test_annotations_taken_back_keep_time_and_origin(project: Project, labels: list[int]) -> None:
    taken = [
        Annotation(2, Decision.LABEL, (labels[0],), Origin.IMPORTED, "2020-01-02T03:04:05.678+00:00", "x"),
        Annotation(1, Decision.SKIPPED, (), Origin.HAND, "2021-01-02T03:04:05+00:00"),
    ]
    project.annotate(taken)
    assert project.annotations([1, 2]) == {a.row_id: a for a in taken}


def test_last_annotation_of_a_row_counts(project: Project, labels: list[int]) -> None:
    project.annotate(
        Annotation(1, Decision.LABEL, (label,), Origin.IMPORTED, "2020-01-02T03:04:05+00:00")
        for label in labels
    )
    assert project.annotations([1])[1].label_ids == (labels[2],)


@pytest.mark.parametrize("row_id", [0, 6, -1])
def test_unknown_row_is_refused_and_nothing_done(project: Project, labels: list[int], row_id: int) -> None:
    with pytest.raises(ValueError, match="no such row"):
        project.decide([1, row_id], Decision.LABEL, [labels[0]])
    with pytest.raises(ValueError, match="no such row"):
        project.set_marks(row_id, flag=True)
    assert project.annotations(range(1, 6)) == {}


def test_labels_must_fit_the_decision(project: Project, labels: list[int]) -> None:
    for decision, chosen in [
        (Decision.LABEL, []),
        (Decision.NONE, labels[:1]),
        (Decision.SKIPPED, labels[:1]),
        (Decision.LABEL, labels[:2]),  # the set is not multi-label
        (Decision.LABEL, [99]),
    ]:
        with pytest.raises(ValueError, match="label"):
            project.decide([1], decision, chosen)
    assert project.annotations([1]) == {}
    use_labels(project, "a", "b", "c", multi_label=True)
    project.decide([1], Decision.LABEL, labels[:2])
    with pytest.raises(ValueError, match="different"):
        project.decide([1], Decision.LABEL, [labels[0], labels[0]])


def test_bulk_decision_is_one_step(project: Project, labels: list[int]) -> None:
    fill(project, ["more"] * 3_000)
    project.decide(project.row_ids(), Decision.LABEL, [labels[0]], origin=Origin.BULK)
    assert project.annotation_counts()[labels[0]] == 3_005


def test_marks(project: Project, labels: list[int], path: Path) -> None:
    assert project.set_marks(1, flag=True) == RowMarks(1, flag=True)
    assert project.set_marks(1, note='mind "this"\n👀') == RowMarks(1, flag=True, note='mind "this"\n👀')
    project.set_marks(2, unsure=True)
    project.set_marks(4, flag=True)
    assert project.set_marks(4, flag=False) == RowMarks(4)
    project.close()
    with Project.open(path) as opened:
        assert opened.marks(range(1, 6)) == {
            1: RowMarks(1, flag=True, note='mind "this"\n👀'),
            2: RowMarks(2, unsure=True),
        }


def test_marks_and_decisions_are_apart(project: Project, labels: list[int]) -> None:
    project.set_marks(1, unsure=True)
    project.decide([1], Decision.LABEL, [labels[0]])
    project.clear_decision([1])
    assert project.marks([1]) == {1: RowMarks(1, unsure=True)}


def test_state_counts(project: Project, labels: list[int]) -> None:
    project.decide([1, 2], Decision.LABEL, [labels[0]])
    project.decide([3], Decision.NONE)
    project.decide([4], Decision.SKIPPED)
    project.set_marks(5, unsure=True, flag=True)
    assert project.state_counts() == {
        RowState.ANY: 5,
        RowState.LABELLED: 2,
        RowState.NONE: 1,
        RowState.SKIPPED: 1,
        RowState.UNLABELLED: 1,
        RowState.FLAGGED: 1,
        RowState.UNSURE: 1,
        RowState.SEVERAL: 0,
    }


def test_predictions_never_touch_decisions(project: Project, labels: list[int]) -> None:
    project.decide([1], Decision.LABEL, [labels[0]])
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels)
    project.add_scores(run.id, [1, 2], Scores(np.array([[0, 0, 1], [0, 0, 1]], np.float32)))
    assert project.annotations([1, 2])[1].label_ids == (labels[0],)
    assert list(project.annotations([1, 2])) == [1]


def test_answers_come_as_arrays_in_the_order_of_rows_and_labels(project: Project) -> None:
    fill(project, ["one", "two", "three", "four", "five", "six"])
    assert [column.tolist() for column in project.answers()] == [[], []]
    a, b, c = use_labels(project, "a", "b", "c", multi_label=True)
    project.decide([4], Decision.LABEL, [b, a])
    project.decide([2], Decision.LABEL, [c])
    project.decide([1], Decision.NONE)
    project.decide([3], Decision.SKIPPED)
    rows, labels = project.answers()
    assert list(zip(rows.tolist(), labels.tolist(), strict=True)) == [(1, 0), (2, c), (3, -1), (4, a), (4, b)]
    assert [column.tolist() for column in project.answers([4, 5, 3])] == [[3, 4, 4], [-1, a, b]]
    project.set_labels([*project.label_set().labels[1::-1]])  # c goes, b comes before a
    assert [column.tolist() for column in project.answers()] == [[1, 3, 4, 4], [0, -1, b, a]]


def test_counting_equal_texts_stops_in_time(project: Project) -> None:
    fill(project, ["one", "two", "one", "", "one", "", "one"])
    assert [project.count_same_text(row, 2) for row in (1, 2, 4)] == [2, 0, 0]
    assert project.count_same_text(3, 9) == 3 == len(project.same_text_ids(3))
