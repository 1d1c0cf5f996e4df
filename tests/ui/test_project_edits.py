"""Edits of a project are told, counted and refused in place."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.colours import FIRST_COLOURS
from sce_desktop.core.query import RowQuery, RowState
from tests.ui.conftest import MakeProject
from tests.ui.projects_bench import LABELS, open_in, told


def test_labels_get_colours_that_stay(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project())
    with qtbot.waitSignal(controllers.workspace.labelsChanged):
        assert controllers.edits.set_labels(
            [Label("Late"), Label("Damaged", colour=FIRST_COLOURS[0]), Label("Praise")]
        )
    assert [label.colour for label in controllers.workspace.labels] == [
        FIRST_COLOURS[1],
        FIRST_COLOURS[0],
        FIRST_COLOURS[2],
    ]
    assert all(label.id is not None for label in controllers.workspace.labels)
    with qtbot.waitSignal(controllers.workspace.labelsChanged):
        controllers.edits.set_labels(controllers.workspace.labels[1:])
    assert [label.colour for label in controllers.workspace.labels] == [FIRST_COLOURS[0], FIRST_COLOURS[2]]


def test_same_labels_again_change_nothing(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project())
    controllers.edits.set_labels([Label("Late"), Label("Damaged")])
    with qtbot.assertNotEmitted(controllers.workspace.labelsChanged):
        assert controllers.edits.set_labels(controllers.workspace.labels)


def test_two_equal_labels_are_refused_in_place(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    heard = told(controllers)
    assert not controllers.edits.set_labels([Label("Late"), Label("Late")])
    assert heard[0][0] == "warn"
    assert tuple(label.name for label in controllers.workspace.labels) == LABELS


def test_decisions_and_marks_are_reported_and_counted(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    project = open_in(qtbot, controllers, make_project(labels=LABELS))
    late = controllers.workspace.labels[0].id
    assert late is not None
    with qtbot.waitSignal(controllers.workspace.annotationsChanged) as changed:
        assert controllers.edits.decide([1, 2], Decision.LABEL, [late])
    assert changed.args == [[1, 2]]
    assert project.annotations([1])[1].queue == "file"
    qtbot.waitUntil(
        lambda: controllers.workspace.counts is not None and controllers.workspace.counts.labelled == 2
    )
    assert controllers.workspace.counts is not None
    assert controllers.workspace.counts.labels[late] == 2
    assert controllers.edits.clear_decision([2])
    assert controllers.edits.set_marks([4], flag=True, note="look again")
    assert project.marks([4])[4].note == "look again"
    qtbot.waitUntil(
        lambda: (
            controllers.workspace.counts is not None
            and controllers.workspace.counts.states[RowState.FLAGGED] == 1
        )
    )
    assert controllers.workspace.counts.labelled == 1


def test_edit_without_a_project_does_nothing(controllers: Controllers) -> None:
    assert not controllers.edits.decide([1], Decision.NONE)
    assert not controllers.edits.set_labels([Label("a")])
    assert controllers.projects.save_copy(Path("x")) is None
    assert controllers.scorer.score() is None


def test_query_and_row_are_reported_once(qtbot: QtBot, controllers: Controllers) -> None:
    with qtbot.waitSignal(controllers.navigation.queryChanged):
        controllers.navigation.set_query(RowQuery(search="late"))
    with qtbot.assertNotEmitted(controllers.navigation.queryChanged):
        controllers.navigation.set_query(RowQuery(search="late"))
    with qtbot.waitSignal(controllers.navigation.currentRowChanged):
        controllers.navigation.set_current_row(3)
    with qtbot.assertNotEmitted(controllers.navigation.currentRowChanged):
        controllers.navigation.set_current_row(3)


def test_setting_is_written(controllers: Controllers) -> None:
    controllers.preferences.change_setting("theme", "dark")
    assert '"theme": "dark"' in controllers.preferences.settings.file.read_text(encoding="utf-8")
