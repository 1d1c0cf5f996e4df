"""Edits that touch very many rows are made behind the window: it lives on, and nothing comes between them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import edits, label_edits
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.query import RowQuery
from sce_desktop.store.annotations import history
from sce_desktop.store.project import Project
from tests.ui.conftest import MakeProject
from tests.ui.panels import open_in, settle
from tests.ui.wiring import wired

ROWS = range(1, 9)


@pytest.fixture
def opened(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> Controllers:
    """Eight rows, all of them labelled A in one step; three are many."""
    monkeypatch.setattr(edits, "LONG", 2)
    monkeypatch.setattr(controllers.scorer, "labels_changed", lambda: None)
    path = make_project(texts=tuple(f"text {n}" for n in ROWS), labels=("A", "B", "C"))
    with Project.open(path) as project:
        project.decide(ROWS, Decision.LABEL, [1])
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    return controllers


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], threading.Event]]:
    """Let a method of the project wait for an event, as if it had very much to do."""
    gates: list[threading.Event] = []

    def hold(method: str) -> threading.Event:
        gate = threading.Event()
        gates.append(gate)
        real = getattr(Project, method)

        def held(project: Project, *args: Any, **keywords: Any) -> Any:
            assert threading.current_thread() is not threading.main_thread()
            assert gate.wait(20)
            return real(project, *args, **keywords)

        monkeypatch.setattr(Project, method, held)
        return gate

    yield hold
    for gate in gates:
        gate.set()


def labelled(controllers: Controllers) -> dict[int, tuple[int, ...]]:
    assert controllers.workspace.project is not None
    return {row_id: a.label_ids for row_id, a in controllers.workspace.project.annotations(ROWS).items()}


def test_the_window_lives_while_many_rows_are_undone(
    qtbot: QtBot, opened: Controllers, hold: Callable[[str], threading.Event]
) -> None:
    gate = hold("undo")
    opened.edits.undo()
    assert len(labelled(opened)) == 8
    opened.navigation.set_query(RowQuery(search="text 3"))
    settle(qtbot, opened)  # what is shown can be changed meanwhile
    with qtbot.waitSignal(opened.messages.notified) as told:
        assert not opened.edits.decide([1], Decision.NONE)
    assert told.args == ["Undoing “Label “A”, 8 rows”: try again in a moment.", "warn"]
    opened.edits.undo()  # nor is another step taken back before it is seen what this one did
    with qtbot.waitSignal(opened.edits.changed) as changed:
        gate.set()
    assert changed.args is not None
    assert changed.args[0].rows == 8
    assert labelled(opened) == {}
    assert opened.edits.decide([1], Decision.LABEL, [2])
    assert labelled(opened) == {1: (2,)}  # a few rows are decided before the call returns, as ever


def test_how_far_an_undo_is_can_be_seen(
    qtbot: QtBot, opened: Controllers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "_TURNED", 3)
    opened.edits.undo()
    (job,) = opened.workspace.workers.edits.jobs
    with qtbot.waitSignal(opened.edits.changed):
        pass
    assert (job.done, job.total) == (8, 8)
    assert labelled(opened) == {}


def test_many_rows_are_done_again(qtbot: QtBot, opened: Controllers) -> None:
    with qtbot.waitSignal(opened.edits.changed):
        opened.edits.undo()
    with qtbot.waitSignal(opened.edits.changed):
        opened.edits.redo()
    assert labelled(opened) == dict.fromkeys(ROWS, (1,))


def test_labels_of_many_rows_are_merged_removed_and_split(
    qtbot: QtBot, opened: Controllers, hold: Callable[[str], threading.Event]
) -> None:
    gate = hold("merge_labels")
    assert wired(label_edits.merge, opened)({1: 2})
    assert [label.name for label in opened.workspace.labels] == ["A", "B", "C"]
    assert opened.workspace.refuses_edit()
    with qtbot.waitSignal(opened.workspace.labelsChanged):
        gate.set()
    assert [label.name for label in opened.workspace.labels] == ["B", "C"]
    assert labelled(opened) == dict.fromkeys(ROWS, (2,))
    settle(qtbot, opened)  # counted anew
    with qtbot.waitSignal(opened.navigation.queryChanged):
        assert opened.edits.split_label(
            2, [Label("x"), Label("y")], then=lambda: opened.navigation.set_query(RowQuery(former_ids=(2,)))
        )
    assert [label.name for label in opened.workspace.labels] == ["x", "y", "C"]
    with qtbot.waitSignal(opened.edits.changed):
        opened.edits.undo()
    settle(qtbot, opened)
    with qtbot.waitSignal(opened.workspace.labelsChanged):
        assert wired(label_edits.remove, opened)([2])
    assert labelled(opened) == {}


def test_many_selected_rows_are_marked_and_cleared(qtbot: QtBot, opened: Controllers) -> None:
    assert opened.workspace.project is not None
    with qtbot.waitSignal(opened.workspace.annotationsChanged):
        assert opened.edits.set_marks([*ROWS], flag=True)
    assert all(mark.flag for mark in opened.workspace.project.marks(ROWS).values())
    with qtbot.waitSignal(opened.workspace.annotationsChanged):
        assert opened.edits.clear_decision([*ROWS])
    assert labelled(opened) == {}


def test_what_goes_wrong_is_reported_and_ends_it(
    qtbot: QtBot, opened: Controllers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Project, _progress: object) -> None:
        raise UserError("The disk is full: make room.")

    with monkeypatch.context() as patched:
        patched.setattr(Project, "undo", full)
        with qtbot.waitSignal(opened.messages.notified) as told:
            opened.edits.undo()
        assert told.args == ["The disk is full: make room.", "warn"]
    qtbot.waitUntil(lambda: not opened.workspace.workers.edits.busy)
    assert not opened.workspace.refuses_edit()
    with qtbot.waitSignal(opened.edits.changed):
        opened.edits.undo()
    assert labelled(opened) == {}


def test_a_project_is_closed_when_its_long_edit_is_through(
    qtbot: QtBot, opened: Controllers, hold: Callable[[str], threading.Event]
) -> None:
    gate = hold("undo")
    assert opened.workspace.project is not None
    path = opened.workspace.project.path
    opened.edits.undo()
    qtbot.waitUntil(lambda: opened.workspace.workers.edits.jobs[0].started_at is not None)
    opened.projects.close_project()
    assert opened.workspace.project is not None
    with qtbot.waitSignal(opened.workspace.projectClosed):
        gate.set()
    qtbot.waitUntil(lambda: not opened.workspace.workers.files.busy)
    open_in(qtbot, opened, path)
    settle(qtbot, opened)
    assert labelled(opened) == {}
    assert opened.edits.decide([1], Decision.LABEL, [1])
