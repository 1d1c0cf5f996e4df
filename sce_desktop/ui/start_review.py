"""Beginning to review: the default queue, at its first row without an answer.

session.review.begin()     the menu and the key; said once, with a button, when all rows are scored first
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.core.types import IdArray
from sce_desktop.store.query import RowOrder, RowQuery, RowState
from sce_desktop.ui import review_work
from sce_desktop.ui.jobs import Job, drop
from sce_desktop.ui.queries import is_selection, without_filters

if TYPE_CHECKING:
    from sce_desktop.ui.session import Session

START = "Start reviewing"
READY = "All rows are scored. Start reviewing with a varied set of rows."
NOTHING_OPEN = "Every row with text has an answer."


def diverse(query: RowQuery, ids: IdArray) -> RowQuery:
    """Return ``query`` in the order of the default queue, `core.queues.DEFAULT_QUEUE`, that was found."""
    return replace(query, order=RowOrder.GIVEN, descending=False, given=tuple(ids.tolist()), name="")


class StartReview(QObject):
    """Belongs to the session."""

    over = Signal()  # what was offered has lost its ground

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._search: Job | None = None
        self._scoring: Job | None = None  # that was looked at last
        self._scored_first = False  # for the first time, and it is not counted yet
        self._offered = False
        session.scorer.modelsChanged.connect(self._on_models)
        session.countsChanged.connect(self._on_counts)
        session.annotationsChanged.connect(self._on_annotations)
        session.projectClosed.connect(self._forget)

    @Slot()
    def begin(self) -> None:
        """Show the default queue from its first row without an answer."""
        if self._session.project is not None:
            self.find_diverse().finished.connect(self._on_diverse)

    def find_diverse(self) -> Job:
        """Look for the rows without an answer, varied ones first: by their vectors."""
        session = self._session
        assert session.project is not None
        drop(self._search)
        self._search = session.submit(
            review_work.diverse,
            session.project,
            session.scorer.known_vectors,
            random.getrandbits(32),
            title="Finding a varied set of rows",
            lane="reads",
            first=True,
        )
        return self._search

    def _rows(self) -> RowQuery:
        """The rows that are shown, or all where they were chosen one by one: those are no queue."""
        query = self._session.query
        return without_filters(query) if is_selection(query) else query

    @Slot(object)
    def _on_diverse(self, ids: IdArray) -> None:
        if not len(ids):
            self._session.tell(NOTHING_OPEN)
            return
        session, query = self._session, diverse(self._rows(), ids)
        if query == session.query:
            session.set_current_row(query.given[0])
        else:
            session.set_query(query)
        session.rowsFocusAsked.emit()

    # --- offering it ---------------------------------------------------------------------------------------

    @Slot()
    def _on_models(self) -> None:
        job, project = self._session.scorer.job, self._session.project
        if job is None or job is self._scoring or project is None:
            return
        self._scoring = job
        if not any(run.finished_at for run in project.runs()):
            job.finished.connect(self._on_scored)

    @Slot()
    def _on_scored(self) -> None:
        self._scored_first = self._session.scorer.known_vectors is not None

    @Slot()
    def _on_counts(self) -> None:
        """Rows are counted after a scoring: offer to begin if nobody has yet."""
        session, counts = self._session, self._session.counts
        if not self._scored_first or counts is None or session.scorer.job is not None:
            return
        self._scored_first = False
        if not counts.labelled and not counts.states[RowState.SKIPPED] and not session.read_only:
            self._offered = True
            session.offer(READY, START, self.begin)

    @Slot()
    def _on_annotations(self) -> None:
        if self._offered:
            self._offered = False
            self.over.emit()

    @Slot()
    def _forget(self) -> None:
        drop(self._search)
        self._search = self._scoring = None
        self._scored_first = self._offered = False
