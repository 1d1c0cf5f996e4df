"""Where the user's columns stand: beside the text, in an order that dragging a heading changes."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QHeaderView

from sce_desktop.ui.rows.rows_model import Column, RowsModel


class OwnOrder(QObject):
    """Follows the headings of the table of rows; the program's own columns stay where they are."""

    chosen = Signal(object)  # the user's columns in another order, by their places

    def __init__(self, header: QHeaderView, model: RowsModel) -> None:
        super().__init__(header)
        self._header = header
        self._model = model
        self._arranging = False
        header.setSectionsMovable(True)
        header.setFirstSectionMovable(False)
        header.sectionMoved.connect(self._on_moved)
        model.columnsInserted.connect(self.arrange)

    @Slot()
    def arrange(self) -> None:
        """Put the user's columns beside the text, in their order, and the others behind them."""
        behind = range(Column.YOURS, self._model.columnCount())
        own = [column for column in behind if self._model.own_at(column) is not None]
        others = [column for column in behind if column not in own]
        self._arranging = True
        for visual, column in enumerate((Column.NUMBER, Column.TEXT, *own, *others)):
            if self._header.visualIndex(column) != visual:
                self._header.moveSection(self._header.visualIndex(column), visual)
        self._arranging = False

    @Slot()
    def _on_moved(self) -> None:
        if not self._arranging:
            QTimer.singleShot(0, self, self._end_move)  # when the heading has done with it

    def _end_move(self) -> None:
        sections = sorted(range(self._model.columnCount()), key=self._header.visualIndex)
        places = [place for section in sections if (place := self._model.own_at(section)) is not None]
        self.arrange()
        self.chosen.emit(places)
