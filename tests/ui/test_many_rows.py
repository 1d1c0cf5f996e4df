"""Ways that are for millions of rows, at small scale: the first rows before the rest, everything selected."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QObject, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import rows_data
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Origin
from sce_desktop.core.arrays import IdArray, ManyRows
from sce_desktop.core.errors import UserError
from sce_desktop.core.giving_way import is_answering
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight import duplicates
from sce_desktop.ui.rows import rows_selection, selected_rows
from sce_desktop.ui.rows.row_panel import RowPanel
from sce_desktop.ui.rows.rows_model import Column
from sce_desktop.ui.rows.rows_view import RowsView
from tests.ui.many_rows_bench import (  # noqa: F401
    ROWS,
    opened_fixture,
    path_fixture,
    without_end,
)
from tests.ui.wiring import wired


def test_first_rows_are_shown_before_the_rest_is_sorted(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    project, model = controllers.workspace.project, opened.model
    assert project is not None
    seen: list[tuple[int, int, int | None]] = []
    model.idsChanged.connect(
        lambda: seen.append(
            (model.rowCount(), np.count_nonzero(model.ids), controllers.navigation.current_row)
        )
    )
    query = RowQuery(order=RowOrder.CONFIDENCE, run_id=1)
    with qtbot.waitSignal(model.completed):
        controllers.navigation.set_query(query)
    whole = project.row_ids(query)
    assert seen == [(ROWS, 128, int(whole[0]))] or seen == [(ROWS, 64, int(whole[0]))]
    assert model.ids.tolist() == whole.tolist()
    assert model.whole


def test_a_place_is_kept_that_was_gone_to_before_its_row_was_known(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    project, model = controllers.workspace.project, opened.model
    assert project is not None
    query = RowQuery(order=RowOrder.CONFIDENCE, run_id=1, descending=True)
    model.idsChanged.connect(lambda: opened.table.choose(ROWS - 1))
    with qtbot.waitSignal(model.completed):
        controllers.navigation.set_query(query)
    assert controllers.navigation.current_row == int(project.row_ids(query)[-1])
    qtbot.waitUntil(lambda: model.row_at(ROWS - 1) is not None)


BAD = RowQuery(pattern="(")  # no regular expression


@pytest.mark.parametrize("way", ["fails", "is stopped"])
def test_the_rest_is_found_though_another_query_comes_to_nothing(
    qtbot: QtBot, controllers: Controllers, opened: RowsView, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    project, model = controllers.workspace.project, opened.model
    assert project is not None
    query = RowQuery(order=RowOrder.CONFIDENCE, run_id=1)
    seen: list[bool] = []

    def interrupt() -> None:
        model.idsChanged.disconnect(interrupt)
        seen.append(model.whole)
        if way == "fails":
            controllers.navigation.set_query(BAD)
        else:
            monkeypatch.setattr(rows_data, "find_rows", without_end)
            model.find()
            assert model.finder.job is not None
            model.finder.job.cancel()
        seen.append(model.whole)  # nothing finds the rest, but it is not here either

    model.idsChanged.connect(interrupt)
    with qtbot.waitSignal(model.completed):
        controllers.navigation.set_query(query)
    assert seen == [False, False]
    assert model.ids.tolist() == project.row_ids(query).tolist()
    assert model.whole


def test_a_rest_that_cannot_be_found_is_tried_twice_and_reported_once(
    qtbot: QtBot, controllers: Controllers, opened: RowsView, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    tried: list[RowQuery] = []

    def fail(_project: Project, query: RowQuery, *, progress: object) -> None:
        tried.append(query)
        raise UserError("The disk does not answer.")

    controllers.messages.notified.connect(lambda sentence, _tone: told.append(sentence))
    monkeypatch.setattr(rows_data, "rest_of", fail)
    query = RowQuery(order=RowOrder.CONFIDENCE, run_id=1)
    searching: list[bool] = []
    opened.model.searching.connect(searching.append)
    controllers.navigation.set_query(query)
    qtbot.waitUntil(lambda: searching == [True, False])
    assert tried == [query, query]
    assert told == ["The disk does not answer."]
    assert not opened.model.whole
    monkeypatch.undo()


def test_a_rest_that_is_stopped_with_the_project_is_not_begun_again(
    qtbot: QtBot, controllers: Controllers, opened: RowsView, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[RowQuery] = []

    def wait(project: Project, query: RowQuery, *, progress: Progress) -> None:
        begun.append(query)
        without_end(project, progress=progress)

    monkeypatch.setattr(rows_data, "rest_of", wait)
    controllers.navigation.set_query(RowQuery(order=RowOrder.CONFIDENCE, run_id=1))
    qtbot.waitUntil(lambda: len(begun) == 1)
    controllers.projects.close_project()
    qtbot.waitUntil(lambda: controllers.workspace.project is None)
    assert len(begun) == 1


def test_finding_rows_can_be_stopped(
    controllers: Controllers, opened: RowsView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that sorts is handed the progress that knows of it."""
    project = controllers.workspace.project
    assert project is not None
    given: list[object] = []
    real = Project.row_ids

    def row_ids(
        self: Project, query: RowQuery, progress: Progress | None = None, **keywords: bool
    ) -> IdArray:
        given.append(progress)
        return real(self, query, progress, **keywords)

    monkeypatch.setattr(Project, "row_ids", row_ids)
    monkeypatch.setattr(rows_data, "_first_open", lambda *_: None)
    query, progress = RowQuery(order=RowOrder.CONFIDENCE, run_id=1), SilentProgress()
    rows_data.rest_of(project, query, progress=progress)
    rows_data.find_rows(project, query, None, (), (), to_open=True, progress=progress)
    assert given == [progress, progress]


