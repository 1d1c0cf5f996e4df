"""What the undo log says and keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.core.annotations import Annotation, ChangeKind, Decision, Label, Origin, RowMarks
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.annotations import history
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels
from tests.store.test_crash import START, run_until_death
from tests.store.test_versions import add as add_version


def test_first_decision_is_untouched_after_undo_and_restart(project: Project, path: Path) -> None:
    """Label row 1, go to row 2, Ctrl+Z, close, reopen; bulk is one step; redo works."""
    fill(project, ["one", "two", "three", "four"])
    a, b = use_labels(project, "a", "b")
    project.decide([1], Decision.LABEL, [a])
    assert project.undo_text() == "Label “a”"
    change = project.undo()
    assert change is not None
    assert (change.kind, change.row_ids, change.label_set) == (ChangeKind.DECIDE, (1,), False)
    project.close()
    with Project.open(path) as again:
        assert again.annotations([1, 2]) == {}
        assert again.redo_text() == "Label “a”"
        again.decide([1, 2, 3], Decision.LABEL, [b], origin=Origin.BULK)
        assert again.redo_text() == ""
        assert again.redo() is None
        assert again.undo_text() == "Label “b”, 3 rows"
        change = again.undo()
        assert change is not None
        assert (change.kind, change.rows, again.annotations([1, 2, 3])) == (ChangeKind.BULK, 3, {})
        assert again.redo() == change
        assert len(again.annotations([1, 2, 3])) == 3


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda p: p.set_labels([*p.label_set().labels, Label("c")]), "Add label “c”"),
        (lambda p: p.set_labels(p.label_set().labels[:1]), "Remove label “b”"),
        (lambda p: p.set_labels(p.label_set().labels[::-1]), "Reorder labels"),
        (lambda p: p.set_labels([replace(p.label_set().labels[0], name="x")], name=None), "Change labels"),
        (lambda p: p.merge_labels([2], 1), "Merge “b” into “a”"),
        (lambda p: p.delete_label(2), "Delete label “b”"),
        (lambda p: p.split_label(2, [Label("c"), Label("d")]), "Split label “b”"),
        (lambda p: p.mark_rows([1, 2], flag=True), "Flag, 2 rows"),
        (lambda p: p.set_marks(1, note="x"), "Note"),
        (lambda p: p.clear_decision([1, 2, 3]), "Clear 1 row"),
        (lambda p: p.create_audit([2, 1], 5), "Draw 2 rows at random"),
    ],
)
def test_menus_say_what_would_be_undone(project: Project, edit: Callable[[Project], Any], text: str) -> None:
    fill(project, ["one", "two", "three"])
    use_labels(project, "a", "b")
    project.decide([1], Decision.NONE)
    edit(project)
    assert project.undo_text() == text


def test_parts_of_an_import_are_one_action_unless_something_came_between(project: Project) -> None:
    fill(project, ["one", "two", "three", "four"])
    (a,) = use_labels(project, "a")

    def imported(row_id: int) -> Annotation:
        return Annotation(row_id, Decision.LABEL, (a,), Origin.IMPORTED, "2026-01-01T00:00:00.000+00:00")

    action = project.annotate([imported(1)], [RowMarks(1, flag=True)])
    assert project.annotate([imported(2)], action=action) == action
    project.decide([4], Decision.NONE)
    other = project.annotate([imported(3)], action=action)
    assert other != action
    assert project.annotate([imported(4)], action=other) == other
    assert sorted(project.annotations([1, 2, 3, 4])) == [1, 2, 3, 4]
    project.undo()
    assert project.annotations([4])[4].decision is Decision.NONE
    project.undo()
    project.undo()
    assert (project.annotations([1, 2, 3, 4]), project.marks([1])) == ({}, {})
    assert project.undo_text() == "Add label “a”"


def test_history_is_bounded(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(project, [f"text {number}" for number in range(40)])
    monkeypatch.setattr(history, "KEPT_ACTIONS", 5)
    monkeypatch.setattr(history, "KEPT_ROWS", 30)
    for row_id in range(1, 11):
        project.decide([row_id], Decision.NONE)
    undone = [change.row_ids for change in iter(project.undo, None)]
    assert undone == [(10,), (9,), (8,), (7,), (6,)]
    for _ in undone:
        project.redo()
    project.decide(range(1, 41), Decision.SKIPPED)  # larger than all that is kept: it stays as the newest
    assert next(change.rows for change in iter(project.undo, None)) == 40
    project.redo()
    project.decide([1], Decision.NONE)  # too much together with the one before
    with project._database.read() as connection:
        (held,) = connection.exec_driver_sql("SELECT count(*) FROM row_changes").one()
    assert held <= 31


def test_nothing_is_left_of_what_was_undone_and_dropped(project: Project) -> None:
    fill(project, ["one", "two"])
    project.create_audit([1], 1)
    project.add_coder("gold", "column", {1: "a"})
    project.decide([1, 2], Decision.NONE)
    while project.undo():
        pass
    assert (project.audits(), project.coders()) == ((), ())
    project.decide([2], Decision.SKIPPED)
    with project._database.read() as connection:
        for table, left in (("audits", 0), ("audit_rows", 0), ("coders", 0), ("other_annotations", 0),
                            ("actions", 1), ("row_changes", 1)):  # fmt: skip
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one() == left, table


def test_undo_of_a_version_that_is_deleted_ends_at_the_base_model(project: Project) -> None:
    first, second = add_version(project), add_version(project)
    project.activate_version(first.id)
    project.activate_version(second.id)
    project.delete_version(first.id)
    assert project.undo() is not None
    assert project.active_version() is None
    assert project.redo() is not None
    assert project.active_version() == replace(second, active=True)


def test_nothing_promises_a_version_that_is_deleted(project: Project) -> None:
    project.set_labels(clean_labels(["a"]))
    first, second, third = (add_version(project) for _ in range(3))
    for version in (first, second, third):
        project.activate_version(version.id)
    project.undo()
    project.delete_version(second.id)  # which is in use, with one step to undo and one to do again
    assert project.active_version() is None
    assert project.redo_text() == f"Use model “{third.name}”"
    assert project.undo_text() == "Use the base model"  # in place of the second
    project.undo()
    assert project.active_version() == replace(first, active=True)
    assert project.redo_text() == "Use the base model"
    project.redo()
    assert project.active_version() is None
    project.redo()
    assert project.active_version() == replace(third, active=True)
    project.undo()
    project.undo()
    project.delete_version(first.id)
    assert project.undo_text() == "Add label “a”"  # that a step led from the base model to itself is gone
    assert project.redo_text() == f"Use model “{third.name}”"


def test_taking_back_the_end_of_a_deleted_version_is_not_offered(project: Project) -> None:
    """The window leaves a version in use before it deletes it; nothing would come of taking that back."""
    project.set_labels(clean_labels(["a"]))
    version = add_version(project)
    project.activate_version(version.id)
    project.activate_version(None)
    project.delete_version(version.id)
    assert project.undo_text() == "Add label “a”"
    assert project.redo_text() == ""


def test_change_names_a_bounded_number_of_rows(project: Project) -> None:
    fill(project, [f"text {number}" for number in range(1_500)])
    project.decide(range(1, 1_501), Decision.NONE, origin=Origin.BULK)
    change = project.undo()
    assert change is not None
    assert (change.rows, len(change.row_ids), change.row_ids[:2]) == (1_500, 1_000, (1, 2))


@pytest.mark.parametrize("turned", [1, 7, 20, 21, 1_000])
def test_an_action_is_turned_some_rows_at_a_time(
    project: Project, monkeypatch: pytest.MonkeyPatch, turned: int
) -> None:
    monkeypatch.setattr(history, "_TURNED", turned)
    fill(project, [f"text {number}" for number in range(30)])
    a, b = use_labels(project, "a", "b")
    project.decide([3, 9, 27], Decision.LABEL, [b])
    project.mark_rows([9, 12], flag=True, note="seen")

    def said() -> Any:
        return project.annotations(range(1, 31)), project.marks(range(1, 31))

    before = said()
    ids = list(range(2, 30, 2))  # 14 rows, with others between them
    project.annotate(
        [Annotation(row_id, Decision.LABEL, (a,), Origin.BULK, "2026-01-01T00:00:00Z") for row_id in ids],
        [RowMarks(row_id, True, False, "") for row_id in ids[:7]],
    )
    after = said()
    told = _Told()
    for _time in range(2):
        change = project.undo(told)
        assert change is not None
        assert (change.rows, change.row_ids) == (14, tuple(ids))
        assert said() == before
        assert project.redo(told) is not None
        assert said() == after
    assert told.reports[-1] == (14, 14)
    assert len(told.reports) == 4 * -(-14 // turned)


class _Told(SilentProgress):
    """Notes what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.reports: list[tuple[int, int | None]] = []

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        self.reports.append((done, total))


UNDO_FOR_EVER = (
    START
    + """
for turn in range(10_000):
    project.undo()
    tell("undone", turn)
    project.redo()
"""
)


@pytest.mark.parametrize("turns", [0, 3])
def test_killed_in_an_undo_leaves_the_project_whole(path: Path, turns: int) -> None:
    rows = range(1, 4_001)
    with Project.create(path) as project:
        fill(project, [f"text {number}" for number in range(len(rows))])
        a, b = use_labels(project, "a", "b")
        project.decide(rows, Decision.LABEL, [a])
        project.merge_labels([a], b)
    run_until_death(UNDO_FOR_EVER, path, kill_at=f"undone {turns}")
    with Project.open(path) as project:
        assert project.verify() == []
        while project.redo():
            pass
        label_set = project.label_set()
        assert label_set is not None
        assert [label.name for label in label_set.labels] == ["b"]
        assert {x.label_ids for x in project.annotations(rows).values()} == {(b,)}
        project.undo()
        assert {x.label_ids for x in project.annotations(rows).values()} == {(a,)}
        assert len(project.annotations(rows)) == len(rows)
        project.undo()
        assert project.annotations(rows) == {}
