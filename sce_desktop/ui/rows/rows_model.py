"""The table of rows as Qt sees it: the ids of all rows in their order, and pages of those looked at.

Nothing is read from the project while Qt asks: a row that is not here yet is a placeholder, and its page is
read in the worker ``reads``, the newest wish first. Scores and annotations that change are shown row by row;
only another query resets the model.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
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
from sce_desktop.controllers.queries import column_title, leads_to_open, starts_over
from sce_desktop.controllers.rows_data import PAGE, RowData
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import DamagedProject
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.query import RowQuery
from sce_desktop.core.readings import Kind
from sce_desktop.core.runs import Run

KEPT_PAGES = 128
MARK_MS = 250  # new scores often come that soon after an edit of labels: then the table is painted once
PAGES_A_JOB = 4  # more rows than the highest screen shows
ROW_ROLE = Qt.ItemDataRole.UserRole  # RowData, or None while it is being fetched
HEADING_ROLE = Qt.ItemDataRole.UserRole + 1  # the words of a heading, where a sign stands for them too
SORTED = {  # what a click on the heading of a column does; None: nobody has looked yet
    None: N_("Click to sort."),
    Kind.TEXT: N_("Click to sort as text."),
    Kind.NUMBER: N_("Click to sort by number."),
    Kind.DATE: N_("Click to sort by date."),
}
_MOST_IN_TIP = 2_000  # characters
Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class Column(IntEnum):
    """The columns; those of the baselines follow."""

    NUMBER = 0
    TEXT = 1
    YOURS = 2
    SCE = 3
    CELLS = 4
    BASELINE = 5  # of the first baseline


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
        self._label_ids: list[int | None] = []  # that pages were read with last
        self._own: tuple[int, ...] = ()
        self._kinds: dict[int, Kind] = {}
        self._headings: list[str] = []
        self._signs: frozenset[int] = frozenset()
        self._pages: OrderedDict[int, list[RowData]] = OrderedDict()
        self._stale: set[int] = set()
        self._wanted: list[int] = []
        self._shown = range(0)  # pages on the screen
        self._fetch: Job | None = None
        self._fetching: list[int] = []
        self._fetched_for: tuple[Label, ...] = ()  # the labels in use when it was asked for
        self._find: Job | None = None
        self._asked: RowQuery | None = None  # what ``_find`` answers
        self._aged_since = False  # whether what rows say has changed since it was asked
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._fetch_pages)
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
            return rows_text.cell(row, index.column(), self.labels, self.runs, self.threshold)
        if role == Qt.ItemDataRole.ToolTipRole:
            row = self.row_at(index.row())
            if row is not None and (own := self.own_at(index.column())) is not None:
                return rows_text.paragraphs([self.own_text(row, own)])
            return None if row is None else rows_text.tool_tip(row, index.column(), self.labels)
        return None

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
        drop(self._fetch)
        self._fetch, self._fetching = None, []
        if self._workspace.project is not None and self.query is not None:
            self._pages.clear()
            self._stale.clear()
            if self._find is not None:
                self.find()
            for number in self._shown:
                self._want(number)
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
        number, offset = divmod(place, PAGE)
        page = self._pages.get(number)
        if page is None or number in self._stale:
            self._want(number)
        return page[offset] if page is not None and offset < len(page) else None

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
        self._shown = range(first // PAGE, last // PAGE + 1) if last >= first else range(0)
        for place in (2 * first - last, 2 * last - first):
            if 0 <= place < len(self.ids) and place // PAGE not in self._pages:
                self._want(place // PAGE)

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
            columns=self._own,
            title=_("Finding rows"),
            worker="reads",
            first=True,
            quiet=True,
            notify_failure=False,
        )
        job.finished.connect(self._on_found)
        job.failed.connect(self._on_no_answer)
        self._find, self._asked, self._aged_since = job, query, False
        self._label_ids = [label.id for label in self.labels]
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
            self._stale.update(self._pages, self._fetching)
            for number, page in pages.items():
                self._take_page(number, page)
        else:
            self.beginResetModel()
            self.ids = ids
            self._forget()
            self._pages.update(pages)
            self.endResetModel()
        (self._stale.update if self._aged_since else self._stale.difference_update)(pages)
        self._want_shown()
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
        self._kinds.clear()
        self._forget()
        self.endResetModel()
        self.idsChanged.emit()

    def _forget(self) -> None:
        drop(self._fetch)
        self._fetch, self._fetching = None, []
        self._pages.clear()
        self._stale.clear()
        self._wanted.clear()
        self._shown = range(0)

    # --- pages ---------------------------------------------------------------------------------------------

    def _want(self, number: int) -> None:
        if number in self._wanted:
            return
        self._wanted.append(number)
        if self._fetch is None and not self._soon.isActive():
            self._soon.start()

    @Slot()
    def _fetch_pages(self) -> None:
        """Fetch the pages asked for last; older wishes were scrolled past."""
        project = self._workspace.project
        if project is None or self._fetch is not None or not self._wanted:
            return
        numbers, self._wanted = self._wanted[-PAGES_A_JOB:], []
        self._soon.stop()
        parts = [self.ids[number * PAGE : (number + 1) * PAGE] for number in numbers]
        job = self._workspace.submit(
            rows_data.load_rows,
            project,
            np.concatenate(parts),
            self.runs,
            self.labels,
            columns=self._own,
            title=_("Reading rows"),
            worker="reads",
            first=True,
            quiet=True,
        )
        self._label_ids = [label.id for label in self.labels]
        self._fetched_for = self.labels
        if self._mark_soon.isActive():
            self._mark_soon.start()  # what is read is painted with the names, at once
        self._stale.difference_update(numbers)  # what changes from here on makes them stale again
        job.finished.connect(self._on_fetched)
        job.ended.connect(self._on_fetch_ended)
        self._fetch, self._fetching = job, numbers

    @Slot(object)
    def _on_fetched(self, rows: list[RowData]) -> None:
        now = self._fetched_for == self.labels
        if not now:  # it answers other wordings
            rows = self._aged(rows)
        start = 0
        for number in self._fetching:
            size = min(PAGE, len(self.ids) - number * PAGE)
            self._take_page(number, rows[start : start + size])
            start += size
        if now and self._mark_soon.isActive():
            self._mark()
        while len(self._pages) > KEPT_PAGES:
            self._stale.discard(self._pages.popitem(last=False)[0])

    @Slot()
    def _on_fetch_ended(self) -> None:
        self._fetch, self._fetching = None, []
        self._want_shown()
        self._fetch_pages()

    def _take_page(self, number: int, page: list[RowData]) -> None:
        old = self._pages.get(number, [])
        self._pages[number] = page
        self._pages.move_to_end(number)
        other = [at for at, row in enumerate(page) if at >= len(old) or old[at] != row]
        new = [at for at in other if at >= len(old) or not rows_data.says_the_same(old[at], page[at])]
        column = Column.NUMBER if new else Column.SCE
        for first, last in _stretches(other):
            self._emit_changed(number * PAGE + first, number * PAGE + last, column)

    def _emit_changed(self, first: int, last: int, column: Column = Column.NUMBER) -> None:
        """Have rows painted again from ``column`` on: painting texts takes as long as all the rest."""
        self.dataChanged.emit(self.index(first, column), self.index(last, self.columnCount() - 1))

    # --- what changes --------------------------------------------------------------------------------------

    @Slot()
    def _on_labels(self) -> None:
        self._emit_headings()
        if [label.id for label in self.labels] == self._label_ids:
            self._age_scores()
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

    def _age_scores(self) -> None:
        """Mark scores for other wordings as stale: at once on the screen, elsewhere when it is looked at."""
        for number in self._shown:
            page = self._pages.get(number, [])
            page[:] = self._aged(page)
        self._aged_since = True
        self._stale.update(set(self._pages).difference(self._shown))  # what is read now is aged when it comes

    def _aged(self, rows: Sequence[RowData]) -> list[RowData]:
        stale = {run.id: rows_data.is_stale(run, self.labels) for run in self.runs}
        return [rows_data.age(row, stale) for row in rows]

    @Slot(object)
    def _on_scores(self, _ids: object) -> None:
        self._follow_runs()
        self._refresh()
        self._fetch_pages()  # at once: a timer would let the window be painted first, with what it says now
        self.aged.emit()

    @Slot(object)
    def _on_annotations(self, ids: object) -> None:
        """Show what was decided about a few rows at once, about many when they are read."""
        project = self._workspace.project
        if not isinstance(ids, list) or len(ids) > PAGE or project is None:
            self._refresh()
        else:
            self._aged_since = True
            self._stale.update(self._fetching)  # they may have been read before
            places = np.flatnonzero(np.isin(self.ids, ids, kind="sort"))  # for few: no table of all ids
            here = [divmod(int(place), PAGE) for place in places]
            here = [(number, at) for number, at in here if at < len(self._pages.get(number, ()))]
            rows = rows_data.reload_people(project, [self._pages[number][at] for number, at in here])
            for (number, at), row in zip(here, rows, strict=True):
                self._pages[number][at] = row
                self._emit_changed(number * PAGE + at, number * PAGE + at)
        self.aged.emit()

    def _refresh(self) -> None:
        """Read the pages on the screen again, and the others when they are looked at."""
        self._aged_since = True
        self._stale.update(self._pages, self._fetching)
        self._want_shown()

    def _want_shown(self) -> None:
        """Have the pages on the screen read again that are out of date."""
        for number in self._shown:
            if number in self._stale:
                self._want(number)

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


def _stretches(places: Sequence[int]) -> list[tuple[int, int]]:
    """Join neighbouring places: [1, 2, 5] is (1, 2) and (5, 5)."""
    result: list[tuple[int, int]] = []
    for place in places:
        if result and result[-1][1] == place - 1:
            result[-1] = (result[-1][0], place)
        else:
            result.append((place, place))
    return result
