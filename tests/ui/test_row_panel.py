"""The row panel: what it shows, and that every decision lands on the row it was made for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import ceil
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.keymap import Keymap
from sce_desktop.controllers.queries import order_by
from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.theme import px
from sce_desktop.ui.rows import rows_view
from sce_desktop.ui.rows.row_labels import SHOWN
from sce_desktop.ui.rows.row_panel import RowPanel
from sce_desktop.ui.rows.row_text import FIRST_PART, NEXT_PART, RowText, least_tokens, length_of
from sce_desktop.ui.rows.rows_view import RowsView
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, TEXTS, give_scores, open_in, score_no_edits, settle
from tests.ui.wiring import wired


class Bench(QWidget):
    """Table, panel and a text field in one window."""

    def __init__(self, controllers: Controllers) -> None:
        super().__init__()
        self.rows = wired(RowsView, controllers)()
        self.panel = wired(RowPanel, controllers)()
        self.field = QLineEdit()
        layout = QVBoxLayout(self)
        for widget in (self.rows, self.panel, self.field):
            layout.addWidget(widget)


@pytest.fixture
def path(make_project: MakeProject) -> Path:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [1, 1, 2, 0])
        give_scores(project, [0, 2, 2, 0], alias="similarity", share=0.6)
    return path


@pytest.fixture
def bench(qtbot: QtBot, controllers: Controllers) -> Iterator[Bench]:
    bench = Bench(controllers)
    qtbot.addWidget(bench)
    bench.resize(500, 1250)
    bench.show()
    qtbot.waitExposed(bench)
    bench.activateWindow()
    yield bench
    settle(qtbot, controllers)


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, bench: Bench, path: Path) -> Bench:
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    bench.rows.table.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is bench.rows.table)
    return bench


def press(bench: Bench, key: Qt.Key) -> None:
    QTest.keyClick(QApplication.focusWidget() or bench, key)


def decided(controllers: Controllers, row_id: int) -> tuple[Decision, tuple[int, ...]] | None:
    assert controllers.workspace.project is not None
    found = controllers.workspace.project.annotations([row_id]).get(row_id)
    return None if found is None else (found.decision, found.label_ids)


def names(bench: Bench) -> list[str]:
    return [line.name for line in bench.panel.labels.shown()]


def test_labels_come_best_first_with_what_every_model_says(controllers: Controllers, opened: Bench) -> None:
    assert names(opened) == ["Damaged", "Late", "Praise"]
    button = opened.panel.labels.buttons[0]
    assert button.accessibleName() == "Damaged"
    assert button.accessibleDescription() == "SCE 80%, Similarity 20%, key 1"
    assert opened.panel.labels.legend.accessibleDescription() == "SCE, Similarity"
    assert opened.panel.title.whole() == "Row 1"
    assert opened.panel.facts.text() == "3 words"
    assert opened.panel.text.view.toPlainText() == TEXTS[0]


def test_accept_takes_the_best_label_and_goes_on(controllers: Controllers, opened: Bench) -> None:
    assert opened.panel.decision.accept.text() == "Accept Damaged ⏎"
    press(opened, Qt.Key.Key_Return)
    assert decided(controllers, 1) == (Decision.LABEL, (controllers.workspace.labels[1].id,))
    assert controllers.navigation.current_row == 2


def test_where_nothing_is_predicted_nothing_is_there_to_accept(
    qtbot: QtBot, controllers: Controllers, bench: Bench, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(texts=TEXTS, labels=LABELS))
    settle(qtbot, controllers)
    accept = bench.panel.decision.accept
    assert not accept.isVisible()
    bench.panel.decision.set_found(("give", "Late"))
    assert (accept.isVisible(), accept.accessibleName()) == (True, "Label as Late")
    bench.panel.decision.set_found(None)
    assert not accept.isVisible()


def test_enter_keeps_what_a_person_decided(controllers: Controllers, opened: Bench) -> None:
    praise = (Decision.LABEL, (controllers.workspace.labels[2].id,))
    opened.panel.labels.buttons[2].click()
    controllers.navigation.stepAsked.emit(-1)
    accept = opened.panel.decision.accept
    assert (accept.text(), accept.accessibleName()) == ("Keep Praise ⏎", "Keep Praise")
    assert controllers.workspace.project is not None
    before = controllers.workspace.project.annotations([1])
    press(opened, Qt.Key.Key_Return)
    assert (decided(controllers, 1), controllers.navigation.current_row) == (praise, 2)
    assert (
        controllers.workspace.project.annotations([1]) == before
    )  # nothing is written: not its time, not its queue
    for decision, name in ((Decision.NONE, "None of these"), (Decision.SKIPPED, "Skipped")):
        controllers.edits.decide([2], decision)
        assert accept.text() == f"Keep {name} ⏎"
        press(opened, Qt.Key.Key_Return)
        assert decided(controllers, 2) == (decision, ())
        controllers.navigation.set_current_row(2)


def test_enter_makes_an_answer_in_bulk_one_by_hand(controllers: Controllers, opened: Bench) -> None:
    assert controllers.workspace.project is not None
    praise = controllers.workspace.labels[2].id or 0
    controllers.edits.decide([1], Decision.LABEL, [praise], origin=Origin.BULK)
    assert opened.panel.decision.accept.text() == "Keep Praise ⏎"
    press(opened, Qt.Key.Key_Return)
    kept = controllers.workspace.project.annotations([1])[1]
    assert (kept.label_ids, kept.origin, controllers.navigation.current_row) == ((praise,), Origin.HAND, 2)
    controllers.edits.undo()
    assert controllers.workspace.project.annotations([1])[1].origin is Origin.BULK


def test_enter_keeps_all_labels_that_were_ticked(controllers: Controllers, opened: Bench) -> None:
    score_no_edits(controllers)
    assert controllers.edits.set_labels(controllers.workspace.labels, multi_label=True)
    late, damaged, _ = (label.id or 0 for label in controllers.workspace.labels)
    press(opened, Qt.Key.Key_1)
    press(opened, Qt.Key.Key_2)
    assert opened.panel.decision.accept.accessibleName() == "Keep Late + Damaged"
    press(opened, Qt.Key.Key_Return)
    assert decided(controllers, 1) == (Decision.LABEL, (late, damaged))
    assert controllers.navigation.current_row == 2
    assert opened.panel.decision.accept.accessibleName() == "Accept Damaged"


def in_order(qtbot: QtBot, controllers: Controllers, bench: Bench, order: RowOrder) -> list[int]:
    """Choose a queue as its menu does, and return its rows."""
    query = order_by(controllers.navigation.query, order, controllers.workspace.runs)
    assert query is not None
    with qtbot.waitSignal(bench.rows.model.idsChanged):
        controllers.navigation.set_query(query)
    settle(qtbot, controllers)
    return [int(row_id) for row_id in bench.rows.model.ids]


@pytest.mark.parametrize("order", [RowOrder.DISAGREE, RowOrder.CONFIDENCE, RowOrder.RANDOM, RowOrder.FILE])
def test_who_labels_goes_from_open_row_to_open_row(
    qtbot: QtBot, controllers: Controllers, opened: Bench, order: RowOrder
) -> None:
    controllers.scorer.set_baselines(("similarity",))
    controllers.scorer.refresh()
    if order is RowOrder.FILE:
        in_order(qtbot, controllers, opened, RowOrder.LENGTH)
    plain = order_by(controllers.navigation.query, order, controllers.workspace.runs)
    assert plain is not None
    assert controllers.workspace.project is not None
    rows = [int(i) for i in controllers.workspace.project.row_ids(plain) if i != 3]  # row 3 has no text
    controllers.edits.decide([rows[0]], Decision.NONE)
    controllers.edits.decide([rows[2]], Decision.SKIPPED)
    assert [i for i in in_order(qtbot, controllers, opened, order) if i != 3] == rows
    assert controllers.navigation.current_row == rows[1]  # the first that nobody has answered
    press(opened, Qt.Key.Key_1)
    assert controllers.navigation.current_row == rows[3]
    press(opened, Qt.Key.Key_1)
    assert controllers.navigation.current_row == rows[3]  # none is left below


def test_who_corrects_goes_from_row_to_row(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    controllers.edits.decide([1, 2], Decision.NONE)
    controllers.navigation.set_current_row(2)
    controllers.navigation.set_current_row(1)
    press(opened, Qt.Key.Key_3)
    assert controllers.navigation.current_row == 2
    press(opened, Qt.Key.Key_Backspace)  # it is open again: what follows labels it
    controllers.edits.decide([4], Decision.NONE)
    press(opened, Qt.Key.Key_1)
    assert controllers.navigation.current_row == 5


def test_an_open_row_is_found_however_far_it_is(
    controllers: Controllers, opened: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_view, "LOOKED_AHEAD", (1, 4))
    controllers.edits.decide([2, 4], Decision.NONE)
    press(opened, Qt.Key.Key_1)
    assert controllers.navigation.current_row == 5


def test_ticking_labels_and_enter_goes_to_the_next_open_row(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    score_no_edits(controllers)
    assert controllers.edits.set_labels(controllers.workspace.labels, multi_label=True)
    controllers.edits.decide([2], Decision.NONE)
    press(opened, Qt.Key.Key_1)
    press(opened, Qt.Key.Key_2)
    press(opened, Qt.Key.Key_Return)
    assert controllers.navigation.current_row == 4


def test_a_decision_is_on_the_disk_before_the_next_row_is_shown(
    controllers: Controllers, opened: Bench
) -> None:
    seen: list[object] = []

    def look(row_id: int | None) -> None:
        if row_id == 2:
            seen.append(decided(controllers, 1))

    controllers.navigation.currentRowChanged.connect(look)
    opened.panel.accept()
    assert seen == [(Decision.LABEL, (controllers.workspace.labels[1].id,))]


def test_keys_decide_mark_and_step(controllers: Controllers, opened: Bench) -> None:
    press(opened, Qt.Key.Key_3)
    press(opened, Qt.Key.Key_0)
    assert controllers.navigation.current_row == 4  # row 3 has no text
    press(opened, Qt.Key.Key_K)
    press(opened, Qt.Key.Key_S)
    assert controllers.navigation.current_row == 4
    assert decided(controllers, 1) == (
        Decision.LABEL,
        (controllers.workspace.labels[2].id,),
    )  # the third best
    assert decided(controllers, 2) == (Decision.NONE, ())
    assert decided(controllers, 3) == (Decision.SKIPPED, ())
    press(opened, Qt.Key.Key_F)
    press(opened, Qt.Key.Key_U)
    assert controllers.workspace.project is not None
    marks = controllers.workspace.project.marks([4])[4]
    assert (marks.flag, marks.unsure) == (True, True)
    press(opened, Qt.Key.Key_F)
    assert not controllers.workspace.project.marks([4])[4].flag
    press(opened, Qt.Key.Key_K)
    assert controllers.navigation.current_row == 3
    press(opened, Qt.Key.Key_J)
    assert controllers.navigation.current_row == 4


def test_a_row_without_text_gets_no_label(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    controllers.navigation.set_current_row(3)
    for key in (Qt.Key.Key_1, Qt.Key.Key_0):
        with qtbot.waitSignal(controllers.messages.notified) as told:
            press(opened, key)
        assert told.args == [
            "Row 3 has no text, so there is nothing to label. Skip it, or go to the next row.",
            "warn",
        ]
        assert decided(controllers, 3) is None
        assert controllers.navigation.current_row == 3
    controllers.navigation.set_query(RowQuery(order=RowOrder.LENGTH))
    settle(qtbot, controllers)
    model = opened.rows.model
    assert sorted(model.ids) == [1, 2, 4, 5]


def test_single_keys_are_dead_in_a_text_field(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    opened.field.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is opened.field)
    for key in (Qt.Key.Key_1, Qt.Key.Key_0, Qt.Key.Key_S, Qt.Key.Key_F, Qt.Key.Key_J, Qt.Key.Key_Return):
        press(opened, key)
    assert opened.field.text().lower() == "10sfj"
    assert controllers.navigation.current_row == 1
    assert [decided(controllers, row) for row in range(1, 6)] == [None] * 5
    press(opened, Qt.Key.Key_U)
    opened.rows.table.setFocus()
    press(opened, Qt.Key.Key_1)
    assert decided(controllers, 1) is not None


def test_return_on_a_button_presses_no_other(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    opened.panel.decision.skip.setFocus()
    press(opened, Qt.Key.Key_Return)
    assert decided(controllers, 1) is None
    press(opened, Qt.Key.Key_Space)
    assert decided(controllers, 1) == (Decision.SKIPPED, ())


def test_a_note_goes_to_the_row_it_was_written_for(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    press(opened, Qt.Key.Key_N)
    note = opened.panel.decision.note
    qtbot.waitUntil(note.hasFocus)
    QTest.keyClicks(note, "1 sure: not u")
    controllers.navigation.stepAsked.emit(1)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.marks([1])[1].note == "1 sure: not u"
    assert 2 not in controllers.workspace.project.marks([2])
    assert [decided(controllers, row) for row in (1, 2)] == [None, None]
    assert note.toPlainText() == ""
    controllers.navigation.stepAsked.emit(-1)
    assert note.toPlainText() == "1 sure: not u"
    note.setFocus()
    press(opened, Qt.Key.Key_Escape)
    qtbot.waitUntil(opened.rows.table.hasFocus)  # where the keys are those of the rows


def test_a_note_left_by_control_return_gives_the_keys_back(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    press(opened, Qt.Key.Key_N)
    note = opened.panel.decision.note
    qtbot.waitUntil(note.hasFocus)
    QTest.keyClicks(note, "seen")
    QTest.keyClick(note, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(opened.rows.table.hasFocus)
    press(opened, Qt.Key.Key_Down)
    assert controllers.navigation.current_row == 2
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.marks([1])[1].note == "seen"


def test_a_text_is_seen_whole_where_there_is_room(theme: Theme, qtbot: QtBot) -> None:
    """Also where it was laid out in less height before, with a scroll bar that takes width from it."""
    place = QWidget()
    qtbot.addWidget(place)
    text = RowText(place)
    view = text.view
    view.setParent(place)
    place.resize(252, 400)
    place.show()
    for count in range(4, 60):
        text.set_text("The app closes by itself when I track my parcel. " * 9)
        view.setGeometry(0, 0, 252, 50)
        text.set_text(" ".join(["parcel", "a", "lost,"][place % 3] for place in range(count)))
        view.resize(252, min(view.sizeHint().height(), 400))
        if view.sizeHint().height() < px(230):
            assert not view.verticalScrollBar().isVisible()
            assert view.document().size().height() <= view.viewport().height()
            assert view.viewport().width() == 252


@pytest.mark.parametrize("height", [63, 77, 90, 99, 121])
def test_no_line_of_a_text_is_cut_through_at_the_foot(theme: Theme, qtbot: QtBot, height: int) -> None:
    place = QWidget()
    qtbot.addWidget(place)
    text = RowText(place)
    text.view.setParent(place)
    place.show()
    text.set_text("The app closes by itself when I track my parcel. " * 9)
    text.view.setGeometry(0, 0, 252, height)
    assert text.view.verticalScrollBar().isVisible()
    lines = text.view.document().firstBlock().layout()
    ends = [ceil(lines.lineAt(place).rect().bottom()) for place in range(lines.lineCount())]
    assert text.view.viewport().height() in ends
    assert text.view.height() - text.view.viewport().height() < ends[0]


def test_a_note_is_written_on_at_its_end(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    controllers.edits.set_marks([1, 2], note="look at this")
    note = opened.panel.decision.note
    controllers.navigation.stepAsked.emit(1)
    press(opened, Qt.Key.Key_N)
    qtbot.waitUntil(note.hasFocus)
    QTest.keyClicks(note, " again")
    controllers.navigation.stepAsked.emit(-1)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.marks([2])[2].note == "look at this again"


def test_a_decision_can_be_taken_back(controllers: Controllers, opened: Bench) -> None:
    opened.panel.labels.buttons[2].click()
    controllers.navigation.stepAsked.emit(-1)
    bar = opened.panel.decision
    assert bar.state.whole() == "✓ Praise, by hand"
    assert [button.accessibleDescription().endswith("chosen") for button in opened.panel.labels.buttons] == [
        False,
        False,
        True,
    ]
    bar.back.click()
    assert decided(controllers, 1) is None
    assert not bar.state.isVisible()
    assert controllers.navigation.current_row == 1


def test_what_was_decided_is_said_until_the_next_edit(controllers: Controllers, opened: Bench) -> None:
    controllers.edits.decide([1], Decision.SKIPPED)
    assert opened.panel.last.words.text() == "Row 1: Skipped"
    controllers.edits.set_marks([2], flag=True)  # its Undo would take back the flag
    assert (opened.panel.last.words.text(), opened.panel.last.button.isHidden()) == ("", True)


def test_what_others_answered_is_shown_once_one_has_decided(controllers: Controllers, opened: Bench) -> None:
    assert controllers.workspace.project is not None
    controllers.workspace.project.add_coder("gold", "column “topic”", {1: "Damaged", 2: "Late"})
    controllers.navigation.set_current_row(2)
    controllers.navigation.set_current_row(1)
    assert not opened.panel.others.isVisible()
    controllers.edits.decide([1], Decision.SKIPPED)
    assert not opened.panel.others.isVisible()
    controllers.edits.decide([1], Decision.NONE)
    assert (opened.panel.others.isVisible(), opened.panel.others.text()) == (True, "gold: Damaged")
    controllers.edits.undo()
    assert not opened.panel.others.isVisible()


def test_several_labels_are_added_and_removed(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    score_no_edits(controllers)
    assert controllers.edits.set_labels(controllers.workspace.labels, multi_label=True)
    late, damaged, _ = (label.id or 0 for label in controllers.workspace.labels)
    opened.panel.choose_label(damaged)
    opened.panel.choose_label(late)
    assert decided(controllers, 1) == (Decision.LABEL, (late, damaged))
    assert controllers.navigation.current_row == 1
    opened.panel.choose_label(damaged)
    opened.panel.choose_label(late)
    assert decided(controllers, 1) is None


def test_a_very_long_text_comes_in_parts_and_what_is_read_is_reported(
    qtbot: QtBot, controllers: Controllers, bench: Bench, make_project: MakeProject
) -> None:
    long = "word " * 60000
    open_in(qtbot, controllers, make_project(texts=(long, "ok"), labels=LABELS))
    settle(qtbot, controllers)
    text = bench.panel.text
    assert text.view.toPlainText() == long[:FIRST_PART]
    assert text.note.text() == "Read: 256 tokens"  # beside the button, in few words
    assert text.note.toolTip() == "The model reads only the first 256 tokens of this text."
    assert text.more.toolTip() == "296,000 more characters"
    text.more.click()
    assert len(text.view.toPlainText()) == FIRST_PART + NEXT_PART
    controllers.navigation.stepAsked.emit(1)
    assert text.view.toPlainText() == "ok"
    assert not text.note.isVisible()
    assert not text.more.isVisible()


def test_how_much_is_read_is_counted_by_the_model_when_it_is_not_sure(
    qtbot: QtBot,
    controllers: Controllers,
    bench: Bench,
    make_project: MakeProject,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    middling = "Donaudampfschifffahrtsgesellschaft " * 30
    asked: list[str] = []

    def count_tokens(
        _model_cache: object, _choice: object, text: str, *, progress: object
    ) -> tuple[int, int]:
        asked.append(text)
        return 300, 128

    monkeypatch.setattr("sce_desktop.controllers.work.count_tokens", count_tokens)
    open_in(qtbot, controllers, make_project(texts=(middling, "ok"), labels=LABELS))
    assert not bench.panel.text.note.isVisible()
    controllers.scorer.ready = True
    controllers.scorer.modelsChanged.emit()
    sentence = "The model reads only the first 128 tokens of this text."
    qtbot.waitUntil(lambda: bench.panel.text.note.accessibleDescription() == sentence)
    assert asked == [middling]


def test_the_text_has_its_own_direction(controllers: Controllers, opened: Bench) -> None:
    view = opened.panel.text.view
    for row_id, direction in ((5, Qt.LayoutDirection.RightToLeft), (1, Qt.LayoutDirection.LeftToRight)):
        controllers.navigation.set_current_row(row_id)
        assert view.document().defaultTextOption().textDirection() is direction


def test_markup_in_texts_and_names_is_plain(
    qtbot: QtBot, controllers: Controllers, bench: Bench, make_project: MakeProject
) -> None:
    nasty = "<b>bold</b> &amp; <img src=x>"
    open_in(qtbot, controllers, make_project(texts=(nasty,), labels=("A & <i>B</i>", "C")))
    settle(qtbot, controllers)
    assert bench.panel.text.view.toPlainText() == nasty
    assert bench.panel.labels.buttons[0].accessibleName() == "A & <i>B</i>"
    bench.panel.labels.buttons[0].click()
    assert bench.panel.decision.state.text().startswith("✓ A & <i>B")


def test_a_label_among_many_is_found_by_typing(
    qtbot: QtBot, controllers: Controllers, bench: Bench, make_project: MakeProject
) -> None:
    many = tuple(f"Intent {number}: {'card' if number % 2 else 'transfer'}" for number in range(200))
    open_in(qtbot, controllers, make_project(texts=TEXTS, labels=many))
    settle(qtbot, controllers)
    labels = bench.panel.labels
    assert len(labels.shown()) == SHOWN
    assert labels.all_button.text() == f"Show {200 - SHOWN} more labels"
    labels.finder.setText("CARD 17")
    assert [line.name for line in labels.shown()] == [
        f"Intent {number}: card" for number in (17, 117, 171, 173, 175, 177, 179)
    ]
    labels.finder.setFocus()
    qtbot.waitUntil(labels.finder.hasFocus)
    press(bench, Qt.Key.Key_Return)
    assert decided(controllers, 1) == (Decision.LABEL, (controllers.workspace.labels[17].id,))
    assert labels.finder.text() == ""
    labels.all_button.click()
    assert len(labels.shown()) == 200


def test_typing_what_no_label_contains_is_reported(
    qtbot: QtBot, controllers: Controllers, bench: Bench, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(texts=TEXTS, labels=tuple(f"Label {n}" for n in range(12))))
    settle(qtbot, controllers)
    press(bench, Qt.Key.Key_Slash)
    labels = bench.panel.labels
    qtbot.waitUntil(labels.finder.hasFocus)
    assert labels.nothing.isHidden()
    qtbot.keyClicks(labels.finder, "zz")
    assert labels.nothing.isVisible()
    assert labels.nothing.text() == "No label contains “zz”. Clear the field to see all labels."
    press(bench, Qt.Key.Key_Escape)
    assert labels.nothing.isHidden()


def test_original_cells_are_there_to_look_at(controllers: Controllers, opened: Bench) -> None:
    cells = opened.panel.cells
    assert cells.form.rowCount() == 0
    cells.button.click()
    assert cells.form.rowCount() == 2
    controllers.navigation.stepAsked.emit(1)
    assert cells.form.rowCount() == 2


def test_duplicates_are_counted(
    qtbot: QtBot, controllers: Controllers, bench: Bench, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project())  # its first text comes twice
    settle(qtbot, controllers)
    assert bench.panel.facts.text() == "3 words · 1 duplicate"


def test_a_read_only_project_offers_no_decision(
    qtbot: QtBot, controllers: Controllers, bench: Bench, path: Path
) -> None:
    with Project.open(path):
        open_in(qtbot, controllers, path)
        settle(qtbot, controllers)
        assert controllers.workspace.read_only
        assert not bench.panel.decision.accept.isEnabled()
        assert not bench.panel.labels.isEnabled()
        opened_row = controllers.navigation.current_row
        press(bench, Qt.Key.Key_1)
        assert controllers.navigation.current_row == opened_row


def test_without_a_project_it_says_what_to_do(controllers: Controllers, bench: Bench) -> None:
    assert bench.panel.empty.isVisible()
    assert not bench.panel.body.isVisible()


def test_everything_pressable_has_a_name(controllers: Controllers, opened: Bench) -> None:
    nameless = [
        button
        for button in opened.panel.findChildren(QAbstractButton)
        if not (button.accessibleName() or button.text())
    ]
    assert nameless == []


def test_keys_of_labels_skip_what_is_taken(tmp_path: Path) -> None:
    label_keys = Keymap(Settings(tmp_path / "settings.json")).label_keys
    labels = [
        Label("A", id=1),
        Label("B", id=2, shortcut="s"),
        Label("C", id=3, shortcut="1"),
        Label("D", id=4, shortcut="d"),
    ]
    assert label_keys(labels) == {4: "D"}
    many = [Label(chr(97 + place), id=place + 1) for place in range(40)]
    assert label_keys(many) == {}


def test_lengths_are_reported_in_what_the_script_counts_by() -> None:
    assert length_of("one") == "1 word"
    assert length_of("one two") == "2 words"
    assert length_of("包裹晚了三天") == "6 characters"
    assert length_of("พัสดุมาช้ามาก") == "13 characters"
    assert least_tokens("Don't, 包裹!") == 2
    assert least_tokens("a " * 5000, most=300) == 300


def test_in_a_low_window_all_is_lower_and_then_all_scrolls(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    panel = opened.panel
    least = panel.minimumSizeHint().height()
    panel.setParent(None)
    panel.setFixedSize(px(260), px(370))
    panel.show()
    controllers.edits.decide([controllers.navigation.current_row or 0], Decision.NONE)
    bar, low = panel.decision, panel.body

    def whole() -> bool:
        """No button is cut or lies on another, and what cannot be seen can be scrolled to."""
        buttons = [bar.accept, bar.none, bar.skip, bar.unsure, bar.flag, bar.note_button]
        places = [b.geometry().translated(b.mapTo(low.inside, QPoint()) - b.pos()) for b in buttons]
        apart = not any(a.intersects(b) for a, b in combinations(places, 2))
        return apart and max(place.bottom() for place in places) < low.inside.height()

    qtbot.waitUntil(whole)
    qtbot.waitUntil(lambda: low.inside.height() == low.viewport().height())
    assert (panel.decision.state.whole(), panel.facts.isVisible()) == ("✓ None of these, by hand", False)
    assert panel.decision.state.mapTo(panel, QPoint()).y() < panel.text.view.mapTo(panel, QPoint()).y()
    panel.setFixedHeight(px(200))
    qtbot.waitUntil(lambda: low.verticalScrollBar().maximum() > 0)
    assert whole()
    assert panel.minimumSizeHint().height() == least  # what a row shows must not push a dock
    bar.edit_note()
    qtbot.waitUntil(lambda: low.viewport().rect().contains(bar.note.mapTo(low.viewport(), QPoint(5, 5))))
    panel.setParent(opened)


@pytest.mark.parametrize("height", [371, 691])  # in a window of 1280x800, with a panel below and without
@pytest.mark.parametrize("text", ["Short", "word " * 250, "word " * 9000], ids=["short", "long", "very long"])
def test_the_likeliest_labels_are_seen_whatever_else_there_is(
    qtbot: QtBot,
    controllers: Controllers,
    theme: Theme,
    bench: Bench,
    make_project: MakeProject,
    height: int,
    text: str,
) -> None:
    names = tuple(f"Intent {number} of somebody who writes at great length" for number in range(12))
    path = make_project(texts=(text, "Next"), labels=names)
    with Project.open(path) as project:
        give_scores(project, [3, 1])
        give_scores(project, [2, 1], alias="similarity")
        project.add_coder("Marta", "marta.csv", {1: "Intent 3"})
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    panel = bench.panel
    panel.setParent(None)
    panel.setFixedSize(px(276), px(height))
    panel.show()
    buttons = panel.labels.buttons[:5]

    def seen() -> bool:
        """The five likeliest, the next step, and nothing on top of them."""
        view, accept = panel.area.viewport(), panel.decision.accept
        end = panel.area.mapTo(panel, QPoint(0, panel.area.height())).y()
        whole = all(view.rect().contains(button.geometry()) for button in buttons)
        return (
            whole
            and end <= accept.mapTo(panel, QPoint()).y()
            and not panel.body.verticalScrollBar().maximum()
        )

    qtbot.waitUntil(seen)
    assert next(button.line.name for button in buttons if button.line) == names[3]
    controllers.edits.decide([1], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    qtbot.waitUntil(seen)
    assert panel.width() == px(276)
    assert panel.body.inside.width() == panel.body.viewport().width()  # nothing is cut off at the side
    panel.setParent(bench)


def test_a_line_is_cut_to_what_its_font_leaves_room_for(opened: Bench) -> None:
    """The size of the system's text changes while the window is open."""
    facts, said = opened.panel.facts, "2 words · 1 duplicate"
    facts.setText(said)
    facts.setFixedWidth(facts.sizeHint().width())
    assert (facts.text(), facts.toolTip()) == (said, "")
    high, usual = facts.sizeHint().height(), facts.font()
    larger = QFont(usual)
    larger.setPixelSize(2 * facts.fontInfo().pixelSize())
    facts.setFont(larger)
    assert facts.text().endswith("…")
    assert facts.toolTip() == said
    assert facts.sizeHint().height() > high
    facts.setFont(usual)
    assert (facts.text(), facts.toolTip()) == (said, "")


def test_where_it_is_low_the_finder_comes_when_it_is_wanted(
    qtbot: QtBot, controllers: Controllers, bench: Bench, make_project: MakeProject
) -> None:
    texts = ("word " * 250, "Next")
    open_in(qtbot, controllers, make_project(texts=texts, labels=tuple(f"Intent {n}" for n in range(30))))
    settle(qtbot, controllers)
    bench.rows.hide()
    bench.field.setFixedHeight(px(800))  # leaves the panel little
    bench.resize(500, px(1200))
    labels = bench.panel.labels
    qtbot.waitUntil(lambda: not labels.finder.isVisible() and labels.find_button.isVisible())
    area = bench.panel.area
    least = area.minimumHeight()
    labels.find_button.click()
    qtbot.waitUntil(lambda: labels.finder.hasFocus() and not area.verticalScrollBar().value())
    assert area.minimumHeight() > least
    QTest.keyClicks(labels.finder, "29")
    assert [line.name for line in labels.shown()] == ["Intent 29"]
    press(bench, Qt.Key.Key_Escape)
    bench.field.setFocus()
    qtbot.waitUntil(lambda: not labels.finder.isVisible())
    assert area.minimumHeight() == least
    assert len(labels.shown()) == SHOWN
