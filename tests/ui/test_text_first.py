"""The text of a row comes first: what is seen of it, of labels and of buttons at the sizes people have."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.store.project import Project
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from sce_desktop.ui.rows.column_widths import own_widths, shared, stored_widths
from sce_desktop.ui.rows.group_button import GroupButton
from sce_desktop.ui.rows.label_button import Density
from sce_desktop.ui.rows.row_fit import share_height
from sce_desktop.ui.rows.row_labels import SHOWN
from sce_desktop.ui.rows.row_panel import RowPanel
from sce_desktop.ui.rows.rows_model import Column
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.panels import give_scores, open_in, settle

LABELS = (
    "Late delivery",
    "Damaged parcel",
    "Lost parcel",
    "Courier praise",
    "Wrong invoice",
    "App problem",
    "Service not reachable",
)
LONG = "The parcel was promised for Friday and came on Tuesday, opened and wet. " * 40
ARABIC = "وصلت الشحنة متأخرة ثلاثة أيام ولم يتصل بي أحد. " * 40
GROUPED = (*(f"Delivery > kind {n}" for n in range(8)), *(f"Parcel > kind {n}" for n in range(8)), "Praise")
SIZES = [(1280, 800), (1024, 700)]


@pytest.fixture
def seven(make_project: MakeProject) -> Path:
    return scored(make_project, LABELS)


def scored(make_project: MakeProject, labels: tuple[str, ...]) -> Path:
    path = make_project(texts=(LONG, ARABIC, *(f"Text {n}" for n in range(30))), labels=labels)
    with Project.open(path) as project:
        give_scores(project, [n % len(labels) for n in range(32)])
        give_scores(project, [n % 3 for n in range(32)], alias="similarity", share=0.6)
    return path


def the(window: MainWindow, kind: type[QWidget]) -> QWidget:
    (found,) = window.findChildren(kind)
    return found


def rows_of(window: MainWindow) -> RowsView:
    found = the(window, RowsView)
    assert isinstance(found, RowsView)
    return found


def row_of(window: MainWindow) -> RowPanel:
    found = the(window, RowPanel)
    assert isinstance(found, RowPanel)
    return found


def whole(widget: QWidget) -> bool:
    """Whether every pixel of a widget is on the screen."""
    return widget.isVisible() and widget.visibleRegion().boundingRect() == widget.rect()


def text_lines(panel: RowPanel) -> int:
    return panel.text.view.viewport().height() // panel.text.view.line_height


def labels_seen(panel: RowPanel) -> int:
    return sum(whole(button) for button in panel.labels.buttons)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_text_and_labels_are_seen_with_any_panel_open(
    qtbot: QtBot,
    controllers: Controllers,
    real_window: MainWindow,
    seven: Path,
    size: tuple[int, int],
) -> None:
    window = real_window
    open_in(qtbot, controllers, seven)
    controllers.edits.decide([1, 2, 5], Decision.LABEL, [controllers.workspace.labels[1].id or 0])
    settle(qtbot, controllers)
    window.resize(*size)
    panel, table = row_of(window), rows_of(window).table
    for name in ("", *window.docks):
        if name:
            window.docks[name].bring()
            qtbot.waitUntil(lambda name=name: window.docks[name].seen)
        for row_id in (1, 2):
            controllers.navigation.set_current_row(row_id)
            qtbot.waitUntil(lambda: text_lines(panel) >= 8 and labels_seen(panel) == 7)
        assert (window.width(), window.height()) == size, name
        assert table.columnWidth(Column.TEXT) * 2 >= table.viewport().width(), name
        assert not table.horizontalScrollBar().maximum(), name
        settle(qtbot, controllers)
        for button in window.findChildren(QPushButton):
            if button.property("role") == "primary" and button.isVisible():
                assert whole(button), (name, button.text())


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_dialogs_show_their_buttons(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, seven: Path, size: tuple[int, int]
) -> None:
    window = real_window
    open_in(qtbot, controllers, seven)
    settle(qtbot, controllers)
    window.resize(*size)
    sample = Path(__file__).parents[2] / "resources" / "sample" / "parcel_feedback.csv"
    actions = {action.text().replace("&", ""): action for action in window.menus.all_actions()}
    for name, opens in (
        ("import", lambda: window.open_path(sample)),
        ("export", window.file_commands.ask_export),
        ("settings", window.settings_commands.show_settings),
        ("accept", window.review_commands.ask_accept),
        ("models", actions["Models…"].trigger),
    ):
        opens()
        dialog = next(d for d in reversed(window.findChildren(QDialog)) if d.isVisible())
        qtbot.waitUntil(lambda dialog=dialog: not controllers.workspace.workers.files.busy)
        assert dialog.height() <= size[1] - 40, name
        assert dialog.width() <= size[0], name
        buttons = [b for b in dialog.findChildren(QPushButton) if b.property("role") == "primary"]
        assert all(whole(button) for button in buttons if button.isVisible()), name
        dialog.reject()
        qtbot.waitUntil(lambda: not any(d.isVisible() for d in window.findChildren(QDialog)))


def test_a_panel_takes_no_height_from_the_row(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, seven: Path
) -> None:
    open_in(qtbot, controllers, seven)
    settle(qtbot, controllers)
    panel = row_of(real_window)
    before = panel.height()
    real_window.docks["Jobs and log"].bring()
    qtbot.waitUntil(lambda: real_window.docks["Jobs and log"].seen)
    assert panel.height() == before


def test_names_come_before_bars_and_bars_before_other_names() -> None:
    sce, yours, similarity = ((0, 80), (1, 200), (3, 230)), ((0, 40), (2, 150)), ((0, 30), (4, 90), (5, 180))
    columns = [((0, 60),), yours, sce, similarity]
    assert shared(columns, 100) == [60, 40, 80, 30]  # the least stands
    assert shared(columns, 300) == [60, 40, 170, 30]
    assert shared(columns, 400) == [60, 110, 200, 30]
    assert shared(columns, 460) == [60, 150, 220, 30]
    assert shared(columns, 2000) == [60, 150, 230, 180]
    assert shared([], 50) == []


def test_no_name_is_cut_while_another_column_has_room(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, seven: Path
) -> None:
    open_in(qtbot, controllers, seven)
    settle(qtbot, controllers)
    real_window.resize(1600, 900)
    table = rows_of(real_window).table
    name = max(table.fontMetrics().horizontalAdvance(label) for label in LABELS)

    def room() -> bool:
        inner = table.columnWidth(Column.SCE) - 2 * 6 - 16 - 39
        return inner >= name and table.columnWidth(Column.TEXT) * 2 >= table.viewport().width()

    qtbot.waitUntil(room)
    assert sum(table.columnWidth(c) for c in range(rows_of(real_window).model.columnCount())) == (
        table.viewport().width()
    )


def drag_edge(table_header: QWidget, at: QPoint, by: int) -> None:
    view = table_header.viewport()  # type: ignore[attr-defined]
    left = Qt.MouseButton.LeftButton
    for kind, place, held in (
        (QEvent.Type.MouseButtonPress, at, left),
        (QEvent.Type.MouseMove, at + QPoint(by // 2, 0), left),
        (QEvent.Type.MouseMove, at + QPoint(by, 0), left),
        (QEvent.Type.MouseButtonRelease, at + QPoint(by, 0), Qt.MouseButton.NoButton),
    ):
        button = Qt.MouseButton.NoButton if kind is QEvent.Type.MouseMove else left
        spot, here = QPointF(place), QPointF(view.mapToGlobal(place))
        QApplication.sendEvent(
            view, QMouseEvent(kind, spot, here, button, held, Qt.KeyboardModifier.NoModifier)
        )


def test_a_width_of_the_users_own_is_kept_and_forgotten(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, seven: Path
) -> None:
    open_in(qtbot, controllers, seven)
    settle(qtbot, controllers)
    table = rows_of(real_window).table
    automatic = table.columnWidth(Column.SCE)
    edge = table.header.sectionViewportPosition(Column.SCE) + automatic - 1
    drag_edge(table.header, QPoint(edge, 10), 40)
    qtbot.waitUntil(lambda: bool(controllers.preferences.settings["column_widths"]))
    own = own_widths(str(controllers.preferences.settings["column_widths"]))
    assert own == {"sce": automatic + 40}
    assert table.columnWidth(Column.SCE) == automatic + 40
    real_window.resize(1500, 800)
    assert table.columnWidth(Column.SCE) == automatic + 40
    assert table.horizontalScrollBar().maximum() == 0
    table.header.sectionHandleDoubleClicked.emit(Column.SCE)
    assert controllers.preferences.settings["column_widths"] == ""
    assert table.columnWidth(Column.SCE) != automatic + 40


@pytest.mark.parametrize("stored", ["", "{", "[1]", '{"sce": "wide", "text": -4, "you": true}', "[" * 90_000])
def test_widths_that_cannot_be_read_are_none(stored: str) -> None:
    assert own_widths(stored) == {}
    assert own_widths(stored_widths({"sce": 120})) == {"sce": 120}


@pytest.mark.parametrize(("name", "lines"), [("normal", 1), ("comfortable", 2), ("tall", 4)])
def test_rows_show_one_two_or_four_lines(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, seven: Path, name: str, lines: int
) -> None:
    open_in(qtbot, controllers, seven)
    settle(qtbot, controllers)
    words = {"normal": "One line per row", "comfortable": "Two lines per row", "tall": "Four lines per row"}
    (action,) = (a for a in real_window.menus.all_actions() if a.text() == words[name])
    action.trigger()
    assert controllers.preferences.settings["row_height"] == name
    assert action.isChecked()
    table = rows_of(real_window).table
    line = table.fontMetrics().lineSpacing()
    assert lines * line <= table.rowHeight(0) < (lines + 2) * line
    assert len({table.rowHeight(row) for row in range(30)}) == 1
    inked = []  # lines of pixels of the long text that have ink
    for row in (0, 1):
        cell = table.visualRect(table.model().index(row, Column.TEXT))
        picture = table.viewport().grab(cell).toImage()
        dark = [
            any(picture.pixelColor(x, y).lightness() < 110 for x in range(picture.width()))
            for y in range(picture.height())
        ]
        inked.append(sum(now and not before for before, now in zip([False, *dark], dark, strict=False)))
    assert inked[0] >= lines  # bands of letters; dots and strokes apart may be more
    assert inked[1] >= 1


def test_the_text_gets_its_lines_before_bars_get_height() -> None:
    labels = {Density.LOW: 154, Density.MEDIUM: 260, Density.FULL: 360}
    wish = {density: height + 60 for density, height in labels.items()}
    long, line = 2000, 20
    assert share_height(620, long, line, 2, labels, wish) == (240 - 40, Density.FULL)
    assert share_height(430, long, line, 2, labels, wish) == (160, Density.MEDIUM)
    assert share_height(330, long, line, 2, labels, wish) == (160, Density.LOW)
    assert share_height(250, long, line, 2, labels, wish) == (96, Density.LOW)  # the labels are seen
    assert share_height(100, long, line, 2, labels, wish) == (40, Density.LOW)
    assert share_height(900, 60, line, 2, labels, wish) == (60, Density.FULL)


def test_one_key_closes_the_panels_and_opens_them_again(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, seven: Path
) -> None:
    open_in(qtbot, controllers, seven)
    settle(qtbot, controllers)
    window = real_window
    window.docks["Findings"].bring()
    window.docks["Duplicates"].bring()
    qtbot.waitUntil(lambda: window.docks["Duplicates"].seen)
    rows_of(window).table.setFocus()
    QTest.keyClick(window, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not any(page.seen for page in window.docks.values()))
    QTest.keyClick(window, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.docks["Duplicates"].seen)


def test_labels_of_a_row_stand_in_the_order_that_is_chosen(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, scored(make_project, GROUPED))
    settle(qtbot, controllers)
    controllers.navigation.set_current_row(4)  # its best label is the third
    labels = row_of(real_window).labels
    qtbot.waitUntil(lambda: labels.shown()[0].name == "Delivery > kind 3")
    labels.order_menu().actions()[1].trigger()
    assert controllers.preferences.settings["row_labels"] == "list"
    assert [line.name for line in labels.shown()] == list(GROUPED[:SHOWN])
    assert labels.buttons[3].accessibleDescription().endswith("key 1")  # digits go by rank all the same
    headings = [h for h in real_window.findChildren(GroupButton) if h.isVisible()]
    assert [h.line.parent for h in headings if h.line] == ["Delivery", "Parcel"]
    headings[0].click()
    assert controllers.navigation.folded == {"Delivery"}
    assert [line.name for line in labels.shown()] == list(GROUPED[8:])
    panel = real_window.workspace.labels
    assert isinstance(panel, LabelsPanel)
    assert panel.list.isRowHidden(3)  # the label list folds with it
    with qtbot.waitSignal(controllers.workspace.annotationsChanged):
        QTest.keyClick(rows_of(real_window).table, Qt.Key.Key_1)
    project = controllers.workspace.project
    assert project is not None
    assert project.annotations([4])[4].label_ids == (controllers.workspace.labels[3].id,)


def test_a_label_of_many_is_found_in_the_list(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, scored(make_project, GROUPED))
    settle(qtbot, controllers)
    panel = real_window.workspace.labels
    assert isinstance(panel, LabelsPanel)
    controllers.navigation.fold("Parcel", True)

    def names() -> list[str]:
        return [GROUPED[row] for row in range(len(GROUPED)) if not panel.list.isRowHidden(row)]

    assert panel.filter.isVisible()
    panel.filter.setFocus()
    QTest.keyClicks(panel.filter, "kind 3")
    assert names() == ["Delivery > kind 3", "Parcel > kind 3"]
    QTest.keyClick(panel.filter, Qt.Key.Key_Return)
    assert panel.list.currentIndex().row() == 3
    panel.filter.setFocus()
    QTest.keyClick(panel.filter, Qt.Key.Key_Escape)
    assert names() == [*GROUPED[:9], "Praise"]  # the folded group is its heading


def test_few_labels_need_no_filter(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, seven: Path
) -> None:
    open_in(qtbot, controllers, seven)
    panel = real_window.workspace.labels
    assert isinstance(panel, LabelsPanel)
    assert not panel.filter.isVisible()
