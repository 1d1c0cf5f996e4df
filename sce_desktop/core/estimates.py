"""Shares of a whole table from a random sample of it, with intervals that hold for small shares too.

A sample of rows whose label is known says by itself what share a label has; predictions for all rows make
that estimate sharper, and the sample takes their bias out again. This is the regression estimator of survey
sampling (Särndal, Swensson and Wretman 1992, "Model Assisted Survey Sampling", chapter 6), which machine
learning knows as prediction-powered inference (Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453; for the
equivalence arXiv 2603.19160). Its usual interval, estimate ± 1.96 standard errors, is far too short for
rare labels: with no hit in the sample it has no width at all. So the interval is Wilson's score interval
(1927) for the effective sample size of the estimate, as survey statistics does it (Franco, Little, Louis
and Slud 2019, J. Survey Statistics and Methodology 7(3)). `docs/research/honest-figures.md` measures how
often it holds.

A part of the table has few sampled rows, and what these say of the predictions' bias in it is drawn to what
the whole sample says (partial pooling, as in small area estimation: Rao and Molina 2015, chapter 7).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONFIDENCE_LEVEL = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE_LEVEL) / 2)
LARGEST_SAMPLE = 1_000_000


@dataclass(frozen=True, slots=True)
class Share:
    """A fraction with its 95% interval; without an interval where no random sample stands behind it."""

    value: float
    interval: tuple[float, float] | None = None

    @property
    def counted(self) -> bool:
        """Whether nothing of it is estimated: every row is known."""
        return self.interval is not None and self.interval[0] == self.interval[1]

    def as_count(self, rows: int) -> Share:
        """Return so large a part of ``rows`` rows, as a number of rows with its interval."""
        return Share(self.value * rows, self.interval and (self.interval[0] * rows, self.interval[1] * rows))

    @property
    def width(self) -> float | None:
        """The width of the interval."""
        return None if self.interval is None else self.interval[1] - self.interval[0]


def wilson_interval(share: float, sample: float, *, rows: int | None = None) -> tuple[float, float]:
    """Return the 95% Wilson score interval of a ``share`` seen in a ``sample``.

    Args:
        share: What was seen, 0 to 1.
        sample: How many rows it was seen in; a fraction where they are worth more or less than their number.
        rows: How many rows the sample was drawn from without replacement; None: very many.
    """
    if rows is not None:
        if sample >= rows:
            return share, share
        sample *= (rows - 1) / (rows - sample)  # finite population correction
    if sample <= 0:
        return 0.0, 1.0
    spread = Z * Z / sample
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    # At 0 and 1 rounding would leave the end a hair inside.
    return min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))


def exact_interval(hits: int, sample: int) -> tuple[float, float]:
    """Return the 95% Clopper-Pearson interval of ``hits`` out of ``sample``.

    Either end misses in at most 2.5% of samples. It is wider than Wilson's, where that is so on the
    average: for ends that are promised.
    """
    from scipy.special import betaincinv  # takes a moment to import

    tail = (1 - CONFIDENCE_LEVEL) / 2
    low = float(betaincinv(hits, sample - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, sample - hits, 1 - tail)) if hits < sample else 1.0
    return low, high


@dataclass(frozen=True, slots=True)
class Line:
    """The share of a label that a random sample lets expect for what was predicted: its regression line."""

    share: float  # in the sample
    predicted: float  # the mean in the sample
    slope: float

    @classmethod
    def through(cls, hits: ArrayLike, predicted: ArrayLike | None = None) -> Line:
        """Fit the line to a sample; flat where nothing is predicted, or nothing differs."""
        y = np.asarray(hits, dtype=np.float64)
        if predicted is None or not len(y):
            return cls(float(y.sum()) / max(1, len(y)), 0.0, 0.0)
        f = np.asarray(predicted, dtype=np.float64)
        f_apart, y_apart = f - f.mean(), y - y.mean()
        f_square, y_square = f_apart @ f_apart, y_apart @ y_apart
        slope = float(f_apart @ y_apart / f_square) if f_square > 0 and y_square > 0 else 0.0
        return cls(float(y.mean()), float(f.mean()), slope)

    def at(self, predicted: float) -> float:
        """Return the expected share where ``predicted`` is the mean of what is predicted."""
        return self.share + self.slope * (predicted - self.predicted)

    def left(self, hits: NDArray[np.float64], predicted: ArrayLike | None) -> NDArray[np.float64]:
        """Return what the line leaves unexplained of each row (n,)."""
        f = self.predicted if predicted is None else np.asarray(predicted, dtype=np.float64)
        return hits - self.share - self.slope * (f - self.predicted)


def sample_share(
    hits: ArrayLike, predicted: ArrayLike | None = None, *, mean: float = 0.0, rows: int | None = None
) -> Share:
    """Estimate the share of a label among ``rows`` rows from a random sample of them.

    ``predicted`` may be any number that says something about the label: a probability, calibrated or not.
    It must not come from a model that was trained on the sample.

    Args:
        hits: (n,) whether each sampled row has the label; n may be 0: the interval is then all of 0 to 1.
        predicted: (n,) what was predicted for the sampled rows; None to do without.
        mean: Mean of the same predictions over all ``rows``.
        rows: Size of the table the sample was drawn from without replacement; None: very many.
    """
    y = np.asarray(hits, dtype=np.float64)
    n = len(y)
    if n == 0:
        return Share(float(np.clip(mean, 0, 1)), (0.0, 1.0))
    if rows is not None and n >= rows:
        return Share(float(y.mean()), (float(y.mean()),) * 2)
    line = Line.through(y, predicted)
    value = float(np.clip(line.at(mean), 0, 1))
    effective_sample_size = n / (1 - _explained(y, line.left(y, predicted)))
    # What makes the predictions worth more rows makes the table worth more by as much.
    return Share(
        value,
        wilson_interval(
            value,
            effective_sample_size,
            rows=None if rows is None else round(rows * effective_sample_size / n),
        ),
    )


def part_share(hits: ArrayLike, predicted: ArrayLike | None, line: Line, *, mean: float, rows: int) -> Share:
    """Estimate the share of a label in a part of the table from the sampled rows that fall into it.

    What ``line``, fitted to the whole sample, expects for the part is corrected by what its own rows leave of
    it, as if z² more rows had left nothing: Wilson's interval adds as many. A part without a hit is so not
    said to have none where the predictions say otherwise.

    Args:
        hits: (n,) whether each sampled row of the part has the label; n may be 0.
        predicted: (n,) what was predicted for them; None where ``line`` was fitted without predictions.
        line: Of the whole sample.
        mean: Mean of the predictions over all ``rows`` of the part.
        rows: Size of the part.
    """
    y = np.asarray(hits, dtype=np.float64)
    n, found = len(y), float(y.sum())
    expected = line.share if predicted is None else line.at(mean)
    if n == 0:
        return Share(float(np.clip(expected, 0, 1)), (0.0, 1.0))
    own = wilson_interval(found / n, n, rows=rows)
    if n >= rows:
        return Share(found / n, own)
    left = line.left(y, predicted)
    lent = Z * Z * (1 - n / rows)  # a part that is sampled whole is counted
    value, explained = expected + float(left.sum()) / (n + lent), _explained(y, left)
    if not 0 < value < 1 and 0 < found < n:  # the line does not fit here: a share of 0 has no hit
        value, explained = found / n, 0.0
    value = float(np.clip(value, 0, 1))
    effective_sample_size = (n + lent) / (1 - explained)
    low, high = wilson_interval(value, effective_sample_size, rows=round(rows * effective_sample_size / n))
    # Hardly a hit says little against a share near 0, whatever is expected.
    if found < Z * Z:
        low = min(low, own[0])
    if n - found < Z * Z:
        high = max(high, own[1])
    return Share(value, (low, high))


def _explained(hits: NDArray[np.float64], left: NDArray[np.float64]) -> float:
    """Return the part of the variance of ``hits`` that predictions explain if they leave ``left`` of it."""
    square = float(((hits - hits.mean()) ** 2).sum())
    if square == 0:
        return 0.0
    found = 1 - float(((left - left.mean()) ** 2).sum()) / square
    rarer = min(hits.sum(), len(hits) - hits.sum())
    # A handful of hits may follow the predictions by luck. As Wilson's interval does with z² rows that know
    # nothing of the share, z² hits that know nothing of the predictions are added.
    return min(max(0.0, found) * float(rarer / (rarer + Z * Z)), 1 - 1e-9)


def with_known(sampled: Share, rows: int, *, known: int, known_hits: int) -> Share:
    """Return the share over a table of ``known`` rows, ``known_hits`` of them hits, and ``rows`` others.

    ``sampled`` is the share among the others; the result's interval is narrower in proportion.
    """
    total = known + rows
    if total == 0:
        return Share(0.0)
    value = (known_hits + rows * sampled.value) / total
    if rows == 0:
        return Share(value, (value, value))
    if sampled.interval is None:
        return Share(value)
    low, high = ((known_hits + rows * end) / total for end in sampled.interval)
    return Share(value, (low, high))


def within_bounds(share: Share, low: float, high: float) -> Share:
    """Return ``share`` for a fraction that is known to be at least ``low`` and at most ``high``."""

    def held(value: float) -> float:
        return min(max(value, low), high)

    return Share(held(share.value), share.interval and (held(share.interval[0]), held(share.interval[1])))


def suggested_sample(width: float, *, share: float = 0.5, rows: int | None = None) -> int:
    """Return how many random rows give an interval of at most ``width`` where the share is about ``share``.

    The predictions only make it narrower, so this is enough. ``rows`` is the size of the table: never more.

    Raises:
        ValueError: ``width`` is not between 0 and 1.
    """
    if not 0 < width < 1:
        raise ValueError("a width lies between 0 and 1")
    low, high = 1, min(rows or LARGEST_SAMPLE, LARGEST_SAMPLE)
    while low < high:
        middle = (low + high) // 2
        start, end = wilson_interval(share, middle, rows=rows)
        low, high = (low, middle) if end - start <= width else (middle + 1, high)
    return low
