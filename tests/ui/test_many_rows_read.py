"""Texts or cells of millions of rows that have to be read, at small scale: of the first ones first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import rows_data
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.ui.rows import rows_finder
from sce_desktop.ui.rows.rows_view import RowsView
from tests.ui.many_rows_bench import (  # noqa: F401
    ROWS,
    few_tested_fixture,
    opened_fixture,
    path_fixture,
    without_end,
)
from tests.ui.panels import settle


def test_columns_are_read_with_a_progress_that_can_be_stopped(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    project = controllers.workspace.project
    assert project is not None
    query = RowQuery(order=RowOrder.COLUMN, order_column=0)
    assert project.must_read(query)
    opened.model.find()  # of rows that are there
    settle(qtbot, controllers)
    controllers.navigation.set_query(query)
    (job,) = controllers.workspace.workers.orders.jobs
    assert not job.quiet
    with qtbot.waitSignals([opened.model.searching, job.ended], raising=True):
        job.cancel()
    assert opened.model.query != query or len(opened.model.ids) == ROWS


@pytest.mark.usefixtures("few_tested")
@pytest.mark.parametrize("order", [RowOrder.FILE, RowOrder.CONFIDENCE])
def test_rows_that_are_read_for_a_search_come_before_their_number(
    qtbot: QtBot, controllers: Controllers, opened: RowsView, order: RowOrder
) -> None:
    project, model = controllers.workspace.project, opened.model
    assert project is not None
    seen: list[tuple[int, bool, int | None]] = []
    model.idsChanged.connect(
        lambda: seen.append((model.rowCount(), model.counted, controllers.navigation.found))
    )
    query = RowQuery(search="text 1", order=order, run_id=1)
    with qtbot.waitSignal(model.completed):
        controllers.navigation.set_query(query)
    whole = project.row_ids(query)
    ((count, counted, found),) = seen
    assert (0 < count < len(whole), counted, found) == (True, False, None)
    assert model.ids.tolist() == whole.tolist()
    assert (model.rowCount(), model.counted, controllers.navigation.found) == (len(whole), True, len(whole))
    qtbot.waitUntil(lambda: opened.hint.text() == "")


@pytest.mark.usefixtures("few_tested")
def test_of_what_is_far_down_the_table_none_is_shown_at_first(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    counts: list[int] = []
    opened.model.idsChanged.connect(lambda: counts.append(opened.model.rowCount()))
    with qtbot.waitSignal(opened.model.completed):
        controllers.navigation.set_query(RowQuery(search="49"))  # too short for the index
    assert counts == [0]
    assert opened.model.ids.tolist() == [50, 150, 250, 300, 400, 500]
    assert controllers.navigation.current_row == 50
    assert opened.pages.currentIndex() == 0
    with qtbot.waitSignal(opened.model.completed):
        controllers.navigation.set_query(RowQuery(search="zz"))
    assert opened.model.rowCount() == 0
    assert controllers.navigation.current_row is None
    qtbot.waitUntil(lambda: "Finding" not in opened.empty.text())


@pytest.mark.usefixtures("few_tested")
def test_a_search_that_leaves_some_thousand_rows_shows_the_first_and_is_whole_when_repeated(
    qtbot: QtBot, controllers: Controllers, opened: RowsView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_data, "MANY_ROWS", ROWS)
    monkeypatch.setattr(rows_data, "READABLE_ROWS", 60)
    query = RowQuery(search="text 1", run_id=1, confidence=(0.5, 0.9))  # some 400 rows have their text read
    seen: list[bool] = []
    opened.model.idsChanged.connect(lambda: seen.append(opened.model.counted))
    with qtbot.waitSignal(opened.model.completed):
        controllers.navigation.set_query(query)
    settle(qtbot, controllers)
    project = controllers.workspace.project
    assert project is not None
    count = len(project.row_ids(query))
    assert controllers.navigation.found == count
    with qtbot.waitSignal(opened.model.idsChanged), qtbot.assertNotEmitted(opened.model.modelReset):
        opened.refresh()  # finds the same list
    assert seen == [False, True]
    monkeypatch.setattr(rows_data, "MANY_ROWS", ROWS + 1)  # a small project
    with qtbot.waitSignal(opened.model.idsChanged):
        controllers.navigation.set_query(replace(query, search="text 2"))
    assert seen == [False, True, True]


@pytest.mark.usefixtures("few_tested")
def test_that_others_are_found_is_said_where_it_takes_a_while(
    qtbot: QtBot, controllers: Controllers, opened: RowsView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_data, "rest_of", without_end)
    opened._slow_soon.setInterval(1_000_000)
    with qtbot.waitSignal(opened.model.idsChanged):
        controllers.navigation.set_query(RowQuery(search="text 1"))
    assert not opened.model.counted
    assert opened.hint.text() == ""
    opened._slow_soon.setInterval(0)
    qtbot.waitUntil(lambda: opened.hint.text() == "These rows come first. Finding the others…")
    qtbot.waitUntil(lambda: controllers.workspace.workers.orders.busy)
    controllers.workspace.workers.orders.jobs[0].cancel()


def test_what_has_to_read_every_row_says_so_at_once(
    qtbot: QtBot, controllers: Controllers, opened: RowsView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_finder, "MANY_ROWS", 1)
    opened._slow_soon.setInterval(1_000_000)
    query = RowQuery(order=RowOrder.COLUMN, order_column=0)
    controllers.navigation.set_query(query)
    assert opened.hint.text() == "Ordering and filtering…"
    qtbot.waitUntil(lambda: opened.model.query == query)
    settle(qtbot, controllers)
    assert opened.hint.text() == ""
    controllers.navigation.set_query(replace(query, descending=True))  # the column is known by now
    assert opened.hint.text() == ""
    settle(qtbot, controllers)


@pytest.mark.usefixtures("few_tested")
def test_what_was_stopped_says_so_and_everything_is_not_selected_before(
    qtbot: QtBot, controllers: Controllers, opened: RowsView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_data, "rest_of", without_end)
    with qtbot.waitSignal(opened.model.idsChanged):
        controllers.navigation.set_query(RowQuery(search="text 1"))
    opened.table.selectAll()
    assert controllers.navigation.selected_unknown
    assert controllers.navigation.selected == ()
    qtbot.waitUntil(lambda: controllers.workspace.workers.orders.busy)
    (job,) = controllers.workspace.workers.orders.jobs
    assert not job.quiet
    with qtbot.waitSignal(job.ended):
        job.cancel()
    assert not opened.model.counted
    assert opened.hint.text() == "Stopped: more rows may match."
    assert not opened.refresh_button.isHidden()
    assert not controllers.workspace.workers.orders.busy
    monkeypatch.undo()
    monkeypatch.setattr(rows_data, "MANY_ROWS", 10_000)
    with qtbot.waitSignal(opened.model.idsChanged):
        opened.refresh_button.click()
    assert opened.model.counted
    assert opened.hint.text() == ""


@pytest.mark.usefixtures("few_tested")
def test_everything_stays_selected_when_the_rest_is_found(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    with qtbot.waitSignal(opened.model.idsChanged):
        controllers.navigation.set_query(RowQuery(search="text 1"))
    assert not opened.model.counted
    first = len(opened.model.ids)
    opened.table.selectAll()
    qtbot.waitUntil(lambda: opened.model.counted and not opened.model.finder.busy)
    assert list(controllers.navigation.selected) == opened.model.ids.tolist()
    assert len(opened.model.ids) > first
