"""How good predictions are, with intervals. Label indices throughout; fractions from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.estimates import CONFIDENCE_LEVEL, wilson_interval
from sce_desktop.core.scoring import top

# scipy and scikit-learn take a second to import: they come with the first call.

ECE_BINS = 15


@dataclass(frozen=True, slots=True)
class LabelMeasures:
    """How one label fares; ``rows`` is how often it is the gold label, ``predicted`` how often the answer.

    Where nothing can be said, a figure is 0: precision without an answer, recall without a row.
    """

    rows: int
    predicted: int
    precision: float
    recall: float
    f1: float

    @property
    def counted(self) -> bool:
        """Whether macro-F1 is a mean over this label too: it occurs, or was answered (then F1 is 0)."""
        return self.rows > 0 or self.predicted > 0


@dataclass(frozen=True, slots=True)
class Measures:
    """How one model fares on rows with gold labels."""

    rows: int
    accuracy: float
    accuracy_interval: tuple[float, float]
    macro_f1: float
    ece: float
    confusion: NDArray[np.int64]  # (K, K): gold by row, predicted by column
    labels: tuple[LabelMeasures, ...]


def measure(gold: IdArray, probabilities: FloatArray) -> Measures:
    """Compare ``probabilities`` (n, K) with the ``gold`` label indices (n,); n is at least 1."""
    from sklearn.metrics import confusion_matrix, f1_score, precision_recall_fscore_support

    predicted, confidence, _ = top(probabilities)
    right = predicted == gold
    every = np.arange(probabilities.shape[1])
    confusion = confusion_matrix(gold, predicted, labels=every)
    precision, recall, f1, support = precision_recall_fscore_support(
        gold, predicted, labels=every, zero_division=0.0
    )
    return Measures(
        rows=len(gold),
        accuracy=float(right.mean()),
        accuracy_interval=accuracy_interval(int(right.sum()), len(gold)),
        # scikit-learn's convention, which analysts compare with: the mean over the labels that occur or were
        # predicted. A label that is only predicted has F1 0; one that is neither would pull the mean to 0.
        macro_f1=float(f1_score(gold, predicted, average="macro", zero_division=0.0)),
        ece=expected_calibration_error(confidence, right),
        confusion=confusion,
        labels=tuple(
            LabelMeasures(int(n), int(answered), float(p), float(r), float(f))
            for n, answered, p, r, f in zip(
                support, confusion.sum(axis=0), precision, recall, f1, strict=True
            )
        ),
    )


def accuracy_interval(right: int, rows: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of ``right`` out of ``rows`` (at least 1)."""
    return wilson_interval(right / rows, rows)


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95% bootstrap interval (percentile, 10,000 draws, seed 0) of the mean of ``values``.

    With one value per data set this is the interval over sets. None for fewer than two values.
    """
    from scipy.stats import bootstrap

    if len(values) < 2:
        return None
    interval = bootstrap(
        (np.asarray(values, dtype=np.float64),),
        np.mean,
        n_resamples=10_000,
        confidence_level=CONFIDENCE_LEVEL,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def expected_calibration_error(confidence: FloatArray, right: NDArray[np.bool_]) -> float:
    """Return the adaptive calibration error: over 15 bins of (almost) equally many rows.

    It is the mean gap of confidence and accuracy, weighted by rows. Nguyen and O'Connor 2015, arXiv
    1508.05154, and Nixon et al. 2019, arXiv 1904.01685; for bins of equal width see
    `calibration_error_by_width`.
    """
    order = np.argsort(confidence, kind="stable")
    return _mean_gap(np.array_split(order, min(ECE_BINS, len(order))), confidence, right)


def calibration_error_by_width(confidence: FloatArray, right: NDArray[np.bool_]) -> float:
    """Return the same over 15 bins of equal width from 0 to 1, empty ones aside (Guo et al. 2017)."""
    bins = np.minimum((confidence * ECE_BINS).astype(np.int64), ECE_BINS - 1)
    return _mean_gap([np.flatnonzero(bins == place) for place in np.unique(bins)], confidence, right)


def _mean_gap(bins: Sequence[IdArray], confidence: FloatArray, right: NDArray[np.bool_]) -> float:
    gaps = [len(rows) * abs(float(right[rows].mean()) - float(confidence[rows].mean())) for rows in bins]
    return sum(gaps) / len(confidence)
