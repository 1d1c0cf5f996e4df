"""What digits mean: the rank of a label, which changes from row to row, or the label that keeps the digit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.session import Session
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
from tests.ui.panels import LABELS, give_scores, open_in, settle
from tests.ui.test_row_panel import Bench, decided, press

TOPS = (2, 1, 0, 2)


@pytest.fixture
def bench(qtbot: QtBot, session: Session, make_project: MakeProject) -> Iterator[Bench]:
    path = make_project(texts=("one", "two", "three", "four"), labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, TOPS)
    bench = Bench(session)
    qtbot.addWidget(bench)
    bench.resize(500, 1100)
    bench.show()
    bench.activateWindow()
    open_in(qtbot, session, path)
    session.scorer._edited.disconnect()
    settle(qtbot, session)
    bench.rows.table.setFocus()
    qtbot.waitUntil(bench.rows.table.hasFocus)
    yield bench
    settle(qtbot, session)


def label_at(session: Session, place: int) -> tuple[Decision, tuple[int, ...]]:
    return (Decision.LABEL, (session.labels[place].id or 0,))


def caps(bench: Bench) -> dict[str, str]:
    """The keys that the buttons show, by label."""
    buttons = [button for button in bench.panel.labels.buttons if not button.isHidden()]
    return {button.accessibleName(): button._key for button in buttons}


def test_by_rank_a_digit_is_the_place_of_a_button(session: Session, bench: Bench) -> None:
    press(bench, Qt.Key.Key_1)
    press(bench, Qt.Key.Key_1)
    assert (decided(session, 1), decided(session, 2)) == (label_at(session, 2), label_at(session, 1))
    assert caps(bench)["Late"] == "1"  # the likeliest one of the third row


def test_fixed_a_digit_is_a_label_whatever_the_row(session: Session, bench: Bench) -> None:
    session.review.choose_digits("fixed")
    wanted = {name: str(place) for place, name in enumerate(LABELS, 1)}
    for row_id in (1, 2, 3):
        assert caps(bench) == wanted
        press(bench, Qt.Key.Key_2)
        assert decided(session, row_id) == label_at(session, 1)
    session.review.choose_digits("rank")
    press(bench, Qt.Key.Key_1)
    assert decided(session, 4) == label_at(session, 2)


def test_fixed_digits_are_those_of_the_list_and_shown_there(
    qtbot: QtBot, session: Session, bench: Bench
) -> None:
    model = LabelsModel(session)
    shown = [model.index(row, 0).data(KeyRole) for row in range(model.rowCount())]
    assert shown == ["", "", ""]
    session.review.choose_digits("fixed")
    names = [model.index(row, 0).data() for row in range(model.rowCount())]
    shown = [model.index(row, 0).data(KeyRole) for row in range(model.rowCount())]
    assert dict(zip(names, shown, strict=True)) == {"Late": "1", "Damaged": "2", "Praise": "3"}
    spoken = model.index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "key 2" in spoken
    session.set_labels([session.labels[2], *session.labels[:2]])  # moved by the user
    assert [model.index(row, 0).data(KeyRole) for row in range(3)] == ["1", "2", "3"]
    assert model.index(0, 0).data() == "Praise"
    assert caps(bench) == {"Praise": "1", "Late": "2", "Damaged": "3"}


def test_of_more_than_nine_labels_the_first_nine_have_a_digit(session: Session, bench: Bench) -> None:
    session.review.choose_digits("fixed")
    session.set_labels([Label(f"Label {n}") for n in range(1, 13)])
    digits = session.keymap.digits(session.labels)
    assert digits is not None
    assert list(digits.values()) == list("123456789")
    press(bench, Qt.Key.Key_9)
    assert decided(session, 1) == label_at(session, 8)


def test_a_key_of_its_own_goes_beside_the_digit(qtbot: QtBot, session: Session, bench: Bench) -> None:
    session.review.choose_digits("fixed")
    late, *others = session.labels
    session.set_labels([Label(late.name, id=late.id, shortcut="L"), *others])
    assert caps(bench)["Late"] == "1 L"
    assert LabelsModel(session).index(0, 0).data(KeyRole) == "L"
    press(bench, Qt.Key.Key_L)
    press(bench, Qt.Key.Key_1)
    assert decided(session, 1) == decided(session, 2) == label_at(session, 0)
    editor = LabelEditor(session, session.labels[0])
    qtbot.addWidget(editor)
    assert editor.digit.text() == "and 1"
    sheet = KeysDialog(session)
    qtbot.addWidget(sheet)
    settle(qtbot, session)


@pytest.mark.parametrize("answer", ["By rank", "Fixed per label"])
def test_the_first_review_asks_once_and_the_answer_is_kept(
    qtbot: QtBot, session: Session, bench: Bench, answer: str
) -> None:
    asked: list[tuple[str, dict[str, object]]] = []
    session.asked.connect(lambda question, answers: asked.append((question, dict(answers))))
    press(bench, Qt.Key.Key_2)
    press(bench, Qt.Key.Key_2)
    assert [question for question, _ in asked] == [DIGITS_QUESTION]
    asked[0][1][answer]()  # type: ignore[operator]
    assert session.settings["digit_keys"] == {"By rank": "rank", "Fixed per label": "fixed"}[answer]
    again = Session(session.lanes, session.settings)  # the next start of the program
    again.label_set = session.label_set
    again.asked.connect(lambda question, answers: asked.append((question, dict(answers))))
    again.review.ask_digits()
    assert len(asked) == 1


def test_the_question_is_not_modal_and_its_buttons_answer(
    qtbot: QtBot, session: Session, real_window: MainWindow, make_project: MakeProject
) -> None:
    path = make_project(texts=("one", "two", "three", "four"), labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, TOPS)
    open_in(qtbot, session, path)
    session.scorer._edited.disconnect()
    table = real_window.findChild(RowsView).table  # type: ignore[union-attr]
    table.setFocus()
    qtbot.waitUntil(table.hasFocus)
    qtbot.waitUntil(lambda: session.current_row == 1)
    QTest.keyClick(table, Qt.Key.Key_1)
    strip = real_window.strip
    assert strip.text.text() == DIGITS_QUESTION
    assert [strip.button.text(), strip.other_button.text()] == ["By rank", "Fixed per label"]
    QTest.keyClick(table, Qt.Key.Key_1)  # one goes on working
    assert decided(session, 2) == label_at(session, 1)
    assert strip.isVisible()
    session.versionsChanged.emit()  # takes offers away, and no questions
    assert strip.isVisible()
    strip.other_button.click()
    assert strip.isHidden()
    assert session.settings["digit_keys"] == "fixed"
    actions = {a.text().replace("&", ""): a for a in real_window.menus.all_actions()}
    assert actions["Fixed digit keys"].isChecked()
    actions["Digit keys by rank"].trigger()
    assert session.settings["digit_keys"] == "rank"
    assert actions["Digit keys by rank"].isChecked()


def test_the_settings_have_it(qtbot: QtBot, session: Session) -> None:
    dialog = SettingsDialog(session.settings)
    qtbot.addWidget(dialog)
    editor = dialog.fields["digit_keys"].editor
    assert isinstance(editor, QComboBox)
    assert [editor.itemText(place) for place in range(2)] == ["By rank", "Fixed per label"]
