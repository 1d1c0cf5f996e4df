"""Small tables of figures: sorted by their headings, chosen by click or Enter, copied for a spreadsheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from sce_desktop.controllers.rows_text import NOT_YET
from sce_desktop.core.i18n import number as format_number
from sce_desktop.core.i18n import percent
from sce_desktop.tasks.tables.pasting import as_tsv
from sce_desktop.ui.kit.theme import px

Value = str | int | float | None
Index = QModelIndex | QPersistentModelIndex
ROW_HEIGHT = 26
_ROOT = QModelIndex()


class Kind(Enum):
    """What a column holds, and so how its values are written."""

    NAME = "name"
    COUNT = "count"
    SHARE = "share"  # a fraction of 1


@dataclass(frozen=True, slots=True)
class Heading:
    """One column; ``width`` in the sketch's pixels, 0: all that is left."""

    title: str
    kind: Kind = Kind.SHARE
    width: int = 76
    tip: str = ""
    above: str = ""  # whose figure it is, where several have one: a line of its own
    digits: int = 1  # decimals of a share

    @property
    def name(self) -> str:
        """The title on one line."""
        return f"{self.above} {self.title}".strip()


class FiguresModel(QAbstractTableModel):
    """Rows of values under headings; ``number(row)`` says which of the given rows stands there now."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.headings: tuple[Heading, ...] = ()
        self.rows: tuple[tuple[Value, ...], ...] = ()
        self._order: list[int] = []
        self._icon: Callable[[int], QIcon] | None = None
        self._sorted: tuple[int, Qt.SortOrder] | None = None

    def show(
        self,
        headings: Sequence[Heading],
        rows: Sequence[Sequence[Value]],
        icon: Callable[[int], QIcon] | None = None,
    ) -> bool:
        """Show ``rows``; ``icon`` returns what stands before the first cell of the row of a number.

        Returns whether views are reset: there are other headings, or more or fewer rows.
        """
        headings, cells = tuple(headings), tuple(tuple(row) for row in rows)
        other = headings != self.headings
        reset = other or len(cells) != len(self.rows)
        (self.beginResetModel if reset else self.layoutAboutToBeChanged.emit)()
        if other:
            self._sorted = None
        self.headings, self.rows, self._icon = headings, cells, icon
        self._order = self._ordered()
        (self.endResetModel if reset else self.layoutChanged.emit)()
        return reset

    def number(self, row: int) -> int:
        """The place, among the rows as they were given, of the one that is shown at ``row``."""
        return self._order[row]

    def tsv(self) -> str:
        """What is shown, for the clipboard."""
        return as_tsv([[heading.name for heading in self.headings], *(self.rows[n] for n in self._order)])

    def rowCount(self, parent: Index = _ROOT) -> int:
        """The rows given."""
        return 0 if parent.isValid() else len(self._order)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """The headings given."""
        return 0 if parent.isValid() else len(self.headings)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Titles, and what they mean under the mouse."""
        if orientation is not Qt.Orientation.Horizontal or section >= len(self.headings):
            return None
        heading = self.headings[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{heading.above}\n{heading.title}" if heading.above else heading.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return heading.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return heading.tip or heading.name
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(heading)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell; the icon of a row."""
        number, heading = self._order[index.row()], self.headings[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(self.rows[number][index.column()], heading)
        if role == Qt.ItemDataRole.ToolTipRole and heading.kind is Kind.NAME:
            return str(self.rows[number][index.column()] or "")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(heading)
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0 and self._icon is not None:
            return self._icon(number)
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order the rows by a column; cells without a value come last."""
        self.layoutAboutToBeChanged.emit()
        self._sorted = (column, order) if column >= 0 else None
        self._order = self._ordered()
        self.layoutChanged.emit()

    def _ordered(self) -> list[int]:
        places = list(range(len(self.rows)))
        if self._sorted is None:
            return places
        column, order = self._sorted
        empty = [n for n in places if self.rows[n][column] is None]
        known = [n for n in places if self.rows[n][column] is not None]
        known.sort(key=lambda n: _key(self.rows[n][column]), reverse=order is Qt.SortOrder.DescendingOrder)
        return known + empty


class FiguresTable(QTableView):
    """Shows a `FiguresModel`."""

    chosen = Signal(object)  # the number of a row, by click or Enter

    def __init__(self, name: str, *, sortable: bool = True) -> None:
        super().__init__()
        self.figures = FiguresModel(self)
        self.setModel(self.figures)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(px(ROW_HEIGHT))
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(sortable)
        if sortable:
            header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)  # as given, until a heading is pressed
            header.setSortIndicatorClearable(True)
            self.setSortingEnabled(True)
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)

    def show_rows(
        self,
        headings: Sequence[Heading],
        rows: Sequence[Sequence[Value]],
        icon: Callable[[int], QIcon] | None = None,
    ) -> None:
        """Show ``rows`` (see `FiguresModel.show`), the columns as wide as their headings say."""
        header, other = self.horizontalHeader(), tuple(headings) != self.figures.headings
        if other and self.isSortingEnabled():
            header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        if not self.figures.show(headings, rows, icon):
            return
        for column, heading in enumerate(headings):
            mode = QHeaderView.ResizeMode.Interactive if heading.width else QHeaderView.ResizeMode.Stretch
            header.setSectionResizeMode(column, mode)
            if heading.width:
                header.resizeSection(column, max(px(heading.width), header.sectionSizeHint(column)))

    @Slot(QModelIndex)
    def _choose(self, index: QModelIndex) -> None:
        self.chosen.emit(self.figures.number(index.row()))


def _key(value: Value) -> Any:
    return value.casefold() if isinstance(value, str) else value


def _text(value: Value, heading: Heading) -> str:
    if value is None:
        return NOT_YET
    if isinstance(value, str):
        return " ".join(value.split())
    return format_number(value) if heading.kind is Kind.COUNT else percent(value, heading.digits)


def _side(heading: Heading) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if heading.kind is Kind.NAME else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
