"""The command palette: what is typed, and what was used before."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.ui.kit.command_history import CommandHistory
from sce_desktop.ui.kit.palette import CommandPalette, matches


def history_in(folder: Path) -> CommandHistory:
    return CommandHistory(QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat))


def test_what_is_used_often_and_lately_comes_first(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    for name in ("Export", "Export", "Find", "Open", "Open", "Open"):
        history.note(name)
    names = ["Add rows", "Find", "Export", "Open", "Quit"]
    assert history_in(tmp_path).ordered(names, str) == ["Open", "Export", "Find", "Add rows", "Quit"]
    for _ in range(4):
        history.note("Find")
    assert history.ordered(names, str)[0] == "Find"


@pytest.mark.parametrize("stored", ["{", "[]", "3", '{"Open": "often", "Find": null}', "[" * 100_000])
def test_a_history_that_makes_no_sense_counts_as_none(tmp_path: Path, stored: str) -> None:
    history = history_in(tmp_path)
    history._state.setValue("commands", stored)
    assert history.ordered(["Find", "Open"], str) == ["Find", "Open"]
    history.note("Open")
    assert history.ordered(["Find", "Open"], str) == ["Open", "Find"]


def test_the_palette_shows_first_what_it_was_used_for(qtbot: QtBot, tmp_path: Path) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    actions = [QAction(text, window) for text in ("&Open…", "&Export…", "&Find…")]
    palette = CommandPalette(actions, history_in(tmp_path), window)
    qtbot.keyClicks(palette.field, "find")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    again = CommandPalette(actions, history_in(tmp_path), window)
    items = [again.list.topLevelItem(place) for place in range(again.list.topLevelItemCount())]
    assert [item.text(0) for item in items if item is not None] == ["Find", "Open", "Export"]


def test_words_match_in_any_order() -> None:
    assert matches("File: Save a copy", "copy sa")
    assert not matches("File: Save a copy", "export")


def test_palette_filters_and_triggers(qtbot: QtBot, tmp_path: Path) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    ran: list[str] = []
    actions = [QAction(text, window) for text in ("&Open…", "&Export…", "Hidden", "Off")]
    for action in actions:
        action.triggered.connect(lambda _=False, action=action: ran.append(action.text()))
    actions[2].setVisible(False)
    actions[3].setEnabled(False)
    palette = CommandPalette(actions, history_in(tmp_path), window)
    assert palette.list.topLevelItemCount() == 2
    qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    assert palette.list.currentItem().text(0) == "Export"
    qtbot.keyClicks(palette.field, "exp")
    assert palette.list.topLevelItemCount() == 1
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert ran == ["&Export…"]
