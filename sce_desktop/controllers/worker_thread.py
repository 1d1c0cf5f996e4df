"""The thread of a worker: it takes work from a queue, and posts what happens to the worker that owns it.

It never sees a `jobs.Job`, which lives in the GUI thread.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QThread

from sce_desktop.controllers.crashes import Crash
from sce_desktop.core.errors import Cancelled, UserError, let_go
from sce_desktop.core.giving_way import urgent
from sce_desktop.core.memory import give_back

UPDATES_PER_SECOND = 15
LARGE_S = 0.3  # work that takes so long may leave much free memory behind
STACK_BYTES = 16 * 2**20  # macOS gives secondary threads 512 KB, too little for torch (QTBUG-2568)

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Work:
    """What the thread knows of a job."""

    id: int
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    keywords: dict[str, Any]
    first: bool = False  # the window waits for it: it gives way to nobody
    cancel: threading.Event = field(default_factory=threading.Event)
    held: tuple[int, int | None, str, float] | None = None  # the last report, while it has not been posted
    _claim: threading.Lock = field(default_factory=threading.Lock)

    def claim(self) -> bool:
        """Take the right to run or to drop this work; only the first caller gets it."""
        return self._claim.acquire(blocking=False)

    def let_go(self) -> None:
        """Hold what it was given no longer: jobs that have ended stay in a list, ids of all rows need not.

        For the GUI thread, where parts of the window may go.
        """
        self.fn, self.args, self.keywords = _nothing, (), {}


def _nothing(**_keywords: Any) -> None:
    """What work does that has been done."""


class LaneProgress:
    """`core.progress.Progress` for a job: at most 15 updates a second leave the thread, beside new stages.

    What is held back in between lies in ``work.held``, where the window looks a moment later: the thread may
    be in the midst of a long batch by then.
    """

    def __init__(self, work: Work, post: Callable[[str, object], None]) -> None:
        self._work = work
        self._post = post
        self._next = 0.0
        self._stage = ""
        self._warned: set[str] = set()

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Say that ``done`` of ``total`` units are finished; held back just after another report."""
        now = time.monotonic()
        self._work.held = (done, total, stage, now)
        if now >= self._next or stage != self._stage:  # that something else begins is news
            self._stage = stage
            self._next = now + 1 / UPDATES_PER_SECOND
            self.flush()

    def flush(self) -> None:
        """Post the report that is held back."""
        held, self._work.held = self._work.held, None
        if held is not None:
            self._post("progressed", held)

    def warn(self, message: str) -> None:
        """Post a sentence, once."""
        if message not in self._warned:
            self._warned.add(message)
            self._post("warned", message)

    def check(self) -> None:
        """Raise `Cancelled` if the job is to stop."""
        if self._work.cancel.is_set():
            raise Cancelled


class LaneThread(QThread):
    """Takes work from the queue until it finds None there."""

    def __init__(
        self, name: str, waiting: queue.Queue[Any], post: Callable[[int, str, object], None]
    ) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setStackSize(STACK_BYTES)
        self._waiting = waiting
        self._post = post

    def run(self) -> None:
        """Work until there is None in the queue."""
        large = False
        while True:
            *_, work = self._waiting.get()
            if work is None:
                return
            began = time.monotonic()
            if work.claim():
                self._run(work)
            del work  # a result must not live on here while the queue is empty
            large = large or time.monotonic() - began >= LARGE_S
            if large and self._waiting.empty():  # whoever waits goes first
                give_back()
                large = False

    def _run(self, work: Work) -> None:
        def post(event: str, payload: object) -> None:
            self._post(work.id, event, payload)

        progress = LaneProgress(work, post)
        post("started", None)
        try:
            with urgent() if work.first else nullcontext():
                result = work.fn(*work.args, progress=progress, **work.keywords)
        except Cancelled:
            progress.flush()
            post("cancelled", None)
        except UserError as error:
            log.info("Job failed: %s", error)
            progress.flush()
            let_go(error)
            post("failed", error)
        except BaseException as error:
            log.exception("Job crashed")
            progress.flush()
            crash = Crash.from_error(error)
            let_go(error)
            post("failed", crash)
        else:
            progress.flush()
            post("finished", result)
