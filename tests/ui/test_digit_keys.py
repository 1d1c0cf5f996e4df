"""What digits mean: the rank of a label, which changes from row to row, or the label that keeps the digit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.start_review import DIGITS_QUESTION
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.keys_dialog import KeysDialog
from sce_desktop.ui.labels.label_editor import LabelEditor
from sce_desktop.ui.labels.labels_model import KeyRole, LabelsModel
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.window.main_window import MainWindow
from sce_desktop.ui.window.settings_dialog import SettingsDialog
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, score_no_edits, settle
from tests.ui.row_bench import Bench, decided, open_bench, press
from tests.ui.wiring import wired

TOPS = (2, 1, 0, 2)


@pytest.fixture
def bench(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> Iterator[Bench]:
    path = make_project(texts=("one", "two", "three", "four"), labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, TOPS)
    with open_bench(qtbot, controllers, path) as bench:
        yield bench


def label_at(controllers: Controllers, place: int) -> tuple[Decision, tuple[int, ...]]:
    return (Decision.LABEL, (controllers.workspace.labels[place].id or 0,))


def caps(bench: Bench) -> dict[str, str]:
    """The keys that the buttons show, by label."""
    buttons = [button for button in bench.panel.labels.buttons if not button.isHidden()]
    return {button.accessibleName(): button._key for button in buttons}


def test_by_rank_a_digit_is_the_place_of_a_button(controllers: Controllers, bench: Bench) -> None:
    press(bench, Qt.Key.Key_1)
    press(bench, Qt.Key.Key_1)
    assert (decided(controllers, 1), decided(controllers, 2)) == (
        label_at(controllers, 2),
        label_at(controllers, 1),
    )
    assert caps(bench)["Late"] == "1"  # the likeliest one of the third row


def test_fixed_a_digit_is_a_label_whatever_the_row(controllers: Controllers, bench: Bench) -> None:
    controllers.review.choose_digits("fixed")
    wanted = {name: str(place) for place, name in enumerate(LABELS, 1)}
    for row_id in (1, 2, 3):
        assert caps(bench) == wanted
        press(bench, Qt.Key.Key_2)
        assert decided(controllers, row_id) == label_at(controllers, 1)
    controllers.review.choose_digits("rank")
    press(bench, Qt.Key.Key_1)
    assert decided(controllers, 4) == label_at(controllers, 2)


def test_fixed_digits_are_those_of_the_list_and_shown_there(
    qtbot: QtBot, controllers: Controllers, bench: Bench
) -> None:
    model = wired(LabelsModel, controllers)()
    shown = [model.index(row, 0).data(KeyRole) for row in range(model.rowCount())]
    assert shown == ["", "", ""]
    controllers.review.choose_digits("fixed")
    names = [model.index(row, 0).data() for row in range(model.rowCount())]
    shown = [model.index(row, 0).data(KeyRole) for row in range(model.rowCount())]
    assert dict(zip(names, shown, strict=True)) == {"Late": "1", "Damaged": "2", "Praise": "3"}
    spoken = model.index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "key 2" in spoken
    controllers.edits.set_labels(
        [controllers.workspace.labels[2], *controllers.workspace.labels[:2]]
    )  # moved by the user
    assert [model.index(row, 0).data(KeyRole) for row in range(3)] == ["1", "2", "3"]
    assert model.index(0, 0).data() == "Praise"
    assert caps(bench) == {"Praise": "1", "Late": "2", "Damaged": "3"}


def test_of_more_than_nine_labels_the_first_nine_have_a_digit(controllers: Controllers, bench: Bench) -> None:
    controllers.review.choose_digits("fixed")
    controllers.edits.set_labels([Label(f"Label {n}") for n in range(1, 13)])
    digits = controllers.preferences.keymap.digits(controllers.workspace.labels)
    assert digits is not None
    assert list(digits.values()) == list("123456789")
    press(bench, Qt.Key.Key_9)
    assert decided(controllers, 1) == label_at(controllers, 8)


def test_a_key_of_its_own_goes_beside_the_digit(qtbot: QtBot, controllers: Controllers, bench: Bench) -> None:
    controllers.review.choose_digits("fixed")
    late, *others = controllers.workspace.labels
    controllers.edits.set_labels([Label(late.name, id=late.id, shortcut="L"), *others])
    assert caps(bench)["Late"] == "1 L"
    assert wired(LabelsModel, controllers)().index(0, 0).data(KeyRole) == "L"
    press(bench, Qt.Key.Key_L)
    press(bench, Qt.Key.Key_1)
    assert decided(controllers, 1) == decided(controllers, 2) == label_at(controllers, 0)
    editor = wired(LabelEditor, controllers)(controllers.workspace.labels[0])
    qtbot.addWidget(editor)
    assert editor.digit.text() == "and 1"
    sheet = wired(KeysDialog, controllers)()
    qtbot.addWidget(sheet)
    settle(qtbot, controllers)


@pytest.mark.parametrize("answer", ["By rank", "Fixed per label"])
def test_the_first_review_asks_once_and_the_answer_is_kept(
    qtbot: QtBot, controllers: Controllers, bench: Bench, answer: str
) -> None:
    asked: list[tuple[str, dict[str, object]]] = []
    controllers.messages.asked.connect(lambda question, answers: asked.append((question, dict(answers))))
    press(bench, Qt.Key.Key_2)
    press(bench, Qt.Key.Key_2)
    assert [question for question, _ in asked] == [DIGITS_QUESTION]
    asked[0][1][answer]()  # type: ignore[operator]
    assert (
        controllers.preferences.settings["digit_keys"]
        == {"By rank": "rank", "Fixed per label": "fixed"}[answer]
    )
    again = Controllers(
        controllers.workspace.workers, controllers.preferences.settings
    )  # the next start of the program
    again.workspace.label_set = controllers.workspace.label_set
    again.messages.asked.connect(lambda question, answers: asked.append((question, dict(answers))))
    again.review.ask_digits()
    assert len(asked) == 1


def test_the_question_is_not_modal_and_its_buttons_answer(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject
) -> None:
    path = make_project(texts=("one", "two", "three", "four"), labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, TOPS)
    open_in(qtbot, controllers, path)
    score_no_edits(controllers)
    table = real_window.findChild(RowsView).table  # type: ignore[union-attr]
    table.setFocus()
    qtbot.waitUntil(table.hasFocus)
    qtbot.waitUntil(lambda: controllers.navigation.current_row == 1)
    QTest.keyClick(table, Qt.Key.Key_1)
    strip = real_window.strip
    assert strip.text.text() == DIGITS_QUESTION
    assert [strip.button.text(), strip.other_button.text()] == ["By rank", "Fixed per label"]
    QTest.keyClick(table, Qt.Key.Key_1)  # one goes on working
    assert decided(controllers, 2) == label_at(controllers, 1)
    assert strip.isVisible()
    controllers.workspace.versionsChanged.emit()  # takes offers away, and no questions
    assert strip.isVisible()
    strip.other_button.click()
    assert strip.isHidden()
    assert controllers.preferences.settings["digit_keys"] == "fixed"
    actions = {a.text().replace("&", ""): a for a in real_window.menus.all_actions()}
    assert actions["Fixed digit keys"].isChecked()
    actions["Digit keys by rank"].trigger()
    assert controllers.preferences.settings["digit_keys"] == "rank"
    assert actions["Digit keys by rank"].isChecked()


def test_the_settings_have_it(qtbot: QtBot, controllers: Controllers) -> None:
    dialog = SettingsDialog(controllers.preferences.settings)
    qtbot.addWidget(dialog)
    editor = dialog.fields["digit_keys"].editor
    assert isinstance(editor, QComboBox)
    assert [editor.itemText(place) for place in range(2)] == ["By rank", "Fixed per label"]
