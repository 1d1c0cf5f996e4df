"""Speed and time left from the moments of labelling."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import date

import numpy as np
import pytest

from sce_desktop.core.sessions import PAUSE_SECONDS, SessionFigures, moment, session_figures, start_of_day


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_long_pause_ends_a_session_and_is_no_part_of_the_speed() -> None:
    first = 1000 + 10.0 * np.arange(11)
    second = first[-1] + 3600 + 20.0 * np.arange(4)
    found = session_figures(np.concatenate([second, first]), now=second[-1] + 1, day_start=0)
    assert (found.today, found.session) == (15, 4)
    assert found.median_seconds == 10
    assert found.seconds_a_row == pytest.approx((10 * 10 + 3 * 20) / 13)
    assert found.rows_an_hour == pytest.approx(3600 * 13 / 160)
    assert found.seconds_today == pytest.approx(160)
    assert found.seconds_left(26) == pytest.approx(320)


def test_a_session_is_over_when_nothing_was_labelled_for_long() -> None:
    moments = 10.0 * np.arange(6)
    assert session_figures(moments, now=50 + PAUSE_SECONDS, day_start=0).session == 6
    assert session_figures(moments, now=51 + PAUSE_SECONDS, day_start=0).session == 0


def test_somebody_at_the_door_hardly_changes_the_speed() -> None:
    gaps = np.array([10.0] * 20 + [290.0])
    found = session_figures(np.concatenate([[0], np.cumsum(gaps)]), now=1000, day_start=0)
    assert found.seconds_a_row == pytest.approx((20 * 10 + 50) / 21)
    assert found.seconds_a_row < gaps.mean()


def test_slow_rows_count_where_a_median_alone_would_be_too_hopeful() -> None:
    gaps = np.array([10.0, 10.0, 10.0, 30.0, 40.0, 10.0, 30.0])
    found = session_figures(np.concatenate([[0], np.cumsum(gaps)]), now=200, day_start=0)
    assert found.median_seconds == 10
    assert found.seconds_a_row == pytest.approx(gaps.mean())


def test_few_rows_say_nothing_about_a_speed() -> None:
    found = session_figures(10.0 * np.arange(5), now=50, day_start=0)
    assert (found.today, found.rows_an_hour, found.seconds_left(3)) == (5, None, None)
    assert session_figures(np.empty(0), now=50, day_start=0) == SessionFigures()


def test_rows_labelled_in_one_moment_are_one_step() -> None:
    moments = np.repeat(10.0 * np.arange(8), 2)
    found = session_figures(moments, now=80, day_start=0)
    assert (found.today, found.median_seconds) == (16, 10)


def test_skipped_rows_take_time_and_are_not_labelled() -> None:
    moments = 10.0 * np.arange(8)
    labelled = np.arange(8) % 2 == 0
    found = session_figures(moments, now=80, day_start=0, labelled=labelled)
    assert (found.today, found.session, found.median_seconds) == (4, 4, 10)


def test_a_clock_that_was_put_back_breaks_nothing() -> None:
    moments = 10.0 * np.arange(20)
    assert session_figures(moments, now=95, day_start=0).today == 10


def test_today_is_the_day_where_the_user_is(zone: None) -> None:
    begin = start_of_day(date(2026, 7, 2))
    assert begin == moment("2026-07-01T22:00:00.000+00:00")  # UTC+2
    moments = np.array([moment("2026-07-01T21:59:59.999+00:00"), moment("2026-07-01T22:00:00.000+00:00")])
    assert session_figures(moments, now=begin + 60, day_start=begin).today == 1


def test_a_day_on_which_the_clock_changes_begins_at_midnight(zone: None) -> None:
    assert start_of_day(date(2026, 3, 30)) - start_of_day(date(2026, 3, 29)) == 23 * 3600
    assert start_of_day(date(2026, 10, 26)) - start_of_day(date(2026, 10, 25)) == 25 * 3600


def test_a_moment_without_an_offset_is_utc(zone: None) -> None:
    assert (
        moment("2026-07-01T22:00:00")
        == moment("2026-07-01T22:00:00+00:00")
        == moment("2026-07-02T00:00:00+02:00")
    )
    with pytest.raises(ValueError, match="yesterday"):
        moment("yesterday")
    assert os.environ["TZ"] == "Europe/Berlin"
