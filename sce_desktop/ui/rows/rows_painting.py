"""How the table paints its rows: all that are to be seen at once, and not cell by cell.

Left to Qt, each of a screen's cells costs an index, an option and a dozen calls into Python before anything
is drawn: more than all that is drawn. Here a row's ground is filled in one go, what all cells have in common
is asked for once, and the cells follow (`CellDrawing`).
"""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QEvent, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QHoverEvent, QPainter, QRegion
from PySide6.QtWidgets import QStyle, QTableView

from sce_desktop.ui.kit.theme import colour_named, px, tokens
from sce_desktop.ui.rows.cell_drawing import CellDrawing
from sce_desktop.ui.rows.rows_model import Column, RowsModel

PADDING = 6  # as that of the headings
_SMOOTH = QPainter.RenderHint.Antialiasing  # looking it up takes as long as using it
_HOVERS = (QEvent.Type.HoverEnter, QEvent.Type.HoverMove)


class _Shown(NamedTuple):
    """A row that is painted."""

    place: int
    top: int
    selected: bool


class RowsPainting:
    """Paints the rows of a table that are in a region of its viewport."""

    def __init__(self, table: QTableView, model: RowsModel) -> None:
        self._table = table
        self._model = model
        self.cells = CellDrawing(model)
        self._hovered = QPersistentModelIndex()  # the cell under the mouse, which Qt keeps to itself

    def follow(self, event: QEvent) -> None:
        """Know the cell under the mouse as Qt does, by an event of the viewport."""
        if event.type() in _HOVERS and isinstance(event, QHoverEvent):
            self._hovered = QPersistentModelIndex(self._table.indexAt(event.position().toPoint()))
        elif event.type() is QEvent.Type.HoverLeave:
            self._hovered = QPersistentModelIndex()

    def paint(self, painter: QPainter, region: QRegion) -> None:
        """Paint the ground, which is seen beside and below the rows, then the rows."""
        table, bounds = self._table, region.boundingRect()
        painter.fillRect(bounds, table.palette().base())
        columns, rows = self._columns(bounds), self._rows(bounds, region)
        if not columns or not rows:
            return
        painter.setLayoutDirection(table.layoutDirection())
        painter.setRenderHint(_SMOOTH)
        height = table.rowHeight(rows[0].place)
        for shown in rows:
            self._paint_ground(painter, columns, shown, height)
        self.cells.begin(painter)
        current = table.currentIndex()
        focused = table.hasFocus() or table.viewport().hasFocus()
        at = (current.row(), current.column()) if focused and current.isValid() else None
        padding, scattered = px(PADDING), region.rectCount() > 1
        for place, top, selected in rows:
            row = self._model.row_at(place)
            for column, left, width in columns:
                area = QRect(left, top, width, height)
                if scattered and not region.intersects(area):
                    continue
                painter.setClipRect(area)
                inner = QRect(left + padding, top, width - 2 * padding, height - 1)
                if row is not None:
                    self.cells.draw(painter, inner, column, row, selected=selected)
                elif column == Column.TEXT:
                    self.cells.draw_placeholder(painter, inner)
                if at == (place, column):
                    _paint_focus(painter, area)

    def _columns(self, bounds: QRect) -> list[tuple[int, int, int]]:
        """The columns in ``bounds`` as they stand: which, where it begins, and its width."""
        table, header = self._table, self._table.horizontalHeader()
        found = []
        for at in range(header.count()):
            column = header.logicalIndex(at)
            left, width = table.columnViewportPosition(column), table.columnWidth(column)
            if width and left <= bounds.right() and left + width > bounds.left():
                found.append((column, left, width))
        return found

    def _rows(self, bounds: QRect, region: QRegion) -> list[_Shown]:
        """The rows in ``region``. All are of one height."""
        table = self._table
        first, last = table.rowAt(bounds.top()), table.rowAt(bounds.bottom())
        if first < 0:
            return []
        last = last if last >= 0 else self._model.rowCount() - 1
        top, height, chosen = table.rowViewportPosition(first), table.rowHeight(first), table.selectionModel()
        scattered, found = region.rectCount() > 1, []
        for place in range(first, last + 1):
            if not scattered or region.intersects(QRect(bounds.left(), top, bounds.width(), height)):
                selected = chosen.isSelected(self._model.index(place, Column.TEXT))
                found.append(_Shown(place, top, selected))
            top += height
        return found

    def _paint_ground(
        self, painter: QPainter, columns: list[tuple[int, int, int]], row: _Shown, height: int
    ) -> None:
        colours, (_place, top, selected) = tokens(), row
        left = min(at for _column, at, _width in columns)
        width = max(at + wide for _column, at, wide in columns) - left
        ground = colours.selection if selected else colours.pane
        painter.fillRect(left, top, width, height, colour_named(ground))
        under = self._hovered
        if not selected and under.isValid() and under.row() == row.place:
            for column, at, wide in columns:
                if column == under.column():
                    painter.fillRect(at, top, wide, height, colour_named(colours.hover))
        painter.fillRect(left, top + height - 1, width, 1, colour_named(colours.line))
        for column, at, wide in columns:
            if selected and column == Column.NUMBER:
                edge = QRect(at, top, px(3), height - 1)
                whole = QRect(at, top, wide, height)
                direction = self._table.layoutDirection()
                painter.fillRect(QStyle.visualRect(direction, whole, edge), colour_named(colours.accent))


def _paint_focus(painter: QPainter, area: QRect) -> None:
    """Show where Alt+Down and the menu of the column apply."""
    painter.setRenderHint(_SMOOTH, False)
    painter.setPen(colour_named(tokens().accent))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(area.adjusted(0, 0, -1, -1))
    painter.setRenderHint(_SMOOTH)
