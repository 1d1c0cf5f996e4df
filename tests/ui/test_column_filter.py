"""A filter by a click in a heading: values, blank cells, contains, from and to, and the program's columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTreeWidgetItem
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.own_columns import OwnColumn
from sce_desktop.core.errors import UserError
from sce_desktop.core.query import CellFilter, RowOrder, RowQuery, RowState
from sce_desktop.core.readings import Kind
from sce_desktop.store.project import Project
from sce_desktop.ui.rows import column_filter
from sce_desktop.ui.rows.column_filter import ColumnFilterDialog
from sce_desktop.ui.rows.filter_bar import FilterBar
from sce_desktop.ui.rows.filter_forms import (
    BASELINE,
    MARKS,
    OURS,
    SCE,
    TEXT,
    YOURS,
    FilterAnswer,
    Target,
    answered,
    cleared,
    filtered,
)
from sce_desktop.ui.rows.filter_words import cell_in_words
from sce_desktop.ui.rows.rows_model import Column
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui import columns_project as made
from tests.ui.columns_project import AMOUNT, COLUMNS, DATE, LONG, NOTE, NOTE_AGAIN, REGION
from tests.ui.panels import open_in, settle


@pytest.fixture
def window(qtbot: QtBot, real_window: MainWindow, controllers: Controllers, tmp_path: Path) -> MainWindow:
    open_in(qtbot, controllers, made.make(tmp_path / "columns.sce"))
    controllers.navigation.show_columns([OwnColumn(REGION), OwnColumn(AMOUNT)])
    settle(qtbot, controllers)
    return real_window


@pytest.fixture
def rows(window: MainWindow) -> RowsView:
    (found,) = window.findChildren(RowsView)
    return found


def opened(qtbot: QtBot, window: MainWindow) -> ColumnFilterDialog:
    """The popup that is open, with its values."""
    found = [dialog for dialog in window.findChildren(ColumnFilterDialog) if dialog.isVisible()]
    assert len(found) == 1
    qtbot.waitUntil(lambda: found[0].state.text() != "Loading…")
    return found[0]


def popup(qtbot: QtBot, window: MainWindow, rows: RowsView, target: Target) -> ColumnFilterDialog:
    sections = range(rows.model.columnCount())
    rows.columns.filter_by_section(next(s for s in sections if rows.columns.target_of(s) == target))
    return opened(qtbot, window)


def item(dialog: ColumnFilterDialog, name: str) -> QTreeWidgetItem:
    tree = dialog.values.list
    found = [tree.topLevelItem(at) for at in range(tree.topLevelItemCount())]
    return next(one for one in found if one is not None and one.text(0) == name)


def uncheck(dialog: ColumnFilterDialog, name: str) -> None:
    item(dialog, name).setCheckState(0, Qt.CheckState.Unchecked)


def regions(rows: RowsView, controllers: Controllers) -> set[str | None]:
    project = controllers.workspace.project
    assert project is not None
    return {row.cells[REGION] for row in project.rows(rows.model.ids)}


def test_the_funnel_opens_the_values_with_their_rows_and_does_not_sort(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, window: MainWindow
) -> None:
    header = rows.table.header
    section = rows.model.section_of(REGION)
    assert section is not None
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=header.funnel(section).center())
    dialog = opened(qtbot, window)
    assert controllers.navigation.query.order is RowOrder.FILE
    tree = dialog.values.list
    listed = [(tree.topLevelItem(at).text(0), tree.topLevelItem(at).text(1)) for at in range(4)]  # type: ignore[union-attr]
    assert listed == [("(blank)", "10"), ("north", "10"), ("east", "5"), ("South", "5")]
    assert dialog.all.checkState() is Qt.CheckState.Checked
    assert dialog.accessibleName() == "Filter by region"
    uncheck(dialog, "north")
    assert dialog.all.checkState() is Qt.CheckState.PartiallyChecked
    dialog.accept()
    assert controllers.navigation.query.cells == (CellFilter(REGION, ("north",), without=True),)
    settle(qtbot, controllers)
    assert regions(rows, controllers) == {"South", "", "east", None}
    assert header.filtered == {section}


def test_one_value_blank_cells_and_all_again(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, window: MainWindow
) -> None:
    dialog = popup(qtbot, window, rows, REGION)
    dialog.all.click()
    assert not dialog.ok.isEnabled()
    dialog.accept()  # as by Enter: there is nothing to show
    assert dialog.isVisible()
    item(dialog, "(blank)").setCheckState(0, Qt.CheckState.Checked)
    dialog.accept()
    assert controllers.navigation.query.cells == (CellFilter(REGION, (None,)),)
    settle(qtbot, controllers)
    assert regions(rows, controllers) == {"", None}
    dialog = popup(qtbot, window, rows, REGION)
    assert [item(dialog, name).checkState(0) for name in ("(blank)", "north")] == [
        Qt.CheckState.Checked,
        Qt.CheckState.Unchecked,
    ]
    dialog.all.click()
    dialog.accept()
    assert controllers.navigation.query.cells == ()


def test_from_and_to_where_the_column_reads_so(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, window: MainWindow
) -> None:
    dialog = popup(qtbot, window, rows, REGION)
    assert dialog.range.isHidden()
    dialog.reject()
    dialog = popup(qtbot, window, rows, AMOUNT)
    assert not dialog.range.isHidden()
    dialog.low.setText("20")
    dialog.high.setText("many")
    dialog.accept()
    assert dialog.state.text() == "“many” is not a number."
    assert controllers.navigation.query.cells == ()
    dialog.high.setText("60.5")
    dialog.accept()
    assert controllers.navigation.query.cells == (CellFilter(AMOUNT, low="20", high="60.5"),)
    settle(qtbot, controllers)
    project = controllers.workspace.project
    assert project is not None
    amounts = [float(row.cells[AMOUNT] or "") for row in project.rows(rows.model.ids)]
    assert all(20 <= amount <= 60.5 for amount in amounts)
    assert len(amounts) == sum(20 <= float(made.cells(row)[AMOUNT] or "") <= 60.5 for row in range(30))
    dialog = popup(qtbot, window, rows, AMOUNT)
    assert (dialog.low.text(), dialog.high.text()) == ("20", "60.5")
    dialog.clear_button.click()
    assert controllers.navigation.query.cells == ()


def test_values_are_those_that_other_filters_leave(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, window: MainWindow
) -> None:
    controllers.navigation.set_query(
        RowQuery(cells=(CellFilter(REGION, ("South",)), CellFilter(AMOUNT, low="30")))
    )
    settle(qtbot, controllers)
    dialog = popup(qtbot, window, rows, AMOUNT)
    south = [row for row in range(30) if made.cells(row)[REGION] == "South"]
    assert dialog.values.list.topLevelItemCount() == len(south)
    dialog.contains.setText("1")
    dialog.accept()
    assert controllers.navigation.query.cells == (
        CellFilter(REGION, ("South",)),
        CellFilter(AMOUNT, contains="1", low="30"),
    )


def test_values_beyond_the_limit_are_found_by_typing(
    qtbot: QtBot,
    controllers: Controllers,
    rows: RowsView,
    window: MainWindow,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(column_filter, "MOST_LISTED", 5)
    dialog = popup(qtbot, window, rows, AMOUNT)
    assert dialog.state.text() == "The 5 most frequent of 30 values. Type to find others."
    last = max((made.cells(row)[AMOUNT] or "" for row in range(30)), key=float)
    assert last not in dialog.values.every
    dialog.all.click()
    dialog.values.search.setText(last)
    qtbot.waitUntil(lambda: dialog.values.every == [last])
    item(dialog, last).setCheckState(0, Qt.CheckState.Checked)
    dialog.values.search.clear()
    qtbot.waitUntil(lambda: len(dialog.values.every) == 5)
    dialog.accept()
    assert controllers.navigation.query.cells == (CellFilter(AMOUNT, (last,)),)


@pytest.mark.parametrize("column", [NOTE, NOTE_AGAIN, LONG])
def test_odd_values_find_their_rows(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, window: MainWindow, column: int
) -> None:
    dialog = ColumnFilterDialog(controllers.workspace, controllers.navigation, window, target=column)
    dialog.show()
    dialog = opened(qtbot, window)
    odd = next(key for key in dialog.values.every if key not in ("x", "a\nb\tc", "second note", "short"))
    assert "\n" not in dialog.values.list.topLevelItem(dialog.values.every.index(odd)).text(0)  # type: ignore[union-attr]
    dialog.all.click()
    dialog.values.check([odd], on=True)
    dialog._on_item()
    dialog.accept()
    settle(qtbot, controllers)
    assert len(rows.model.ids) == 1


def test_our_columns_have_the_same_popup(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, window: MainWindow
) -> None:
    project = controllers.workspace.project
    assert project is not None
    late = controllers.workspace.labels[0].id
    dialog = popup(qtbot, window, rows, SCE)
    uncheck(dialog, "Damaged")
    uncheck(dialog, "Praise")
    dialog.low.setText("50")
    dialog.high.setText("200")
    dialog.accept()
    assert dialog.state.text() == "“200” is not a number from 0 to 100."
    dialog.high.clear()
    dialog.accept()
    query = controllers.navigation.query
    assert (query.predicted_ids, query.confidence) == ((late,), (0.5, 1.0))
    settle(qtbot, controllers)
    assert len(rows.model.ids) == 10
    assert rows.table.header.filtered == {Column.SCE, Column.CELLS}
    dialog = popup(qtbot, window, rows, YOURS)
    dialog.choice.setCurrentText("Unlabelled")
    dialog.accept()
    assert controllers.navigation.query.state is RowState.UNLABELLED
    dialog = popup(qtbot, window, rows, TEXT)
    dialog.contains.setText("number 3 ")
    dialog.accept()
    assert controllers.navigation.query.search == "number 3 "
    settle(qtbot, controllers)
    assert rows.model.ids.tolist() == [4]
    dialog = popup(qtbot, window, rows, BASELINE)
    dialog.choice.setCurrentText("Models disagree")
    dialog.accept()
    assert controllers.navigation.query.disagree is True


@pytest.mark.parametrize("target", [0, *OURS])
def test_what_is_cleared_is_not_filtered_by(target: Target) -> None:
    query = RowQuery(
        search="a",
        pattern="b",
        cells=(CellFilter(0, ("x",)), CellFilter(1, contains="y")),
        state=RowState.FLAGGED if target == MARKS else RowState.SKIPPED,
        label_ids=(1,),
        run_id=1,
        predicted_ids=(2,),
        compare=(1, 2),
        disagree=True,
        blank=False,
    )
    assert target in filtered(query)
    assert filtered(query) - filtered(cleared(target, query)) == {target}


def test_bounds_are_read_as_the_column_is() -> None:
    answer = FilterAnswer(range=(" 2024-05-01 ", ""))
    assert answered(0, RowQuery(), answer, Kind.DATE, ()).cells == (CellFilter(0, low="2024-05-01"),)
    with pytest.raises(UserError, match="not a number"):
        answered(0, RowQuery(), answer, Kind.NUMBER, ())
    with pytest.raises(UserError, match="not a date"):
        answered(0, RowQuery(), FilterAnswer(range=("5", "")), Kind.DATE, ())


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (CellFilter(0, ("a", None)), "c: a, (blank)"),
        (CellFilter(0, ("a",), without=True), "c: not a"),
        (CellFilter(0, ("a", "b", "c", "d"), contains="x"), "c: a, b, c and 1 more, contains “x”"),
        (CellFilter(0, low="1", high="2"), "c: 1 to 2"),
        (CellFilter(0, low="1"), "c: ≥ 1"),
        (CellFilter(0, high="2"), "c: ≤ 2"),
        (CellFilter(1, ("a\nb",)), "Column 2: a b"),
        (CellFilter(7, ("a",)), "?: a"),
    ],
)
def test_a_filter_in_words(wanted: CellFilter, words: str) -> None:
    assert cell_in_words(wanted, ("c", "")) == words


def test_a_chip_shows_each_filter_and_a_click_clears_it(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, window: MainWindow
) -> None:
    (bar,) = window.findChildren(FilterBar)
    cells = (
        CellFilter(REGION, ("north",)),
        CellFilter(LONG, contains="y" * 300),
        CellFilter(DATE, low="2024-01-01"),
    )
    controllers.navigation.set_query(RowQuery(search="parcel", cells=cells))
    settle(qtbot, controllers)
    names = [chip.accessibleName() for chip in bar.columns.chips]
    assert names[0] == "region: north"
    assert names[2] == "date: ≥ 2024-01-01"
    assert all(chip.sizeHint().width() < 320 for chip in bar.columns.chips)
    assert bar.more.text() == "More ▾"
    bar.columns.chips[1].click()
    assert controllers.navigation.query == RowQuery(search="parcel", cells=(cells[0], cells[2]))
    assert [chip.accessibleName() for chip in bar.columns.chips] == [names[0], names[2]]
    bar.all.click()
    assert bar.columns.chips == []


def test_many_filters_share_the_last_chip(qtbot: QtBot, controllers: Controllers, window: MainWindow) -> None:
    (bar,) = window.findChildren(FilterBar)
    cells = tuple(CellFilter(column, without=True, values=("none such",)) for column in range(len(COLUMNS)))
    controllers.navigation.set_query(RowQuery(cells=cells))
    settle(qtbot, controllers)
    assert len(bar.columns.chips) == 6
    bar.columns.chips[-1].click()
    assert controllers.navigation.query.cells == cells[:5]


def test_the_keyboard_opens_and_answers_the_filter(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, window: MainWindow
) -> None:
    section = rows.model.section_of(REGION)
    assert section is not None
    rows.table.setCurrentIndex(rows.model.index(0, section))
    QTest.keyClick(rows.table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    dialog = opened(qtbot, window)
    assert dialog.target == REGION
    qtbot.waitUntil(lambda: dialog.focusWidget() is dialog.values.search)
    QTest.keyClicks(dialog.values.search, "nor")
    assert dialog.values.shown == ["north"]
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    named = (
        dialog.column,
        dialog.contains,
        dialog.low,
        dialog.high,
        dialog.values.search,
        dialog.values.list,
    )
    assert all(widget.accessibleName() for widget in named)


def test_a_press_on_a_funnel_that_is_let_go_elsewhere_does_nothing(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, window: MainWindow
) -> None:
    header = rows.table.header
    at = header.funnel(rows.model.section_of(REGION) or 0).center()
    QTest.mousePress(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseRelease(header.viewport(), Qt.MouseButton.LeftButton, pos=at - QPoint(60, 0))
    assert not any(dialog.isVisible() for dialog in window.findChildren(ColumnFilterDialog))
    assert controllers.navigation.query == RowQuery()


def test_rows_that_are_added_are_filtered_too(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, window: MainWindow
) -> None:
    controllers.navigation.set_query(RowQuery(cells=(CellFilter(AMOUNT, low="1000"),)))
    settle(qtbot, controllers)
    assert len(rows.model.ids) == 0
    project = controllers.workspace.project
    assert isinstance(project, Project)
    new = list(made.cells(0))
    new[AMOUNT] = "5000"
    project.add_rows(COLUMNS, [[tuple(new)]], text_columns=[0], source={})
    controllers.workspace.rowsChanged.emit()
    settle(qtbot, controllers)
    assert rows.model.ids.tolist() == [31]
