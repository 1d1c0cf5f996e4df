"""Where the time of a key goes, in the thread that answers it.

From the press to the next row painted the thread computes, is ready and has no processor, waits for its turn
to write to the project, waits for the disk, or waits for something else: nearly always for Python's lock,
which a worker has. Linux only, where the system tells how long a thread waited for a processor.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tests.benchmarks.measure import print_table

if TYPE_CHECKING:
    from sce_desktop.store.project import Project

MOST = 99  # the slowest keys are those above this percentile


class Parts(NamedTuple):
    """Of one key, in ms."""

    whole: float
    computing: float
    processor: float  # waiting for one
    turn: float  # to write, while a worker has it
    disk: float  # the commit of the decision, less what it computes
    rest: float


class KeyParts:
    """Made in the thread that answers keys, once the project is open; until `end` it watches its writing."""

    def __init__(self, project: Project) -> None:
        from sce_desktop.store.file.turns import Turns

        self._thread = threading.get_ident()
        self._turn = self._disk = 0.0
        self._turns, self._enter = Turns, Turns.__enter__
        writer = project._database._writer
        assert writer is not None
        self._dialect, self._commit = writer.dialect, writer.dialect.do_commit
        Turns.__enter__ = self._timed(self._enter, "_turn")  # type: ignore[method-assign]
        writer.dialect.do_commit = self._timed(self._commit, "_disk")  # type: ignore[method-assign]
        self._start: tuple[float, ...] = ()

    def _timed(self, call: Callable[..., Any], name: str) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:
            if threading.get_ident() != self._thread:
                return call(*args)
            start = time.perf_counter() - time.thread_time() - waited()
            try:
                return call(*args)
            finally:
                idle = time.perf_counter() - time.thread_time() - waited() - start
                setattr(self, name, getattr(self, name) + idle)

        return timed

    def begin(self) -> None:
        """A key is pressed."""
        self._start = self._now()

    def take(self) -> Parts:
        """The next row is painted: return what the key took."""
        whole, computing, processor, turn, disk = (
            (now - before) * 1000 for now, before in zip(self._now(), self._start, strict=True)
        )
        return Parts(whole, computing, processor, turn, disk, whole - computing - processor - turn - disk)

    def _now(self) -> tuple[float, ...]:
        return time.perf_counter(), time.thread_time(), waited(), self._turn, self._disk

    def end(self) -> None:
        """Watch no more."""
        self._turns.__enter__ = self._enter  # type: ignore[method-assign]
        self._dialect.do_commit = self._commit  # type: ignore[method-assign]


def waited() -> float:
    """Return how many seconds this thread was ready to run and had no processor, so far."""
    try:
        counted = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat").read_text()
    except OSError:
        return 0.0
    return int(counted.split()[1]) / 1e9


def print_parts(keys: list[list[float]]) -> None:
    """Print the parts of all ``keys``, each as `Parts`, and of the slowest ones."""
    found = np.array(keys)
    slow = found[found[:, 0] >= np.percentile(found[:, 0], MOST)]
    print_table(
        "Where the time of a key goes, ms",
        ["part", "mean", "median", "90th", "99th", f"mean of the slowest {100 - MOST}%"],
        [
            [
                name,
                f"{found[:, at].mean():.1f}",
                *(f"{value:.1f}" for value in np.percentile(found[:, at], (50, 90, 99))),
                f"{slow[:, at].mean():.1f}",
            ]
            for at, name in enumerate(
                (
                    "from the press to the next row painted",
                    "computing",
                    "waiting for a processor",
                    "waiting for its turn to write",
                    "waiting for the disk",
                    "waiting for Python's lock, and others",
                )
            )
        ],
    )
