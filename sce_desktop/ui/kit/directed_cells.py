"""Cells of a table that are laid out in the direction of their own text, whatever that of the window is."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from sce_desktop.controllers.rows_data import is_right_to_left


class DirectedCells(QStyledItemDelegate):
    """Draws each cell from right to left where its first letter with a direction asks for it."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Set the direction and the side of a cell, of its icon and of its "…"."""
        super().initStyleOption(option, index)
        if is_right_to_left(option.text):
            option.direction = Qt.LayoutDirection.RightToLeft
            option.displayAlignment = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter  # leading
