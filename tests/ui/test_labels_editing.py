"""Labels renamed, merged, removed, split and reordered in their panel."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, Qt
from PySide6.QtWidgets import QLineEdit, QMessageBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import review_work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import JobState
from sce_desktop.core.annotations import Decision, Label, LabelEffect
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.store.project import Project
from sce_desktop.ui.labels.label_editor import LabelEditor
from sce_desktop.ui.labels.labels_hints import of_rename
from sce_desktop.ui.labels.labels_menus import LabelMenu
from sce_desktop.ui.labels.labels_model import YoursRole
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from tests.ui.conftest import MakeProject
from tests.ui.labels_bench import Key, add, answer, counted, names, panel_fixture  # noqa: F401
from tests.ui.wiring import wired


def test_renaming_in_place_keeps_the_id(qtbot: QtBot, controllers: Controllers, panel: LabelsPanel) -> None:
    ids = add(controllers, "Late", "Damaged")
    panel.list.setCurrentIndex(panel.model.index(0))
    panel.list.setFocus()
    panel.list.edit(panel.model.index(0))
    editor = panel.list.findChild(QLineEdit)
    assert editor is not None
    editor.setText("Delayed")
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: names(controllers) == ["Delayed", "Damaged"])
    assert [label.id for label in controllers.workspace.labels] == ids


def open_editor(qtbot: QtBot, panel: LabelsPanel, place: int = 0) -> QLineEdit:
    """Press F2 on a label; return the field that its name is typed into."""
    panel.list.setFocus()
    panel.list.setCurrentIndex(panel.model.index(place))
    qtbot.keyClick(panel.list, Key.Key_F2)
    editor = panel.list.findChild(QLineEdit)
    assert editor is not None
    return editor


def test_return_renames_and_opens_nothing(qtbot: QtBot, controllers: Controllers, panel: LabelsPanel) -> None:
    add(controllers, "Late", "Damaged")
    editor = open_editor(qtbot, panel)
    qtbot.keyClicks(editor, "Delayed")
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: names(controllers) == ["Delayed", "Damaged"])
    assert panel.findChildren(LabelEditor) == []
    qtbot.waitUntil(lambda: panel.list.findChild(QLineEdit) is None)
    qtbot.keyClick(panel.list, Key.Key_Return)
    (details,) = panel.findChildren(LabelEditor)
    assert details.name.text() == "Delayed"
    details.reject()


def test_a_name_that_is_there_asks_about_the_merge_alone(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    add(controllers, "Late", "Damaged")
    editor = open_editor(qtbot, panel)
    qtbot.keyClicks(editor, "Damaged")
    qtbot.keyClick(editor, Key.Key_Return)
    assert "Merge" in answer(qtbot, panel, "Cancel")
    assert panel.findChildren(LabelEditor) == []


def test_what_is_typed_stays_while_counts_come_in(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    """Of one label alone: the view refills an open field where a single row has changed."""
    (late,) = add(controllers, "Late")
    counted(qtbot, controllers)
    editor = open_editor(qtbot, panel)
    controllers.edits.decide([1], Decision.LABEL, [late])
    counted(qtbot, controllers)
    assert editor.selectedText() == "Late"
    qtbot.keyClicks(editor, "Delayed")
    controllers.edits.decide([2], Decision.LABEL, [late])
    counted(qtbot, controllers)
    assert panel.model.index(0).data(YoursRole) == 2
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: names(controllers) == ["Delayed"])


def test_renaming_onto_another_offers_to_merge(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    refund, billing = add(controllers, "Refund", "Billing")
    controllers.edits.decide([1, 2], Decision.LABEL, [refund])
    controllers.edits.decide([4], Decision.LABEL, [billing])
    counted(qtbot, controllers)
    panel.rename(refund, "Billing")
    asked = answer(qtbot, panel, "Merge")
    assert "2 rows move to “Billing” (2 by hand)." in asked
    qtbot.waitUntil(lambda: names(controllers) == ["Billing"])
    assert controllers.workspace.project is not None
    assert {a.label_ids for a in controllers.workspace.project.annotations([1, 2, 4]).values()} == {
        (billing,)
    }


def test_a_merge_that_is_not_wanted_changes_nothing(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    refund, _ = add(controllers, "Refund", "Billing")
    panel.rename(refund, "Billing")
    answer(qtbot, panel, "Cancel")
    assert names(controllers) == ["Refund", "Billing"]


def test_removing_tells_what_it_touches(qtbot: QtBot, controllers: Controllers, panel: LabelsPanel) -> None:
    """Asks, and nothing is lost."""
    late, _ = add(controllers, "Late", "Damaged")
    controllers.edits.decide([1, 2], Decision.LABEL, [late])
    counted(qtbot, controllers)
    panel.list.setCurrentIndex(panel.model.index(0))
    qtbot.keyClick(panel.list, Key.Key_Delete)
    assert "2 rows lose their label." in answer(qtbot, panel, "Remove")
    assert names(controllers) == ["Damaged"]
    add(controllers, "Late")
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.annotations([1])[1].label_ids == (late,)


def test_removing_what_nobody_used_does_not_ask(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    add(controllers, "Late", "Damaged", "Praise")
    counted(qtbot, controllers)
    panel.list.selectAll()
    panel.ask_remove()
    qtbot.waitUntil(lambda: names(controllers) == [])
    assert panel.empty.isVisible()


def test_while_a_name_is_typed_it_is_said_what_that_touches(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    late, _ = add(controllers, "Late", "LATE")
    controllers.edits.decide([1, 2], Decision.LABEL, [late])
    before = panel.message.text()
    assert "look the same" in before
    editor = open_editor(qtbot, panel)
    told = "2 rows have this label and keep it."
    qtbot.waitUntil(lambda: panel.message.text() == told)
    assert not panel.merge_button.isVisible()
    qtbot.keyClick(editor, Key.Key_Escape)
    assert panel.message.text() == before
    assert panel.merge_button.isVisible()
    open_editor(qtbot, panel, 1)
    qtbot.waitUntil(lambda: panel.message.text() == "No row has this label yet.")
    panel.list.setCurrentIndex(panel.model.index(0))
    assert panel.message.text() == before
    details = panel.show_details()
    assert details is not None
    qtbot.waitUntil(lambda: details.touches.text() == told)
    details.reject()


def test_a_rename_of_what_is_scored_says_that_scores_are_made_anew() -> None:
    effect = LabelEffect(rows=1, hand=1, bulk=0, imported=0, overlap=0, runs=2)
    assert of_rename(effect) == "1 row has this label and keeps it. Rows will be rescored."


@pytest.fixture
def held(controllers: Controllers, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Counting what an edit touches goes on when this is set."""
    go, count = threading.Event(), review_work.label_effects

    def wait(*args: Any, progress: Progress) -> list[LabelEffect]:
        assert go.wait(10)
        return count(*args, progress=progress)

    monkeypatch.setattr(review_work, "label_effects", wait)
    yield go
    go.set()


