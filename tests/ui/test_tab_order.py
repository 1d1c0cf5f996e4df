"""Tab through the window: each stop can be seen, they come as the eye goes, and nothing traps one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QTableView, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.palette import CommandPalette
from sce_desktop.ui.kit.tab_order import tab_stops
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from sce_desktop.ui.rows.row_labels import LabelButton
from sce_desktop.ui.rows.row_panel import RowPanel
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, score_no_edits, settle

MOST = 200  # steps after which a walk goes round in circles


def focus() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def walk(window: MainWindow, start: QWidget, key: Qt.Key = Qt.Key.Key_Tab) -> list[QWidget]:
    """Press Tab until one is back where one began, and return where one came by."""
    start.setFocus()
    stops = [start]
    for _ in range(MOST):
        QTest.keyClick(focus(), key, Qt.KeyboardModifier.NoModifier)
        if focus() is start:
            return stops
        stops.append(focus())
    raise AssertionError(f"Tab never comes back to {start.accessibleName()}")


def place(widget: QWidget, window: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def before(window: MainWindow, *widgets: QWidget) -> bool:
    """Whether Tab comes by ``widgets`` in this order."""
    stops = tab_stops(window)
    places = [stops.index(widget) for widget in widgets]
    return places == sorted(places)


@pytest.fixture
def scored(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject
) -> MainWindow:
    path = make_project(texts=tuple(f"Text {n}" for n in range(40)), labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [n % 3 for n in range(40)])
        give_scores(project, [n % 2 for n in range(40)], alias="similarity")
    open_in(qtbot, controllers, path)
    score_no_edits(controllers)
    controllers.edits.decide([2], Decision.NONE)
    settle(qtbot, controllers)
    return real_window


@pytest.mark.parametrize("key", [Qt.Key.Key_Tab, Qt.Key.Key_Backtab])
@pytest.mark.parametrize(
    "panel", ["", "Fine-tune", "Evaluate", "Findings", "Map", "Duplicates", "Jobs and log", "all"]
)
def test_every_stop_is_visible_and_in_the_window(
    qtbot: QtBot, controllers: Controllers, scored: MainWindow, panel: str, key: Qt.Key
) -> None:
    for title in scored.docks if panel == "all" else filter(None, [panel]):
        scored.show_panel(title)
        scored.docks[title].build()
    settle(qtbot, controllers)
    stops = walk(scored, scored.tool_bar.search, key)
    for widget in stops:
        assert widget.isVisible(), widget.accessibleName()
        assert scored.rect().contains(place(widget, scored).center()), widget.accessibleName()
        assert not widget.visibleRegion().isEmpty(), widget.accessibleName()
    assert len(set(stops)) == len(stops)
    assert len(stops) > 25


def test_tab_goes_as_the_eye_goes(qtbot: QtBot, controllers: Controllers, scored: MainWindow) -> None:
    table, row = scored.findChild(RowsView), scored.findChild(RowPanel)
    labels = scored.findChild(LabelsPanel)
    assert isinstance(table, RowsView)
    assert isinstance(row, RowPanel)
    assert isinstance(labels, LabelsPanel)
    buttons = [button for button in row.labels.buttons if button.isVisible()]
    assert len(buttons) == 3
    bar = row.decision
    assert before(scored, scored.tool_bar.search, scored.tool_bar.export_button, labels.field)
    assert before(scored, labels.field, table.table, row.previous, row.next, *buttons)
    assert before(scored, *buttons, bar.accept, bar.none, bar.skip, bar.unsure, bar.flag, bar.note_button)
    scored.show_panel("Duplicates")
    panel = scored.docks["Duplicates"].build()
    settle(qtbot, controllers)
    inside = [widget for widget in tab_stops(scored) if panel.isAncestorOf(widget)]
    assert inside
    assert before(scored, bar.note_button, *inside)


def test_label_buttons_that_come_later_stand_where_they_are_seen(
    qtbot: QtBot, controllers: Controllers, scored: MainWindow
) -> None:
    from sce_desktop.core.annotations import Label

    controllers.edits.set_labels([*controllers.workspace.labels, Label("Lost"), Label("Price")])
    row = scored.findChild(RowPanel)
    assert isinstance(row, RowPanel)
    buttons: list[LabelButton] = [button for button in row.labels.buttons if button.isVisible()]
    assert len(buttons) == 5
    assert before(scored, row.next, *buttons, row.decision.accept)
    settle(qtbot, controllers)


def test_tab_walks_the_start_page(qtbot: QtBot, controllers: Controllers, real_window: MainWindow) -> None:
    page = real_window.start_page
    ways = [page.open_button, page.sample_button, page.tour_button]  # round to the one at the head
    assert walk(real_window, page.open_button) == ways


def test_no_table_of_a_panel_keeps_tab_for_itself(
    qtbot: QtBot, controllers: Controllers, scored: MainWindow
) -> None:
    for dock in scored.docks.values():
        dock.build()
    settle(qtbot, controllers)
    keeps = [table for table in scored.findChildren(QTableView) if table.tabKeyNavigation()]
    assert keeps == []


@pytest.mark.parametrize("leave", ["Escape", "run"])
@pytest.mark.parametrize("where", ["table", "search", "label"])
def test_after_the_palette_one_is_back_where_one_was(
    qtbot: QtBot, controllers: Controllers, scored: MainWindow, where: str, leave: str
) -> None:
    row, table = scored.findChild(RowPanel), scored.findChild(RowsView)
    assert isinstance(row, RowPanel)
    assert isinstance(table, RowsView)
    places: dict[str, Callable[[], QWidget]] = {
        "table": lambda: table.table,
        "search": lambda: scored.tool_bar.search,
        "label": lambda: row.labels.buttons[0],
    }
    there = places[where]()
    there.setFocus()
    qtbot.waitUntil(there.hasFocus)
    scored.show_palette()
    palette = scored.findChild(CommandPalette)
    assert isinstance(palette, CommandPalette)
    qtbot.waitUntil(palette.field.hasFocus)
    if leave == "Escape":
        QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    else:
        QTest.keyClicks(palette.field, "dark th")
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert focus() is there


def test_who_goes_elsewhere_from_the_palette_stays_there(qtbot: QtBot, scored: MainWindow) -> None:
    scored.show_palette()
    palette = scored.findChild(CommandPalette)
    assert isinstance(palette, CommandPalette)
    qtbot.waitUntil(palette.field.hasFocus)
    field = next(f for f in scored.findChildren(QLineEdit) if f.accessibleName() == "Add label")
    field.setFocus()
    qtbot.waitUntil(palette.isHidden)
    assert focus() is field


def test_the_palette_says_that_nothing_matches(qtbot: QtBot, scored: MainWindow) -> None:
    scored.show_palette()
    palette = scored.findChild(CommandPalette)
    assert isinstance(palette, CommandPalette)
    assert palette.nothing.isHidden()
    QTest.keyClicks(palette.field, "zzz")
    assert palette.nothing.isVisible()
    assert palette.nothing.text() == "No command matches. Type fewer letters."
    assert palette.list.isHidden()
    QTest.keyClick(palette.field, Qt.Key.Key_Return)  # does nothing
    assert palette.isVisible()
    for _ in range(3):
        QTest.keyClick(palette.field, Qt.Key.Key_Backspace)
    assert palette.nothing.isHidden()
    assert palette.list.isVisible()
    palette.dismiss()
