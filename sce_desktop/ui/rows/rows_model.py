"""The table of rows as Qt sees it: the ids of all rows in their order, and pages of those looked at.

Nothing is read from the project while Qt asks: a row that is not here yet is a placeholder, and its page is
read in the worker ``reads``, the newest wish first (`RowPages`). Scores and annotations that change are shown
row by row; only another query resets the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal, Slot

from sce_desktop.controllers import rows_spoken, rows_text
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.rows_data import PAGE, FoundRows, RowData
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.query import RowQuery
from sce_desktop.core.scored import ScoredRows, other_runs
from sce_desktop.ui.rows.row_pages import RowPages
from sce_desktop.ui.rows.rows_columns import HEADING_ROLE, ROOT, Column, Index, RowsColumns
from sce_desktop.ui.rows.rows_finder import RowsFinder

__all__ = ["HEADING_ROLE", "ROW_ROLE", "Column", "RowsModel"]

ROW_ROLE = Qt.ItemDataRole.UserRole  # RowData, or None while it is being fetched
_LOOKED_AROUND = 20_000  # rows around the last one, before all are looked at


class RowsModel(RowsColumns):
    """Follows the query, the runs and the annotations."""

    idsChanged = Signal()  # after the reset for a query
    completed = Signal()  # rows behind the first ones have their places now
    searching = Signal(object)  # whether a query is being answered
    aged = Signal()  # rows may no longer be those, or in the order, that the query asks for

    def __init__(
        self, workspace: Workspace, navigation: Navigation, messages: Messages, parent: QObject | None = None
    ) -> None:
        super().__init__(workspace, parent)
        self._navigation = navigation
        self.finder = RowsFinder(workspace, navigation, messages, self)
        self.finder.found.connect(self._on_found)
        self.finder.completed.connect(self._on_rest)
        self.finder.outdated.connect(self.find)
        self.finder.searching.connect(self.searching)
        self.ids: IdArray = self.finder.ids
        self.start = 0  # the place to begin at, where another order was chosen
        self.pages = RowPages(workspace, self)
        self.pages.changed.connect(self._on_changed)
        self._place = 0  # where a row was that was looked for: the next one is near it
        self._aged_since = False  # whether what rows say has changed since the query was asked
        workspace.projectClosed.connect(self._clear)
        navigation.queryChanged.connect(self.find)  # it is asked when a project is opened too
        navigation.ownColumnsChanged.connect(self._on_own_columns)
        workspace.rowsChanged.connect(self._kinds.clear)
        workspace.rowsChanged.connect(self.find)
        workspace.labelsChanged.connect(self._on_labels)
        workspace.scoresChanged.connect(self._on_scores)
        workspace.draftChanged.connect(self._on_draft)
        workspace.annotationsChanged.connect(self._on_annotations)

    # --- for Qt --------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = ROOT) -> int:
        """Return the number of rows that the query found."""
        return 0 if parent.isValid() else len(self.ids)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what is known; asking for a row that is not here yet has it fetched."""
        if not index.isValid():
            return None
        if role == ROW_ROLE:
            return self.row_at(index.row())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            row = self.row_at(index.row())
            if row is None:
                return rows_text.LOADING
            if self.own_at(index.column()) is not None:
                return self.own_cell(row, index.column())
            words = rows_text.cell if role == Qt.ItemDataRole.DisplayRole else rows_spoken.spoken_cell
            return words(row, index.column(), self.labels, self.runs, self.threshold)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return self._spoken_state(index)
        if role == Qt.ItemDataRole.ToolTipRole:
            row = self.row_at(index.row())
            if row is not None and (own := self.own_at(index.column())) is not None:
                return rows_text.paragraphs([self.own_text(row, own)])
            return None if row is None else rows_text.tool_tip(row, index.column(), self.labels)
        return None

    def _spoken_state(self, index: Index) -> str | None:
        """What a screen reader says of a row behind its text."""
        row = self.row_at(index.row()) if index.column() == Column.TEXT else None
        if row is None:
            return None
        blind = self._navigation.blind
        return rows_spoken.spoken_state(row, self.labels, self.runs, self.threshold, blind=blind)

    # --- for the view --------------------------------------------------------------------------------------

    @property
    def threshold(self) -> float:
        """The confidence below which a prediction is low-confidence."""
        return self._workspace.threshold

    def row_at(self, place: int) -> RowData | None:
        """Return the row at ``place`` if it is here; else, or if it is out of date, have it fetched."""
        return self.pages.row_at(place)

    def place_of(self, row_id: int | None) -> int | None:
        """Return where the row ``row_id`` is in the table; None if the query did not find it."""
        if row_id is None:
            return None
        near = max(0, self._place - _LOOKED_AROUND)
        around = np.flatnonzero(self.ids[near : self._place + _LOOKED_AROUND] == row_id)
        if len(around):
            self._place = near + int(around[0])
            return self._place
        places = np.flatnonzero(self.ids[: self.finder.known] == row_id)
        if not len(places):
            return None
        self._place = int(places[0])
        return self._place

    def set_shown(self, first: int, last: int) -> None:
        """Say which rows are on the screen: their pages are kept up to date.

        What a step of one screen brings, up or down, is read ahead of it.
        """
        self.pages.set_shown(first, last)

    def read_ahead(self, first: int, last: int) -> None:
        """Say which rows are on the screen while it scrolls; see `RowPages.read_ahead`."""
        self.pages.read_ahead(first, last)

    # --- queries -------------------------------------------------------------------------------------------

    @Slot()
    def find(self) -> None:
        """Answer the query in a worker; the rows of before stay until then."""
        if self._workspace.project is None:
            return
        self._aged_since = False
        self.finder.find(self._own)
        self.pages.label_ids = [label.id for label in self.labels]

    @Slot(object)
    def _on_found(self, found: FoundRows) -> None:
        self.start = found.place
        self._follow_runs()
        if found.same:
            self.pages.outdate()
            self.pages.take(found.pages)
        else:
            self.beginResetModel()
            self.ids = self.finder.ids
            self.pages.start_over(self.ids, found.pages)
            self.endResetModel()
        self.pages.set_stale(found.pages, stale=self._aged_since)
        self.pages.want_shown()
        self.idsChanged.emit()

    @Slot(object)
    def _on_rest(self, ids: IdArray) -> None:
        """Take all rows, of which the first ones are here."""
        if more := len(ids) > len(self.ids):
            self.beginInsertRows(ROOT, len(self.ids), len(ids) - 1)
        self.ids = ids
        self.pages.take_ids(ids)
        if more:
            self.endInsertRows()
        if len(ids):
            self._emit_changed(0, len(ids) - 1)
        self.completed.emit()

    @property
    def query(self) -> RowQuery | None:
        """The query that ``ids`` answer."""
        return self.finder.query

    @property
    def whole(self) -> bool:
        """Whether every row has its place; else the first ones have, and the rest is being found."""
        return self.finder.whole

    @property
    def counted(self) -> bool:
        """Whether it is known how many rows there are; else there may be more than the first ones."""
        return self.finder.counted

    @property
    def finding(self) -> bool:
        """Whether another list is being found; the one that is here is of before."""
        return self.finder.job is not None

    @Slot()
    def _clear(self) -> None:
        self.finder.clear()
        self.beginResetModel()
        self.ids = self.finder.ids
        self._kinds.clear()
        self.pages.start_over(self.ids, {})
        self.endResetModel()
        self.idsChanged.emit()

    @Slot()
    def _on_own_columns(self) -> None:
        """Show other columns of the user's table: what is here of the rows lacks them."""
        if not self._show_own(tuple(column.place for column in self._navigation.own_columns)):
            return
        self.pages.columns = self._own
        if self._workspace.project is not None and self.query is not None:
            if self.finder.job is not None:
                self.find()
            self.pages.reread()
            if len(self.ids):
                self._emit_changed(0, len(self.ids) - 1)

    # --- pages ---------------------------------------------------------------------------------------------

    @Slot(object, object, object)
    def _on_changed(self, first: int, last: int, more: bool) -> None:
        self._emit_changed(first, last, Column.NUMBER if more else Column.SCE)

    def _emit_changed(self, first: int, last: int, column: Column = Column.NUMBER) -> None:
        """Have rows painted again from ``column`` on: painting texts takes as long as all the rest."""
        self.dataChanged.emit(self.index(first, column), self.index(last, self.columnCount() - 1))

    # --- what changes --------------------------------------------------------------------------------------

    @Slot()
    def _on_labels(self) -> None:
        self._emit_headings()
        if [label.id for label in self.labels] == self.pages.label_ids:
            self._aged_since = True
            self.pages.age()
        else:
            self._refresh()
        if len(self.ids):  # labels are painted as they are called now: names and colours are in no page
            self._emit_changed(0, len(self.ids) - 1, Column.YOURS)

    @Slot(object)
    def _on_scores(self, change: object) -> None:
        if other_runs(change):
            self._follow_runs()
        if isinstance(change, ScoredRows):
            self._aged_since = True
            self.pages.take_scores(change)
        else:
            self._refresh()
        self.pages.read()  # at once: a timer would let the window be painted first, with what it says now
        self.aged.emit()

    @Slot()
    def _on_draft(self) -> None:
        """Show the drafts that there are by now."""
        if self._workspace.project is not None:
            self._refresh()
            self.aged.emit()

    @Slot(object)
    def _on_annotations(self, ids: object) -> None:
        """Show what was decided about a few rows at once, about many when they are read."""
        if not isinstance(ids, list) or len(ids) > PAGE or self._workspace.project is None:
            self._refresh()
        else:
            self._aged_since = True
            self.pages.take_people(ids)
        self.aged.emit()

    def _refresh(self) -> None:
        self._aged_since = True
        self.pages.refresh()
