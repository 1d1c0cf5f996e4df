"""Rows that the user labels twice: the first answer stays, and each second one can be undone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sce_desktop.core.annotations import Annotation, Decision, Origin
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels


@pytest.fixture
def labelled(project: Project) -> Project:
    """Labels 1 (Late), 2 (Lost), 3 (Kind); rows 1 to 6, of which 1 to 4 are decided by hand."""
    fill(project, [f"text {number}" for number in range(1, 7)])
    use_labels(project, "Late", "Lost", "Kind")
    for row_id, label_id in ((1, 1), (2, 2), (3, 1)):
        project.decide([row_id], Decision.LABEL, [label_id])
    project.decide([4], Decision.NONE)
    return project


def pairs(project: Project) -> list[tuple[int, set[int | str], set[int | str]]]:
    return [(one.row_id, set(one.first), set(one.second)) for one in project.repeats()]


def test_a_second_answer_changes_no_annotation_and_is_no_annotator(labelled: Project) -> None:
    before = labelled.annotations(range(1, 7))
    labelled.add_repeat(1, [2])
    labelled.add_repeat(4)
    assert labelled.annotations(range(1, 7)) == before
    assert labelled.coders() == ()
    assert pairs(labelled) == [(1, {1}, {2}), (4, set(), set())]
    assert labelled.answers_of_others(1) == [("You (repeat)", frozenset({2}))]


def test_each_can_be_undone_and_done_again_also_after_a_restart(labelled: Project) -> None:
    labelled.add_repeat(1, [2])
    labelled.add_repeat(2, [2])
    assert labelled.undo_text() == "Label row 2 again"
    labelled.undo()
    assert pairs(labelled) == [(1, {1}, {2})]
    path = labelled.path
    labelled.close()
    with Project.open(path) as project:
        project.redo()
        assert pairs(project) == [(1, {1}, {2}), (2, {2}, {2})]
        project.undo()
        project.undo()
        assert project.undo_text() == "None of these"
        assert project.verify() == []


def test_the_first_answer_is_that_of_then(labelled: Project) -> None:
    labelled.add_repeat(1, [2])
    labelled.decide([1], Decision.LABEL, [2])
    assert pairs(labelled) == [(1, {1}, {2})]


def test_answers_follow_renames_and_merges(labelled: Project) -> None:
    labelled.add_repeat(1, [2])
    label_set = labelled.label_set()
    assert label_set is not None
    late, lost, kind = label_set.labels
    labelled.set_labels([replace(late, name="Delayed"), lost, kind])
    assert pairs(labelled) == [(1, {1}, {2})]
    labelled.merge_labels([2], 1)
    assert pairs(labelled) == [(1, {1}, {1})]


def test_only_rows_labelled_by_hand_come_again_once_and_not_at_once(labelled: Project) -> None:
    labelled.annotate([Annotation(5, Decision.LABEL, (1,), Origin.BULK, "2026-01-01T00:00:00.000+00:00")])
    labelled.decide([6], Decision.SKIPPED)
    assert labelled.repeatable_ids(0).tolist() == [1, 2, 3, 4]
    assert labelled.repeatable_ids(2).tolist() == [1, 2]
    labelled.add_repeat(1, [1])
    assert labelled.repeatable_ids(2).tolist() == [2]
    labelled.undo()
    assert labelled.repeatable_ids(2).tolist() == [1, 2]


@pytest.mark.parametrize(("row_id", "label_ids"), [(5, [1]), (99, [1]), (1, [9])])
def test_what_cannot_be_repeated_is_refused(labelled: Project, row_id: int, label_ids: list[int]) -> None:
    with pytest.raises(ValueError, match="labelled again"):
        labelled.add_repeat(row_id, label_ids)
    assert labelled.repeats() == []


def test_a_file_that_is_called_like_a_repeat_breaks_nothing(labelled: Project) -> None:
    labelled.add_coder("Ann", "repeat: of ann.csv", {1: "Late"})
    assert (labelled.repeats(), [coder.name for coder in labelled.coders()]) == ([], ["Ann"])


def test_moments_say_whether_rows_got_an_answer(labelled: Project) -> None:
    labelled.annotate([Annotation(5, Decision.LABEL, (1,), Origin.BULK, "2026-01-01T00:00:00.000+00:00")])
    labelled.decide([6], Decision.SKIPPED)
    found = labelled.label_moments()
    assert sorted(answered for _at, answered in found) == [False, True, True, True, True]
    assert labelled.label_moments("9999") == []


def test_a_copy_and_a_repaired_project_keep_them(labelled: Project) -> None:
    labelled.add_repeat(1, [2])
    copy = labelled.path.with_name("copy.sce")
    labelled.repair(copy)
    with Project.open(copy) as project:
        assert pairs(project) == [(1, {1}, {2})]
