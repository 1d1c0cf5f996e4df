"""Whether one model is better than another on the same rows, with an interval and in plain words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.metrics import CONFIDENCE_LEVEL
from sce_desktop.core.words import plural

DRAWS = 10_000
FEWEST_ROWS = 30
"""Resampling fewer rows than this says more than they know: no difference is claimed from them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The accuracy after less the accuracy before, as fractions, on the same ``rows``."""

    rows: int
    mean: float
    interval: tuple[float, float]
    won: int  # rows that were wrong and are right now
    lost: int

    @property
    def shown(self) -> bool:
        """Whether the rows show a difference: they are enough, and the interval does not hold 0."""
        low, high = self.interval
        return self.rows >= FEWEST_ROWS and (low > 0 or high < 0)

    @property
    def sentence(self) -> str:
        """What that means, in plain words."""
        if not self.rows:
            return "Not measured: no row was left out of training."
        if self.rows < FEWEST_ROWS:
            are = "is" if self.rows == 1 else "are"
            return f"No difference shown yet: {plural(self.rows, 'row')} {are} too few."
        if not self.shown:
            low, high = (100 * end for end in self.interval)
            return (
                f"No difference shown yet: between {low:+.0f} and {high:+.0f} points on {self.rows:,} rows."
            )
        low, high = sorted(abs(100 * end) for end in self.interval)
        word = "Better" if self.mean > 0 else "Worse"
        return f"{word} by {_span(low, high)} on {self.rows:,} rows."


def _span(low: float, high: float) -> str:
    digits = 0 if round(low) != round(high) and low >= 0.5 else 1
    return f"{low:.{digits}f} to {high:.{digits}f} points"


def compare(before: NDArray[np.bool_], after: NDArray[np.bool_]) -> Difference:
    """Compare which rows (n,) were right before and which are after.

    The interval is the 95 % percentile interval of the paired bootstrap (10,000 draws, seed 0): rows are
    drawn with what both models said of them, and there are only three kinds of rows.
    """
    rows = len(before)
    won, lost = int((after & ~before).sum()), int((before & ~after).sum())
    if not rows:
        return Difference(0, 0.0, (0.0, 0.0), 0, 0)
    shares = [won / rows, lost / rows, (rows - won - lost) / rows]
    drawn = np.random.default_rng(0).multinomial(rows, shares, DRAWS)
    tail = (1 - CONFIDENCE_LEVEL) / 2
    low, high = np.quantile((drawn[:, 0] - drawn[:, 1]) / rows, [tail, 1 - tail])
    return Difference(rows, (won - lost) / rows, (float(low), float(high)), won, lost)
