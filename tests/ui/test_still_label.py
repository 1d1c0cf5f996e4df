"""A line of text that changes often, and lets nothing around it be laid out again."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.ui.kit.still_label import StillLabel


class Layouts(QObject):
    """Counts how often a widget is asked for a new layout."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() is QEvent.Type.LayoutRequest
        return False


def beside_each_other(qtbot: QtBot, *labels: StillLabel, width: int = 300) -> QWidget:
    box = QWidget()
    layout = QHBoxLayout(box)
    for label in labels:
        layout.addWidget(label, 1)
    qtbot.addWidget(box)
    box.resize(width, 40)
    box.show()
    qtbot.waitExposed(box)
    return box


def test_another_text_asks_for_no_layout(qtbot: QtBot) -> None:
    label = StillLabel()
    label.setText("3 words")
    box = beside_each_other(qtbot, label)
    layouts = Layouts(box)
    qtbot.waitUntil(lambda: label.width() > 100)
    QApplication.sendPostedEvents()
    layouts.count = 0
    label.setText("4 words · 12 duplicates")
    assert (label.text(), label.whole()) == ("4 words · 12 duplicates", "4 words · 12 duplicates")
    assert label.accessibleDescription() == "4 words · 12 duplicates"
    QApplication.sendPostedEvents()
    assert layouts.count == 0


def test_one_that_grows_has_the_width_of_the_longest_text(qtbot: QtBot) -> None:
    label, other = StillLabel(grows=True), StillLabel()
    label.setText("Row 9")
    box = beside_each_other(qtbot, label, other)
    layouts = Layouts(box)
    label.setText("Row 1,234,567")
    qtbot.waitUntil(lambda: layouts.count > 0)
    wide = label.minimumSizeHint().width()
    assert wide > label.fontMetrics().horizontalAdvance("Row 1,234,567")
    label.setText("Row 8")
    assert label.minimumSizeHint().width() == wide


def test_what_does_not_fit_is_cut_and_told(qtbot: QtBot) -> None:
    label = StillLabel()
    box = beside_each_other(qtbot, label, width=80)
    qtbot.waitUntil(lambda: label.width() < box.width())
    label.setText("a text that is longer than its room")
    assert label.text().endswith("…")
    assert label.toolTip() == "a text that is longer than its room"
    label.setText("ab")
    assert (label.text(), label.toolTip()) == ("ab", "")


@pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])
def test_it_begins_where_its_layout_begins(qtbot: QtBot, direction: Qt.LayoutDirection) -> None:
    label = StillLabel()
    label.setText("x")
    box = beside_each_other(qtbot, label)
    box.setLayoutDirection(direction)
    picture = label.grab().toImage()
    half = picture.width() // 2
    ground = picture.pixel(half, 0)
    inked = [
        x
        for x in range(picture.width())
        if any(picture.pixel(x, y) != ground for y in range(picture.height()))
    ]
    assert inked
    assert all(x < half for x in inked) == (direction is Qt.LayoutDirection.LeftToRight)
