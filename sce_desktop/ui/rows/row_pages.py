"""Pages of rows for the table: what has been read, what of it is out of date, and reading it again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sce_desktop.controllers import rows_data
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.rows_data import PAGE, RowData
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import _
from sce_desktop.core.scored import ScoredRows

KEPT_PAGES = 128
PAGES_A_JOB = 4  # more rows than the highest screen shows


class RowPages(QObject):
    """Keeps the pages that were looked at last. A page is out of date until it is read again.

    Those on the screen are read again by themselves, others when somebody looks.
    """

    changed = Signal(object, object, object)  # first place, last place, whether more than scores

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.ids: IdArray = np.empty(0, np.int64)  # of all rows, in the order of the table
        self.columns: tuple[int, ...] = ()  # of the user's table that are read, by 0-based place
        self.label_ids: list[int | None] = []  # that pages were read with last
        self._pages: OrderedDict[int, list[RowData]] = OrderedDict()
        self._stale: set[int] = set()
        self._wanted: list[int] = []
        self._shown = range(0)  # pages on the screen
        self._seen = range(0)  # places that were on the screen when it scrolled last
        self._job: Job | None = None
        self._reading: list[int] = []
        self._read_for: tuple[Label, ...] = ()  # the labels in use when it was asked for
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self.read)

    @property
    def numbers(self) -> list[int]:
        """The pages that are here, those looked at last at the end."""
        return list(self._pages)

    def start_over(self, ids: IdArray, pages: Mapping[int, list[RowData]]) -> None:
        """Hold ``pages`` of other rows, or of rows in another order."""
        drop(self._job)
        self._job, self._reading = None, []
        self.ids = ids
        self._pages.clear()
        self._stale.clear()
        self._wanted.clear()
        self._shown = self._seen = range(0)
        self._pages.update(pages)

    def take_ids(self, ids: IdArray) -> None:
        """Know the numbers of all rows, of which the first ones are here."""
        self.ids = ids

    def clear(self) -> None:
        """Hold no page; the rows stay."""
        self._pages.clear()

    def reread(self) -> None:
        """Forget all pages, as they lack something, and read those on the screen."""
        drop(self._job)
        self._job, self._reading = None, []
        self._pages.clear()
        self._stale.clear()
        for number in self._shown:
            self._want(number)

    # --- looking -------------------------------------------------------------------------------------------

    def row_at(self, place: int) -> RowData | None:
        """Return the row at ``place`` if it is here; else, or if it is out of date, have it read."""
        number, offset = divmod(place, PAGE)
        page = self._pages.get(number)
        if page is None or number in self._stale:
            self._want(number)
        return page[offset] if page is not None and offset < len(page) else None

    def set_shown(self, first: int, last: int) -> None:
        """Say which rows are on the screen; what a step of one screen brings is read ahead of it."""
        self._shown = range(first // PAGE, last // PAGE + 1) if last >= first else range(0)
        for place in (2 * first - last, 2 * last - first):
            if 0 <= place < len(self.ids) and place // PAGE not in self._pages:
                self._want(place // PAGE)

    def read_ahead(self, first: int, last: int) -> None:
        """Have the next screen read while the rows of this one are scrolled, and not when it has come.

        A leap to other rows is no scrolling: nobody knows where it goes on.
        """
        before, self._seen = self._seen, range(first, last + 1)
        if not before or not self._seen or first >= before.stop or last < before.start:
            return
        place = 2 * last - first if first > before.start else 2 * first - last
        if first != before.start and 0 <= place < len(self.ids) and place // PAGE not in self._pages:
            self._want(place // PAGE)

    def want_shown(self) -> None:
        """Have the pages on the screen read again that are out of date."""
        for number in self._shown:
            if number in self._stale:
                self._want(number)

    def _want(self, number: int) -> None:
        if number in self._wanted or not self.ids[number * PAGE : number * PAGE + 1].any():
            return  # of a row that has no number yet
        self._wanted.append(number)
        if self._job is None and not self._soon.isActive():
            self._soon.start()

    # --- out of date ---------------------------------------------------------------------------------------

    def outdate(self) -> None:
        """Take every page as out of date, also those that are being read."""
        self._stale.update(self._pages, self._reading)

    def outdate_reading(self) -> None:
        """Take what is being read as out of date: it may have been read before the last change."""
        self._stale.update(self._reading)

    def set_stale(self, numbers: Iterable[int], *, stale: bool) -> None:
        """Take pages as out of date, or not any more."""
        (self._stale.update if stale else self._stale.difference_update)(numbers)

    def refresh(self) -> None:
        """Read the pages on the screen again, and the others when they are looked at."""
        self.outdate()
        self.want_shown()

    def age(self) -> None:
        """Mark scores for other wordings of the labels at once on the screen, elsewhere when looked at."""
        for number in self._shown:
            page = self._pages.get(number, [])
            page[:] = self._aged(page)
        self._stale.update(set(self._pages).difference(self._shown))  # what is read now is aged when it comes

    def _aged(self, rows: Sequence[RowData]) -> list[RowData]:
        labels = self._workspace.labels
        stale = {run.id: rows_data.is_stale(run, labels) for run in self._workspace.runs}
        return [rows_data.age(row, stale) for row in rows]

    def take_scores(self, change: ScoredRows) -> None:
        """Show new scores on the screen; other pages that they are about are read when they are looked at."""
        runs, labels = self._workspace.runs, self._workspace.labels
        for number, page in list(self._pages.items()):
            on_screen = number in self._shown and number not in self._stale
            if not change.new_runs and not change.among(self._ids_of(number)):
                continue
            rows = rows_data.with_scores(page, change, runs, labels) if on_screen else None
            if rows is None:
                self._stale.add(number)
            else:
                self._take(number, rows)
        self._stale.update(n for n in self._reading if change.new_runs or change.among(self._ids_of(n)))
        self.want_shown()

    def take_people(self, row_ids: Sequence[int]) -> None:
        """Show what people say of a few rows by now."""
        self.outdate_reading()
        project = self._workspace.project
        assert project is not None
        wanted = set(row_ids)
        here = [
            (number, at)
            for number, page in self._pages.items()
            for at, row in enumerate(page)
            if row.id in wanted
        ]
        rows = rows_data.reload_people(project, [self._pages[number][at] for number, at in here])
        for (number, at), row in zip(here, rows, strict=True):
            self._pages[number][at] = row
            self.changed.emit(number * PAGE + at, number * PAGE + at, True)

    # --- reading -------------------------------------------------------------------------------------------

    @Slot()
    def read(self) -> None:
        """Read the pages asked for last; older wishes were scrolled past."""
        project = self._workspace.project
        if project is None or self._job is not None or not self._wanted:
            return
        numbers, self._wanted = self._wanted[-PAGES_A_JOB:], []
        self._soon.stop()
        labels = self._workspace.labels
        job = self._workspace.submit(
            rows_data.load_rows,
            project,
            np.concatenate([self._ids_of(number) for number in numbers]),
            self._workspace.runs,
            labels,
            columns=self.columns,
            title=_("Reading rows"),
            worker="reads",
            first=True,
            quiet=True,
        )
        self.label_ids = [label.id for label in labels]
        self._read_for = labels
        self._stale.difference_update(numbers)  # what changes from here on makes them stale again
        job.finished.connect(self._on_read)
        job.ended.connect(self._on_ended)
        self._job, self._reading = job, numbers

    @Slot(object)
    def _on_read(self, rows: list[RowData]) -> None:
        if self._read_for != self._workspace.labels:  # it answers other wordings
            rows = self._aged(rows)
        ends = np.cumsum([0, *(len(self._ids_of(number)) for number in self._reading)]).tolist()
        for number, (start, end) in zip(self._reading, pairwise(ends), strict=True):
            self._take(number, rows[start:end])
        while len(self._pages) > KEPT_PAGES:
            self._stale.discard(self._pages.popitem(last=False)[0])

    @Slot()
    def _on_ended(self) -> None:
        self._job, self._reading = None, []
        self.want_shown()
        self.read()

    def take(self, pages: Mapping[int, list[RowData]]) -> None:
        """Hold ``pages`` of the same rows, which have been read again."""
        for number, page in pages.items():
            self._take(number, page)

    def _take(self, number: int, page: list[RowData]) -> None:
        old = self._pages.get(number, [])
        self._pages[number] = page
        self._pages.move_to_end(number)
        other = [at for at, row in enumerate(page) if at >= len(old) or old[at] != row]
        more = any(at >= len(old) or not rows_data.says_the_same(old[at], page[at]) for at in other)
        for first, last in _stretches(other):
            self.changed.emit(number * PAGE + first, number * PAGE + last, more)

    def _ids_of(self, number: int) -> IdArray:
        return self.ids[number * PAGE : (number + 1) * PAGE]


def _stretches(places: Sequence[int]) -> list[tuple[int, int]]:
    """Join neighbouring places: [1, 2, 5] is (1, 2) and (5, 5)."""
    result: list[tuple[int, int]] = []
    for place in places:
        if result and result[-1][1] == place - 1:
            result[-1] = (result[-1][0], place)
        else:
            result.append((place, place))
    return result
