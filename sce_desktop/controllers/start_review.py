"""Beginning to review: the default queue, varied rows first, at its first row without a label.

session.review.begin()     the menu and the key; said once, with a button, when all rows are scored first
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers import review_work
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.places import MOST_KEPT
from sce_desktop.controllers.queries import is_selection, order_name, without_filters
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.choices import DIGIT_KEYS
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.core.queues import DEFAULT_QUEUE

if TYPE_CHECKING:
    from sce_desktop.controllers.session import Session

START = "Start reviewing"
READY = "All rows are scored. Start reviewing with a varied set of rows."
DIGITS_QUESTION = "Digit keys: 1 for the likeliest label of the current row, or a fixed digit for each label?"
NOTHING_OPEN = "Every row with text is labelled or skipped: none is left to review."


def diverse(query: RowQuery, ids: IdArray) -> RowQuery:
    """Return ``query`` in the order of the default queue, `core.queues.DEFAULT_QUEUE`, that was found."""
    return replace(query, order=RowOrder.GIVEN, descending=False, given=tuple(ids.tolist()), name="")


def is_diverse(query: RowQuery) -> bool:
    """Whether ``query`` shows the default queue."""
    return order_name(query) == DEFAULT_QUEUE


class StartReview(QObject):
    """Belongs to the session."""

    over = Signal()  # what was offered has lost its ground

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._search: Job | None = None
        self._order: tuple[int, ...] = ()  # that was found, with rows that were decided since
        self._embedder = ""  # of the vectors by which it was found
        self._scoring: Job | None = None  # that was looked at last
        self._scored_first = False  # for the first time, and it is not counted yet
        self._offered = False
        self._asked = False  # what digits mean
        session.scorer.modelsChanged.connect(self._on_models)
        session.countsChanged.connect(self._on_counts)
        session.annotationsChanged.connect(self._on_annotations)
        session.projectClosed.connect(self._forget)

    @Slot()
    def begin(self) -> None:
        """Show the default queue from its first row without an answer."""
        if (job := self.find_diverse()) is not None:
            job.finished.connect(self._on_diverse)

    def find_diverse(self) -> Job | None:
        """Look for the rows without a label, varied ones first; None, and told why, where that cannot be.

        The order stays as it was: decisions and beginning again only take rows out of it. It is made anew
        where rows came or another model made the vectors.
        """
        session, vectors = self._session, self._session.scorer.known_vectors
        if session.project is None:
            return None
        if reason := session.scorer.why_no_vectors():
            session.tell(reason, "warn")
            return None
        drop(self._search)
        embedder = vectors.embedder if vectors is not None else ""
        if is_diverse(session.query) and not self._order:  # from before a restart
            self._order, self._embedder = session.query.given, embedder
        known = self._order if self._embedder == embedder else ()
        self._search = job = session.submit(
            review_work.diverse,
            session.project,
            vectors,
            np.array(known, np.int64),
            cut=len(known) == MOST_KEPT,
            title="Finding a varied set of rows",
            lane="reads",
            first=True,
        )
        job.finished.connect(lambda ids: self._keep(ids, embedder))
        return job

    def show_similar(self, row_id: int | None) -> None:
        """Show the rows most like one."""
        session = self._session
        if session.project is None or row_id is None:
            return
        if reason := session.scorer.why_no_vectors():
            session.tell(reason, "warn")
            return
        job = session.submit(
            review_work.similar,
            session.project,
            session.scorer.known_vectors,
            row_id,
            title="Finding similar rows",
            lane="reads",
            first=True,
        )
        job.finished.connect(session.show_ids)

    def _keep(self, ids: IdArray, embedder: str) -> None:
        found = tuple(ids.tolist())
        if self._embedder != embedder or not set(found) <= set(self._order):
            self._order, self._embedder = found, embedder

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
        self.ask_digits()

    # --- which label a digit means --------------------------------------------------------------------------

    def ask_digits(self) -> None:
        """Ask in the first review what digits mean: by rank "2" is another label from row to row."""
        settings = self._session.settings
        known = settings["digit_keys_asked"] or settings["digit_keys"] == "fixed"
        if not self._asked and not known and len(self._session.labels) > 1:
            self._asked = True
            answers = [(DIGIT_KEYS[how], partial(self.choose_digits, how)) for how in ("rank", "fixed")]
            self._session.ask(DIGITS_QUESTION, answers)

    def choose_digits(self, how: str) -> None:
        """Let digits choose labels by "rank", or "fixed" ones, from now on."""
        self._session.change_setting("digit_keys_asked", True)
        self._session.change_setting("digit_keys", how)

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
        self._order, self._embedder = (), ""
        self._scored_first = self._offered = False
