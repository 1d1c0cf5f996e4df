"""Work in the background: worker queues, each with one thread, and the jobs that run in them.

    with WorkerQueues() as workers:                  # starts the threads, joins them at the end
    worker = workers.models
    job = worker.submit(score_project, project, "sce-mini", title="Scoring")
    job.progressed.connect(bar.show_progress)        # (done, total or None, stage)
    job.finished.connect(panel.show_result)          # (whatever the function returned)
    job.failed.connect(strip.show_failure)           # (UserError or `crashes.Crash`; str() is a sentence)
    job.cancel()                                     # at once for a waiting job, else at the next batch
    job.detach()                                     # from here on no signal of this job comes, ever
    drop(job)                                        # both: it is not wanted any more; None will do
    worker.close()                                   # cancels all, waits, joins; `WorkerQueues` does it

``models`` alone owns models and the GPU, ``files`` reads and writes tables and projects, ``reads`` asks
the open project what the table and the panels show, so that an export does not hold that up, ``orders``
sorts millions of its rows behind that, ``counts`` counts them, ``fetch`` downloads, which may take hours,
``maps`` waits for maps that a process of its own lays out for minutes, ``edits`` makes those edits of the
project that touch very many rows, behind no export, and ``reasons`` says why the row on the screen has its
label, with the model that ``models`` has loaded and goes on with.

The function is called as ``fn(*args, progress=progress, **keywords)`` in the worker's thread and is a plain
function of ``tasks``: no Qt, and no method of a widget, which the thread might be the last to hold. Jobs and
all their signals live in the GUI thread: the thread never sees the `Job`, it posts what happens to the worker
by one queued signal, and the worker passes it on only as long as the job is attached. So detaching is atomic,
and a job can never be destroyed by the wrong thread.

A `UserError` or `Cancelled` is an outcome. Any other exception is a bug: the job fails with a `Crash`, and
the worker emits ``crashed`` for the crash dialog.

Python threads share one lock. A job that stays in one C call that keeps the lock (a huge regular
expression, ``json.loads`` of a whole file, sorting a long list of objects) freezes the window however many
threads there are: work in batches, and leave the heavy part to numpy, torch and SQLite, which let go of it.
"""

from __future__ import annotations

import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, Self

from PySide6.QtCore import QObject, Qt, QThread, QTimer, Signal, Slot

from sce_desktop.controllers.crashes import Crash
from sce_desktop.controllers.garbage import GuiCollector
from sce_desktop.controllers.worker_thread import LaneThread, Work
from sce_desktop.core.errors import UserError
from sce_desktop.core.giving_way import is_held_up
from sce_desktop.core.i18n import Safe
from sce_desktop.core.rates import RateWindow

LATER_MS = 10  # until what is held back while the window answers is looked at again
CATCH_UP_MS = 100  # longer than from one update to the next

log = logging.getLogger(__name__)


class JobState(StrEnum):
    """Where a job is. CANCELLING: asked to stop, the current batch still runs."""

    WAITING = "waiting"
    RUNNING = "running"
    CANCELLING = "cancelling"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({JobState.FINISHED, JobState.FAILED, JobState.CANCELLED})


