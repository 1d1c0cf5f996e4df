"""The open project: its labels, runs and counts, the jobs that work on it, and what changes in it.

Reading is free: call methods of ``workspace.project`` that answer at once (rows of a page, annotations);
whatever looks at all rows is a job in the worker ``reads``. Every change emits what it touched, to whoever
made it too, so that a panel draws from signals alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sce_desktop.controllers import work
from sce_desktop.controllers.answering import CalmTimer
from sce_desktop.controllers.jobs import Job, WorkerQueue, WorkerQueues
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.project_work import ProjectWork
from sce_desktop.core.annotations import Label, LabelSet
from sce_desktop.core.choices import Counts
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import Run

if TYPE_CHECKING:
    from sce_desktop.store.project import Project

MANY = 200_000  # rows
COUNT_MS = 400  # counting after an edit waits for the next one that long
HELD_MS = 500  # that quiet work waits at most for the first rows of a project


class Workspace(QObject):
    """The open project and what is known of it. Which one is open, `Projects` decides."""

    projectOpened = Signal(object)  # Project
    projectClosed = Signal()
    rowsChanged = Signal()  # rows were added
    labelsChanged = Signal()  # the label set is another one
    annotationsChanged = Signal(object)  # row ids whose annotation or marks changed, or None: any
    scoresChanged = Signal(object)  # `ScoredRows`, or `ALL_SCORES`: any row, or other runs are shown
    draftChanged = Signal()  # rows may have other drafts (`Project.draft_scores`), or none any more
    versionsChanged = Signal()  # model versions came or went, or another one is in use
    historyChanged = Signal()  # something else would be undone or done again now
    thresholdChanged = Signal()
    countsChanged = Signal()  # ``counts`` are new, shortly after an edit or while scores come
    lostSeen = Signal()  # an edit was refused because the project's file is not there any more

    def __init__(self, workers: WorkerQueues, messages: Messages, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.workers = workers
        self._messages = messages
        self.project: Project | None = None
        self.label_set: LabelSet | None = None
        self.runs: tuple[Run, ...] = ()  # shown: the model's first, then one a baseline; set by the scorer
        self.counts: Counts | None = None  # of rows by state, labels and predictions
        self.threshold = 0.0  # predictions below it are low-confidence
        self.writing: Job | None = None  # a long edit that is not finished yet
        self.work = ProjectWork(workers, self)
        self._release_soon = QTimer(self, singleShot=True)
        self._release_soon.timeout.connect(self._release)
        self._count_soon = CalmTimer(self, interval=COUNT_MS)
        self._count_soon.calm.connect(self._count)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels in their order; empty without a project or before the first label."""
        return self.label_set.labels if self.label_set else ()

    @property
    def read_only(self) -> bool:
        """Whether the open project is read-only."""
        return self.project is not None and self.project.read_only

    def why_not(self) -> str:
        """Why nothing can be changed in a project now, in one sentence; empty if it can."""
        if self.project is None:
            return _("Open a table or a project first.")
        if self.read_only:
            reason = self.project.read_only_reason
            return _(reason) if reason else _("This project is read-only.")
        return ""

    def refuses_edit(self) -> bool:
        """Whether nothing can be edited, always or just now; a message says why."""
        if self.writing is not None:
            self._messages.notify(_("{job}: try again in a moment.", job=self.writing.title), "warn")
            return True
        if self.read_only:
            self._messages.notify(self.why_not(), "warn")
            return True
        if self.project is not None and (found := self.project.lost()):
            self._messages.notify(
                _(
                    "{name} {problem}: nothing can be saved in it. Choose “Save as…”.",
                    name=self.project.path.name,
                    problem=_(found),
                ),
                "warn",
            )
            self.lostSeen.emit()
            return True
        return False

    # --- jobs ----------------------------------------------------------------------------------------------

    def submit(
        self,
        fn: Callable[..., Any],
        *args: Any,
        title: str,
        worker: Literal["models", "files", "reads", "orders", "counts", "maps", "edits", "reasons"] = "files",
        notify_failure: bool = True,
        first: bool = False,
        quiet: bool = False,
        **keywords: Any,
    ) -> Job:
        """Run work that uses the project (see `WorkerQueue.submit`): it is ended before the project closes.

        ``notify_failure`` shows a `UserError` in the message strip; worker "reads" is for queries.
        """
        target: WorkerQueue = getattr(self.workers, worker)
        job = target.submit(fn, *args, title=title, first=first, quiet=quiet, **keywords)
        self.work.add(job)
        if notify_failure:
            job.failed.connect(self._messages.notify_error)
        return job

    def hold_quiet_work(self, most: int = HELD_MS) -> None:
        """Let counting and the like wait until the first rows are on the screen, ``most`` ms at most.

        Python runs one thread at a time: beside them the rows would come in twice the time.
        """
        for worker in (self.workers.reads, self.workers.counts):  # of files the order must stay
            worker.hold()
        self._release_soon.start(most)

    def release_quiet_work(self) -> None:
        """Say that the first rows are there: the rest begins when they have been painted."""
        if self._release_soon.isActive():
            self._release_soon.start(0)  # painting and layouts are posted events, which come before it

    @Slot()
    def _release(self) -> None:
        for worker in (self.workers.reads, self.workers.counts):
            worker.release()

    def counts_in(self) -> Literal["counts", "reads"]:
        """Return the worker that counts rows.

        Millions of them take seconds the first time: what is on the screen does not wait behind that.
        """
        if self.project is None:
            return "reads"
        rows = self.counts.rows if self.counts is not None else self.project.row_count()
        return "counts" if rows > MANY else "reads"

    # --- following the project -----------------------------------------------------------------------------

    def reload_labels(self) -> None:
        """Look whether the project has other labels now: a model may bring its own, an import too."""
        self.take_labels(self.project.label_set() if self.project is not None else None)

    def take_labels(self, label_set: LabelSet | None) -> bool:
        """Use ``label_set``, which the project has now; return whether it is another one than before."""
        before, self.label_set = self.label_set, label_set
        if label_set != before:
            self.labelsChanged.emit()
        return label_set != before

    def follow_threshold(self) -> None:
        """Look which threshold the open project has."""
        found = self.project.threshold() if self.project is not None else None
        self.threshold = found or 0.0
        self.thresholdChanged.emit()

    def count_soon(self) -> None:
        """Count rows, labels and scores again, in a moment and in the background; then ``countsChanged``."""
        if not self._count_soon.isActive():
            self._count_soon.start()

    @Slot()
    def _count(self) -> None:
        if self.project is not None:
            job = self.submit(
                work.count,
                self.project,
                self.runs[:1],
                title=_("Counting"),
                worker=self.counts_in(),
                quiet=True,
            )
            job.finished.connect(self._on_counted)

    @Slot(object)
    def _on_counted(self, counts: Counts) -> None:
        if self.project is not None:
            self.counts = counts
            self.countsChanged.emit()
