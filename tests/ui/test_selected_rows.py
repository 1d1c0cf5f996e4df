"""Keys and buttons with several rows selected: they are about all of them, undone as one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QAbstractButton, QMessageBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import edits
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import ACCEPTED, Decision, Origin
from sce_desktop.core.errors import UserError
from sce_desktop.core.query import RowQuery
from sce_desktop.store.project import Project
from sce_desktop.ui.rows.rows_model import Column
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, settle
from tests.ui.row_bench import Bench, decided, open_bench, press

TOPS = (0, 1, 2, 0, 1, 2, 0, 1)
Answer = tuple[Decision, tuple[int, ...]] | None


@pytest.fixture
def told(controllers: Controllers) -> list[str]:
    said: list[str] = []
    controllers.messages.notified.connect(lambda sentence, _tone: said.append(sentence))
    return said


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> Iterator[Bench]:
    path = make_project(texts=tuple(f"Text {n}" for n in range(8)), labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, TOPS)
    with open_bench(qtbot, controllers, path, width=600, height=1400) as bench:
        yield bench


def select(bench: Bench, *places: int) -> None:
    """Select rows as with Ctrl held down; the last one is the current one."""
    table = bench.rows.table
    table.choose(places[0])
    flags = QItemSelectionModel.SelectionFlag
    for place in places[1:]:
        index = table.model().index(place, Column.TEXT)
        table.selectionModel().setCurrentIndex(index, flags.Select | flags.Rows)


def answers(controllers: Controllers) -> list[Answer]:
    return [decided(controllers, row_id) for row_id in range(1, 9)]


def question(bench: Bench) -> QMessageBox | None:
    return next((box for box in bench.findChildren(QMessageBox) if box.isVisible()), None)


def answer(bench: Bench, button: str) -> None:
    """Press a button of the question that is asked."""
    box = question(bench)
    assert box is not None
    next(one for one in box.buttons() if one.accessibleName() == button).click()


def rest(qtbot: QtBot, controllers: Controllers) -> None:
    """Wait until bulk actions are through."""
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    settle(qtbot, controllers)


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        (Qt.Key.Key_0, (Decision.NONE, ())),
        (Qt.Key.Key_S, (Decision.SKIPPED, ())),
        (Qt.Key.Key_1, None),  # the label whose button is first
        (Qt.Key.Key_3, None),
    ],
)
def test_a_key_answers_for_all_selected_rows_in_one_step(
    qtbot: QtBot, controllers: Controllers, opened: Bench, told: list[str], key: Qt.Key, answer: Answer
) -> None:
    select(opened, 1, 4, 6)
    if answer is None:
        line = opened.panel.labels.shown()[key - Qt.Key.Key_1]
        answer = (Decision.LABEL, (line.label_id,))
    press(opened, key)
    rest(qtbot, controllers)
    wanted = [answer if place in (1, 4, 6) else None for place in range(8)]
    assert answers(controllers) == wanted
    assert told[-1].startswith("3 rows ")
    assert controllers.navigation.selected == (2, 5, 7)  # the selection stays, and with it the current row
    assert controllers.navigation.current_row == 7
    controllers.edits.undo()
    rest(qtbot, controllers)
    assert answers(controllers) == [None] * 8
    assert controllers.navigation.selected == (2, 5, 7)


def test_a_button_of_the_panel_does_as_its_key(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    select(opened, 0, 2)
    opened.panel.decision.none.click()
    rest(qtbot, controllers)
    assert answers(controllers)[:3] == [(Decision.NONE, ()), None, (Decision.NONE, ())]
    damaged = next(b for b in opened.panel.labels.buttons if b.accessibleName() == "Damaged")
    damaged.click()
    answer(opened, "Replace labels")
    rest(qtbot, controllers)
    label = (Decision.LABEL, (controllers.workspace.labels[1].id,))
    assert answers(controllers)[:3] == [label, None, label]


@pytest.mark.parametrize(("key", "mark"), [(Qt.Key.Key_F, "flag"), (Qt.Key.Key_U, "unsure")])
def test_a_mark_is_set_on_all_and_taken_away_once_all_have_it(
    qtbot: QtBot, controllers: Controllers, opened: Bench, told: list[str], key: Qt.Key, mark: str
) -> None:
    project = controllers.workspace.project
    assert project is not None

    def marked() -> list[int]:
        return [row_id for row_id, marks in project.marks(range(1, 9)).items() if getattr(marks, mark)]

    controllers.edits.set_marks([2], **{mark: True})
    select(opened, 0, 1, 2)
    press(opened, key)
    assert marked() == [1, 2, 3]
    assert told[-1].startswith("3 rows ")
    assert controllers.navigation.selected == (1, 2, 3)
    controllers.edits.undo()
    assert marked() == [2]
    select(opened, 0, 1, 2)
    press(opened, key)
    press(opened, key)
    assert marked() == []


def test_enter_takes_for_each_row_what_the_model_predicts_for_it(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    controllers.edits.decide([2], Decision.SKIPPED)
    select(opened, 0, 1, 2)
    press(opened, Qt.Key.Key_Return)
    rest(qtbot, controllers)
    ids = [label.id for label in controllers.workspace.labels]
    labels = [(Decision.LABEL, (ids[TOPS[place]],)) for place in (0, 2)]
    assert answers(controllers)[:4] == [labels[0], (Decision.SKIPPED, ()), labels[1], None]
    assert controllers.workspace.project is not None
    kept = controllers.workspace.project.annotations([1])[1]
    assert (kept.origin, kept.queue) == (Origin.BULK, ACCEPTED)  # they do not count as a person's


def test_backspace_takes_back_what_was_decided_about_all(
    qtbot: QtBot, controllers: Controllers, opened: Bench, told: list[str]
) -> None:
    controllers.edits.decide([1, 2, 3], Decision.NONE)
    select(opened, 0, 1)
    press(opened, Qt.Key.Key_Backspace)
    assert answers(controllers)[:3] == [None, None, (Decision.NONE, ())]
    assert told[-1] == "2 rows unlabelled again. Undo with Ctrl+Z."


@pytest.mark.parametrize("fails", [False, True])
def test_labels_of_many_rows_are_reported_as_taken_back_when_they_are(
    qtbot: QtBot,
    controllers: Controllers,
    opened: Bench,
    told: list[str],
    monkeypatch: pytest.MonkeyPatch,
    fails: bool,
) -> None:
    def full(*_: object) -> int:
        raise UserError("The disk is full: make room.")

    controllers.edits.decide([1, 2], Decision.NONE)
    monkeypatch.setattr(edits, "LONG", 2)  # more are taken back behind the window
    if fails:
        monkeypatch.setattr(Project, "clear_decision", full)
    select(opened, 0, 1, 2)
    told.clear()
    press(opened, Qt.Key.Key_Backspace)
    assert told == []
    qtbot.waitUntil(lambda: bool(told))
    assert told == ["The disk is full: make room." if fails else "2 rows unlabelled again. Undo with Ctrl+Z."]


def test_where_rows_may_have_several_labels_a_key_adds_one_to_all(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    assert controllers.edits.set_labels(controllers.workspace.labels, multi_label=True)
    late, damaged = (label.id or 0 for label in controllers.workspace.labels[:2])
    controllers.edits.decide([1], Decision.LABEL, [damaged])
    select(opened, 0, 1)
    opened.panel.choose_label(late)
    rest(qtbot, controllers)
    assert controllers.workspace.project is not None
    found = controllers.workspace.project.annotations([1, 2])
    assert {row_id: set(one.label_ids) for row_id, one in found.items()} == {1: {late, damaged}, 2: {late}}


def test_the_panel_says_on_how_many_rows_keys_act(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    bar = opened.panel.decision
    assert opened.panel.many.isHidden()
    assert bar.flag.text() == "Flag  F"
    select(opened, 0, 3, 5)
    assert opened.panel.many.text() == "3 rows selected. Keys and buttons apply to all of them."
    assert opened.panel.many.isVisible()
    buttons: list[QAbstractButton] = [bar.none, bar.skip, bar.unsure, bar.flag, bar.accept, bar.note_button]
    assert [button.text() for button in buttons] == [
        "None of these (3)  0",
        "Skip (3)  S",
        "Unsure (3)  U",
        "Flag (3)  F",
        "Accept predictions (3) ⏎",
        "Note  N",  # a note is about one row
    ]
    press(opened, Qt.Key.Key_J)  # on to another row: one is selected
    assert opened.panel.many.isHidden()
    assert bar.skip.text() == "Skip  S"


def test_a_selection_ends_with_the_list_it_was_made_in(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    select(opened, 0, 3)
    controllers.navigation.set_query(RowQuery(search="Text 4"))
    qtbot.waitUntil(lambda: controllers.navigation.current_row == 5)
    assert controllers.navigation.selected == ()
    press(opened, Qt.Key.Key_0)
    assert [row_id for row_id, answer in enumerate(answers(controllers), 1) if answer] == [5]
    controllers.navigation.set_query(RowQuery())
    settle(qtbot, controllers)
    select(opened, 0, 3)
    controllers.projects.close_project()
    qtbot.waitUntil(lambda: controllers.workspace.project is None)
    assert controllers.navigation.selected == ()


def test_a_digit_tells_which_label_all_rows_were_given(
    qtbot: QtBot, controllers: Controllers, opened: Bench, told: list[str]
) -> None:
    select(opened, 1, 4, 6)
    name = opened.panel.labels.shown()[1].name
    press(opened, Qt.Key.Key_2)
    assert question(opened) is None  # nothing is replaced
    rest(qtbot, controllers)
    assert told[-1] == f"3 rows labelled “{name}”. Undo with Ctrl+Z."


def test_labels_that_a_key_would_replace_are_asked_about_first(
    qtbot: QtBot, controllers: Controllers, opened: Bench, told: list[str]
) -> None:
    late, damaged, _ = (label.id or 0 for label in controllers.workspace.labels)
    for row_id, label_id in ((1, late), (2, damaged), (3, late)):
        controllers.edits.decide([row_id], Decision.LABEL, [label_id])
    controllers.edits.decide([4], Decision.SKIPPED)
    controllers.edits.decide([5], Decision.NONE)
    before = answers(controllers)
    select(opened, *range(8))
    place = [line.label_id for line in opened.panel.labels.shown()].index(damaged)
    for button in ("Cancel", "Replace labels"):
        press(opened, (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3)[place])
        box = question(opened)
        assert box is not None
        assert box.text() == "Label 8 rows “Damaged”?"
        assert box.informativeText() == "3 of them have another label, which is replaced. Undo with Ctrl+Z."
        assert answers(controllers) == before  # nothing has happened yet
        answer(opened, button)
        rest(qtbot, controllers)
        qtbot.waitUntil(lambda: question(opened) is None)
        opened.activateWindow()
        opened.rows.table.setFocus()
        qtbot.waitUntil(opened.rows.table.hasFocus)
    assert answers(controllers) == [(Decision.LABEL, (damaged,))] * 8
    assert told[-1] == "8 rows labelled “Damaged”. 3 of them were relabelled. Undo with Ctrl+Z."
    controllers.edits.undo()  # one step
    rest(qtbot, controllers)
    assert answers(controllers) == before


@pytest.mark.parametrize(
    ("key", "asked", "said"),
    [
        (Qt.Key.Key_0, "Label 2 rows “None of these”?", "2 rows labelled “None of these”. 1 of them"),
        (Qt.Key.Key_S, "Skip 2 rows?", "2 rows skipped. 1 of them"),
    ],
)
def test_other_answers_ask_before_they_replace_a_label(
    qtbot: QtBot, controllers: Controllers, opened: Bench, told: list[str], key: Qt.Key, asked: str, said: str
) -> None:
    controllers.edits.decide([1], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    select(opened, 0, 1)
    press(opened, key)
    box = question(opened)
    assert box is not None
    assert (box.text(), box.informativeText()[:24]) == (asked, "1 of them has another la")
    answer(opened, "Replace labels")
    rest(qtbot, controllers)
    assert told[-1] == f"{said} had a label before. Undo with Ctrl+Z."


def test_the_same_label_again_is_given_unasked(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    label_id = controllers.workspace.labels[0].id or 0
    controllers.edits.decide([1, 2], Decision.LABEL, [label_id])
    select(opened, 0, 1, 2)
    opened.panel.choose_label(label_id)
    assert question(opened) is None
    rest(qtbot, controllers)
    assert answers(controllers)[:3] == [(Decision.LABEL, (label_id,))] * 3


def test_enter_with_nothing_unlabelled_says_so(
    qtbot: QtBot, controllers: Controllers, opened: Bench, told: list[str]
) -> None:
    controllers.edits.decide([1, 2], Decision.NONE)
    before = answers(controllers)
    select(opened, 0, 1)
    press(opened, Qt.Key.Key_Return)
    rest(qtbot, controllers)
    assert told[-1] == "2 rows selected, none unlabelled. Nothing to accept."
    assert answers(controllers) == before


def test_labels_say_that_they_are_about_all_selected_rows(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    button = opened.panel.labels.buttons[0]
    assert "selected" not in button.toolTip() + button.accessibleDescription()
    select(opened, 0, 3, 5)
    assert button.toolTip().splitlines()[-1] == "Applies to all 3 selected rows"
    assert button.accessibleDescription().endswith("key 1. Applies to all 3 selected rows")
    press(opened, Qt.Key.Key_J)
    assert "selected" not in button.toolTip() + button.accessibleDescription()
