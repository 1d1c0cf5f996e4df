"""The table of rows as Qt sees it: the ids of all rows in their order, and pages of those looked at.

Nothing is read from the project while Qt asks: a row that is not here yet is a placeholder, and its page is
read in the worker ``reads``, the newest wish first (`RowPages`). Scores and annotations that change are shown
row by row; only another query resets the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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

from sce_desktop.controllers import rows_data, rows_spoken, rows_text
from sce_desktop.controllers.crashes import Crash
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import column_title, leads_to_open, starts_over
from sce_desktop.controllers.rows_data import MANY_ROWS, PAGE, FoundRows, RowData
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import DamagedProject
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.query import RowQuery
from sce_desktop.core.readings import Kind
from sce_desktop.core.runs import Run
from sce_desktop.core.scored import ScoredRows, other_runs
from sce_desktop.ui.rows.row_pages import RowPages

MARK_MS = 250  # new scores often come that soon after an edit of labels: then the table is painted once
ROW_ROLE = Qt.ItemDataRole.UserRole  # RowData, or None while it is being fetched
HEADING_ROLE = Qt.ItemDataRole.UserRole + 1  # the words of a heading, where a sign stands for them too
SORTED = {  # what a click on the heading of a column does; None: nobody has looked yet
    None: N_("Click to sort."),
    Kind.TEXT: N_("Click to sort as text."),
    Kind.NUMBER: N_("Click to sort by number."),
    Kind.DATE: N_("Click to sort by date."),
}
_LOOKED_AROUND = 20_000  # rows around the last one, before all are looked at
_MOST_IN_TIP = 2_000  # characters
_MOST_TRIES = 2  # to find the rest of a list
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
    completed = Signal()  # rows behind the first ones have their places now
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
        self._own: tuple[int, ...] = ()
        self._kinds: dict[int, Kind] = {}
        self._headings: list[str] = []
        self._signs: frozenset[int] = frozenset()
        self.pages = RowPages(workspace, self)
        self.pages.changed.connect(self._on_changed)
        self.pages.asking.connect(self._on_asking)
        self.pages.answered.connect(self._on_answered)
        self._find: Job | None = None
        self._rest: Job | None = None  # finds the rows behind the first ones
        self._whole = True  # whether ``ids`` has no gap
        self._tries = 0  # how often the rows behind the first ones of this list were asked for
        self._place = 0  # where a row was that was looked for: the next one is near it
        self._asked: RowQuery | None = None  # what ``_find`` answers
        self._aged_since = False  # whether what rows say has changed since it was asked
        self._mark_soon = QTimer(self, singleShot=True, interval=MARK_MS)
        self._mark_soon.timeout.connect(self._mark)
        workspace.projectOpened.connect(self.find)
        workspace.projectClosed.connect(self._clear)
        navigation.queryChanged.connect(self.find)
        navigation.ownColumnsChanged.connect(self._on_own_columns)
        workspace.rowsChanged.connect(self._kinds.clear)
        workspace.rowsChanged.connect(self.find)
        workspace.labelsChanged.connect(self._on_labels)
        workspace.scoresChanged.connect(self._on_scores)
        workspace.draftChanged.connect(self._on_draft)
        workspace.annotationsChanged.connect(self._on_annotations)

    # --- for Qt --------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of rows that the query found."""
        return 0 if parent.isValid() else len(self.ids)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else self._columns + len(self._own)

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

    @Slot()
    def _on_own_columns(self) -> None:
        """Show other columns of the user's table: what is here of the rows lacks them."""
        own = tuple(column.place for column in self._navigation.own_columns)
        if own == self._own:
            return
        start = self._columns
        if self._own:
            self.beginRemoveColumns(_ROOT, start, start + len(self._own) - 1)
            self._own = ()
            self.endRemoveColumns()
        if own:
            self.beginInsertColumns(_ROOT, start, start + len(own) - 1)
            self._own = own
            self.endInsertColumns()
        self.pages.columns = own
        if self._workspace.project is not None and self.query is not None:
            if self._find is not None:
                self.find()
            self.pages.reread()
            if len(self.ids):
                self._emit_changed(0, len(self.ids) - 1)

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
        near = max(0, self._place - _LOOKED_AROUND)
        around = np.flatnonzero(self.ids[near : self._place + _LOOKED_AROUND] == row_id)
        if len(around):
            self._place = near + int(around[0])
            return self._place
        places = np.flatnonzero(self.ids == row_id)
        if not len(places):
            return None
        self._place = int(places[0])
        return self._place

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
        drop(self._find, self._rest)
        self._rest = None
        query = self._navigation.query
        from_top = starts_over(query, self.query)
        # What has to read a column of every row first takes seconds: it is seen, and can be stopped.
        long = project.row_count() > MANY_ROWS and project.must_read(query)
        job = self._workspace.submit(
            rows_data.find_rows,
            project,
            query,
            None if from_top else self._navigation.current_row,
            self.runs,
            self.labels,
            to_open=from_top and leads_to_open(query),
            columns=self._own,
            before=self.ids,
            title=_("Finding rows"),
            worker="orders" if long else "reads",
            first=True,
            quiet=not long,
            notify_failure=False,
        )
        job.finished.connect(self._on_found)
        job.cancelled.connect(self._on_stopped)
        job.failed.connect(self._on_no_answer)
        self._find, self._asked, self._aged_since = job, query, False
        self.pages.label_ids = [label.id for label in self.labels]
        self.searching.emit(True)

    # --- queries -------------------------------------------------------------------------------------------

    @Slot(object)
    def _on_found(self, found: FoundRows) -> None:
        self._find = None
        if self._workspace.project is None:
            return
        self.start = found.place
        self.query = self._asked
        self._whole, self._tries = found.whole, 0
        self._follow_runs()
        if found.same:
            self.pages.outdate()
            self.pages.take(found.pages)
        else:
            self.beginResetModel()
            self.ids = found.ids
            if not found.whole:
                self.ids = np.zeros(found.count, found.ids.dtype)
                self.ids[: len(found.ids)] = found.ids
            self.pages.start_over(self.ids, found.pages)
            self.endResetModel()
        self.pages.set_stale(found.pages, stale=self._aged_since)
        self.pages.want_shown()
        if found.whole:
            self.searching.emit(False)
        else:
            self._find_rest()
        self.idsChanged.emit()

    def _find_rest(self) -> None:
        """Find the rows behind the first ones, which can be looked at meanwhile."""
        self._tries += 1
        job = self._workspace.submit(
            rows_data.rest_of,
            self._workspace.project,
            self.query,
            title=_("Finding rows"),
            worker="orders",
            first=True,
            quiet=True,
            notify_failure=self._tries >= _MOST_TRIES,
        )
        job.finished.connect(self._on_rest)
        job.ended.connect(self._on_rest_ended)
        self._rest = job

    @Slot(object)
    def _on_rest(self, ids: IdArray) -> None:
        """Take all rows; where one decided meanwhile, the query may have found others: find them again."""
        self._rest = None
        known = np.count_nonzero(self.ids)  # no row has the number 0
        if len(ids) != len(self.ids) or not np.array_equal(ids[:known], self.ids[:known]):
            self.find()
            return
        self.ids, self._whole = ids, True
        self.pages.take_ids(ids)
        self._emit_changed(0, len(ids) - 1)
        self.completed.emit()

    @Slot()
    def _on_rest_ended(self) -> None:
        if self._rest is not None and isinstance(self._rest.error, Crash):
            self._tries = _MOST_TRIES  # its dialog has come
        self._rest = None
        if self._find is None:
            self._go_on()

    def _go_on(self) -> None:
        """Find the rest of the list that is shown, where it has gaps: no other list comes in its place.

        What fails again and again is left, and the last time says so; the next query tries anew.
        """
        stopping = self._workspace.project is None or self._workspace.work.stopping
        if not self._whole and self._tries < _MOST_TRIES and not stopping:
            self._find_rest()
        else:
            self.searching.emit(False)

    @property
    def whole(self) -> bool:
        """Whether every row has its place; else the first ones have, and the rest is being found."""
        return self._whole

    @Slot()
    def _on_stopped(self) -> None:
        """The user stopped what takes long: the rows of before stay."""
        self._find, self._tries = None, 0
        self._go_on()

    @Slot(object)
    def _on_no_answer(self, error: object) -> None:
        self._find, self._tries = None, 0
        if isinstance(error, DamagedProject):
            self._messages.notify_error(error)  # with a way out
        self._navigation.queryFailed.emit(error.what if isinstance(error, DamagedProject) else str(error))
        self._go_on()

    @Slot()
    def _clear(self) -> None:
        drop(self._find, self._rest)
        self._find = self._rest = None
        self._whole = True
        self.beginResetModel()
        self.ids = np.empty(0, np.int64)
        self.query = None
        self._kinds.clear()
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
