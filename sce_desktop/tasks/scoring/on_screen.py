"""Rows that come on the screen while a table is being scored: they are scored before the others.

A large table is scored for hours, and who scrolls meanwhile looks at other rows than those it began with.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray

Look = Callable[[], IdArray]  # the rows on the screen now, top first; called by the thread that scores


class OnScreen:
    """Knows which rows each run still has to score, and which of them are on the screen."""

    def __init__(self, look: Look | None) -> None:
        self._look = look
        self._open: dict[int, NDArray[np.bool_]] = {}  # by run: whether the row of this id is to be scored

    def expect(self, run_id: int, ids: IdArray) -> None:
        """Note that the rows ``ids`` (n,) are to be scored by a run."""
        if self._look is None or not len(ids):
            return
        self._open[run_id] = np.zeros(int(ids.max()) + 1, bool)
        self._open[run_id][ids] = True

    def note(self, run_id: int, ids: IdArray) -> None:
        """Note that a run has scored the rows ``ids`` (n,)."""
        if run_id in self._open:
            self._open[run_id][ids] = False

    def open(self, run_id: int, ids: IdArray) -> IdArray:
        """Return those of ``ids`` (n,), rows that the run expects, that have not been scored meanwhile."""
        return ids[self._open[run_id][ids]] if run_id in self._open else ids

    def rows(self, run_id: int) -> IdArray:
        """Return the rows (n,) that are on the screen now and that the run has still to score."""
        if self._look is None or run_id not in self._open:
            return np.empty(0, np.int64)
        seen = self._look()
        return self.open(run_id, seen[(seen >= 0) & (seen < len(self._open[run_id]))])