class Job(QObject):
    """One piece of work as the GUI thread sees it. Made by `WorkerQueue.submit`, never directly.

    After ``finished``, ``failed`` or ``cancelled`` comes ``ended``. State and times stay true after `detach`
    too (the list of jobs shows them); only the signals stop.
    """

    started = Signal()
    progressed = Signal(object, object, object)  # done, total or None, stage
    warned = Signal(object)  # one sentence
    finished = Signal(object)  # the result
    failed = Signal(object)  # UserError or Crash
    cancelled = Signal()
    ended = Signal()

    def __init__(
        self, work: Work, title: str, worker: WorkerQueue, *, quiet: bool, first: bool = False
    ) -> None:
        super().__init__()
        self.id = work.id
        self.title = title
        self.quiet = quiet  # not worth a line in the list of jobs
        self.state = JobState.WAITING
        self.done = 0
        self.total: int | None = None
        self.stage = ""
        self.warnings: list[str] = []
        self.error: UserError | Crash | None = None
        self.started_at: float | None = None  # time.monotonic()
        self.ended_at: float | None = None
        self.attached = True
        self._first = first
        self._rates = RateWindow()  # of the current stage
        self._caught_up: object = None  # the report that was taken in last though it was held back
        self._reported_at = 0.0  # when ``done`` was so much
        self._work = work
        self._worker = worker

    @property
    def worker(self) -> str:
        """The name of the worker that the job runs in."""
        return self._worker.name

    @property
    def active(self) -> bool:
        """Whether the job waits or runs."""
        return self.state not in ENDED

    @property
    def seconds(self) -> float:
        """How long the job has run, until now or until its end."""
        if self.started_at is None:
            return 0.0
        return (self.ended_at or time.monotonic()) - self.started_at

    @property
    def rate(self) -> float | None:
        """Units a second in the last minute of the current stage; None before there is anything."""
        return self._rates.rate

    @property
    def seconds_left(self) -> float | None:
        """How long the job will run at this rate; None where nobody knows."""
        rate = self.rate
        return (self.total - self.done) / rate if rate and self.total is not None else None

    @Slot()
    def cancel(self) -> None:
        """Ask the job to stop. A waiting job is cancelled at once, a running one at its next batch."""
        if not self.active:
            return
        self._work.cancel.set()
        if self._work.claim():  # the thread has not begun it and now never will
            self._worker._post(self.id, "cancelled", None)
        if self.state is not JobState.CANCELLING:
            self.state = JobState.CANCELLING
            self._worker.jobChanged.emit(self)

    def detach(self) -> None:
        """Stop listening: no signal of this job comes after this call. The job itself goes on."""
        self.attached = False

    def _receive(self, event: str, payload: Any) -> None:
        """Take in what the thread posted and emit it, unless detached."""
        if event == "started":
            self.started_at = time.monotonic()
            if self.state is JobState.WAITING:
                self.state = JobState.RUNNING
        elif event == "progressed":
            *payload, at = payload  # a rate by when the window hears of it would be wild after a hitch
            if at < self._reported_at:
                return  # a newer one was taken in already
            if payload[2] != self.stage:
                self._rates = RateWindow()
            self._rates.add(at, payload[0])
            self.done, self.total, self.stage = payload
            self._reported_at = at
        elif event == "warned":
            self.warnings.append(payload)
        else:
            self.state = JobState(event)
            self.ended_at = time.monotonic()
            self.error = payload if event == "failed" else None
            self._work.let_go()
        if not self.attached:
            return
        arguments = {"started": (), "cancelled": (), "progressed": payload}.get(event, (payload,))
        getattr(self, event).emit(*arguments)
        if event in ENDED and self.attached:
            self.ended.emit()


def drop(*jobs: Job | None) -> None:
    """Cancel jobs that nobody wants any more, and hear no more of them."""
    for job in jobs:
        if job is not None:
            job.detach()
            job.cancel()


