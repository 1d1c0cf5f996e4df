"""Beginning to review: said once when all rows are scored, and then a key or an entry of the menu."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from sce_desktop.core.queues import DEFAULT_QUEUE
from sce_desktop.core.types import Decision
from sce_desktop.store.query import RowQuery
from sce_desktop.ui.filter_bar import FilterBar
from sce_desktop.ui.keys_dialog import KeysDialog
from sce_desktop.ui.main_window import MainWindow
from sce_desktop.ui.queries import order_name
from sce_desktop.ui.review_work import NO_VECTORS
from sce_desktop.ui.rows_view import RowsView
from sce_desktop.ui.session import Session
from sce_desktop.ui.start_review import NOTHING_OPEN, READY
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, open_in, settle
from tests.ui.test_whole_window import LOADED_MS, click, the, whole  # noqa: F401


@pytest.mark.model
def test_the_first_scoring_leads_to_the_default_queue(
    qtbot: QtBot,
    whole: tuple[MainWindow, Session],  # noqa: F811
) -> None:
    window, session = whole
    session.open_sample()
    qtbot.waitUntil(lambda: window.strip.button.isVisible(), timeout=LOADED_MS)
    assert (window.strip.text.text(), window.strip.button.text()) == (READY, "Start reviewing")
    table = the(window, RowsView).table
    assert order_name(session.query) == "file order"  # as it was opened
    window.tool_bar.focus_search()
    click(qtbot, window.strip.button)
    qtbot.waitUntil(lambda: order_name(session.query) == DEFAULT_QUEUE, timeout=LOADED_MS)
    first = session.query.given[0]
    qtbot.waitUntil(lambda: session.current_row == first and table.currentIndex().row() == 0)
    assert table.hasFocus()
    assert window.strip.isHidden()
    QTest.keyClick(table, Qt.Key.Key_1)
    assert session.current_row == session.query.given[1]
    offered: list[object] = []
    session.offered.connect(lambda *told: offered.append(told))
    session.set_query(RowQuery())
    qtbot.waitUntil(lambda: len(the(window, RowsView).model.ids) > 1 and session.lanes.reads.busy is False)
    QTest.keyClick(table, Qt.Key.Key_Q)
    qtbot.waitUntil(lambda: order_name(session.query) == DEFAULT_QUEUE, timeout=LOADED_MS)
    assert first not in session.query.given
    qtbot.waitUntil(lambda: session.current_row == session.query.given[0])
    before = session.query.given
    QTest.keyClick(table, Qt.Key.Key_J)
    (entry,) = (a for a in window.menus.all_actions() if a.text() == "Start &reviewing")
    entry.trigger()  # once more: another draw, from its top
    qtbot.waitUntil(lambda: session.query.given != before, timeout=LOADED_MS)
    qtbot.waitUntil(lambda: session.current_row == session.query.given[0])
    job = session.scorer.score()
    assert job is not None
    qtbot.waitUntil(lambda: session.scorer.job is None, timeout=LOADED_MS)
    settle(qtbot, session)
    assert offered == []


def test_without_vectors_the_reason_is_told(
    qtbot: QtBot, session: Session, make_project: MakeProject
) -> None:
    open_in(qtbot, session, make_project(labels=LABELS))
    with qtbot.waitSignal(session.told) as told:
        session.review.begin()
    assert told.args == [NO_VECTORS, "warn"]
    assert session.query == RowQuery()


def test_where_all_is_answered_it_says_so(
    qtbot: QtBot, session: Session, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sce_desktop.ui import review_work

    open_in(qtbot, session, make_project(labels=LABELS))
    session.decide([1, 2, 4, 5], Decision.NONE)
    monkeypatch.setattr(review_work, "diverse", lambda *_, progress: [])
    with qtbot.waitSignal(session.told) as told:
        session.review.begin()
    assert told.args[0] == NOTHING_OPEN
    settle(qtbot, session)


def test_the_menu_marks_the_queue_to_begin_with_and_the_sheet_has_its_key(
    qtbot: QtBot, session: Session, make_project: MakeProject
) -> None:
    bar = FilterBar(session)
    qtbot.addWidget(bar)
    open_in(qtbot, session, make_project(labels=LABELS))
    menu = bar.order_menu()
    marked: QAction = menu.defaultAction()
    assert marked.text() == "Diverse (recommended)"
    assert [a.text() for a in menu.actions() if "recommended" in a.text()] == [marked.text()]
    dialog = KeysDialog(session)
    qtbot.addWidget(dialog)
    assert dialog.fields["start"].text() == "Q"
    dialog.fields["skip"].set_key("Q")
    assert dialog.problem.text().startswith("Q is the key of")
    settle(qtbot, session)
