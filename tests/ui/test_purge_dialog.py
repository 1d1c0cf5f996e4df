"""Deleting for good in the window: told before, ticked, done on the closed project, told after."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import purge_work, review_work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import UserError
from sce_desktop.core.purging import PurgeScope
from sce_desktop.core.query import RowQuery
from sce_desktop.store.project import Project
from sce_desktop.ui.evaluate.agreement_dialog import AgreementDialog
from sce_desktop.ui.labels.labels_menus import LabelMenu
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from sce_desktop.ui.rows.purge_dialog import (
    ANNOTATOR,
    FILTERED,
    HISTORY,
    LABEL,
    NOTES,
    ROWS,
    PurgeDialog,
)
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.projects_bench import open_in, told


@pytest.fixture
def path(make_project: MakeProject) -> Path:
    path = make_project(labels=("Late", "Damaged"))
    with Project.open(path) as project:
        project.decide([1, 4], Decision.LABEL, [1])
        project.set_marks(2, note="a secret note")
        project.add_coder("Anna", "file.csv", {1: "Late", 2: "Damaged"})
        project.backup(path.with_name("copy.sce"))
    return path


def shown(qtbot: QtBot, controllers: Controllers, asked: PurgeScope | None = None) -> PurgeDialog:
    dialog = PurgeDialog(controllers.workspace, controllers.navigation, controllers.projects, asked)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.sure.isEnabled())
    return dialog


def choices(dialog: PurgeDialog) -> list[str]:
    return [dialog.what.itemData(place) for place in range(dialog.what.count())]


def choose(qtbot: QtBot, dialog: PurgeDialog, what: str) -> None:
    dialog.sure.setChecked(True)
    dialog.what.setCurrentIndex(dialog.what.findData(what))
    assert not dialog.sure.isEnabled()
    assert not dialog.sure.isChecked()
    qtbot.waitUntil(lambda: dialog.sure.isEnabled())


def delete(qtbot: QtBot, controllers: Controllers, dialog: PurgeDialog) -> Project:
    assert not dialog.delete_button.isEnabled()
    dialog.sure.setChecked(True)
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        dialog.delete_button.click()
    assert controllers.workspace.project is not None
    return controllers.workspace.project


def test_rows_go(qtbot: QtBot, controllers: Controllers, path: Path) -> None:
    heard = told(controllers)
    open_in(qtbot, controllers, path)
    controllers.navigation.set_query(RowQuery(search="crushed"))
    controllers.navigation.set_current_row(4)
    places = path.with_name("places.json")
    controllers.projects._view_state.keep(path, controllers.navigation.query, 4)
    assert str(path) in places.read_text(encoding="utf-8")
    dialog = shown(qtbot, controllers)
    assert choices(dialog) == [ROWS, FILTERED, NOTES, LABEL, ANNOTATOR, HISTORY]
    assert dialog.what.currentText() == "Row 4"
    assert dialog.goes.text().splitlines() == [
        "1 row is deleted, with its cells and scores.",
        "1 annotation is deleted.",
        "The undo history is deleted, too (4 steps).",
    ]
    assert dialog.copies_found.text() == "1 copy of this project was found: “copy.sce”."
    assert "Exported files" in dialog.remains.text()
    project = delete(qtbot, controllers, dialog)
    assert project.row_ids().tolist() == [1, 2, 3, 5]
    assert controllers.navigation.query == RowQuery()  # what was searched for is forgotten
    assert any(words.startswith("Deleted for good. 1 copy was cleaned, too.") for _, words in heard)
    for file in path.parent.glob("*.sce"):
        assert b"Driver was kind" not in file.read_bytes()
    qtbot.waitUntil(lambda: controllers.workspace.counts is not None)
    assert controllers.workspace.counts is not None
    assert controllers.workspace.counts.rows == 4


def test_filtered_rows_without_the_copies(qtbot: QtBot, controllers: Controllers, path: Path) -> None:
    open_in(qtbot, controllers, path)
    controllers.navigation.set_query(RowQuery(search="two days"))
    controllers.navigation.set_current_row(1)
    dialog = shown(qtbot, controllers)
    choose(qtbot, dialog, FILTERED)
    assert dialog.goes.text().startswith("2 rows are deleted")
    dialog.with_copies.setChecked(False)
    assert delete(qtbot, controllers, dialog).row_ids().tolist() == [2, 3, 4]
    assert b"Two days late" in path.with_name("copy.sce").read_bytes()


def test_notes_a_label_and_an_annotator(qtbot: QtBot, controllers: Controllers, path: Path) -> None:
    open_in(qtbot, controllers, path)
    controllers.navigation.set_current_row(1)
    dialog = shown(qtbot, controllers)
    choose(qtbot, dialog, NOTES)
    assert not dialog.name.isVisible()
    project = delete(qtbot, controllers, dialog)
    assert project.marks([2]) == {}
    dialog = shown(qtbot, controllers, PurgeScope(labels=(2,)))
    assert (dialog.what.currentData(), dialog.name.currentText()) == (LABEL, "Damaged")
    project = delete(qtbot, controllers, dialog)
    assert [label.name for label in controllers.workspace.labels] == ["Late"]
    (coder,) = project.coders()
    dialog = shown(qtbot, controllers, PurgeScope(annotators=(coder.id,)))
    assert (dialog.what.currentData(), dialog.name.currentText()) == (ANNOTATOR, "Anna")
    assert delete(qtbot, controllers, dialog).coders() == ()


def test_nothing_goes_on_cancel(qtbot: QtBot, controllers: Controllers, path: Path) -> None:
    project = open_in(qtbot, controllers, path)
    dialog = shown(qtbot, controllers)
    dialog.sure.setChecked(True)
    dialog.buttons.button(QDialogButtonBox.StandardButton.Cancel).click()
    assert controllers.workspace.project is project
    assert project.undo_rows() or project.undo_text()


def test_what_fails_is_told_and_the_project_is_back(
    qtbot: QtBot, controllers: Controllers, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_args: object, **_keywords: object) -> Project:
        raise UserError("There is not enough disk space.")

    heard = told(controllers)
    open_in(qtbot, controllers, path)
    monkeypatch.setattr(purge_work, "purge", fails)
    project = delete(qtbot, controllers, shown(qtbot, controllers))
    assert project.row_count() == 5
    assert ("warn", "There is not enough disk space.") in heard


def test_where_it_is_found(
    qtbot: QtBot,
    real_window: MainWindow,
    controllers: Controllers,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = open_in(qtbot, controllers, path)
    (coder,) = project.coders()
    agreement = SimpleNamespace(rows=0, same=0.0, kappa=None, alpha=None)
    found = SimpleNamespace(coder=coder, lines=[(None, agreement, "No row in common.")])
    own = SimpleNamespace(rows=0)
    # What computes it takes a while to import, and is not what this is about.
    monkeypatch.setattr(review_work, "agreements", lambda _project, *, progress: ([found], own))
    asked: list[PurgeScope | None] = []
    controllers.navigation.purgeAsked.disconnect(real_window.menus.ask_purge)
    controllers.navigation.purgeAsked.connect(asked.append)
    rows = real_window.workspace.rows.actions_menu.menu([2, 4])  # type: ignore[attr-defined]
    rows.actions()[-1].trigger()
    panel = real_window.workspace.labels
    assert isinstance(panel, LabelsPanel)
    panel.list.setCurrentIndex(panel.model.index(0, 0))
    labels = LabelMenu(panel, editable=True, several=False)
    next(action for action in labels.actions() if action.text() == "Delete for good…").trigger()
    editor = panel.show_details()
    assert editor is not None
    editor.purge_button.click()
    dialog = AgreementDialog(controllers.workspace, controllers.navigation, controllers.edits, real_window)
    qtbot.waitUntil(dialog.purge_button.isEnabled)
    dialog.purge_button.click()
    label, annotator = PurgeScope(labels=(1,)), PurgeScope(annotators=(coder.id,))
    assert asked == [PurgeScope(rows=(2, 4)), label, label, annotator]
    entry = next(one for one in real_window.menus.all_actions() if one.text() == "Delete for &good…")
    entry.trigger()
    dialogs = [one for one in QApplication.topLevelWidgets() if isinstance(one, PurgeDialog)]
    (opened,) = [one for one in dialogs if one.isVisible()]
    qtbot.waitUntil(lambda: opened.sure.isEnabled())
    opened.reject()