def test_the_window_does_not_wait_for_what_is_counted(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, held: threading.Event
) -> None:
    late, _ = add(controllers, "Late", "Damaged")
    controllers.edits.decide([1, 2], Decision.LABEL, [late])
    panel.list.setCurrentIndex(panel.model.index(0))
    qtbot.keyClick(panel.list, Key.Key_Delete)
    assert panel.findChild(QMessageBox) is None
    held.set()
    assert "2 rows lose their label." in answer(qtbot, panel, "Remove")
    qtbot.waitUntil(lambda: names(controllers) == ["Damaged"])


@pytest.mark.parametrize("merged", [False, True])
def test_what_is_decided_while_it_was_counted_is_asked_about(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, monkeypatch: pytest.MonkeyPatch, merged: bool
) -> None:
    """Two rows are decided when the rows have been counted, and before the window has heard of it."""
    counted, go, count = threading.Event(), threading.Event(), review_work.label_effects

    def late(*args: Any, progress: Progress) -> list[LabelEffect]:
        found = count(*args, progress=progress)
        counted.set()
        assert go.wait(10)
        return found

    monkeypatch.setattr(review_work, "label_effects", late)
    label_id, _ = add(controllers, "Late", "Damaged")
    panel.list.setCurrentIndex(panel.model.index(0))
    if merged:
        panel.rename(label_id, "Damaged")
    else:
        qtbot.keyClick(panel.list, Key.Key_Delete)
    assert counted.wait(10)
    controllers.edits.decide([1, 2], Decision.LABEL, [label_id])
    go.set()
    asked = answer(qtbot, panel, "Cancel")
    assert ("2 rows move to “Damaged” (2 by hand)." if merged else "2 rows lose their label.") in asked
    assert names(controllers) == ["Late", "Damaged"]


