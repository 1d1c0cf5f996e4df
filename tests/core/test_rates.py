from __future__ import annotations

import pytest

from sce_desktop.core.rates import RateWindow


def fed(*points: tuple[float, int]) -> RateWindow:
    window = RateWindow()
    for at, done in points:
        window.add(at, done)
    return window


def test_nothing_is_known_before_two_reports() -> None:
    assert fed().rate is None
    assert fed((3.0, 5)).rate is None
    assert fed((3.0, 5), (4.0, 5)).rate is None
    assert fed((3.0, 5), (3.0, 9)).rate is None


def test_it_is_that_of_the_last_minute() -> None:
    """Rows whose vectors are cached come first, then those that are read."""
    fast = [(float(second), 10_000 * second) for second in range(101)]
    slow = [(100.0 + second, 1_000_000 + 50 * second) for second in range(1, 200)]
    assert fed(*fast).rate == pytest.approx(10_000)
    assert fed(*fast, *slow[:30]).rate == pytest.approx((31 * 10_000 + 29 * 50) / 60, rel=0.1)
    assert fed(*fast, *slow).rate == pytest.approx(50)


def test_many_reports_are_few_points() -> None:
    window = fed(*((number / 100, number) for number in range(20_000)))
    assert window.rate == pytest.approx(100)
    assert len(window._points) < 130


def test_a_computer_that_slept_is_no_slow_one() -> None:
    window = fed(*((float(second), 100 * second) for second in range(30)))
    window.add(30 + 8 * 3600.0, 3_000)
    assert window.rate is None
    window.add(31 + 8 * 3600.0, 3_100)
    assert window.rate == pytest.approx(100)


def test_slow_work_has_a_rate_too() -> None:
    """An LLM that takes half a minute a batch."""
    window = fed(*((30.0 * number, 4 * number) for number in range(10)))
    assert window.rate == pytest.approx(4 / 30)


def test_less_than_before_is_something_else() -> None:
    assert fed((0.0, 500), (1.0, 1_000), (2.0, 10), (3.0, 30)).rate == pytest.approx(20)
