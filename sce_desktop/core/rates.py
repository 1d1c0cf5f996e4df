"""How fast work goes now, from reports of how much is done: over the last minute, and never across a gap."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Final

SPAN_S: Final = 60.0
"""What went on earlier says little: cached rows are fast, and a processor that others use gets slower."""
EVERY_S: Final = 0.5  # reports that are closer together count as one
GAP_S: Final = 20.0
"""A longer time without a report, and `GAP_TIMES` the longest before, is no work: the computer slept."""
GAP_TIMES: Final = 5


class RateWindow:
    """Takes reports of one stage of a job in their order."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()  # seconds of a monotonic clock, units done

    def add(self, at: float, done: int) -> None:
        """Note that ``done`` units are finished at ``at`` seconds."""
        points = self._points
        if points and (done < points[-1][1] or self._is_gap(at - points[-1][0])):
            points.clear()
        if len(points) > 1 and at - points[-2][0] < EVERY_S:
            points.pop()
        points.append((at, done))
        while len(points) > 2 and at - points[1][0] >= SPAN_S:
            points.popleft()

    def _is_gap(self, seconds: float) -> bool:
        if seconds < GAP_S or len(self._points) < 2:
            return False
        times = [at for at, _ in self._points]
        longest = max(after - before for before, after in itertools.pairwise(times))
        return seconds > GAP_TIMES * longest

    @property
    def rate(self) -> float | None:
        """Units a second; None before there are any."""
        if len(self._points) < 2:
            return None
        (began, before), (ended, after) = self._points[0], self._points[-1]
        return (after - before) / (ended - began) if after > before and ended > began else None