def test_only_the_newest_question_is_asked(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, held: threading.Event
) -> None:
    late, damaged, _ = add(controllers, "Late", "Damaged", "Praise")
    controllers.edits.decide([1], Decision.LABEL, [late])
    controllers.edits.decide([2], Decision.LABEL, [damaged])
    for place in (0, 1):
        panel.list.setCurrentIndex(panel.model.index(place))
        qtbot.keyClick(panel.list, Key.Key_Delete)
    held.set()
    assert "“Damaged”" in answer(qtbot, panel, "Cancel")
    qtbot.waitUntil(lambda: not controllers.workspace.workers.reads.busy)
    assert panel.findChild(QMessageBox) is None


def test_what_has_changed_while_it_was_counted_is_left_alone(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, held: threading.Event
) -> None:
    add(controllers, "Late", "Damaged")
    panel.list.setCurrentIndex(panel.model.index(0))
    panel.ask_remove()
    panel.rename(controllers.workspace.labels[0].id or 0, "Delayed")
    with qtbot.waitSignal(controllers.messages.notified) as told:
        held.set()
    assert told.args == ["Labels changed in the meantime; nothing was removed.", "warn"]
    assert names(controllers) == ["Delayed", "Damaged"]


def test_a_project_that_closes_while_it_was_counted_is_asked_nothing(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, held: threading.Event
) -> None:
    told: list[str] = []
    controllers.messages.notified.connect(lambda sentence, _tone: told.append(sentence))
    add(controllers, "Late", "Damaged")
    panel.list.setCurrentIndex(panel.model.index(0))
    panel.ask_remove()
    controllers.projects.close_project()
    held.set()
    qtbot.waitUntil(
        lambda: controllers.workspace.project is None and not controllers.workspace.workers.reads.busy
    )
    assert not told


def test_a_split_opens_before_it_is_counted(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, held: threading.Event
) -> None:
    late, _ = add(controllers, "Late", "Damaged")
    controllers.edits.decide([1], Decision.LABEL, [late])
    panel.list.setCurrentIndex(panel.model.index(0))
    dialog = panel.split_selected()
    assert dialog is not None
    assert dialog.isVisible()
    assert dialog.facts.text() == "Counting…"
    dialog.reject()
    job = next(
        job for job in controllers.workspace.workers.reads.jobs if job.title == "Counting affected rows"
    )
    assert job.state is JobState.CANCELLING
    held.set()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.reads.busy)
    dialog = panel.split_selected()
    assert dialog is not None
    qtbot.waitUntil(lambda: "1 row (1 by hand)" in dialog.facts.text())
    dialog.reject()


