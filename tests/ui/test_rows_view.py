"""The table and what stands in its place: selection, order, empty states, what is told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.theme import ROW_HEIGHTS, px
from sce_desktop.ui.rows.cell_drawing import strip_cells, strip_width
from sce_desktop.ui.rows.rows_model import Column
from sce_desktop.ui.rows.rows_view import RowsView
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, TEXTS, give_scores, open_in, settle
from tests.ui.wiring import wired

NO_KEY = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def path(make_project: MakeProject) -> Path:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [0, 1, 2, 0])
        give_scores(project, [0, 2, 2, 0], alias="similarity", share=0.6)
    return path


@pytest.fixture
def view(qtbot: QtBot, controllers: Controllers) -> Iterator[RowsView]:
    view = wired(RowsView, controllers)()
    qtbot.addWidget(view)
    view.resize(760, 300)
    view.show()
    yield view
    settle(qtbot, controllers)


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, view: RowsView, path: Path) -> RowsView:
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    return view


def actions(menu: QMenu) -> dict[str, object]:
    return {action.text(): action for action in menu.actions()}


def test_the_first_row_is_chosen_and_the_screen_told(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    assert controllers.navigation.current_row == 1
    qtbot.waitUntil(lambda: controllers.navigation.visible_rows == (1, 2, 3, 4, 5))


def test_choosing_a_row_makes_it_the_current_one_and_back(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    table = opened.table
    qtbot.mouseClick(
        table.viewport(),
        Qt.MouseButton.LeftButton,
        pos=table.visualRect(opened.model.index(3, Column.TEXT)).center(),
    )
    assert controllers.navigation.current_row == 4
    controllers.navigation.set_current_row(2)
    assert table.currentIndex().row() == 1
    assert table.selected_places() == [1]


@pytest.mark.parametrize("control", [NO_KEY, Qt.KeyboardModifier.ControlModifier])
def test_the_selection_goes_along_to_the_ends_and_by_pages(
    qtbot: QtBot,
    controllers: Controllers,
    view: RowsView,
    make_project: MakeProject,
    control: Qt.KeyboardModifier,
) -> None:
    open_in(qtbot, controllers, make_project(texts=[f"text {n}" for n in range(60)], labels=LABELS))
    settle(qtbot, controllers)
    table = view.table

    def press(key: Qt.Key, more: Qt.KeyboardModifier = NO_KEY) -> list[int]:
        QTest.keyClick(table, key, control | more)
        assert controllers.navigation.current_row == table.currentIndex().row() + 1
        first, last = table.shown_places()
        assert first <= table.currentIndex().row() <= last
        return table.selected_places()

    assert press(Qt.Key.Key_End) == [59]
    (page_up,) = press(Qt.Key.Key_PageUp)
    assert 40 < page_up < 58
    assert press(Qt.Key.Key_Home) == [0]
    (page_down,) = press(Qt.Key.Key_PageDown)
    assert 1 < page_down < 20
    assert press(Qt.Key.Key_End, Qt.KeyboardModifier.ShiftModifier) == list(range(page_down, 60))


def test_steps_follow_the_order_and_stop_at_its_ends(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    with qtbot.waitSignal(opened.model.idsChanged):
        controllers.navigation.set_query(RowQuery(descending=True))
    assert controllers.navigation.current_row == 5  # another order begins at its top
    for expected in (4, 3, 2, 1, 1):
        controllers.navigation.stepAsked.emit(1)
        assert controllers.navigation.current_row == expected
    controllers.navigation.stepAsked.emit(-1)
    assert controllers.navigation.current_row == 2


def test_after_a_decision_rows_without_text_are_passed_over(
    qtbot: QtBot, controllers: Controllers, view: RowsView, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(texts=("one", " ", "", "four", ""), labels=LABELS))
    settle(qtbot, controllers)
    controllers.navigation.nextAsked.emit(False)
    assert controllers.navigation.current_row == 4
    controllers.navigation.nextAsked.emit(False)
    assert controllers.navigation.current_row == 5  # nothing else is left: the end is shown as it is
    controllers.navigation.set_current_row(1)
    controllers.navigation.stepAsked.emit(1)
    assert controllers.navigation.current_row == 2  # whoever looks through the rows sees them all


def test_headings_order_through_the_query(qtbot: QtBot, controllers: Controllers, opened: RowsView) -> None:
    header = opened.table.header
    for column, order in (
        (Column.SCE, RowOrder.CONFIDENCE),
        (Column.TEXT, RowOrder.LENGTH),
        (Column.YOURS, RowOrder.ANNOTATION),
        (Column.BASELINE, RowOrder.DISAGREE),
        (Column.NUMBER, RowOrder.FILE),
    ):
        header.sectionClicked.emit(column)
        assert (controllers.navigation.query.order, controllers.navigation.query.descending) == (order, False)
        settle(qtbot, controllers)
    header.sectionClicked.emit(Column.NUMBER)
    assert controllers.navigation.query.descending
    settle(qtbot, controllers)
    assert header.sortIndicatorSection() == Column.NUMBER
    assert opened.model.ids.tolist() == [5, 4, 3, 2, 1]


def test_ordering_by_scores_before_scoring_is_explained(
    qtbot: QtBot, controllers: Controllers, view: RowsView, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(texts=TEXTS, labels=LABELS))
    with qtbot.waitSignal(controllers.messages.notified) as told:
        view.table.header.sectionClicked.emit(Column.SCE)
    assert "Press Score" in told.args[0]
    assert controllers.navigation.query == RowQuery()


def test_a_filter_that_finds_nothing_says_so_and_can_be_cleared(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    controllers.navigation.set_query(RowQuery(search="zebra"))
    settle(qtbot, controllers)
    assert opened.pages.currentIndex() == 1
    assert "zebra" in opened.empty.text()
    assert controllers.navigation.current_row is None
    opened.clear_button.click()
    settle(qtbot, controllers)
    assert opened.pages.currentIndex() == 0
    assert controllers.navigation.current_row == 1


def test_an_empty_page_says_why_a_pattern_is_none(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    with qtbot.waitSignal(opened.model.idsChanged):
        controllers.navigation.set_query(RowQuery(search="iraq[i"))
    assert opened.empty.text() == "No text contains “iraq[i”. Try fewer words, or clear the search."
    with qtbot.waitSignal(controllers.navigation.queryFailed) as failed:
        controllers.navigation.set_query(RowQuery(pattern="iraq[i"))
    assert opened.empty.isVisible()
    assert opened.empty.text() == failed.args[0]
    with qtbot.waitSignal(opened.model.idsChanged):
        controllers.navigation.set_query(RowQuery(pattern="iraq[is]"))
    assert opened.empty.text() == "No row matches the filters. Clear them to see all rows."


@pytest.mark.parametrize(
    ("labels", "scored", "hint"),
    [
        ((), False, "Type them under Labels"),
        (("A",), False, "Press Score"),
        (LABELS, False, "Press Score"),
        (LABELS, True, ""),
    ],
)
def test_what_to_do_next_is_said(
    qtbot: QtBot,
    controllers: Controllers,
    view: RowsView,
    make_project: MakeProject,
    labels: tuple[str, ...],
    scored: bool,
    hint: str,
) -> None:
    path = make_project(texts=TEXTS, labels=labels)
    if scored:
        with Project.open(path) as project:
            give_scores(project, [0, 1, 2, 0])
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    assert hint in view.hint.text()
    assert view.hint.isVisible() == bool(hint)


def test_a_project_without_rows_says_so(
    qtbot: QtBot, controllers: Controllers, view: RowsView, tmp_path: Path
) -> None:
    with Project.create(tmp_path / "Empty.sce") as project:
        path = project.path
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    assert view.empty.text() == "This project has no rows. Choose File > Add rows… to add a table."
    assert not view.clear_button.isVisible()


def test_the_list_stays_while_one_works_down_it(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    controllers.navigation.set_query(RowQuery(state=RowState.UNLABELLED))
    settle(qtbot, controllers)
    assert not opened.refresh_button.isVisible()
    controllers.edits.decide([1], Decision.NONE)
    controllers.navigation.stepAsked.emit(1)
    controllers.edits.decide([2], Decision.SKIPPED)
    assert opened.model.ids.tolist() == [1, 2, 3, 4, 5]
    assert opened.refresh_button.isVisible()
    opened.refresh_button.click()
    settle(qtbot, controllers)
    assert opened.model.ids.tolist() == [3, 4, 5]
    assert controllers.navigation.current_row == 4  # the same place, as the row itself is gone
    assert not opened.refresh_button.isVisible()


def test_scores_do_not_move_selection_or_scroll(
    qtbot: QtBot, controllers: Controllers, view: RowsView, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(texts=tuple(f"Row {i}" for i in range(500)), labels=LABELS))
    settle(qtbot, controllers)
    view.table.choose(300)
    bar = view.table.verticalScrollBar()
    before = bar.value()
    assert before > 0
    assert controllers.workspace.project is not None
    give_scores(controllers.workspace.project, [0] * 500)
    controllers.scorer.refresh()
    settle(qtbot, controllers)
    assert (bar.value(), controllers.navigation.current_row, view.table.selected_places()) == (
        before,
        301,
        [300],
    )
    first, last = view.table.shown_places()
    qtbot.waitUntil(lambda: controllers.navigation.visible_rows == tuple(range(first + 1, last + 2)))


def test_settings_change_the_look_at_once(qtbot: QtBot, controllers: Controllers, opened: RowsView) -> None:
    table = opened.table
    for name in ROW_HEIGHTS:
        controllers.preferences.change_setting("row_height", name)
        assert table.rowHeight(0) >= px(ROW_HEIGHTS[name])
    controllers.preferences.change_setting("label_cells", False)
    assert table.isColumnHidden(Column.CELLS)
    controllers.preferences.change_setting("label_cells", True)
    assert not table.isColumnHidden(Column.CELLS)


def test_the_menu_decides_for_all_selected_rows(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    opened.table.selectAll()
    ids = [int(opened.model.ids[place]) for place in opened.table.selected_places()]
    menu = opened.actions_menu.menu(ids)
    labels = next(action.menu() for action in menu.actions() if action.menu())
    labels.actions()[1].trigger()  # type: ignore[union-attr]
    project = controllers.workspace.project
    assert project is not None
    with_text = [row.id for row in project.rows(ids) if row.text]
    assert len(with_text) == len(ids) - 1
    qtbot.waitUntil(lambda: len(project.annotations(ids)) == len(with_text))
    found = project.annotations(ids)
    assert {a.label_ids for a in found.values()} == {(controllers.workspace.labels[1].id,)}
    assert {a.origin for a in found.values()} == {Origin.BULK}
    actions(menu)["Undo the label"].trigger()  # type: ignore[attr-defined]
    assert controllers.workspace.project.annotations(ids) == {}
    menu.close()


def test_selecting_a_million_rows_does_not_freeze(controllers: Controllers, opened: RowsView) -> None:
    """QTableView.selectAll asks a million rows for their flags: a minute, unless the headings do not look."""
    model = opened.model
    model.beginResetModel()
    model.ids = np.arange(1, 1_000_001)
    model.endResetModel()
    began = time.perf_counter()
    opened.table.selectAll()
    opened.grab()
    assert time.perf_counter() - began < 5
    assert len(controllers.navigation.selected) == 1_000_000
    model._clear()


def test_a_cell_of_the_strip_tells_its_label(opened: RowsView, qtbot: QtBot) -> None:
    table, index = opened.table, opened.model.index(0, Column.CELLS)
    qtbot.waitUntil(lambda: opened.model.row_at(0) is not None)
    area = table.visualRect(index)
    inner = area.adjusted(px(6), 0, -px(6), -1)
    cells = strip_cells(inner, 3)
    tips = [table._delegate._cell_tip(QPoint(int(cell.center().x()), 5), inner, index) for cell in cells]
    assert tips == ["Late: 80%", "Damaged: 10%", "Praise: 10%"]


@pytest.mark.parametrize("count", [1, 2, 8, 30])
def test_cells_of_all_labels_fit_their_column(qtbot: QtBot, count: int) -> None:
    cells = strip_cells(QRect(0, 0, strip_width(count), 30), count)
    assert len(cells) == count
    assert cells[-1].right() <= strip_width(count) + 1
    assert all(left.right() < right.left() for left, right in pairwise(cells))


def test_every_state_can_be_drawn(qtbot: QtBot, controllers: Controllers, opened: RowsView) -> None:
    controllers.edits.decide([1], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    controllers.edits.decide([2], Decision.NONE)
    controllers.edits.decide([4], Decision.SKIPPED)
    controllers.edits.set_marks([1], flag=True, unsure=True, note="Call back")
    for name in ROW_HEIGHTS:
        controllers.preferences.change_setting("row_height", name)
        assert not opened.grab().isNull()


@pytest.mark.parametrize("count", [9, 1_200])
def test_every_mark_is_seen_beside_the_number(
    qtbot: QtBot, controllers: Controllers, view: RowsView, make_project: MakeProject, count: int
) -> None:
    open_in(qtbot, controllers, make_project(texts=[f"text {n}" for n in range(count)], labels=LABELS))
    settle(qtbot, controllers)
    QTest.keyClick(view.table, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: view.model.row_at(count - 1) is not None)
    number = view.table.fontMetrics().horizontalAdvance(str(count))

    def parts() -> list[QImage]:
        """The number, and the places of three marks from the right to it."""
        cell = view.table.visualRect(view.model.index(count - 1, Column.NUMBER))
        picture = view.table.viewport().grab(cell).toImage()
        beside = [QRect(cell.width() - px(2) - px(12) * n, 0, px(11), cell.height()) for n in (1, 2, 3)]
        assert beside[-1].left() > px(6) + number
        return [picture.copy(part) for part in (QRect(0, 0, px(6) + number, cell.height()), *beside)]

    seen = [parts()]
    for mark in ({"flag": True}, {"unsure": True}, {"note": "Call back"}):
        controllers.edits.set_marks([count], **mark)
        qtbot.waitUntil(lambda: view.model.row_at(count - 1) is not None)
        seen.append(parts())
    for more, (before, after) in enumerate(pairwise(seen), 1):
        assert [place for place in range(4) if before[place] != after[place]] == [more]


def test_the_text_takes_what_the_other_columns_leave(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    table = opened.table

    def total() -> int:
        return sum(table.columnWidth(column) for column in range(opened.model.columnCount()))

    assert total() == table.viewport().width()
    controllers.preferences.change_setting("label_cells", False)
    assert total() == table.viewport().width()
    opened.resize(320, 300)
    assert table.columnWidth(Column.TEXT) >= px(100)
    assert table.horizontalScrollBar().maximum() > 0  # the others can be reached


def test_a_new_column_belongs_to_the_selected_rows(
    qtbot: QtBot, controllers: Controllers, opened: RowsView
) -> None:
    opened.table.selectRow(1)
    before = opened.model.columnCount()
    project = controllers.workspace.project
    assert project is not None
    give_scores(project, [0, 1], alias="llm")
    controllers.scorer.show_baseline("llm")
    qtbot.waitUntil(lambda: opened.model.columnCount() > before)
    chosen = opened.table.selectionModel().selection()
    assert [(part.top(), part.bottom(), part.right()) for part in chosen] == [
        (1, 1, opened.model.columnCount() - 1)
    ]


def test_columns_are_as_wide_as_what_they_say(
    qtbot: QtBot, controllers: Controllers, view: RowsView, make_project: MakeProject
) -> None:
    long = "Delivered late although promised"
    open_in(qtbot, controllers, make_project(texts=TEXTS, labels=("Late", "Damaged", long)))
    settle(qtbot, controllers)
    table = view.table
    view.resize(1400, 300)
    name = table.fontMetrics().horizontalAdvance(long)
    empty = [table.columnWidth(c) for c in (Column.YOURS, Column.SCE, Column.BASELINE)]
    assert all(width < name for width in empty), empty
    assert controllers.workspace.project is not None
    give_scores(controllers.workspace.project, [0, 1, 2, 0])
    controllers.scorer.refresh()
    assert table.columnWidth(Column.SCE) > name
    assert table.columnWidth(Column.BASELINE) == empty[2]
    text = table.columnWidth(Column.TEXT)
    controllers.edits.decide([1], Decision.LABEL, [controllers.workspace.labels[2].id or 0])
    qtbot.waitUntil(lambda: table.columnWidth(Column.YOURS) > name)
    assert table.columnWidth(Column.TEXT) < text
    settle(qtbot, controllers)


def test_the_scroll_bar_is_seen_only_where_rows_do_not_fit(
    qtbot: QtBot, opened: RowsView, controllers: Controllers
) -> None:
    bar = opened.table.verticalScrollBar()
    assert bar.isVisible()  # its place is kept
    assert not bar.isEnabled()
    opened.resize(760, 120)
    assert bar.isEnabled()
