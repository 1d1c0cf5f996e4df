from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from sce_desktop.core.estimates import exact_interval, wilson_interval
from sce_desktop.core.thresholds import at_threshold, coverage_curve, reliability, suggest_threshold

CONFIDENCE = np.asarray([0.2, 0.4, 0.6, 0.8], dtype=np.float32)
RIGHT = np.asarray([False, True, False, True])


def test_by_hand() -> None:
    found = at_threshold(0.5, CONFIDENCE, RIGHT)
    assert (found.coverage, found.precision, found.rows) == (0.5, 0.5, 2)
    assert found.interval == exact_interval(1, 2)
    wide = at_threshold(0.5, CONFIDENCE, RIGHT, np.asarray([0.1, 0.2, 0.3, 0.9], dtype=np.float32))
    assert (wide.coverage, wide.precision) == (0.25, 0.5)
    nobody = at_threshold(0.9, CONFIDENCE, RIGHT)
    assert (nobody.coverage, nobody.precision, nobody.interval) == (0.0, None, (0.0, 1.0))


def test_the_curve_goes_from_everything_to_nothing() -> None:
    curve = coverage_curve(CONFIDENCE, RIGHT)
    assert [point.threshold for point in curve[:3]] == [0.0, 0.01, 0.02]
    assert (curve[0].coverage, curve[-1].coverage) == (1.0, 0.0)
    coverages = [point.coverage for point in curve]
    assert coverages == sorted(coverages, reverse=True)


def test_a_suggestion_has_the_interval_on_its_side() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.random(2000).astype(np.float32)
    right = rng.random(2000) < confidence
    found = suggest_threshold(0.85, confidence, right)
    assert found is not None
    assert found.interval[0] >= 0.85
    assert 0.65 < found.threshold < 0.85  # from t up, (1 + t) / 2 are right
    assert suggest_threshold(0.999, confidence, right) is None
    assert suggest_threshold(0.5, confidence[:3], right[:3]) is None


def test_the_promised_precision_is_kept() -> None:
    """2.5 of 100 may fail; 400 draws have a standard error of 0.8."""
    rng = np.random.default_rng(1)
    failed = 0
    for _ in range(400):
        confidence = rng.random(150).astype(np.float32)
        found = suggest_threshold(0.8, confidence, rng.random(150) < confidence)
        failed += found is not None and (1 + found.threshold) / 2 < 0.8
    assert failed / 400 < 0.05


@pytest.mark.parametrize("n", [20, 50, 100, 163, 300])
@pytest.mark.parametrize("precision", [0.5, 0.6, 0.75, 0.8, 0.9, 0.95, 0.98])
def test_the_promise_fails_in_at_most_2_5_of_100_whatever_the_precision(n: int, precision: float) -> None:
    """Every outcome is counted, where the precision is just not reached and one threshold is tried."""
    confidence = np.ones(n, np.float32)
    claimed = [
        right
        for right in range(n + 1)
        if suggest_threshold(precision, confidence, np.arange(n) < right) is not None
    ]
    assert binom.pmf(claimed, n, precision - 1e-9).sum() <= 0.025


def test_wilson_promised_too_much() -> None:
    """Why the interval is the exact one."""
    claimed = [right for right in range(51) if wilson_interval(right / 50, 50)[0] >= 0.5]
    assert binom.pmf(claimed, 50, 0.5).sum() > 0.029


def test_reliability_bins() -> None:
    bins = reliability(CONFIDENCE, RIGHT, 2)
    assert [(b.rows, b.right) for b in bins] == [(2, 0.5), (2, 0.5)]
    assert [b.confidence for b in bins] == pytest.approx([0.3, 0.7])
    assert len(reliability(CONFIDENCE, RIGHT, 10)) == 4
    assert reliability(CONFIDENCE[:0], RIGHT[:0]) == ()