def test_order_by_keys_and_by_drag(qtbot: QtBot, controllers: Controllers, panel: LabelsPanel) -> None:
    ids = add(controllers, "A label", "B label", "C label")
    panel.list.setCurrentIndex(panel.model.index(0))
    qtbot.keyClick(panel.list, Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert names(controllers) == ["B label", "A label", "C label"]
    assert panel.list.currentIndex().row() == 1
    qtbot.keyClick(panel.list, Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    qtbot.keyClick(panel.list, Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert names(controllers) == ["A label", "B label", "C label"]
    data: QMimeData = panel.model.mimeData([panel.model.index(2)])
    move = Qt.DropAction.MoveAction
    assert panel.model.dropMimeData(data, move, 0, 0, QModelIndex()) is False
    assert names(controllers) == ["C label", "A label", "B label"]
    panel.model.dropMimeData(panel.model.mimeData([panel.model.index(0)]), move, -1, -1, QModelIndex())
    assert names(controllers) == ["A label", "B label", "C label"]
    assert [label.id for label in controllers.workspace.labels] == ids


def test_details_are_edited(qtbot: QtBot, controllers: Controllers, panel: LabelsPanel) -> None:
    late, _ = add(controllers, "Late", "Damaged")
    panel.list.setCurrentIndex(panel.model.index(0))
    editor = panel.show_details()
    assert editor is not None
    editor.name.setText("Damaged")
    editor.accept()
    assert editor.problem.text() == "A label of that name already exists."
    editor.name.setText("Late delivery")
    editor.description.setPlainText("It came after the day that was promised")
    editor.synonyms.setPlainText("Delay\n\n Overdue \nDelay")
    colour = list(editor.swatches)[4]
    editor.swatches[colour].click()
    editor.accept()
    assert controllers.workspace.labels[0] == Label(
        "Late delivery",
        "It came after the day that was promised",
        ("Delay", "Overdue"),
        colour,
        id=late,
    )


def test_another_multi_label_setting_stays(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    controllers.edits.set_labels([Label("A label")], multi_label=True)
    add(controllers, "B label")
    assert controllers.workspace.label_set is not None
    assert controllers.workspace.label_set.multi_label


def test_one_label_a_row_is_refused_while_rows_have_several(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    late, damaged = add(controllers, "Late", "Damaged")
    panel.sources.several.trigger()
    controllers.edits.decide([1, 2], Decision.LABEL, [late, damaged])
    with qtbot.waitSignal(controllers.messages.offered) as offered:
        panel.sources.several.trigger()
    sentence, button, show, _ = offered.args
    assert sentence == "2 rows have several labels: reduce each of them to one label first."
    assert panel.sources.several.isChecked()
    assert controllers.workspace.label_set is not None
    assert controllers.workspace.label_set.multi_label
    assert button == "Show in table"
    show()
    assert controllers.navigation.query == RowQuery(state=RowState.SEVERAL)
    controllers.edits.decide([1, 2], Decision.LABEL, [late])
    panel.sources.several.trigger()
    assert not panel.sources.several.isChecked()
    assert not controllers.workspace.label_set.multi_label


def test_read_only_projects_are_shown_alone(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project(labels=("Late", "Damaged"))
    with Project.open(path):
        with qtbot.waitSignal(controllers.workspace.projectOpened):
            controllers.projects.open_project(path)
        assert controllers.workspace.read_only
        panel = wired(LabelsPanel, controllers)()
        qtbot.addWidget(panel)
        assert not panel.field.isEnabled()
        assert not panel.model.flags(panel.model.index(0)) & Qt.ItemFlag.ItemIsEditable
        menu = LabelMenu(panel, editable=False, several=False)
        assert [a.text() for a in menu.actions() if a.isEnabled()] == ["Show rows you labelled so"]
        panel.list.setCurrentIndex(panel.model.index(0))
        panel.ask_remove()
        assert names(controllers) == ["Late", "Damaged"]
        with qtbot.waitSignal(controllers.workspace.projectClosed):
            controllers.projects.close_project()
        qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
