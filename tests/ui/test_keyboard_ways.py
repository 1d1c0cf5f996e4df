"""What a mouse does by dragging, pointing and other clicks, done by keys: see docs/guide/accessibility.md."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QSplitter, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.own_columns import OwnColumn
from sce_desktop.core.query import RowOrder
from sce_desktop.store.project import Project
from sce_desktop.ui.map.map_pointer import nearest_point, next_point, seen
from sce_desktop.ui.map.map_raster import Looks
from sce_desktop.ui.map.map_view import MapView
from sce_desktop.ui.rows.rows_model import Column
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, score_no_edits, settle

CONTROL, SHIFT, NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.NoModifier,
)


@pytest.fixture
def opened(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject
) -> MainWindow:
    path = make_project(texts=tuple(f"Text {n}" for n in range(40)), labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [n % 3 for n in range(40)])
    open_in(qtbot, controllers, path)
    score_no_edits(controllers)
    settle(qtbot, controllers)
    return real_window


# --- the map: pointing, clicking, lasso ------------------------------------------------------------------


def test_the_next_point_lies_ahead_and_not_aside() -> None:
    pixels = np.array([[50.0, 50], [60, 50], [52, 90], [90, 52], [10, 50], [50, 50]])
    here = pixels[0]
    assert next_point(pixels, here, "right") == 1
    assert next_point(pixels, here, "down") == 2
    assert next_point(pixels, here, "left") == 4
    assert next_point(pixels, here, "up") == -1
    assert nearest_point(pixels, np.array([88.0, 50])) == 3
    assert nearest_point(pixels[:0], here) == -1
    assert seen(pixels, 60, 60).tolist() == [True, False, False, False, True, True]


@pytest.fixture
def view(qtbot: QtBot) -> MapView:
    view = MapView()
    qtbot.addWidget(view)
    view.resize(400, 300)
    places = np.array([[0.0, 0], [1, 0], [2, 0], [1, 1], [1, -1]])
    view.show()
    view.set_points(places, Looks(np.zeros(5, np.uint32), np.zeros(5, np.uint8), np.zeros(5, bool)))
    view.setFocus()
    return view


def test_control_and_arrows_go_from_point_to_point(qtbot: QtBot, view: MapView) -> None:
    pointed: list[int] = []
    chosen: list[int] = []
    toggled: list[int] = []
    view.hovered.connect(lambda point, _at: pointed.append(point))
    view.chosen.connect(chosen.append)
    view.toggled.connect(toggled.append)
    QTest.keyClick(view, Qt.Key.Key_Return)  # nothing is pointed at
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up):
        QTest.keyClick(view, key, CONTROL)
    assert pointed == [1, 2, 1, 3]
    QTest.keyClick(view, Qt.Key.Key_Return)
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert (chosen, toggled) == ([3], [3])
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert pointed[-1] == -1


def test_the_first_point_is_that_of_the_current_row(qtbot: QtBot, view: MapView) -> None:
    pointed: list[int] = []
    view.hovered.connect(lambda point, _at: pointed.append(point))
    view.set_current(4)
    QTest.keyClick(view, Qt.Key.Key_Down, CONTROL)
    assert pointed == [4]


def test_control_a_selects_what_is_seen(qtbot: QtBot, view: MapView) -> None:
    masks: list[tuple[list[bool], bool]] = []
    view.drawn.connect(lambda mask, adds: masks.append((mask.tolist(), adds)))
    QTest.keyClick(view, Qt.Key.Key_A, CONTROL)
    for _ in range(8):
        QTest.keyClick(view, Qt.Key.Key_Plus)  # until the middle alone is seen
    QTest.keyClick(view, Qt.Key.Key_A, CONTROL | SHIFT)
    assert masks == [([True] * 5, False), ([False, True, False, False, False], True)]


# --- the headings: sort, filter, widen, move -------------------------------------------------------------


def entries(menu: QMenu) -> dict[str, QAction]:
    return {action.text(): action for action in menu.actions() if action.text()}


def column_menu(window: MainWindow, column: int) -> dict[str, QAction]:
    """What the menu of a row offers for the column of the current cell."""
    view = window.findChild(RowsView)
    assert isinstance(view, RowsView)
    view.table.setCurrentIndex(view.model.index(0, column))
    menu = QMenu(view)
    view.columns.add_menu(menu, view.table.currentIndex().column())
    (inside,) = menu.actions()
    found = inside.menu()
    assert isinstance(found, QMenu)
    return entries(found)


def test_the_menu_of_a_row_has_what_the_headings_have(
    qtbot: QtBot, controllers: Controllers, opened: MainWindow
) -> None:
    view = opened.findChild(RowsView)
    assert isinstance(view, RowsView)
    width = view.table.header.sectionSize(Column.SCE)
    column_menu(opened, Column.SCE)["Wider"].trigger()
    assert view.table.header.sectionSize(Column.SCE) == width + 24
    column_menu(opened, Column.SCE)["Narrower"].trigger()
    column_menu(opened, Column.SCE)["Narrower"].trigger()
    assert view.table.header.sectionSize(Column.SCE) == width - 24
    column_menu(opened, Column.SCE)["Automatic width"].trigger()
    assert view.table.header.sectionSize(Column.SCE) == width
    column_menu(opened, Column.SCE)["Sort by this column"].trigger()
    assert controllers.navigation.query.order is not RowOrder.FILE
    settle(qtbot, controllers)


def test_columns_of_ones_own_move_by_the_menu(
    qtbot: QtBot, controllers: Controllers, opened: MainWindow
) -> None:
    controllers.navigation.show_columns([OwnColumn(0), OwnColumn(1)])
    settle(qtbot, controllers)
    view = opened.findChild(RowsView)
    assert isinstance(view, RowsView)
    first = view.model.section_of(0)
    assert first is not None
    menu = column_menu(opened, first)
    assert not menu["Move before the previous column"].isEnabled()
    menu["Move behind the next column"].trigger()
    assert [column.place for column in controllers.navigation.own_columns] == [1, 0]
    settle(qtbot, controllers)


def test_alt_and_down_opens_the_filter(qtbot: QtBot, controllers: Controllers, opened: MainWindow) -> None:
    view = opened.findChild(RowsView)
    assert isinstance(view, RowsView)
    asked: list[int] = []
    view.table.filterAsked.disconnect()
    view.table.filterAsked.connect(asked.append)
    view.table.setFocus()
    view.table.setCurrentIndex(view.model.index(0, Column.SCE))
    QTest.keyClick(view.table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert asked == [Column.SCE]


# --- zones and dividers ----------------------------------------------------------------------------------


def focus() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def test_f6_goes_through_the_zones_and_comes_back_to_where_one_was(
    qtbot: QtBot, controllers: Controllers, opened: MainWindow
) -> None:
    opened.show_panel("Jobs and log")
    opened.tool_bar.search.setFocus()
    view = opened.findChild(RowsView)
    assert isinstance(view, RowsView)
    zones = []
    for _ in range(7):
        QTest.keyClick(focus(), Qt.Key.Key_F6, NONE)
        zones.append(opened.zone_keys._zone_of(focus()))
        if zones[-1] is opened.tool_bar:
            break
    assert zones == [
        opened.workspace.labels,
        opened.workspace.filters,
        view,
        opened.workspace.row,
        opened.panels,
        opened.tool_bar,
    ]
    assert focus() is opened.tool_bar.search
    QTest.keyClick(focus(), Qt.Key.Key_F6, SHIFT)
    assert opened.panels.isAncestorOf(focus())


def test_f8_moves_the_divider_beside_the_focus(
    qtbot: QtBot, controllers: Controllers, opened: MainWindow
) -> None:
    labels, row = opened.workspace.labels, opened.workspace.row
    for zone, stop in ((labels, None), (row, opened.workspace.row)):
        inside = [
            w
            for w in (stop or zone).findChildren(QWidget)
            if w.isVisible() and w.focusPolicy() & Qt.FocusPolicy.TabFocus
        ]
        inside[0].setFocus()
        wide = zone.width()
        QTest.keyClick(focus(), Qt.Key.Key_F8, NONE)
        assert zone.width() > wide
        QTest.keyClick(focus(), Qt.Key.Key_F8, SHIFT)
        assert zone.width() == wide
    opened.show_panel("Jobs and log")
    opened.panels.tabs.setFocus()
    high = opened.panels.height()
    QTest.keyClick(focus(), Qt.Key.Key_F8, NONE)
    qtbot.waitUntil(lambda: opened.panels.height() > high)
    (split,) = opened.panels.pages["Jobs and log"].findChildren(QSplitter)
    first = split.widget(0)
    assert first is not None
    first.setFocus()
    before = split.sizes()
    QTest.keyClick(focus(), Qt.Key.Key_F8, SHIFT)
    assert split.sizes()[0] < before[0]


def test_panels_move_to_each_side_and_back(qtbot: QtBot, opened: MainWindow) -> None:
    opened.show_panel("Jobs and log")
    deck = opened.panels.parentWidget()
    assert isinstance(deck, QMainWindow)
    found = []
    for _ in range(4):
        opened.beside.move_panels()
        found.append(deck.dockWidgetArea(opened.panels).name)
    assert found == ["RightDockWidgetArea", "TopDockWidgetArea", "LeftDockWidgetArea", "BottomDockWidgetArea"]


# --- what pointing shows ---------------------------------------------------------------------------------


def test_focus_on_a_label_explains_it_as_the_mouse_does(
    qtbot: QtBot, controllers: Controllers, opened: MainWindow
) -> None:
    pointed: list[object] = []
    row = opened.workspace.row
    button = row.labels.buttons[1]  # type: ignore[attr-defined]
    button.pointedAt.connect(pointed.append)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    opened.tool_bar.search.setFocus()
    assert pointed == [button.line.label_id, None]
