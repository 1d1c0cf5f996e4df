from __future__ import annotations

import numpy as np
import pytest

from sce_desktop.core.metrics import (
    accuracy_interval,
    calibration_error_by_width,
    expected_calibration_error,
    mean_interval,
    measure,
)


def test_measures_of_a_small_table() -> None:
    gold = np.asarray([0, 0, 1, 1])
    rows = np.asarray([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.3, 0.7, 0.0], [0.4, 0.6, 0.0]], dtype=np.float32)
    result = measure(gold, rows)
    assert (result.rows, result.accuracy) == (4, 0.75)
    assert result.accuracy_interval == accuracy_interval(3, 4)
    assert result.confusion.tolist() == [[1, 1, 0], [0, 2, 0], [0, 0, 0]]
    assert result.macro_f1 == pytest.approx((2 / 3 + 4 / 5) / 2)  # the unused third label does not count
    assert [label.rows for label in result.labels] == [2, 2, 0]
    assert result.labels[1].precision == pytest.approx(2 / 3)


def test_macro_f1_is_the_mean_over_labels_that_occur_or_are_predicted() -> None:
    gold = np.asarray([0, 0, 1, 1])
    predicted = np.asarray([0, 2, 1, 1])  # 2 is never right, 3 is neither there nor predicted
    result = measure(gold, np.eye(4, dtype=np.float32)[predicted])
    assert result.macro_f1 == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert [label.counted for label in result.labels] == [True, True, True, False]
    assert result.macro_f1 == pytest.approx(np.mean([label.f1 for label in result.labels if label.counted]))
    assert [(label.rows, label.predicted) for label in result.labels] == [(2, 1), (2, 2), (0, 1), (0, 0)]


def test_interval_is_wilsons() -> None:
    low, high = accuracy_interval(90, 100)
    z, p, n = 1.959964, 0.9, 100
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert (low, high) == pytest.approx((centre - half, centre + half), abs=1e-6)
    assert accuracy_interval(5, 5)[1] == pytest.approx(1.0)
    assert 0 <= accuracy_interval(0, 1)[0] < 1e-12


def test_mean_interval_is_the_same_every_time() -> None:
    values = [0.1, 0.4, 0.5, 0.8]
    low, high = mean_interval(values)  # type: ignore[misc]
    assert low < 0.45 < high
    assert mean_interval(values) == (low, high)
    assert mean_interval([0.3]) is None


def test_ece_of_a_constant_gap() -> None:
    right = np.tile([True, False], 150)
    assert expected_calibration_error(np.full(300, 0.8, dtype=np.float32), right) == pytest.approx(
        0.3, abs=1e-6
    )
    assert calibration_error_by_width(np.full(300, 0.8, dtype=np.float32), right) == pytest.approx(
        0.3, abs=1e-6
    )
    perfect = np.ones(300, dtype=np.float32)
    assert calibration_error_by_width(perfect, perfect.astype(bool)) == 0.0
    assert expected_calibration_error(perfect, perfect.astype(bool)) == 0.0


def test_ece_has_bins_of_equal_mass() -> None:
    # All confidences lie within one hundredth: bins of equal width would see a single one.
    confidence = np.linspace(0.5, 0.51, 150, dtype=np.float32)
    right = np.arange(150) >= 75
    assert expected_calibration_error(confidence, right) == pytest.approx(0.5 * 14 / 15, abs=0.01)


def test_ece_of_fewer_rows_than_bins() -> None:
    confidence = np.asarray([0.9, 0.6], dtype=np.float32)
    assert expected_calibration_error(confidence, np.asarray([True, False])) == pytest.approx(0.35)


def test_ece_by_width_is_over_fifteenths_and_the_adaptive_one_over_equally_many_rows() -> None:
    """Both bins of the first are far off in opposite ways; the second has a bin for each row of 15."""
    confidence = np.asarray([0.10, 0.12, 0.90, 0.92], dtype=np.float32)
    right = np.asarray([True, False, True, False])
    assert calibration_error_by_width(confidence, right) == pytest.approx(
        (2 * abs(0.5 - 0.11) + 2 * abs(0.5 - 0.91)) / 4, abs=1e-6
    )
    assert expected_calibration_error(confidence, right) == pytest.approx(
        (0.9 + 0.12 + 0.1 + 0.92) / 4, abs=1e-6
    )
