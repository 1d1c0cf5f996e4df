"""The keys: one sheet for all of them, never two for one, dead in text fields; and deciding blind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.keymap import COMMANDS, SETTING, Keymap, plain_key
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.keys_dialog import KeysDialog
from sce_desktop.ui.kit.theme import px
from sce_desktop.ui.labels.label_editor import LabelEditor
from sce_desktop.ui.rows.rows_model import Column
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, TEXTS, give_scores, score_no_edits
from tests.ui.row_bench import Bench, decided, names, open_bench, press
from tests.ui.wiring import wired


@pytest.fixture
def keymap(tmp_path: Path) -> Keymap:
    return Keymap(Settings(tmp_path / "settings.json"))


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> Iterator[Bench]:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [1, 1, 2, 0])
        give_scores(project, [0, 2, 2, 0], alias="similarity", share=0.6)
    with open_bench(qtbot, controllers, path, height=900) as bench:
        yield bench


def test_usual_keys_are_one_for_each_command(keymap: Keymap) -> None:
    keys = keymap.keys()
    assert keys == {command.name: command.key for command in COMMANDS}
    assert len(set(keys.values())) == len(COMMANDS)
    assert not [key for key in keys.values() if keymap.fixed_owner(key)]


@pytest.mark.parametrize(
    "written", ["{", "[]", '{"skip": 5}', '{"skip": "Ctrl+Z"}', '{"skip": "1"}', '{"skip": "no key"}']
)
def test_a_settings_file_with_nonsense_leaves_the_usual_keys(keymap: Keymap, written: str) -> None:
    keymap._settings._overrides[SETTING] = written  # which setting it would refuse
    assert keymap.keys()["flag"] == "F"
    assert keymap.keys()["skip"] == "S"


def test_of_two_commands_with_one_key_only_one_has_it(keymap: Keymap) -> None:
    keymap._settings[SETTING] = json.dumps({"skip": "F", "note": "F"})
    keys = keymap.keys()
    assert list(keys.values()).count("F") == 1
    assert keys["flag"] == ""


def test_forty_labels_named_by_letters_get_no_key_that_is_taken(keymap: Keymap) -> None:
    """A label "s" is no shortcut for skipping."""
    names_of = [chr(97 + place) if place < 26 else f"{chr(71 + place)}2" for place in range(40)]
    labels = [
        Label(name, shortcut=name if len(name) == 1 else "", id=i) for i, name in enumerate(names_of, 1)
    ]
    given = keymap.label_keys(labels)
    assert len(set(given.values())) == len(given)
    assert not set(given.values()) & set(keymap.keys().values())
    assert not {"S", "U", "F", "N", "J", "K"} & set(given.values())
    assert given[1] == "A"


@pytest.mark.parametrize(
    ("key", "owner"),
    [
        ("Ctrl+Z", "“Undo”"),
        ("Space", "pressing a button"),
        ("s", "“Skip”"),
        ("3", "the label buttons"),
        ("Ctrl+Alt+Q", "the menus"),
        ("d", "the label “Damaged”"),
        ("x", ""),
    ],
)
def test_whose_key_it_is_is_reported(keymap: Keymap, key: str, owner: str) -> None:
    keymap.menu_keys["Ctrl+Z"] = "Undo"
    labels = [Label("Damaged", shortcut="d", id=1), Label("Late", id=2)]
    assert keymap.owner(plain_key(key), labels, label_id=2) == owner


def test_the_sheet_refuses_a_key_that_is_taken(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    dialog = wired(KeysDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    QTest.keyClick(dialog.fields["skip"], Qt.Key.Key_F)
    assert dialog.problem.text() == "F is already the key for “Skip”: choose another."
    assert not ok.isEnabled()
    QTest.keyClick(dialog.fields["skip"], Qt.Key.Key_4)
    assert "label button" in dialog.problem.text()
    QTest.keyClick(dialog.fields["skip"], Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert "the menus" in dialog.problem.text()
    QTest.keyClick(dialog.fields["skip"], Qt.Key.Key_X)
    assert ok.isEnabled()
    dialog.accept()
    assert Settings.load(controllers.preferences.settings.file)[SETTING] == '{"skip": "X"}'
    assert opened.panel.decision.skip.text() == "Skip  X"
    press(opened, Qt.Key.Key_S)
    assert decided(controllers, 1) is None
    press(opened, Qt.Key.Key_X)
    assert decided(controllers, 1) == (Decision.SKIPPED, ())


def test_a_label_gets_a_key_of_its_own_unless_it_is_taken(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    editor = wired(LabelEditor, controllers)(controllers.workspace.labels[2])
    qtbot.addWidget(editor)
    editor.show()
    QTest.keyClick(editor.shortcut, Qt.Key.Key_S)
    editor.accept()
    assert editor.problem.text() == "S is the key of “Skip”: choose another."
    QTest.keyClick(editor.shortcut, Qt.Key.Key_P)
    score_no_edits(controllers)
    editor.accept()
    assert controllers.workspace.labels[2].shortcut == "P"
    opened.rows.table.setFocus()
    press(opened, Qt.Key.Key_P)
    assert decided(controllers, 1) == (Decision.LABEL, (controllers.workspace.labels[2].id,))


def test_a_digit_gives_the_label_of_that_place(controllers: Controllers, opened: Bench) -> None:
    assert names(opened)[0] == "Damaged"
    press(opened, Qt.Key.Key_1)
    assert decided(controllers, 1) == (Decision.LABEL, (controllers.workspace.labels[1].id,))
    assert controllers.navigation.current_row == 2


def test_typing_finds_a_label_and_gives_it(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    press(opened, Qt.Key.Key_Slash)
    finder = opened.panel.labels.finder
    qtbot.waitUntil(finder.hasFocus)
    QTest.keyClicks(finder, "prais")
    QTest.keyClick(finder, Qt.Key.Key_Return)
    assert decided(controllers, 1) == (Decision.LABEL, (controllers.workspace.labels[2].id,))
    assert controllers.navigation.current_row == 2
    qtbot.waitUntil(opened.rows.table.hasFocus)
    press(opened, Qt.Key.Key_Slash)
    qtbot.waitUntil(finder.hasFocus)
    QTest.keyClicks(finder, "s1")
    QTest.keyClick(finder, Qt.Key.Key_Escape)
    qtbot.waitUntil(opened.rows.table.hasFocus)
    assert decided(controllers, 2) is None


def test_while_a_label_is_found_the_button_says_what_enter_does(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    accept, finder = opened.panel.decision.accept, opened.panel.labels.finder
    assert accept.text() == "Accept Damaged ⏎"
    press(opened, Qt.Key.Key_Slash)
    qtbot.waitUntil(finder.hasFocus)
    assert accept.text() == "Accept Damaged"  # Enter does nothing yet
    QTest.keyClicks(finder, "prais")
    assert accept.text() == "Label as Praise ⏎"
    QTest.keyClicks(finder, "x")
    assert accept.text() == "Accept Damaged"  # nothing is found
    QTest.keyClick(finder, Qt.Key.Key_Backspace)
    accept.click()
    assert decided(controllers, 1) == (Decision.LABEL, (controllers.workspace.labels[2].id,))
    assert controllers.navigation.current_row == 2
    qtbot.waitUntil(opened.rows.table.hasFocus)
    assert accept.text() == "Accept Damaged ⏎"
    press(opened, Qt.Key.Key_Slash)
    QTest.keyClicks(finder, "prais")
    opened.field.setFocus()
    assert accept.text() == "Accept Damaged"
    opened.rows.table.setFocus()
    assert accept.text() == "Accept Damaged ⏎"  # which is what it does, whatever stands in the finder
    press(opened, Qt.Key.Key_Return)
    assert decided(controllers, 2) == (Decision.LABEL, (controllers.workspace.labels[1].id,))


def test_of_several_labels_the_button_says_whether_one_comes_or_goes(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    assert controllers.edits.set_labels(controllers.workspace.labels, multi_label=True)
    accept, finder = opened.panel.decision.accept, opened.panel.labels.finder
    for words in ("Add Praise ⏎", "Remove Praise ⏎"):
        press(opened, Qt.Key.Key_Slash)
        qtbot.waitUntil(finder.hasFocus)
        QTest.keyClicks(finder, "prais")
        assert accept.text() == words
        press(opened, Qt.Key.Key_Return)
        qtbot.waitUntil(opened.rows.table.hasFocus)
    assert decided(controllers, 1) is None


def test_no_key_is_shown_where_it_is_a_letter(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    panel = opened.panel
    skip, label = panel.decision.skip, panel.labels.buttons[2]

    def cap() -> set[int]:
        """The colours where the key cap of a label stands, above the bar."""
        box = QRect(label.width() - px(26), px(4), px(18), px(12))
        picture = label.grab(box).toImage()
        return {picture.pixel(x, y) for x in range(picture.width()) for y in range(picture.height())}

    place = skip.geometry()
    assert (skip.text(), len(cap()) > 3) == ("Skip  S", True)
    opened.field.setFocus()
    qtbot.waitUntil(opened.field.hasFocus)
    assert (skip.text(), len(cap())) == ("Skip", 1)
    assert skip.geometry() == place
    opened.rows.table.setFocus()
    qtbot.waitUntil(opened.rows.table.hasFocus)
    assert (skip.text(), len(cap()) > 3) == ("Skip  S", True)
    press(opened, Qt.Key.Key_N)
    qtbot.waitUntil(panel.decision.note.hasFocus)
    assert (skip.text(), len(cap())) == ("Skip", 1)


def test_what_was_decided_is_seen_a_moment_longer(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    press(opened, Qt.Key.Key_Return)
    assert opened.panel.last.words.text() == "Row 1: Damaged"
    opened.panel.last._moment.setInterval(1)
    press(opened, Qt.Key.Key_0)
    assert opened.panel.last.words.text() == "Row 2: None of these"
    qtbot.waitUntil(lambda: not opened.panel.last.words.text())


def test_blind_mode_hides_what_models_say(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    assert not opened.rows.table.isColumnHidden(Column.SCE)
    controllers.preferences.change_setting("blind", True)
    table = opened.rows.table
    assert all(table.isColumnHidden(column) for column in (Column.SCE, Column.CELLS, Column.BASELINE))
    assert names(opened) == list(LABELS)  # in their own order: the order would tell
    assert [line.in_words for line in opened.panel.labels.shown()] == ["", "", ""]
    assert not opened.panel.decision.accept.isVisible()
    press(opened, Qt.Key.Key_Return)
    assert decided(controllers, 1) is None
    press(opened, Qt.Key.Key_3)
    assert decided(controllers, 1) == (Decision.LABEL, (controllers.workspace.labels[2].id,))
    controllers.preferences.change_setting("blind", False)
    assert not table.isColumnHidden(Column.SCE)
    assert names(opened)[0] == "Damaged"
