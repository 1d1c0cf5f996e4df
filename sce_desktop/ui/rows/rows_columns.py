"""The columns of the table of rows and their headings: those of the program, and those of the user's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from sce_desktop.controllers import rows_text
from sce_desktop.controllers.queries import column_title
from sce_desktop.controllers.rows_data import RowData
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.readings import Kind
from sce_desktop.core.runs import Run

HEADING_ROLE = Qt.ItemDataRole.UserRole + 1  # the words of a heading, where a sign stands for them too
SORTED = {  # what a click on the heading of a column does; None: nobody has looked yet
    None: N_("Click to sort."),
    Kind.TEXT: N_("Click to sort as text."),
    Kind.NUMBER: N_("Click to sort by number."),
    Kind.DATE: N_("Click to sort by date."),
}
_MOST_IN_TIP = 2_000  # characters
Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()


class Column(IntEnum):
    """The columns; those of the baselines follow."""

    NUMBER = 0
    TEXT = 1
    YOURS = 2
    SCE = 3
    CELLS = 4
    FINAL = 5
    BASELINE = 6  # of the first baseline


class RowsColumns(QAbstractTableModel):
    """What of the model of rows is about columns; it has no rows."""

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._columns = Column.BASELINE + 1
        self._own: tuple[int, ...] = ()
        self._kinds: dict[int, Kind] = {}
        self._headings: list[str] = []
        self._signs: frozenset[int] = frozenset()

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels in use."""
        return self._workspace.labels

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs shown, the model's first."""
        return self._workspace.runs

    def columnCount(self, parent: Index = ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else self._columns + len(self._own)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the heading of a column, and what a click on it does."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if (own := self.own_at(section)) is not None:
            return self._own_heading(own, role)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, HEADING_ROLE):
            sign = role == Qt.ItemDataRole.DisplayRole and section in self._signs
            return "≠" if sign else rows_text.heading(section, self.labels, self._aliases())
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            return rows_text.heading_tip(section, self.runs)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def set_signs(self, columns: Iterable[int]) -> None:
        """Head these columns, which have no room for words, by the sign that stands in them."""
        signs = frozenset(columns)
        if signs != self._signs:
            self._signs = signs
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self._columns - 1)

    # --- columns of the user's own -------------------------------------------------------------------------

    @property
    def own(self) -> tuple[int, ...]:
        """The columns of the user's table that are shown, by 0-based place; they follow the others."""
        return self._own

    def own_at(self, section: int) -> int | None:
        """Return the place in the user's table of what a column shows; None if it is none of those."""
        at = section - self._columns
        return self._own[at] if 0 <= at < len(self._own) else None

    def section_of(self, place: int) -> int | None:
        """Return the column that shows a column of the user's table; None if none does."""
        return self._columns + self._own.index(place) if place in self._own else None

    def own_cell(self, row: RowData, section: int) -> str:
        """Return the beginning of a cell, on one line; empty while it is not read yet."""
        at = section - self._columns
        return (row.cells[at] or "") if at < len(row.cells) else ""

    def own_text(self, row: RowData, place: int) -> str:
        """Return a cell of the user's table, as far as somebody reads it under the mouse."""
        project = self._workspace.project
        return (project.rows([row.id])[0].cells[place] or "")[:_MOST_IN_TIP] if project is not None else ""

    def _show_own(self, own: tuple[int, ...]) -> bool:
        """Show these columns of the user's table; return whether they are others than before."""
        if own == self._own:
            return False
        start = self._columns
        if self._own:
            self.beginRemoveColumns(ROOT, start, start + len(self._own) - 1)
            self._own = ()
            self.endRemoveColumns()
        if own:
            self.beginInsertColumns(ROOT, start, start + len(own) - 1)
            self._own = own
            self.endInsertColumns()
        return True

    def _own_heading(self, place: int, role: int) -> Any:
        project = self._workspace.project
        name = column_title(project.columns, place) if project is not None else ""
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, HEADING_ROLE):
            return name
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            return rows_text.paragraphs([name, _(SORTED[self._kinds.get(place)])])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def set_kinds(self, kinds: Mapping[int, Kind]) -> None:
        """Say what columns of the user's table read as, by place, as far as it is known."""
        self._kinds |= kinds
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self.columnCount() - 1)

    # --- what changes --------------------------------------------------------------------------------------

    def _aliases(self) -> tuple[str, ...]:
        return tuple(run.alias for run in self.runs[1:])

    def _follow_runs(self) -> None:
        """Have a column for each baseline; the first one's is there from the start."""
        wanted = Column.BASELINE + max(1, len(self.runs) - 1)
        if wanted > self._columns:
            self.beginInsertColumns(ROOT, self._columns, wanted - 1)
            self._columns = wanted
            self.endInsertColumns()
        elif wanted < self._columns:
            self.beginRemoveColumns(ROOT, wanted, self._columns - 1)
            self._columns = wanted
            self.endRemoveColumns()
        self._emit_headings()

    def _emit_headings(self) -> None:
        """Have the headings drawn again if they changed: the table is drawn with them."""
        headings = [
            rows_text.heading(column, self.labels, self._aliases()) for column in range(self._columns)
        ]
        if headings != self._headings:
            self._headings = headings
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self._columns - 1)
