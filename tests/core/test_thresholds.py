from __future__ import annotations

import numpy as np
import pytest

from sce_desktop.core.estimates import wilson_interval
from sce_desktop.core.thresholds import at_threshold, coverage_curve, reliability, suggest_threshold

CONFIDENCE = np.asarray([0.2, 0.4, 0.6, 0.8], dtype=np.float32)
RIGHT = np.asarray([False, True, False, True])


def test_by_hand() -> None:
    found = at_threshold(0.5, CONFIDENCE, RIGHT)
    assert (found.coverage, found.precision, found.rows) == (0.5, 0.5, 2)
    assert found.interval == wilson_interval(0.5, 2)
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


def test_reliability_bins() -> None:
    bins = reliability(CONFIDENCE, RIGHT, 2)
    assert [(b.rows, b.right) for b in bins] == [(2, 0.5), (2, 0.5)]
    assert [b.confidence for b in bins] == pytest.approx([0.3, 0.7])
    assert len(reliability(CONFIDENCE, RIGHT, 10)) == 4
    assert reliability(CONFIDENCE[:0], RIGHT[:0]) == ()
