"""The table of rows as Qt sees it: the ids of all rows in their order, and pages of those looked at.

Nothing is read from the project while Qt asks: a row that is not here yet is a placeholder, and its page is
read in the worker ``reads``, the newest wish first (`RowPages`). Scores and annotations that change are shown
row by row; only another query resets the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
    Slot,
)

from sce_desktop.controllers import rows_data, rows_text
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import leads_to_open, starts_over
from sce_desktop.controllers.rows_data import PAGE, RowData
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import DamagedProject
from sce_desktop.core.i18n import _
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Run
from sce_desktop.core.scored import ScoredRows, other_runs
from sce_desktop.ui.rows.row_pages import RowPages

MARK_MS = 250  # new scores often come that soon after an edit of labels: then the table is painted once
ROW_ROLE = Qt.ItemDataRole.UserRole  # RowData, or None while it is being fetched
HEADING_ROLE = Qt.ItemDataRole.UserRole + 1  # the words of a heading, where a sign stands for them too
Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class Column(IntEnum):
    """The columns; those of the baselines follow."""

    NUMBER = 0
    TEXT = 1
    YOURS = 2
    SCE = 3
    CELLS = 4
    FINAL = 5
    BASELINE = 6  # of the first baseline


class RowsModel(QAbstractTableModel):
    """Follows the query, the runs and the annotations."""

    idsChanged = Signal()  # after the reset for a query
    searching = Signal(object)  # whether a query is being answered
    aged = Signal()  # rows may no longer be those, or in the order, that the query asks for

    def __init__(
        self, workspace: Workspace, navigation: Navigation, messages: Messages, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._messages = messages
        self.ids: IdArray = np.empty(0, np.int64)
        self.query: RowQuery | None = None  # that ``ids`` answer
        self.start = 0  # the place to begin at, where another order was chosen
        self._columns = Column.BASELINE + 1
        self._headings: list[str] = []
        self._signs: frozenset[int] = frozenset()
        self.pages = RowPages(workspace, self)
        self.pages.changed.connect(self._on_changed)
        self.pages.asking.connect(self._on_asking)
        self.pages.answered.connect(self._on_answered)
        self._find: Job | None = None
        self._asked: RowQuery | None = None  # what ``_find`` answers
        self._aged_since = False  # whether what rows say has changed since it was asked
        self._mark_soon = QTimer(self, singleShot=True, interval=MARK_MS)
        self._mark_soon.timeout.connect(self._mark)
        workspace.projectOpened.connect(self.find)
        workspace.projectClosed.connect(self._clear)
        navigation.queryChanged.connect(self.find)
        workspace.rowsChanged.connect(self.find)
        workspace.labelsChanged.connect(self._on_labels)
        workspace.scoresChanged.connect(self._on_scores)
        workspace.annotationsChanged.connect(self._on_annotations)

    # --- for Qt --------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of rows that the query found."""
        return 0 if parent.isValid() else len(self.ids)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else self._columns

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
            return rows_text.cell(row, index.column(), self.labels, self.runs, self.threshold)
        if role == Qt.ItemDataRole.ToolTipRole:
            row = self.row_at(index.row())
            return None if row is None else rows_text.tool_tip(row, index.column(), self.labels)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the heading of a column, and what a click on it does."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
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

    # --- for the view --------------------------------------------------------------------------------------

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels in use."""
        return self._workspace.labels

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs shown, the model's first."""
        return self._workspace.runs

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
        places = np.flatnonzero(self.ids == row_id)
        return int(places[0]) if len(places) else None

    def set_shown(self, first: int, last: int) -> None:
        """Say which rows are on the screen: their pages are kept up to date.

        What a step of one screen brings, up or down, is read ahead of it.
        """
        self.pages.set_shown(first, last)

    @Slot()
    def find(self) -> None:
        """Answer the query in the worker ``reads``; the rows of before stay until then."""
        project = self._workspace.project
        if project is None:
            return
        drop(self._find)
        query = self._navigation.query
        from_top = starts_over(query, self.query)
        job = self._workspace.submit(
            rows_data.find_rows,
            project,
            query,
            None if from_top else self._navigation.current_row,
            self.runs,
            self.labels,
            to_open=from_top and leads_to_open(query),
            title=_("Finding rows"),
            worker="reads",
            first=True,
            quiet=True,
            notify_failure=False,
        )
        job.finished.connect(self._on_found)
        job.failed.connect(self._on_no_answer)
        self._find, self._asked, self._aged_since = job, query, False
        self.pages.label_ids = [label.id for label in self.labels]
        self.searching.emit(True)

    # --- queries -------------------------------------------------------------------------------------------

    @Slot(object)
    def _on_found(self, found: tuple[IdArray, dict[int, list[RowData]], int]) -> None:
        self._find = None
        if self._workspace.project is None:
            return
        ids, pages, self.start = found
        self.query = self._asked
        self._follow_runs()
        if np.array_equal(ids, self.ids):
            self.pages.outdate()
            self.pages.take(pages)
        else:
            self.beginResetModel()
            self.ids = ids
            self.pages.start_over(ids, pages)
            self.endResetModel()
        self.pages.set_stale(pages, stale=self._aged_since)
        self.pages.want_shown()
        self.searching.emit(False)
        self.idsChanged.emit()

    @Slot(object)
    def _on_no_answer(self, error: object) -> None:
        self._find = None
        if isinstance(error, DamagedProject):
            self._messages.notify_error(error)  # with a way out
        self._navigation.queryFailed.emit(error.what if isinstance(error, DamagedProject) else str(error))
        self.searching.emit(False)

    @Slot()
    def _clear(self) -> None:
        drop(self._find)
        self._find = None
        self.beginResetModel()
        self.ids = np.empty(0, np.int64)
        self.query = None
        self.pages.start_over(self.ids, {})
        self.endResetModel()
        self.idsChanged.emit()

    # --- pages ---------------------------------------------------------------------------------------------

    @Slot(object, object, object)
    def _on_changed(self, first: int, last: int, more: bool) -> None:
        self._emit_changed(first, last, Column.NUMBER if more else Column.SCE)

    @Slot()
    def _on_asking(self) -> None:
        if self._mark_soon.isActive():
            self._mark_soon.start()  # what is read is painted with the names, at once

    @Slot(object)
    def _on_answered(self, now: bool) -> None:
        if now and self._mark_soon.isActive():
            self._mark()

    def _emit_changed(self, first: int, last: int, column: Column = Column.NUMBER) -> None:
        """Have rows painted again from ``column`` on: painting texts takes as long as all the rest."""
        self.dataChanged.emit(self.index(first, column), self.index(last, self._columns - 1))

    # --- what changes --------------------------------------------------------------------------------------

    @Slot()
    def _on_labels(self) -> None:
        self._emit_headings()
        if [label.id for label in self.labels] == self.pages.label_ids:
            self._aged_since = True
            self.pages.age()
        else:
            self._refresh()
        if self.runs:
            self._mark_soon.start()
        else:
            self._mark()

    @Slot()
    def _mark(self) -> None:
        """Have labels painted as they are called now: names and colours are in no page."""
        self._mark_soon.stop()
        if len(self.ids):
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

    def _aliases(self) -> tuple[str, ...]:
        return tuple(run.alias for run in self.runs[1:])

    def _follow_runs(self) -> None:
        """Have a column for each baseline; the first one's is there from the start."""
        wanted = Column.BASELINE + max(1, len(self.runs) - 1)
        if wanted > self._columns:
            self.beginInsertColumns(_ROOT, self._columns, wanted - 1)
            self._columns = wanted
            self.endInsertColumns()
        elif wanted < self._columns:
            self.beginRemoveColumns(_ROOT, wanted, self._columns - 1)
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
