"""The head of a table as the import dialog shows it: every cell as it was read, and marks on rows."""

from __future__ import annotations

import html
from collections.abc import Collection
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from sce_desktop.core.blank import is_blank
from sce_desktop.core.i18n import _
from sce_desktop.core.scripts import foreign_script
from sce_desktop.core.tables import TablePreview
from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.theme import font, tokens

_SHOWN = 300  # characters of a cell
_TIP = 2000  # characters of a tool tip
_NO_PARENT = QModelIndex()
Index = QModelIndex | QPersistentModelIndex


class PreviewModel(QAbstractTableModel):
    """Rows and columns of a `TablePreview`; text columns are strong, rows have a mark with its reason."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preview: TablePreview | None = None
        self._text_columns: tuple[int, ...] = ()
        self._label_column: int | None = None
        self._width: int | None = None
        self._known: Collection[int] = ()
        self._model = ""
        self._scripts: frozenset[str] | None = None  # that the model reads; None: all

    def show_preview(self, preview: TablePreview | None) -> None:
        """Show another table, or none."""
        self.beginResetModel()
        self._preview = preview
        self._known = ()
        self.endResetModel()

    def set_columns(self, text: tuple[int, ...], label: int | None, width: int | None = None) -> None:
        """Say which columns are the text and the label; those from ``width`` on are no data."""
        self._text_columns, self._label_column, self._width = text, label, width
        self._changed()

    def set_known(self, places: Collection[int]) -> None:
        """Say which rows the project has already."""
        self._known = places
        self._changed()

    def set_model(self, name: str, scripts: frozenset[str] | None) -> None:
        """Say which model is to score the rows, and which scripts it reads; None: all."""
        if (name, scripts) != (self._model, self._scripts):
            self._model, self._scripts = name, scripts
            self._changed()

    def _changed(self) -> None:
        if self._preview is not None and self._preview.columns:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self.columnCount() - 1)
            if self.rowCount():
                last = self.index(self.rowCount() - 1, self.columnCount() - 1)
                self.dataChanged.emit(self.index(0, 0), last)
                self.headerDataChanged.emit(Qt.Orientation.Vertical, 0, self.rowCount() - 1)

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """Rows of the preview."""
        return 0 if parent.isValid() or self._preview is None else len(self._preview.rows)

    def columnCount(self, parent: Index = _NO_PARENT) -> int:
        """Columns of the table."""
        return 0 if parent.isValid() or self._preview is None else len(self._preview.columns)

    def mark(self, row: int) -> str:
        """What is special about a row, in words; empty if nothing is."""
        assert self._preview is not None
        cells = self._preview.rows[row]
        texts = [cells[column] or "" for column in self._text_columns if column < len(cells)]
        if self._text_columns and all(map(is_blank, texts)):
            return _("No text: kept, but never scored")
        if row in self._known:
            return _("The project already has this text")
        if self._scripts is None:
            return ""
        script = foreign_script("\n".join(texts), self._scripts)
        if not script:
            return ""
        return _("{model} cannot read {script} script", model=self._model, script=script)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Headers as they stand, numbers of rows, and marks."""
        if self._preview is None:
            return None
        if orientation is Qt.Orientation.Vertical:
            if role == Qt.ItemDataRole.DisplayRole:
                return str(section + 1)
            if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
                return self.mark(section)
            return None
        name = self._preview.columns[section] or _("Column {number}", number=section + 1)
        text, label = section in self._text_columns, section == self._label_column
        use = _("Text to classify") if text else _("Existing label") if label else ""
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        if role == Qt.ItemDataRole.DecorationRole and use:
            return icon("check" if text else "label", "accent")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(filter(None, (name, use)))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip("\n".join(filter(None, (name, use))))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell: its beginning, the rest in the tool tip."""
        assert self._preview is not None
        row, column = index.row(), index.column()
        cell = self._preview.rows[row][column]
        if role == Qt.ItemDataRole.DisplayRole:
            return "" if cell is None else " ".join(cell[:_SHOWN].split("\n"))
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(self.mark(row), cell)
        if role == Qt.ItemDataRole.FontRole and column in self._text_columns:
            return font("body")
        if role == Qt.ItemDataRole.ForegroundRole:
            chosen = column in self._text_columns or column == self._label_column
            taken_out = self._width is not None and column >= self._width
            return QColor(tokens().ink if chosen and not taken_out else tokens().muted)
        if role == Qt.ItemDataRole.DecorationRole and column == min(self._text_columns, default=-1):
            mark = self.mark(row)
            return icon("info", "muted") if row in self._known else icon("warning", "warn") if mark else None
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return self.mark(row)
        return None


def plain_tip(text: str) -> str:
    """A tool tip that shows ``text`` as it is, whatever tags it looks like."""
    if "<" not in text:
        return text
    return f"<qt>{html.escape(text, quote=False)}</qt>".replace("\n", "<br>")


def _tip(mark: str, cell: str | None) -> str:
    """The cell's text under its row's mark."""
    return plain_tip("\n\n".join(filter(None, (mark, (cell or "")[:_TIP]))))
