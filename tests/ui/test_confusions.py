"""The confusions in the Evaluate panel: their names, their axes, the rows behind them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.ui.evaluate.evaluate_panel import CONFUSIONS
from sce_desktop.ui.kit.theme import font, px
from tests.ui.evaluate_bench import LABELS, Open, show_fixture  # noqa: F401


def test_a_click_on_a_confusion_shows_exactly_its_rows(
    qtbot: QtBot, controllers: Controllers, show: Open
) -> None:
    panel = show()
    panel.tabs.setCurrentWidget(panel.confusions)
    square = panel.confusions.square
    square.clicked.emit(square.model().index(0, 2))
    assert controllers.navigation.query.among == (6,)
    assert controllers.navigation.query.name == CONFUSIONS
    square.setCurrentIndex(square.model().index(1, 0))
    qtbot.keyClick(square, Qt.Key.Key_Return)
    assert controllers.navigation.query.among == (7,)
    square.clicked.emit(square.model().index(2, 1))  # no such row
    assert controllers.navigation.query.among == (7,)
    panel.models.selectRow(1)  # similarity always says Late
    assert panel.tabs.tabText(1) == "Confusion matrix: Similarity"
    square.clicked.emit(square.model().index(2, 0))
    assert controllers.navigation.query.among == (3, 9)
    controllers.edits.decide([3], Decision.SKIPPED)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.annotations([3])[3].queue == CONFUSIONS


def test_names_over_confusions_are_cut_where_they_differ(show: Open) -> None:
    names = ("Delivery > Late by more than a week", "Delivery > Lost", "Praise")
    panel = show(labels=names)
    panel.tabs.setCurrentWidget(panel.confusions)
    pairs, across, down = panel.confusions.pairs, Qt.Orientation.Horizontal, Qt.Orientation.Vertical
    assert pairs.cell == px(120)  # as wide as is good, of more
    # Qt would take the two lines for one, and cut that.
    assert panel.confusions.square.horizontalHeader().textElideMode() is Qt.TextElideMode.ElideNone
    panel.confusions.square.resize(px(170 + 3 * 80), 200)
    assert px(72) <= pairs.cell <= px(80)
    assert panel.confusions.square.columnWidth(0) == pairs.cell
    assert pairs.headerData(0, across).startswith("Delivery >\nLate")
    assert pairs.headerData(0, across).endswith("…")
    assert pairs.headerData(1, across) == "Delivery >\nLost"
    assert pairs.headerData(1, down) == "Delivery > Lost"
    for place, name in enumerate(names):
        assert pairs.headerData(place, across, Qt.ItemDataRole.AccessibleTextRole) == name
        assert name in pairs.headerData(place, across, Qt.ItemDataRole.ToolTipRole)


@pytest.mark.parametrize("width", [500, 640, 700, 830, 900, 1150, 1500])
def test_no_name_over_confusions_is_seen_in_half(show: Open, width: int) -> None:
    panel = show(labels=tuple(f"Label number {n}" for n in range(12)))
    panel.tabs.setCurrentWidget(panel.confusions)
    square = panel.confusions.square
    square.resize(px(width), 200)
    cell, room = panel.confusions.pairs.cell, square.viewport().width()
    assert px(72) <= cell <= px(120)
    assert 12 * cell <= room or room % cell < 12  # whole columns, but for what a division leaves over


def test_confusions_say_which_axis_is_the_truth(show: Open) -> None:
    panel = show()
    panel.tabs.setCurrentWidget(panel.confusions)
    square = panel.confusions.square
    assert (square.across.text(), square.down.text()) == ("Predicted →", "Your label ↓")
    across, down = square.horizontalHeader().geometry(), square.verticalHeader().geometry()
    corner = QRect(down.left(), across.top(), down.width(), across.height())
    for label in (square.across, square.down):
        assert label.isVisible()
        assert corner.contains(QRect(label.mapTo(square, QPoint()), label.size()))
        assert label.height() >= label.sizeHint().height()
        assert label.width() >= label.sizeHint().width()


def test_the_headings_of_the_commonest_confusions_fit_a_narrow_panel(show: Open) -> None:
    panel = show(labels=(*LABELS, *(f"Label {n}" for n in range(20))))
    panel.tabs.setCurrentWidget(panel.confusions)
    table = panel.confusions.list
    table.resize(px(420), 200)
    metrics = QFontMetrics(font("column"))
    for column, heading in enumerate(table.figures.headings):
        assert metrics.horizontalAdvance(heading.title) <= table.columnWidth(column) - px(12)


def test_of_many_labels_the_commonest_confusions_are_listed(controllers: Controllers, show: Open) -> None:
    panel = show(labels=(*LABELS, *(f"Label {n}" for n in range(20))))
    assert panel.confusions.currentWidget() is panel.confusions.list
    assert [row[:3] for row in panel.confusions.list.figures.rows] == [
        ("Late", "Praise", 1),
        ("Damaged", "Late", 1),
    ]
    panel.confusions.list.chosen.emit(1)
    assert controllers.navigation.query.among == (7,)
