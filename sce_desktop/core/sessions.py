"""How fast a person labels, from the moments at which rows were labelled, and how long the rest takes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Final

import numpy as np
from numpy.typing import NDArray

PAUSE_SECONDS: Final = 300.0
"""A longer pause between two rows ends a session."""
LEAST_GAPS: Final = 5
"""Fewer rows than that say nothing about a speed."""
RECENT_GAPS: Final = 100
"""The speed is that of so many rows at most, the latest ones."""
_MOST_MEDIANS: Final = 5.0  # a longer gap counts as one of so many medians


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """What was labelled today and in this session. Seconds are None where too few rows tell them."""

    today: int = 0  # rows
    session: int = 0  # rows, without a longer pause between them, up to now
    seconds_today: float = 0.0  # spent on the rows of today, without longer pauses
    median_seconds: float | None = None  # between a row and the next
    seconds_a_row: float | None = None  # the mean, in which a very long gap counts less

    @property
    def rows_an_hour(self) -> float | None:
        """The speed."""
        return 3600 / self.seconds_a_row if self.seconds_a_row else None

    def seconds_left(self, rows: int) -> float | None:
        """How long ``rows`` more take at this speed; None where it is not known."""
        return None if self.seconds_a_row is None else rows * self.seconds_a_row


def session_figures(
    moments: NDArray[np.float64],
    now: float,
    day_start: float,
    *,
    labelled: NDArray[np.bool_] | None = None,
) -> SessionFigures:
    """Return the figures of one annotator.

    The speed is the mean of the latest gaps between rows, each no longer than a pause. A gap of more than
    five medians counts as five: somebody at the door must not halve the speed, but rows that take longer
    than most count, as the median alone would promise too early an end.

    Args:
        moments: (n,) when each row was decided, in seconds since 1970, in any order.
        now: This moment, likewise.
        day_start: When the day began where the user is, likewise; see `start_of_day`.
        labelled: (n,) whether the row got an answer; one that was skipped takes time and is not counted.
            None: all did.
    """
    counted = np.ones(len(moments), np.bool_) if labelled is None else labelled
    order = np.argsort(moments, kind="stable")
    order = order[moments[order] <= now]
    moments, counted = moments[order], counted[order]
    if not len(moments):
        return SessionFigures()
    gaps = np.diff(moments)
    within = gaps <= PAUSE_SECONDS
    ends = np.flatnonzero(~within)
    first = int(ends[-1]) + 1 if len(ends) else 0  # of the last session
    goes_on = now - moments[-1] <= PAUSE_SECONDS
    of_today = within & (moments[1:] >= day_start)
    worked = gaps[within & (gaps > 0)][-RECENT_GAPS:]  # several rows in one moment are one step
    median = mean = None
    if len(worked) >= LEAST_GAPS:
        median = float(np.median(worked))
        mean = float(np.minimum(worked, _MOST_MEDIANS * median).mean())
    return SessionFigures(
        today=int(counted[moments >= day_start].sum()),
        session=int(counted[first:].sum()) if goes_on else 0,
        seconds_today=float(gaps[of_today].sum()),
        median_seconds=median,
        seconds_a_row=mean,
    )


def start_of_day(day: date | None = None) -> float:
    """Return when a day (default: today) begins where the user is, in seconds since 1970.

    By the clock of this machine: a day on which it is put forward has 23 hours.
    """
    return datetime.combine(day or datetime.now().astimezone().date(), time.min).astimezone().timestamp()


def moment(text: str) -> float:
    """Return a moment as a project keeps it, ISO 8601, in seconds since 1970; without an offset it is UTC.

    Raises:
        ValueError: It is no moment.
    """
    found = datetime.fromisoformat(text)
    return (found if found.tzinfo else datetime.fromisoformat(f"{text}+00:00")).timestamp()
