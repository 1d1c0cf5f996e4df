"""The preview of a table: its head as it was read, the text column as wide as the others leave it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTableView

from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.directed_cells import DirectedCells
from sce_desktop.ui.kit.preview_model import PreviewModel
from sce_desktop.ui.kit.theme import ROW_HEIGHTS, SPACE_S, px

_LEAST_TEXT = 240  # pixels of the text's column


class PreviewTable(QTableView):
    """Shows a `PreviewModel`, ``preview``, and leaves no place beside its columns empty."""

    def __init__(self) -> None:
        super().__init__()
        self.preview = PreviewModel(self)
        self._wanted: list[int] = []  # widths of the columns
        self._text_columns: tuple[int, ...] = ()
        self.setTabKeyNavigation(False)
        self.setAccessibleName(_("Preview of the table"))
        self.setModel(self.preview)
        self.setItemDelegate(DirectedCells(self))
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setWordWrap(False)
        self.verticalHeader().setDefaultSectionSize(px(ROW_HEIGHTS["compact"]))
        self.verticalHeader().setSectionResizeMode(self.verticalHeader().ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
        self.horizontalHeader().setMinimumSectionSize(px(64))

    def set_columns(self, text: tuple[int, ...], label: int | None, width: int | None) -> None:
        """Say which columns are the text and the label; those from ``width`` on are no data."""
        self._text_columns = text
        self.preview.set_columns(text, label, width)

    def size_columns(self) -> None:
        """Give the other columns what they need, within limits, and the text what they leave."""
        self.resizeColumnsToContents()
        header, text = self.horizontalHeader(), self._text_columns
        self._wanted = [
            min(header.sectionSize(column) + px(SPACE_S), px(420) if column in text else px(170))
            for column in range(self.preview.columnCount())
        ]
        self._spread()

    def _spread(self) -> None:
        if not self._wanted or len(self._wanted) != self.preview.columnCount():
            return
        spare = self.viewport().width() - sum(self._wanted)
        widest = next(iter(self._text_columns), len(self._wanted) - 1)
        spare = max(spare, min(0, px(_LEAST_TEXT) - self._wanted[widest]))  # of Arabic the end would be seen
        for column, width in enumerate(self._wanted):
            self.horizontalHeader().resizeSection(column, width + spare * (column == widest))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave no place beside the columns empty."""
        super().resizeEvent(event)
        self._spread()
