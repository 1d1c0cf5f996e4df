"""What a confidence threshold gives and what it costs: coverage and precision, and one to suggest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.estimates import exact_interval, wilson_interval

CURVE_POINTS = 101


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """Rows with a confidence of at least ``threshold``; ``precision`` is the fraction of them that is right.

    None and 0 to 1 where no row with a known label is that confident. The interval is exact, as one of its
    ends is promised (`suggest_threshold`).
    """

    threshold: float
    coverage: float
    precision: float | None
    interval: tuple[float, float]
    rows: int  # with a known label, at or above the threshold


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Rows of about the same confidence: mean ``confidence`` beside the fraction that is right."""

    confidence: float
    right: float
    interval: tuple[float, float]
    rows: int


def at_threshold(
    threshold: float, confidence: FloatArray, right: NDArray[np.bool_], every: FloatArray | None = None
) -> AtThreshold:
    """Return what ``threshold`` gives.

    Args:
        threshold: Rows from here up are kept.
        confidence: (n,) of the rows whose label is known.
        right: (n,) whether the model is right about them.
        every: Confidence of all rows, for the coverage; the same rows if None.
    """
    kept = right[confidence >= threshold]
    covered = confidence if every is None else every
    coverage = float((covered >= threshold).mean()) if len(covered) else 0.0
    precision = float(kept.mean()) if len(kept) else None
    return AtThreshold(threshold, coverage, precision, exact_interval(int(kept.sum()), len(kept)), len(kept))


def coverage_curve(
    confidence: FloatArray, right: NDArray[np.bool_], every: FloatArray | None = None
) -> tuple[AtThreshold, ...]:
    """Return coverage and precision at thresholds from 0 to 1 in steps of 0.01."""
    return tuple(
        at_threshold(float(threshold), confidence, right, every)
        for threshold in np.linspace(0, 1, CURVE_POINTS).round(2)
    )


def suggest_threshold(
    precision: float, confidence: FloatArray, right: NDArray[np.bool_], every: FloatArray | None = None
) -> AtThreshold | None:
    """Return the lowest threshold of 0, 0.01 ... 1 from which up the interval lies above ``precision``.

    A threshold picked because the precision looked high there looks better than it is. So the lower end of
    the interval has to reach the wanted precision, and at every higher threshold that is tried from 1
    downwards until the first that fails (fixed-sequence testing: Angelopoulos et al. 2021, "Learn then Test",
    arXiv 2110.01052, section 4.2): the claim then fails in at most 2.5 of 100 random samples, as the interval
    is exact (Wilson's misses at some precisions more often than it says). Thresholds at the top with fewer
    rows than could reach it are passed over; which those are does not depend on what is right. None where no
    threshold does.
    """
    found = None
    for threshold in np.linspace(1, 0, CURVE_POINTS).round(2):
        here = at_threshold(float(threshold), confidence, right, every)
        if exact_interval(here.rows, here.rows)[0] < precision:
            continue
        if here.interval[0] < precision:
            break
        found = here
    return found


def reliability(
    confidence: FloatArray, right: NDArray[np.bool_], bins: int = 10
) -> tuple[ReliabilityBin, ...]:
    """Return (almost) equally many rows a bin, from the least confident up."""
    order = np.argsort(confidence, kind="stable")
    found = []
    for rows in np.array_split(order, min(bins, len(order)) or 1):
        if len(rows):
            share = float(right[rows].mean())
            found.append(
                ReliabilityBin(
                    float(confidence[rows].mean()), share, wilson_interval(share, len(rows)), len(rows)
                )
            )
    return tuple(found)
