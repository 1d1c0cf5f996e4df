"""Answering the query of the table: its first rows, then the others behind them, in workers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers import rows_data
from sce_desktop.controllers.answering import CalmTimer
from sce_desktop.controllers.crashes import Crash
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import leads_to_open, starts_over
from sce_desktop.controllers.rows_data import MANY_ROWS, FoundRows
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import DamagedProject
from sce_desktop.core.i18n import _
from sce_desktop.core.query import RowQuery

_MOST_TRIES = 2  # to find the rest of a list
_HELD_MS = 3_000  # that quiet work waits at most for the first rows of a project


class RowsFinder(QObject):
    """Knows which query is answered, and the answer: ``ids``, with zeros where a row is not known yet."""

    found = Signal(object)  # `FoundRows` of another list, or of the same one again
    completed = Signal(object)  # all ids of the list, of which the first ones are known
    outdated = Signal()  # the first rows are not those of the list any more: it is to be found again
    searching = Signal(object)  # whether a query is being answered

    def __init__(
        self, workspace: Workspace, navigation: Navigation, messages: Messages, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._messages = messages
        self.ids: IdArray = np.empty(0, np.int64)
        self.known = 0  # how many of them are known: the first ones
        self.query: RowQuery | None = None  # that ``ids`` answer
        self.whole = True  # whether every row has its place; else the first ones have
        self.counted = True  # whether it is known how many rows there are
        self.job: Job | None = None  # answers ``_asked``
        self.long = False  # whether that has to read something of every row first
        self._rest: Job | None = None  # finds the rows behind the first ones
        self._tries = 0  # how often the rows behind the first ones of this list were asked for
        self._asked: RowQuery | None = None
        # Python runs one thread at a time: beside their painting the rest would hold up the first rows.
        self._rest_soon = CalmTimer(self)
        self._rest_soon.calm.connect(self._go_on)

    @property
    def busy(self) -> bool:
        """Whether rows are being found, or are about to be."""
        return self.job is not None or self._rest is not None or self._rest_soon.isActive()

    def find(self, columns: Sequence[int]) -> None:
        """Answer the query in a worker; the rows of before stay until then. ``columns`` are read of them."""
        project = self._workspace.project
        if project is None:
            return
        drop(self.job, self._rest)
        self._rest_soon.stop()
        self._rest = None
        if self.query is None:
            self._workspace.hold_quiet_work(_HELD_MS)
        query = self._navigation.query
        from_top = starts_over(query, self.query)
        # What has to read a column of every row first takes seconds: it is seen, and can be stopped.
        self.long = long = project.must_read(query) and project.row_count() > MANY_ROWS
        job = self._workspace.submit(
            rows_data.find_rows,
            project,
            query,
            None if from_top else self._navigation.current_row,
            self._workspace.runs,
            self._workspace.labels,
            to_open=from_top and leads_to_open(query),
            again=query == self.query,
            columns=columns,
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
        self.job, self._asked = job, query
        self.searching.emit(True)

    def clear(self) -> None:
        """Hold no rows: there is no project."""
        drop(self.job, self._rest)
        self._rest_soon.stop()
        self.job = self._rest = None
        self.whole = self.counted = True
        self.ids, self.known = np.empty(0, np.int64), 0
        self.query = None

    @Slot(object)
    def _on_found(self, found: FoundRows) -> None:
        self.job = None
        if self._workspace.project is None:
            return
        self.query = self._asked
        self.whole, self.counted, self._tries = found.whole, not found.more, 0
        if not found.same:
            self.ids, self.known = found.ids, len(found.ids)
            if len(found.ids) < found.count:
                self.ids = np.zeros(found.count, found.ids.dtype)
                self.ids[: len(found.ids)] = found.ids
        self.found.emit(found)
        self._workspace.release_quiet_work()
        if self.job is not None:  # whoever heard of it has asked for something else
            return
        if found.whole:
            self.searching.emit(False)
        else:
            self._rest_soon.start()

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
            quiet=self.counted,
            notify_failure=self._tries >= _MOST_TRIES,
        )
        job.finished.connect(self._on_rest)
        job.cancelled.connect(self._on_rest_stopped)
        job.ended.connect(self._on_rest_ended)
        self._rest = job

    @Slot(object)
    def _on_rest(self, ids: IdArray) -> None:
        """Take all rows; where one decided meanwhile, the query may have found others: find them again."""
        self._rest = None
        sized = len(ids) == len(self.ids) if self.counted else len(ids) >= self.known
        if not sized or not np.array_equal(ids[: self.known], self.ids[: self.known]):
            self.outdated.emit()
            return
        self.whole = self.counted = True
        self.ids, self.known = ids, len(ids)
        self.completed.emit(ids)

    @Slot()
    def _on_rest_stopped(self) -> None:
        """The user stopped it: the first rows stay alone."""
        self._tries = _MOST_TRIES

    @Slot()
    def _on_rest_ended(self) -> None:
        if self._rest is not None and isinstance(self._rest.error, Crash):
            self._tries = _MOST_TRIES  # its dialog has come
        self._rest = None
        if self.job is None:
            self._go_on()

    @Slot()
    def _go_on(self) -> None:
        """Find the rest of the list that is shown, where it has gaps: no other list comes in its place.

        What fails again and again is left, and the last time says so; the next query tries again.
        """
        stopping = self._workspace.project is None or self._workspace.work.stopping
        if not self.whole and self._tries < _MOST_TRIES and not stopping:
            self._find_rest()
        else:
            self.searching.emit(False)

    @Slot()
    def _on_stopped(self) -> None:
        """The user stopped what takes long: the rows of before stay."""
        self.job, self._tries = None, 0
        self._go_on()

    @Slot(object)
    def _on_no_answer(self, error: object) -> None:
        self.job, self._tries = None, 0
        self._workspace.release_quiet_work()
        if isinstance(error, DamagedProject):
            self._messages.notify_error(error)  # with a way out
        self._navigation.queryFailed.emit(error.what if isinstance(error, DamagedProject) else str(error))
        self._go_on()