class WorkerQueue(QObject):
    """One thread that runs jobs one after the other, in the order of submission."""

    jobSubmitted = Signal(object)  # Job
    jobChanged = Signal(object)  # Job: its state, progress or warnings changed; detached ones too
    crashed = Signal(object)  # Crash
    idle = Signal()  # nothing runs or waits any more
    _posted = Signal(object, object, object)  # job id, event, payload: from the thread, or a drop by cancel

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.name = name
        self._jobs: dict[int, Job] = {}
        self._numbers = itertools.count(1)
        self._waiting: queue.Queue[Any] = queue.PriorityQueue()
        self._owner = threading.get_ident()
        self._open = True
        self._joined = False
        self._catch_up_soon = QTimer(self, singleShot=True, interval=CATCH_UP_MS)
        self._catch_up_soon.timeout.connect(self._catch_up)
        self._posted.connect(self._on_posted, Qt.ConnectionType.QueuedConnection)
        self._holding = False
        self._kept: list[tuple[int, int, Work]] = []  # quiet work that waits for `release`
        self._held: list[tuple[int, str, object]] = []  # what was posted while the window answers
        self._later = QTimer(self, singleShot=True, interval=LATER_MS)
        self._later.timeout.connect(self._take_held)
        self._collector = GuiCollector(self)
        self._thread = LaneThread(name, self._waiting, self._post)
        self._thread.start(QThread.Priority.LowPriority)  # the GUI thread goes first, where systems allow it

    @property
    def jobs(self) -> list[Job]:
        """Jobs that run or wait, in the order of submission."""
        return list(self._jobs.values())

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits."""
        return bool(self._jobs)

    def submit(
        self,
        fn: Callable[..., Any],
        *args: Any,
        title: str,
        first: bool = False,
        quiet: bool = False,
        **keywords: Any,
    ) -> Job:
        """Run ``fn(*args, progress=..., **keywords)`` in the worker's thread.

        ``first`` puts the job before all that wait without it, ``quiet`` keeps it out of the list of jobs and
        the status bar. Connect to the job's signals right after: nothing is emitted before the GUI thread is
        back in its event loop.
        """
        if threading.get_ident() != self._owner:
            raise RuntimeError("WorkerQueue.submit is for the GUI thread only.")
        if not self._open:
            raise RuntimeError(f"The worker {self.name} is closed.")
        work = Work(next(self._numbers), fn, args, keywords, first)
        job = Job(work, title, self, quiet=quiet, first=first)
        self._jobs[work.id] = job
        entry = (0 if first else 1, work.id, work)
        if self._holding and quiet and not first:
            self._kept.append(entry)
        else:
            self._waiting.put(entry)
        self.jobSubmitted.emit(job)
        return job

    def hold(self) -> None:
        """Begin no quiet job that is submitted from here on, but for those that go first, until `release`."""
        self._holding = True

    @Slot()
    def release(self) -> None:
        """Begin what `hold` has kept back. Harmless when repeated."""
        self._holding = False
        kept, self._kept = self._kept, []
        for entry in kept:
            self._waiting.put(entry)

    @Slot()
    def cancel_all(self) -> None:
        """Cancel what runs and what waits."""
        for job in self.jobs:
            job.cancel()

    def close(self, timeout: float | None = None) -> bool:
        """Cancel everything, wait for the thread and join it. No signal of any job comes afterwards.

        Returns False if a job did not come to its next batch within ``timeout`` seconds (None: wait for it);
        call again then. The thread is never terminated: that would leave locks and files as they are.
        """
        if self._open:
            self._open = False
            self.cancel_all()
            for job in self.jobs:
                job.detach()
            self._waiting.put((-1, 0, None))
        joined = self._thread.wait() if timeout is None else self._thread.wait(int(timeout * 1000))
        if joined and not self._joined:
            self._joined = True
            self._collector.stop()
        return joined

    def _post(self, job_id: int, event: str, payload: object) -> None:
        """Hand an event to the GUI thread. May be called from any thread."""
        self._posted.emit(job_id, event, payload)

    @Slot(object, object, object)
    def _on_posted(self, job_id: int, event: str, payload: object) -> None:
        """Take in what happened, or hold it back while the window answers a key; in order, of each job."""
        waits = is_held_up() and not (self._is_urgent(job_id) and event != "progressed")
        if waits or any(held[0] == job_id for held in self._held):
            self._held.append((job_id, event, payload))
            if not self._later.isActive():
                self._later.start()
            return
        self._take(job_id, event, payload)

    def _is_urgent(self, job_id: int) -> bool:
        """Whether what the window shows may wait for a job: it was put before others."""
        job = self._jobs.get(job_id)
        return job is None or job._first

    @Slot()
    def _take_held(self) -> None:
        if is_held_up():
            self._later.start()
            return
        held, self._held = self._held, []
        for one in held:
            self._take(*one)

    def _take(self, job_id: int, event: str, payload: object) -> None:
        job = self._jobs.get(job_id)
        if job is None:
            return
        if event in ENDED:
            del self._jobs[job_id]
        if isinstance(payload, Crash):
            self.crashed.emit(payload)
        job._receive(event, payload)
        self.jobChanged.emit(job)
        if event == "progressed":
            self._catch_up_soon.start()  # again: only once nothing more comes
        if event in ENDED and not self._jobs:
            self.idle.emit()

    @Slot()
    def _catch_up(self) -> None:
        """Take in reports that were held back, as they came too soon after those before them."""
        for job in self.jobs:
            held = job._work.held  # not cleared here: the thread may put a newer one in its place just now
            if held is not None and held is not job._caught_up:
                job._caught_up = held
                job._receive("progressed", held)
                self.jobChanged.emit(job)


class WorkerQueues:
    """The workers of the window. As a context manager it joins their threads, however long that takes."""

    def __init__(self) -> None:
        self.models = WorkerQueue("models")
        self.files = WorkerQueue("files")
        self.reads = WorkerQueue("reads")
        self.orders = WorkerQueue("orders")
        self.counts = WorkerQueue("counts")
        self.fetch = WorkerQueue("fetch")
        self.maps = WorkerQueue("maps")
        self.edits = WorkerQueue("edits")
        self.reasons = WorkerQueue("reasons")

    def __iter__(self) -> Iterator[WorkerQueue]:
        workers = (self.models, self.files, self.reads, self.orders, self.fetch, self.maps, self.edits)
        return iter((*workers, self.reasons, self.counts))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self:
            worker.close(0)  # all stop side by side
        for worker in self:
            while not worker.close(10):
                log.warning("The worker %s is still at work", Safe(worker.name))
