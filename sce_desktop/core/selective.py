"""Selective classification: how many rows a model may label by itself, and the error that can be promised.

An audit sample says of some rows whether the model is right. From a threshold up the model labels by itself;
below, a person does. For each threshold there are the rows that the model labels, and an upper limit of the
errors among them that holds in 95 of 100 random samples.

The limit is exact. A sample without replacement has a hypergeometric number of errors, so the limit of the
errors in the rows that it stands for is the largest number that would give so few in more than 5% of samples:
Clopper and Pearson's limit for a table that ends (Clopper and Pearson 1934; Thompson 2012, "Sampling",
section 5.3). Errors that a person has seen and corrected are no longer among the model's; they are taken off.

A threshold that is chosen because the sample looks good there looks better than it is. So thresholds are
tested in an order that is fixed before, from confident to less confident, until the first that fails
(fixed-sequence testing: Angelopoulos et al. 2021, "Learn then Test", arXiv 2110.01052, section 4.2): what is
promised then fails in at most 5 of 100 samples, after the choice. For the alternative, a search with a
Bonferroni correction, see Geifman and El-Yaniv 2017, "Selective Classification for Deep Neural Networks",
arXiv 1705.08500. `docs/research/final-labels.md` measures how often the promise holds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import DoubleArray, IdArray

LEVEL = 0.95
"""In so many random samples a promise holds: it has one side, as nobody minds fewer errors."""
GRID = np.linspace(1, 0, 101).round(2)
"""The thresholds that are tried, in their order."""
FIRST_PART = 3
"""The first threshold that is tested is to have one row in so many of the sample."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class AuditedPredictions:
    """Predictions of one model, some of them audited. Rows for which it gives no label are in none of these.

    Args:
        frame: (N,) confidence in all rows that the sample was drawn from, itself among them.
        audited: (n,) confidence in the rows of the sample.
        wrong: (n,) whether the prediction is not the right label.
        open: (M,) confidence in the rows of the frame that the model would label: no person has.
        corrected: (c,) confidence in the rows of the frame whose wrong prediction a person has corrected.
    """

    frame: DoubleArray
    audited: DoubleArray
    wrong: NDArray[np.bool_]
    open: DoubleArray
    corrected: DoubleArray


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """What a threshold gives. ``error`` and its limits are fractions of the rows that the model labels.

    ``error`` is None where no audited row is so confident. The limits have one side each, at 95%, and are
    of this threshold alone.
    """

    threshold: float
    rows: int  # that the model labels
    review: int  # open rows below the threshold
    audited: int  # at or above it
    wrong: int  # of these
    error: float | None
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """What every threshold of `GRID` gives, from 1 down to 0, and what can be promised of it."""

    points: tuple[AtThreshold, ...]
    total: Counts  # (101,) rows of the frame at or above each threshold
    sample: int  # audited rows for which the model gives a label

    @property
    def exact(self) -> bool:
        """Whether every row is audited: then nothing is estimated, and any threshold may be chosen."""
        return 0 < self.sample == self.total[-1]

    @classmethod
    def of(cls, predictions: AuditedPredictions) -> Curve:
        """Work out all points."""
        frame, audited, open_rows, corrected = (
            np.sort(np.asarray(some, np.float64))
            for some in (predictions.frame, predictions.audited, predictions.open, predictions.corrected)
        )
        mistakes = np.sort(np.asarray(predictions.audited, np.float64)[predictions.wrong])
        total, seen, bad, rows, known = (
            len(some) - np.searchsorted(some, GRID)
            for some in (frame, audited, mistakes, open_rows, corrected)
        )
        low, high = (_share(errors - known, rows) for errors in error_limits(bad, seen, total))
        expected = np.divide(total * bad, seen, out=np.zeros(len(GRID)), where=seen > 0) - known
        error = np.clip(_share(expected, rows), low, high)
        points = tuple(
            AtThreshold(
                float(threshold),
                int(rows[place]),
                len(open_rows) - int(rows[place]),
                int(seen[place]),
                int(bad[place]),
                float(error[place]) if seen[place] else None,
                float(low[place]),
                float(high[place]),
            )
            for place, threshold in enumerate(GRID)
        )
        return cls(points, total, len(audited))

    def at(self, threshold: float) -> AtThreshold:
        """Return the point of `GRID` at ``threshold``, or the next one above."""
        return self.points[max(0, math.floor((1 - threshold) * 100 + 1e-9))]

    def choose(self, max_error: float) -> AtThreshold | None:
        """Return the lowest threshold at which an error of at most ``max_error`` can be promised.

        Thresholds are tested in the order of `GRID` until the first that fails. The first to be tested is
        that at which a third of the sample is expected, and enough rows for one mistake: with fewer, bad luck
        would often end the sequence at once. Which one it is depends on how confident the model is in the
        table, and on nothing that the sample says. None: none passes.

        Raises:
            ValueError: ``max_error`` is not above 0 and below 1.
        """
        if not 0 < max_error < 1:
            raise ValueError(f"an error to promise lies between 0 and 1, not {max_error}")
        if self.exact:
            return next((point for point in reversed(self.points) if point.high <= max_error), None)
        found = None
        for point in self.points[self._start(max_error) :]:
            if not point.audited or point.high > max_error:
                break
            found = point
        return found

    def promised(self, threshold: float, max_error: float) -> float:
        """Return the error that can be promised at ``threshold`` in the sequence for ``max_error``.

        It is the largest limit of the thresholds tested up to there: what is chosen for ``max_error``
        promises no more.
        """
        if self.exact:
            return self.at(threshold).high
        place = self.points.index(self.at(threshold))
        return max(point.high for point in self.points[min(place, self._start(max_error)) : place + 1])

    def _start(self, max_error: float) -> int:
        """Return the place where the sequence begins: it must not depend on what the sample says."""
        wanted = min(self.sample, max(_rows_for(max_error, 1), self.sample // FIRST_PART))
        return int(np.argmax(self.total * self.sample >= wanted * self.total[-1]))


def error_limits(wrong: Any, sample: Any, rows: Any) -> tuple[Counts, Counts]:
    """Return one-sided 95% limits of the number of errors in ``rows`` rows, low and high.

    Args:
        wrong: Errors seen in the sample; a number or an array.
        sample: Rows of the sample, drawn from ``rows`` without replacement.
        rows: Rows in all.
    """
    bad, seen, total = np.broadcast_arrays(*(np.asarray(some, np.int64) for some in (wrong, sample, rows)))
    least_possible, most_possible = bad, total - (seen - bad)
    alpha = 1 - LEVEL

    def fewer(errors: Counts) -> NDArray[np.bool_]:
        return _at_most(bad, total, errors, seen) > alpha

    def more(errors: Counts) -> NDArray[np.bool_]:
        return 1 - _at_most(bad - 1, total, errors, seen) > alpha

    high = _last(fewer, least_possible, most_possible)
    low = -_last(lambda errors: more(-errors), -most_possible, -least_possible)
    return low, high


def _at_most(wrong: Counts, rows: Counts, errors: Counts, sample: Counts) -> NDArray[np.float64]:
    """Return the chance of at most ``wrong`` errors in a ``sample`` of ``rows`` with ``errors``.

    The distribution function of `scipy.stats.hypergeom`, a hundred times as fast for many at once.
    """

    def chosen(some: Any, of: Any) -> Any:
        return factorials[of] - factorials[some] - factorials[of - some]

    factorials = _log_factorials(int(rows.max(initial=0)))
    shape = np.broadcast_shapes(wrong.shape, errors.shape)
    wrong, rows, errors, sample = (
        some.reshape(-1) for some in np.broadcast_arrays(wrong, rows, errors, sample)
    )
    seen = np.arange(max(0, int(wrong.max(initial=0))) + 1)[:, None]
    right = sample - seen
    possible = (seen <= wrong) & (seen <= errors) & (right >= 0) & (right <= rows - errors)
    seen, right = np.where(possible, seen, 0), np.where(possible, right, 0)
    chances = np.exp(chosen(seen, errors) + chosen(right, rows - errors) - chosen(sample, rows))
    return np.asarray(np.where(possible, chances, 0).sum(axis=0)).reshape(shape)


@functools.lru_cache(maxsize=4)
def _log_factorials(most: int) -> NDArray[np.float64]:
    from scipy.special import gammaln  # takes a moment to import

    return np.asarray(gammaln(np.arange(most + 1) + 1.0))


def least_sample(max_error: float, rows: int, *, wrong: int = 0) -> int:
    """Return how many of ``rows`` rows have to be audited to promise ``max_error``, ``wrong`` being wrong.

    59 of very many for 5% without a mistake. What is audited is corrected, so it is the other rows' error.
    More than ``rows`` where not even all of them would do.
    """
    low, high = wrong + 1, rows
    while low < high:
        middle = (low + high) // 2
        left = int(error_limits(wrong, middle, rows)[1]) - wrong
        low, high = (low, middle) if left <= max_error * (rows - middle) else (middle + 1, high)
    return low


def _rows_for(max_error: float, wrong: int) -> int:
    """Return how many rows of very many with ``wrong`` mistakes promise ``max_error``."""
    from scipy.stats import binom

    rows = math.ceil(math.log(1 - LEVEL) / math.log1p(-max_error))
    while binom.cdf(wrong, rows, max_error) > 1 - LEVEL:
        rows += 1
    return rows


def _last(holds: Callable[[Counts], NDArray[np.bool_]], low: Counts, high: Counts) -> Counts:
    """Return the largest numbers from ``low`` to ``high`` for which ``holds``; it does for ``low``."""
    low, high = low.copy(), high.copy()
    while (low < high).any():
        middle = (low + high + 1) // 2
        inside = holds(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle - 1)
    return low


def _share(errors: Any, rows: IdArray) -> NDArray[np.float64]:
    """Return ``errors`` as a fraction of ``rows``; 0 where there are none that could be wrong."""
    errors = np.clip(np.asarray(errors, np.float64), 0, rows)
    return np.divide(errors, rows, out=np.zeros(len(GRID)), where=rows > 0)
