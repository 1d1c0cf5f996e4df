"""Scoring that leaves the processor to others: how much of the time it works, and what sleeps in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sce_desktop.core.i18n import N_, _
from sce_desktop.core.progress import Progress

FREE_S: Final = 60.0
"""So long a scoring works at full speed in any case: a label edit of most tables is through by then."""
SLOW: Final = 0.25
"""Of the time that a slow scoring works."""
MOST_REST_S: Final = 4.0
_STEP_S: Final = 0.05  # how fast it stops
FULL: Final = ""
ON_BATTERY: Final = N_("{stage} (slower on battery)")
IN_BACKGROUND: Final = N_("{stage} (slower while you use other programs)")


@dataclass(slots=True)
class Pace:
    """How fast to work: set by the window at any time, read by whoever scores. ``slow``: why, or `FULL`."""

    slow: str = FULL


class PacedProgress:
    """Passes everything on, and rests after each batch as long as the pace asks for."""

    def __init__(
        self,
        whole: Progress,
        pace: Pace,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._whole = whole
        self._pace = pace
        self._clock, self._sleep = clock, sleep
        self._began = self._worked_from = clock()

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Pass the report on, with the reason why it is slow: its rate is another one."""
        slow = self._slow()
        self._whole.report(done, total, stage=_(slow, stage=stage) if slow and stage else stage)

    def warn(self, message: str) -> None:
        """Pass the warning on."""
        self._whole.warn(message)

    def check(self) -> None:
        """Rest, and raise `Cancelled` if the user wants to stop, in the midst of it too."""
        self._whole.check()
        worked = self._clock() - self._worked_from
        rested_from = self._clock()
        rest = min(MOST_REST_S, worked * (1 / SLOW - 1))
        while self._slow() and self._clock() - rested_from < rest:
            self._sleep(_STEP_S)
            self._whole.check()
        self._worked_from = self._clock()

    def _slow(self) -> str:
        return self._pace.slow if self._clock() - self._began > FREE_S else FULL


def paced(pace: Pace, fn: Callable[..., Any], *args: Any, progress: Progress, **keywords: Any) -> Any:
    """Run ``fn`` of a worker at ``pace``."""
    return fn(*args, progress=PacedProgress(progress, pace), **keywords)


def on_battery() -> bool | None:
    """Return whether the computer runs on its battery; None where there is none, or nothing says so."""
    import psutil

    try:
        battery = psutil.sensors_battery()
    except (AttributeError, OSError, ValueError, psutil.Error):  # a system without it, or odd files in /sys
        return None
    if battery is None or battery.power_plugged is None:
        return None
    return not battery.power_plugged
