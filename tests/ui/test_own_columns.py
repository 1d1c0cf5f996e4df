"""The user's own columns: beside the text, in the row panel, sorted and filtered by, remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.own_columns import MOST_SHOWN, OwnColumn, read_columns
from sce_desktop.controllers.queries import order_name, queue_name, without_filters
from sce_desktop.controllers.view_state import ViewState, from_json, to_json
from sce_desktop.core.query import CellFilter, RowOrder, RowQuery
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.export import rows_to_export
from sce_desktop.ui.rows.columns_dialog import ColumnsDialog
from sce_desktop.ui.rows.row_panel import RowPanel
from sce_desktop.ui.rows.rows_model import HEADING_ROLE, Column
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui import columns_project as made
from tests.ui.columns_project import AMOUNT, ARABIC, COLUMNS, DATE, LONG, NAMELESS, NOTE, NOTE_AGAIN, REGION
from tests.ui.panels import open_in, settle


@pytest.fixture
def window(qtbot: QtBot, real_window: MainWindow, controllers: Controllers, tmp_path: Path) -> MainWindow:
    """The window with the project of odd columns open."""
    open_in(qtbot, controllers, made.make(tmp_path / "columns.sce"))
    settle(qtbot, controllers)
    return real_window


@pytest.fixture
def rows(window: MainWindow) -> RowsView:
    (found,) = window.findChildren(RowsView)
    return found


def show(qtbot: QtBot, controllers: Controllers, *places: int) -> None:
    controllers.navigation.show_columns(OwnColumn(place) for place in places)
    settle(qtbot, controllers)


def shown(rows: RowsView) -> list[str]:
    """The headings from left to right."""
    header, model = rows.table.header, rows.model
    sections = [header.logicalIndex(at) for at in range(model.columnCount())]
    names = [model.headerData(section, Qt.Orientation.Horizontal, HEADING_ROLE) for section in sections]
    return [
        name for section, name in zip(sections, names, strict=True) if not header.isSectionHidden(section)
    ]


def cell(rows: RowsView, row: int, place: int) -> str:
    section = rows.model.section_of(place)
    assert section is not None
    return rows.model.data(rows.model.index(row, section))


def test_columns_stand_beside_the_text_with_their_cells(
    qtbot: QtBot, controllers: Controllers, rows: RowsView
) -> None:
    before = shown(rows)
    show(qtbot, controllers, DATE, REGION, NAMELESS, NOTE_AGAIN, LONG)
    names = shown(rows)
    assert names[:6] == ["#", "Text", "date", "region", "Column 6", "note"]
    assert len(names[6]) <= 200
    assert names[7:] == before[2:]
    assert cell(rows, 0, REGION) == "north"
    assert cell(rows, 2, REGION) == ""
    assert cell(rows, 1, NOTE_AGAIN) == "second note"
    show(qtbot, controllers, NOTE)
    assert cell(rows, 1, NOTE) == "with\N{REPLACEMENT CHARACTER}NUL"
    show(qtbot, controllers)
    assert shown(rows) == before


def test_the_whole_cell_is_under_the_mouse_as_plain_text(
    qtbot: QtBot, controllers: Controllers, rows: RowsView
) -> None:
    show(qtbot, controllers, NOTE, LONG, REGION)
    tips = {
        place: rows.model.data(
            rows.model.index(row, rows.model.section_of(place) or 0), Qt.ItemDataRole.ToolTipRole
        )
        for place, row in ((NOTE, 0), (LONG, 0), (REGION, 2))
    }
    assert tips[NOTE] == "<span>a\nb\tc</span>"
    assert len(tips[LONG]) > 1_500
    assert tips[REGION] is None


def test_the_text_keeps_half_of_the_table(qtbot: QtBot, controllers: Controllers, rows: RowsView) -> None:
    show(qtbot, controllers, *range(1, len(COLUMNS)))
    assert rows.table.columnWidth(Column.TEXT) >= rows.table.viewport().width() // 2
    assert rows.table.horizontalScrollBar().maximum() > 0


def test_scores_that_come_leave_the_columns_where_they_are(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, window: MainWindow
) -> None:
    show(qtbot, controllers, REGION)
    controllers.navigation.toggle_blind()
    assert shown(rows) == ["#", "Text", "region", "You"]
    assert cell(rows, 0, REGION) == "north"


def test_dragging_a_heading_orders_own_columns_and_moves_no_other(
    qtbot: QtBot, controllers: Controllers, rows: RowsView
) -> None:
    show(qtbot, controllers, REGION, AMOUNT, DATE)
    header = rows.table.header
    header.moveSection(4, 2)  # as a drag does: the date before the region
    own = controllers.navigation
    qtbot.waitUntil(lambda: [column.place for column in own.own_columns] == [DATE, REGION, AMOUNT])
    assert shown(rows)[:5] == ["#", "Text", "date", "region", "amount"]
    settle(qtbot, controllers)
    assert cell(rows, 0, DATE) == "2024-05-03"
    before = shown(rows)
    header.moveSection(header.visualIndex(Column.SCE), 2)
    qtbot.waitUntil(lambda: shown(rows) == before)


def test_widths_are_kept_with_the_project_and_not_in_the_settings(
    qtbot: QtBot, controllers: Controllers, rows: RowsView
) -> None:
    show(qtbot, controllers, REGION, AMOUNT)
    rows.table.widthsChosen.emit({"own 1": 90, "sce": 120})
    assert controllers.navigation.own_columns == (OwnColumn(REGION, 90), OwnColumn(AMOUNT))
    assert rows.table.columnWidth(rows.model.section_of(REGION) or 0) == 90
    assert controllers.preferences.settings["column_widths"] == '{"sce": 120}'


def test_columns_come_back_with_the_project(
    qtbot: QtBot, controllers: Controllers, rows: RowsView, tmp_path: Path
) -> None:
    show(qtbot, controllers, DATE, REGION)
    controllers.navigation.set_query(RowQuery(order=RowOrder.COLUMN, order_column=DATE, descending=True))
    settle(qtbot, controllers)
    query = controllers.navigation.query
    open_in(qtbot, controllers, made.make(tmp_path / "other.sce"))
    settle(qtbot, controllers)
    assert controllers.navigation.own_columns == ()
    open_in(qtbot, controllers, tmp_path / "columns.sce")
    settle(qtbot, controllers)
    assert [column.place for column in controllers.navigation.own_columns] == [DATE, REGION]
    assert controllers.navigation.query == query
    assert shown(rows)[2:4] == ["date", "region"]


@pytest.mark.parametrize(
    ("stored", "columns"),
    [
        (None, ()),
        ("no list", ()),
        (
            [[1, 50], [9, 0], [0, 0], [1, 7], [-1, 0], ["2", 0], [3], 4, [5, -1]],
            (OwnColumn(1, 50), OwnColumn(0)),
        ),
        ([[n, 0] for n in range(400)], (OwnColumn(0), OwnColumn(1), OwnColumn(2))),
    ],
)
def test_what_is_stored_of_columns_may_be_anything(stored: object, columns: tuple[OwnColumn, ...]) -> None:
    assert read_columns(stored, 3) == columns
    assert len(read_columns([[n, 0] for n in range(400)], 400)) == MOST_SHOWN


def test_a_query_about_columns_comes_back_as_it_was(tmp_path: Path) -> None:
    cells = (CellFilter(2, ("a", None), without=True, contains="é", low="1", high="2"), CellFilter(0, ("x",)))
    query = RowQuery(cells=cells, order=RowOrder.COLUMN, order_column=2)
    assert from_json(to_json(query)) == query
    old = {"cells": [{"column": 1, "values": ["a", None]}]}  # as it was stored before there was more
    assert from_json(old) == RowQuery(cells=(CellFilter(1, ("a", None)),))
    kept = ViewState(tmp_path / "places.json")
    kept.keep(tmp_path / "p.sce", query, 1, columns=[OwnColumn(2, 70)])
    assert ViewState(tmp_path / "places.json").own_columns(tmp_path / "p.sce", 3) == (OwnColumn(2, 70),)
    assert ViewState(tmp_path / "places.json").own_columns(tmp_path / "p.sce", 2) == ()


def test_a_click_on_a_heading_sorts_and_another_one_turns_round(
    qtbot: QtBot, controllers: Controllers, rows: RowsView
) -> None:
    show(qtbot, controllers, AMOUNT)
    section = rows.model.section_of(AMOUNT)
    assert section is not None

    def numbers() -> list[float]:
        with Project.open(controllers.workspace.project.path, read_only=True) as project:  # type: ignore[union-attr]
            return [float(row.cells[AMOUNT] or "") for row in project.rows(rows.model.ids)]

    header = rows.table.header
    tip = rows.model.headerData(section, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "Click to sort." in tip
    middle = QPoint(header.sectionViewportPosition(section) + 12, header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    settle(qtbot, controllers)
    assert numbers() == sorted(numbers())
    assert header.sortIndicatorSection() == section
    qtbot.waitUntil(
        lambda: (
            "Click to sort by number."
            in rows.model.headerData(section, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        )
    )
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    settle(qtbot, controllers)
    assert numbers() == sorted(numbers(), reverse=True)
    assert order_name(controllers.navigation.query, COLUMNS) == "amount (reversed)"
    assert queue_name(controllers.navigation.query) == "column of the table, reversed"
    kept = without_filters(controllers.navigation.query)
    assert (kept.order, kept.order_column) == (RowOrder.COLUMN, AMOUNT)


def test_sorting_by_a_column_keeps_rows_without_text(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    with Project.create(tmp_path / "blank.sce", name="blank") as project:
        project.add_rows(("text", "n"), [[("a", "2"), ("", "1")]], text_columns=[0], source={})
        query = RowQuery(order=RowOrder.COLUMN, order_column=1)
        assert project.row_ids(query).tolist() == [2, 1]


def test_details_show_the_chosen_columns_whole_and_copy(
    qtbot: QtBot, controllers: Controllers, window: MainWindow
) -> None:
    (panel,) = window.findChildren(RowPanel)
    assert panel.details.isHidden()
    show(qtbot, controllers, ARABIC, REGION, NOTE)
    controllers.navigation.set_current_row(2)
    details = panel.details
    assert not details.isHidden()
    values = [details.form.itemAt(at, details.form.ItemRole.FieldRole).widget() for at in range(3)]
    assert [value.accessibleName() for value in values] == ["ملاحظة", "region", "note"]
    assert values[0].text() == "وصلت الشحنة متأخرة"  # type: ignore[attr-defined]
    assert values[0].layoutDirection() is Qt.LayoutDirection.RightToLeft
    assert values[1].layoutDirection() is Qt.LayoutDirection.LeftToRight
    details.copy.click()
    assert QGuiApplication.clipboard().text().splitlines()[:2] == [
        "ملاحظة\tوصلت الشحنة متأخرة",
        "region\tSouth",
    ]
    details.button.click()
    assert details.body.isHidden()


def test_any_columns_are_chosen_in_a_dialog(
    qtbot: QtBot, controllers: Controllers, window: MainWindow
) -> None:
    show(qtbot, controllers, DATE, REGION)
    dialog = ColumnsDialog(controllers.workspace, controllers.navigation, window)
    listed = dialog.columns.every
    assert listed == list(range(1, len(COLUMNS)))  # the text stands there already
    assert set(dialog.columns.checked) == {DATE, REGION}
    dialog.columns.check([AMOUNT], on=True)
    dialog.columns.check([DATE], on=False)
    dialog.accept()
    assert [column.place for column in controllers.navigation.own_columns] == [REGION, AMOUNT]


def test_too_many_columns_are_refused_in_a_sentence(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, tmp_path: Path
) -> None:
    with Project.create(tmp_path / "wide.sce", name="wide") as project:
        names = ["text", *(["same"] * 299)]
        project.add_rows(names, [[("a", *(str(n) for n in range(299)))]], text_columns=[0], source={})
    open_in(qtbot, controllers, tmp_path / "wide.sce")
    settle(qtbot, controllers)
    dialog = ColumnsDialog(controllers.workspace, controllers.navigation, real_window)
    qtbot.addWidget(dialog)
    dialog.columns.check(range(300), on=True)
    dialog.accept()
    assert dialog.note.text() == f"At most {MOST_SHOWN} columns can be shown."
    assert controllers.navigation.own_columns == ()
    (rows,) = real_window.findChildren(RowsView)
    show(qtbot, controllers, *range(1, MOST_SHOWN + 1))
    assert cell(rows, 0, MOST_SHOWN) == str(MOST_SHOWN - 1)


def test_the_menu_of_a_heading_sorts_hides_and_filters(
    qtbot: QtBot, controllers: Controllers, rows: RowsView
) -> None:
    show(qtbot, controllers, REGION, AMOUNT)
    section = rows.model.section_of(REGION)
    rows.table.header.menuAsked.emit(section, QPoint(0, 0))
    menu = rows.findChildren(QMenu)[-1]
    actions = {action.text(): action for action in menu.actions() if action.text()}
    assert list(actions) == [
        "Sort ascending", "Sort descending", "Filter…", "Clear filter", "Hide column",
        "Move before the previous column", "Move behind the next column",
        "Wider", "Narrower", "Automatic width", "Columns…"
    ]  # fmt: skip
    actions["Sort descending"].trigger()
    query = controllers.navigation.query
    assert (query.order, query.order_column, query.descending) == (RowOrder.COLUMN, REGION, True)
    actions["Hide column"].trigger()
    menu.close()
    assert [column.place for column in controllers.navigation.own_columns] == [AMOUNT]
    settle(qtbot, controllers)
    assert rows.table.header.sortIndicatorSection() == -1  # the heading is gone, the order stays


def test_an_export_of_the_rows_shown_follows_the_filter(
    qtbot: QtBot, controllers: Controllers, rows: RowsView
) -> None:
    cells = (CellFilter(REGION, ("north",)), CellFilter(AMOUNT, low="50"))
    query = RowQuery(cells=cells, order=RowOrder.COLUMN, order_column=AMOUNT)
    controllers.navigation.set_query(query)
    settle(qtbot, controllers)
    project = controllers.workspace.project
    assert project is not None
    wanted = sorted(
        (
            row
            for row in range(30)
            if made.cells(row)[REGION] == "north" and float(made.cells(row)[AMOUNT] or 0) >= 50
        ),
        key=lambda row: float(made.cells(row)[AMOUNT] or 0),
    )
    assert rows.model.ids.tolist() == [row + 1 for row in wanted]
    assert rows_to_export(project, "shown", controllers.navigation.query).tolist() == rows.model.ids.tolist()
