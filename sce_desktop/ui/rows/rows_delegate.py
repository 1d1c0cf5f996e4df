"""What a cell of the table says under the mouse. The table paints its cells itself (`RowsPainting`)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QAbstractItemView, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from sce_desktop.controllers import rows_text
from sce_desktop.core.annotations import Label
from sce_desktop.core.colours import colour_of
from sce_desktop.core.labels import roll_up
from sce_desktop.ui.kit.theme import px
from sce_desktop.ui.rows.cell_drawing import CellDrawing
from sce_desktop.ui.rows.rows_model import Column, RowsModel
from sce_desktop.ui.rows.rows_painting import PADDING

Index = QModelIndex | QPersistentModelIndex


class RowsDelegate(QStyledItemDelegate):
    """Answers for every column of `RowsModel`; reads the model's cache and nothing else."""

    def __init__(self, model: RowsModel, view: QAbstractItemView, drawing: CellDrawing) -> None:
        super().__init__(view)
        self._model = model
        self._drawing = drawing

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Heights and widths are the view's."""
        return QSize(px(60), px(24))

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        """Show which label a cell of the strip stands for; elsewhere the predictions."""
        if event.type() is QEvent.Type.ToolTip and index.column() == Column.CELLS:
            area: QRect = option.rect
            tip = self._cell_tip(event.pos(), area.adjusted(px(PADDING), 0, -px(PADDING), -1), index)
            if tip is not None:
                QToolTip.showText(event.globalPos(), tip, view)
                return True
        return super().helpEvent(event, view, option, index)

    def _cell_tip(self, at: QPoint, area: QRect, index: Index) -> str | None:
        row = self._model.row_at(index.row())
        score = row.scores[0] if row is not None and row.scores else None
        if score is None:
            return None
        places = rows_text.best_places(score)
        for place, box in zip(places, self._drawing.strip_cells(area, len(places)), strict=True):
            if box.left() <= at.x() < box.right() + 1:
                return rows_text.cell_tip(score, place, self._model.labels)
        return None


def colours_of_names(names: Sequence[str], labels: tuple[Label, ...]) -> list[str]:
    """The colour of each name: its label's, or that of its first child where labels are rolled up, or ""."""
    tops = roll_up(label.name for label in labels)
    by_name: dict[str, str] = {}
    for label in labels:
        by_name.setdefault(tops[label.name], colour_of(label))
    by_name |= {label.name: colour_of(label) for label in labels}
    return [by_name.get(name, "") for name in names]
