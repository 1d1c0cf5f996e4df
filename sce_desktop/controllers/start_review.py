"""Beginning to review: the default queue, varied rows first, at its first row without a label.

review.begin()     the menu and the key; said once, with a button, when all rows are scored first
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers import review_work
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.queries import is_selection, queue_name, without_filters
from sce_desktop.controllers.view_state import MOST_ROW_IDS
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.choices import DIGIT_KEYS
from sce_desktop.core.i18n import _
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.core.queues import DEFAULT_QUEUE

if TYPE_CHECKING:
    from sce_desktop.controllers.messages import Messages
    from sce_desktop.controllers.navigation import Navigation
    from sce_desktop.controllers.preferences import Preferences
    from sce_desktop.controllers.scoring import Scorer
    from sce_desktop.controllers.workspace import Workspace

START = _("Start reviewing")
READY = _("All rows are scored. Start reviewing with a varied set of rows.")
DIGITS_QUESTION = _("Digit keys: the likeliest label of each row first, or a fixed label per digit?")
NOTHING_OPEN = _(
    "No rows left to review: every row with text is labelled or skipped. Export the table, or fine-tune."
)


def diverse(query: RowQuery, ids: IdArray) -> RowQuery:
    """Return ``query`` in the order of the default queue, `core.queues.DEFAULT_QUEUE`, that was found."""
    return replace(query, order=RowOrder.GIVEN, descending=False, given=tuple(ids.tolist()), name="")


def is_diverse(query: RowQuery) -> bool:
    """Whether ``query`` shows the default queue."""
    return queue_name(query) == DEFAULT_QUEUE


class StartReview(QObject):
    """Lives as long as the window."""

    over = Signal()  # the offer has become pointless

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        scorer: Scorer,
        preferences: Preferences,
        messages: Messages,
    ) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._navigation = navigation
        self._scorer = scorer
        self._preferences = preferences
        self._messages = messages
        self._search: Job | None = None
        self._order: tuple[int, ...] = ()  # that was found, with rows that were decided since
        self._embedder = ""  # of the vectors by which it was found
        self._scoring: Job | None = None  # that was looked at last
        self._scored_first = False  # for the first time, and it is not counted yet
        self._offered = False
        self._asked = False  # what digits mean
        scorer.modelsChanged.connect(self._on_models)
        workspace.countsChanged.connect(self._on_counts)
        workspace.annotationsChanged.connect(self._on_annotations)
        workspace.projectClosed.connect(self._forget)

    @Slot()
    def begin(self) -> None:
        """Show the default queue from its first row without an answer."""
        if (job := self.find_diverse()) is not None:
            job.finished.connect(self._on_diverse)

    def find_diverse(self) -> Job | None:
        """Look for the rows without a label, varied ones first; None, with a message, where that cannot be.

        The order is kept: decisions and beginning again only remove rows from it. It is computed again
        where rows were added or another model made the vectors.
        """
        vectors = self._scorer.known_vectors
        if self._workspace.project is None:
            return None
        if reason := self._scorer.why_no_vectors():
            self._messages.notify(reason, "warn")
            return None
        drop(self._search)
        embedder = vectors.embedder if vectors is not None else ""
        if is_diverse(self._navigation.query) and not self._order:  # from before a restart
            self._order, self._embedder = self._navigation.query.given, embedder
        known = self._order if self._embedder == embedder else ()
        self._search = job = self._workspace.submit(
            review_work.diverse,
            self._workspace.project,
            vectors,
            np.array(known, np.int64),
            cut=len(known) == MOST_ROW_IDS,
            title=_("Finding a varied set of rows"),
            worker="reads",
            first=True,
        )
        job.finished.connect(lambda ids: self._keep(ids, embedder))
        return job

    def show_similar(self, row_id: int | None) -> None:
        """Show the rows most like one."""
        if self._workspace.project is None or row_id is None:
            return
        if reason := self._scorer.why_no_vectors():
            self._messages.notify(reason, "warn")
            return
        job = self._workspace.submit(
            review_work.similar,
            self._workspace.project,
            self._scorer.known_vectors,
            row_id,
            title=_("Finding similar rows"),
            worker="reads",
            first=True,
        )
        job.finished.connect(self._navigation.show_ids)

    def _keep(self, ids: IdArray, embedder: str) -> None:
        found = tuple(ids.tolist())
        if self._embedder != embedder or not set(found) <= set(self._order):
            self._order, self._embedder = found, embedder

    def _rows(self) -> RowQuery:
        """The rows that are shown, or all where they were chosen one by one: those are no queue."""
        query = self._navigation.query
        return without_filters(query) if is_selection(query) else query

    @Slot(object)
    def _on_diverse(self, ids: IdArray) -> None:
        if not len(ids):
            self._messages.notify(NOTHING_OPEN)
            return
        query = diverse(self._rows(), ids)
        if query == self._navigation.query:
            self._navigation.set_current_row(query.given[0])
        else:
            self._navigation.set_query(query)
        self._navigation.rowsFocusAsked.emit()
        self.ask_digits()

    # --- which label a digit means --------------------------------------------------------------------------

    def ask_digits(self) -> None:
        """Ask in the first review what digits mean: by rank "2" is another label from row to row."""
        settings = self._preferences.settings
        known = settings["digit_keys_asked"] or settings["digit_keys"] == "fixed"
        if not self._asked and not known and len(self._workspace.labels) > 1:
            self._asked = True
            answers = [(_(DIGIT_KEYS[how]), partial(self.choose_digits, how)) for how in ("rank", "fixed")]
            self._messages.ask(DIGITS_QUESTION, answers)

    def choose_digits(self, how: str) -> None:
        """Let digits choose labels by "rank", or "fixed" ones, from now on."""
        self._preferences.change_setting("digit_keys_asked", True)
        self._preferences.change_setting("digit_keys", how)

    # --- offering it ---------------------------------------------------------------------------------------

    @Slot()
    def _on_models(self) -> None:
        job, project = self._scorer.job, self._workspace.project
        if job is None or job is self._scoring or project is None:
            return
        self._scoring = job
        if not any(run.finished_at for run in project.runs()):
            job.finished.connect(self._on_scored)

    @Slot()
    def _on_scored(self) -> None:
        self._scored_first = self._scorer.known_vectors is not None

    @Slot()
    def _on_counts(self) -> None:
        """Rows are counted after a scoring: offer to begin if nobody has yet."""
        counts = self._workspace.counts
        if not self._scored_first or counts is None or self._scorer.job is not None:
            return
        self._scored_first = False
        if not counts.labelled and not counts.states[RowState.SKIPPED] and not self._workspace.read_only:
            self._offered = True
            self._messages.offer(READY, START, self.begin)

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
