"""What is decided in the row panel, and that it lands on the row it was made for."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.queries import order_by
from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.ui.rows import row_walk
from tests.ui.conftest import MakeProject
from tests.ui.panels import open_in, score_no_edits, settle
from tests.ui.row_bench import (  # noqa: F401
    LABELS,
    TEXTS,
    Bench,
    bench_fixture,
    decided,
    opened_fixture,
    path_fixture,
    press,
)


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
    monkeypatch.setattr(row_walk, "LOOKED_AHEAD", (1, 4))
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
