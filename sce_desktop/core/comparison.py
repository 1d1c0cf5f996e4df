"""Whether one model is better than another on the same rows: an exact test, an interval and plain words."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.estimates import CONFIDENCE_LEVEL
from sce_desktop.core.i18n import _, ngettext, number

# scipy takes a second to import: it comes with the first call.

DRAWS = 10_000
FEWEST_ROWS = 30
"""No difference is claimed from fewer rows, whatever they say: they are hardly those that will come."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The accuracy after less the accuracy before, as fractions, on the same ``rows``.

    ``p_value`` is that of the exact McNemar test (two-sided): how often as many of the rows that only one of
    the two gets right would be on one side if each were as likely to be on either.
    """

    rows: int
    mean: float
    interval: tuple[float, float]
    won: int  # rows that were wrong and are right now
    lost: int
    p_value: float = 1.0

    @property
    def shown(self) -> bool:
        """Whether the rows show a difference. Everything that claims one, or acts on one, asks here."""
        return self.rows >= FEWEST_ROWS and self.p_value <= 1 - CONFIDENCE_LEVEL

    @property
    def better(self) -> bool:
        """Whether the rows show that it is better now: false in fewer than 2.5 of 100 cases."""
        return self.shown and self.won > self.lost

    @property
    def points(self) -> str:
        """The difference in a few words, to stand behind what is compared."""
        if not self.rows:
            return _("not measured")
        if self.rows < FEWEST_ROWS:
            return ngettext(
                "no clear difference yet ({count} row, too few)",
                "no clear difference yet ({count} rows, too few)",
                self.rows,
            )
        low, high = self._ends
        if not self.shown:
            return ngettext(
                "no clear difference yet ({low} to {high} points, 95% CI, {count} row)",
                "no clear difference yet ({low} to {high} points, 95% CI, {count} rows)",
                self.rows,
                low=low,
                high=high,
            )
        return ngettext(
            "{low} to {high} points (95% CI, {count} row)",
            "{low} to {high} points (95% CI, {count} rows)",
            self.rows,
            low=low,
            high=high,
        )

    @property
    def sentence(self) -> str:
        """The same as a sentence about what there is now and what there was before."""
        if not self.rows:
            return _("Not measured: there are no validation rows.")
        if self.better:
            return _("Better: {difference}.", difference=self.points)
        if self.shown:
            return _("Worse: {difference}.", difference=self.points)
        if self.rows < FEWEST_ROWS:
            return ngettext(
                "No clear difference yet ({count} row, too few).",
                "No clear difference yet ({count} rows, too few).",
                self.rows,
            )
        low, high = self._ends
        return ngettext(
            "No clear difference yet ({low} to {high} points, 95% CI, {count} row).",
            "No clear difference yet ({low} to {high} points, 95% CI, {count} rows).",
            self.rows,
            low=low,
            high=high,
        )

    @property
    def _ends(self) -> tuple[str, str]:
        low, high = (100 * end for end in self.interval)
        digits = 0 if round(low) != round(high) and (not self.shown or min(abs(low), abs(high)) >= 0.5) else 1
        return _signed(low, digits), _signed(high, digits)


def _signed(value: float, digits: int) -> str:
    rounded = round(value, digits) + 0.0  # there is no -0
    return f"{'-' if rounded < 0 else '+'}{number(abs(rounded), digits)}"


def compare(before: NDArray[np.bool_], after: NDArray[np.bool_]) -> Difference:
    """Compare which rows (n,) were right before and which are after."""
    return from_counts(len(before), int((after & ~before).sum()), int((before & ~after).sum()))


@functools.lru_cache(maxsize=1024)
def from_counts(rows: int, won: int, lost: int) -> Difference:
    """Return what ``rows`` show of which the new one alone is right about ``won``, the old about ``lost``.

    The interval is the 95% percentile interval of the paired bootstrap (10,000 draws, seed 0): rows are
    drawn with what both models said of them, and there are only three kinds of rows. Of few differing rows it
    leaves 0 out too easily (four won and none lost of 30: 3 to 27 points, and p = 0.125), so it reaches to 0
    unless the exact test excludes 0.
    """
    if not rows:
        return Difference(0, 0.0, (0.0, 0.0), 0, 0)
    from scipy.stats import binomtest

    p_value = float(binomtest(won, won + lost).pvalue) if won + lost else 1.0
    shares = [won / rows, lost / rows, (rows - won - lost) / rows]
    drawn = np.random.default_rng(0).multinomial(rows, shares, DRAWS)
    tail = (1 - CONFIDENCE_LEVEL) / 2
    low, high = map(float, np.quantile((drawn[:, 0] - drawn[:, 1]) / rows, [tail, 1 - tail]))
    if p_value > 1 - CONFIDENCE_LEVEL:
        low, high = min(low, 0.0), max(high, 0.0)
    return Difference(rows, (won - lost) / rows, (low, high), won, lost, p_value)
