from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QStyleOptionViewItem, QTableView
from pytestqt.qtbot import QtBot

from sce_desktop.ui.kit.directed_cells import DirectedCells


@pytest.mark.parametrize(
    ("text", "right"),
    [("وصلت الشحنة PO-4711.", True), ("החבילה 4711", True), ("The app says مرحبا", False), ("4711", False)],
)
def test_each_cell_has_the_direction_of_its_text(qtbot: QtBot, text: str, right: bool) -> None:
    view = QTableView()
    qtbot.addWidget(view)
    model = QStandardItemModel(view)
    model.appendRow(QStandardItem(text))
    view.setModel(model)
    option = QStyleOptionViewItem()
    option.direction = Qt.LayoutDirection.LeftToRight
    DirectedCells(view).initStyleOption(option, model.index(0, 0))
    wanted = Qt.LayoutDirection.RightToLeft if right else Qt.LayoutDirection.LeftToRight
    assert (option.text, option.direction) == (text, wanted)