def test_everything_is_selected_and_accepted_as_one_action(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    project = controllers.workspace.project
    assert project is not None
    opened.table.setFocus()
    QTest.keyClick(opened.table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    selected = controllers.navigation.selected
    assert isinstance(selected, ManyRows)
    assert len(selected) == ROWS
    assert list(selected) == list(range(1, ROWS + 1))
    (run,) = controllers.workspace.runs
    selected_rows.accept_predictions(project, run, selected, 0.0, queue="", progress=SilentProgress())
    assert len(project.answers().row_ids) == ROWS
    assert {one.origin for one in project.annotations([1, ROWS]).values()} == {Origin.BULK}
    change = project.undo()
    assert change is not None
    assert change.rows == ROWS
    assert len(project.answers().row_ids) == 0
    project.redo()
    project.clear_decision(selected)
    assert len(project.answers().row_ids) == 0


@pytest.mark.parametrize("count", [ROWS, 200])
def test_a_key_labels_nothing_while_selected_rows_are_being_found(
    qtbot: QtBot, controllers: Controllers, opened: RowsView, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    project, navigation = controllers.workspace.project, controllers.navigation
    assert project is not None
    panel = wired(RowPanel, controllers)()
    qtbot.addWidget(panel)
    told: list[str] = []
    controllers.messages.notified.connect(lambda sentence, _tone: told.append(sentence))
    gate, real = threading.Event(), rows_data.rest_of

    def rest_of(project: Project, query: RowQuery, *, progress: Progress) -> IdArray:
        gate.wait(5)
        return real(project, query, progress=progress)

    monkeypatch.setattr(rows_data, "rest_of", rest_of)
    monkeypatch.setattr(rows_selection, "MOST_SELECTED", 300)
    query = RowQuery(order=RowOrder.CONFIDENCE, run_id=1)
    with qtbot.waitSignal(opened.model.idsChanged):
        navigation.set_query(query)
    opened.table.choose(0)
    if count == ROWS:
        opened.table.selectAll()
    else:
        flags = QItemSelectionModel.SelectionFlag
        last = opened.model.index(count - 1, 0)
        stretch = QItemSelection(opened.model.index(0, 0), last)
        opened.table.selectionModel().select(stretch, flags.ClearAndSelect | flags.Rows)
    assert not opened.model.whole
    panel.choose_label(1)
    panel.accept()
    panel._take_back()
    panel._mark("flag", True)
    assert told == ["Finding rows: try again in a moment."] * 4
    assert len(project.answers().row_ids) == 0
    assert not project.marks(range(1, ROWS + 1))
    with qtbot.waitSignal(opened.model.completed):
        gate.set()
    assert list(navigation.selected) == project.row_ids(query)[:count].tolist()


def test_one_row_more_and_it_is_a_list_again(controllers: Controllers, opened: RowsView) -> None:
    opened.table.selectAll()
    assert isinstance(controllers.navigation.selected, ManyRows)
    opened.table.choose(3)
    assert controllers.navigation.selected == ()


def test_the_first_rows_alone_are_compared(
    controllers: Controllers, opened: RowsView, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = controllers.workspace.project
    assert project is not None
    monkeypatch.setattr(duplicates, "MOST_COMPARED", 260)
    groups = duplicates.find_groups(project, 1.0, progress=SilentProgress())
    assert sorted(group.row_ids.tolist() for group in groups) == [[n, n + 250] for n in range(1, 11)]


def test_the_rest_begins_when_the_first_rows_are_painted(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    happened: list[str] = []

    class Watch(QObject):
        def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
            if event.type() is QEvent.Type.Paint:
                happened.append("painted")
            return False

    watch = Watch()
    opened.table.viewport().installEventFilter(watch)
    opened.model.idsChanged.connect(lambda: happened.append("found"))
    controllers.workspace.workers.orders.jobSubmitted.connect(lambda _job: happened.append("rest"))
    with qtbot.waitSignal(opened.model.completed):
        controllers.navigation.set_query(RowQuery(order=RowOrder.CONFIDENCE, run_id=1))
    found, rest = happened.index("found"), happened.index("rest")
    assert "painted" in happened[found:rest]


def test_a_list_that_is_asked_for_before_the_rest_has_begun_takes_its_place(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    completed: list[IdArray] = []
    opened.model.completed.connect(lambda: completed.append(opened.model.ids))
    queries = [RowQuery(order=RowOrder.CONFIDENCE, run_id=1, descending=turned) for turned in (False, True)]
    with qtbot.waitSignal(opened.model.idsChanged):
        controllers.navigation.set_query(queries[0])
    assert opened.model.finder.busy
    controllers.navigation.set_query(queries[1])
    qtbot.waitUntil(lambda: not opened.model.finder.busy)
    project = controllers.workspace.project
    assert project is not None
    (ids,) = completed
    assert ids.tolist() == project.row_ids(queries[1]).tolist()


def test_columns_do_not_move_where_a_filter_leaves_rows_with_small_numbers(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    table = opened.table
    table._corner = None  # which is wider than these numbers
    table.fit_columns()
    room = table.columnWidth(Column.NUMBER)
    with qtbot.waitSignal(opened.model.idsChanged):
        controllers.navigation.set_query(RowQuery(among=(1, 2, 3)))
    assert len(opened.model.ids) == 3
    assert table.columnWidth(Column.NUMBER) == room


def test_scrolling_is_an_answer_until_it_is_painted(qtbot: QtBot, opened: RowsView) -> None:
    qtbot.waitUntil(lambda: not is_answering())
    opened.table.verticalScrollBar().setValue(200)
    assert is_answering()
    qtbot.waitUntil(lambda: not is_answering())
