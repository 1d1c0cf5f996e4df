"""Files that come to the window: dropped on it, held over it, or chosen in a dialog."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLineEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.window_bench import Asked, action, make_window_fixture, open_in, window_fixture  # noqa: F401


def drag(*urls: str) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl(url) if "://" in url else QUrl.fromLocalFile(url) for url in urls])
    return data


_ACTIONS = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def hold(target: QWidget, data: QMimeData) -> bool:
    """Drag something over ``target``; whether it was taken."""
    copy, left, plain = _ACTIONS
    enter = QDragEnterEvent(QPointF(5, 5).toPoint(), copy, data, left, plain)
    enter.ignore()
    QApplication.sendEvent(target, enter)
    return enter.isAccepted()


def drop(target: QWidget, *urls: str) -> tuple[bool, bool]:
    """Drag files over ``target`` and let go; whether the drag and the drop were accepted."""
    data = drag(*urls)
    taken = hold(target, data)
    copy, left, plain = _ACTIONS
    event = QDropEvent(QPointF(5, 5), copy, data, left, plain)
    event.ignore()
    if taken:
        QApplication.sendEvent(target, event)
    return taken, event.isAccepted()


def test_dropped_table_opens_the_import_dialog(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    table = tmp_path / "mes données 1.csv"
    table.write_text("text\nhello\n", encoding="utf-8")
    assert drop(window, str(table)) == (True, True)
    assert Asked.opened == []  # the program that the file comes from is let go first
    qtbot.waitUntil(lambda: Asked.opened == [(table, False)])


def test_drop_on_a_text_field_is_a_file_too(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, tmp_path: Path
) -> None:
    open_in(qtbot, window, make_project())
    table = tmp_path / "in.csv"
    table.write_text("text\nhello\n", encoding="utf-8")
    for field in window.findChildren(QLineEdit):
        if field.isVisible():
            Asked.opened = []
            assert drop(field, str(table)) == (True, True)
            qtbot.waitUntil(lambda: Asked.opened == [(table, False)])
            assert field.text() == ""


def test_dropped_project_is_opened(qtbot: QtBot, window: MainWindow, make_project: MakeProject) -> None:
    path = make_project()
    with qtbot.waitSignal(window._controllers.workspace.projectOpened):
        assert drop(window, str(path)) == (True, True)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("picture.png", "“picture.png” cannot be opened: drop a table ("),
        ("report.docx", "“report.docx” cannot be opened: drop a table ("),
        ("no ending", "“no ending” cannot be opened: drop a table ("),
        ("folder", "“folder” is a folder: drop a table or a project (.sce)."),
        ("https://example.org/a.csv", "What you dropped is not a file on this computer: save it first"),
    ],
)
@pytest.mark.parametrize("opened", [False, True])
def test_what_cannot_be_opened_is_reported_when_it_is_dropped(
    qtbot: QtBot,
    window: MainWindow,
    make_project: MakeProject,
    tmp_path: Path,
    name: str,
    told: str,
    opened: bool,
) -> None:
    (tmp_path / "folder").mkdir()
    if opened:
        open_in(qtbot, window, make_project())
    where = name if "://" in name else (tmp_path / name).as_uri()
    data = drag(where)
    hold(window, data)
    assert window.drops.cue.isVisible()
    assert window.drops.cue.words.text().startswith(told)  # before one lets go
    assert drop(window, where) == (True, True)
    assert window.drops.cue.isHidden()
    assert window.strip.text.text().startswith(told)
    assert Asked.opened == []


def test_a_drag_that_has_no_files_is_left_alone(window: MainWindow) -> None:
    data = QMimeData()
    data.setText("some words")
    assert not hold(window, data)
    assert window.drops.cue.isHidden()


@pytest.mark.parametrize("opened", [False, True])
def test_a_file_that_is_held_over_the_window_is_answered_by_a_cue(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, opened: bool
) -> None:
    cue = window.drops.cue
    if opened:
        open_in(qtbot, window, make_project())
    assert hold(window, drag("file:///data/mine.csv"))
    assert cue.isVisible()
    assert cue.words.text() == "Drop to import “mine.csv”"
    assert window.pages.rect().contains(cue.geometry())
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert cue.isHidden()
    field = next((f for f in window.findChildren(QLineEdit) if f.isVisible()), None)
    if field is not None:
        assert hold(field, drag("file:///data/mine.sce"))
        assert cue.isVisible()
        assert cue.words.text() == "Drop to open the project “mine”"
        QApplication.sendEvent(field, QDragLeaveEvent())
        assert cue.isHidden()


def test_of_several_files_one_is_opened_and_that_is_reported(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    table = tmp_path / "b.csv"
    table.write_text("text\nhello\n", encoding="utf-8")
    assert drop(window, "file:///a.png", table.as_uri(), "file:///c.csv") == (True, True)
    qtbot.waitUntil(lambda: Asked.opened == [(table, False)])
    assert Asked.message == "Only “b.csv” is opened: 2 other files were ignored."  # not behind it


def test_of_several_projects_one_is_opened_and_that_is_reported(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    path = make_project()
    with qtbot.waitSignal(window._controllers.workspace.projectOpened):
        drop(window, path.as_uri(), "file:///c.csv")
    assert window.strip.isVisible()
    assert window.strip.text.text() == "Only “Parcels.sce” is opened: 1 other file was ignored."


def test_open_and_append_ask_for_a_file(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, tmp_path: Path
) -> None:
    table = tmp_path / "in.csv"
    table.write_text("text\nhello\n", encoding="utf-8")
    open_in(qtbot, window, make_project())
    for name, append in (("Open", False), ("Add rows", True)):
        action(window, name).trigger()
        dialog = window.findChild(QFileDialog)
        assert dialog is not None
        dialog.fileSelected.emit(str(table))
        assert Asked.opened[-1] == (table, append)
        dialog.close()
        qtbot.waitUntil(lambda: window.findChild(QFileDialog) is None)
    window.tool_bar.export_button.click()
    assert Asked.opened[-1] == (None, False)
