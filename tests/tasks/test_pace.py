from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest

from sce_desktop.core.errors import Cancelled
from sce_desktop.tasks.scoring import pace
from sce_desktop.tasks.scoring.pace import IN_BACKGROUND, ON_BATTERY, Pace, PacedProgress, paced
from tests.tasks.fakes import RecordingProgress, StoppingProgress


class Clock:
    """A clock that moves when somebody works or sleeps."""

    def __init__(self) -> None:
        self.now = self.slept = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


def worked(progress: PacedProgress, clock: Clock, seconds: float, *, batch: float = 0.5) -> None:
    for _ in range(round(seconds / batch)):
        clock.now += batch
        progress.check()


def test_it_works_a_quarter_of_the_time_while_it_is_to_be_slow() -> None:
    clock, speed = Clock(), Pace(ON_BATTERY)
    progress = PacedProgress(RecordingProgress(), speed, clock=clock, sleep=clock.sleep)
    worked(progress, clock, 60)
    assert clock.slept == 0  # a label edit waits for nobody
    worked(progress, clock, 60)
    assert clock.slept == pytest.approx(180, rel=0.05)
    speed.slow = pace.FULL
    before = clock.slept
    worked(progress, clock, 60)
    assert clock.slept == before


def test_a_long_batch_is_not_followed_by_a_longer_sleep_than_anybody_waits_for() -> None:
    clock = Clock()
    progress = PacedProgress(RecordingProgress(), Pace(ON_BATTERY), clock=clock, sleep=clock.sleep)
    worked(progress, clock, 100, batch=100)
    assert clock.slept == pytest.approx(pace.MOST_REST_S, abs=0.1)


def test_it_stops_in_the_midst_of_a_rest() -> None:
    clock = Clock()
    progress = PacedProgress(StoppingProgress(after=10), Pace(ON_BATTERY), clock=clock, sleep=clock.sleep)
    clock.now = 100.0
    with pytest.raises(Cancelled):
        progress.check()
    assert clock.slept < 1


def test_why_it_is_slow_is_part_of_the_stage() -> None:
    clock, speed, seen = Clock(), Pace(IN_BACKGROUND), RecordingProgress()
    progress = PacedProgress(seen, speed, clock=clock, sleep=clock.sleep)
    progress.report(1, 9, stage="scoring with SCE")
    clock.now = 100.0
    progress.report(2, 9, stage="scoring with SCE")
    speed.slow = pace.FULL
    progress.report(3, 9, stage="scoring with SCE")
    assert [stage for _, _, stage in seen.reports] == [
        "scoring with SCE",
        "scoring with SCE (slower while you use other programs)",
        "scoring with SCE",
    ]


def test_a_function_runs_with_it() -> None:
    def work(one: int, *, two: int, progress: PacedProgress) -> int:
        progress.warn("odd")
        return one + two

    seen = RecordingProgress()
    assert paced(Pace(), work, 1, two=2, progress=seen) == 3
    assert seen.warnings == ["odd"]


@pytest.mark.parametrize(
    ("battery", "expected"),
    [
        (SimpleNamespace(power_plugged=True), False),
        (SimpleNamespace(power_plugged=False), True),
        (SimpleNamespace(power_plugged=None), None),
        (None, None),
    ],
)
def test_where_the_power_comes_from(
    monkeypatch: pytest.MonkeyPatch, battery: object, expected: bool | None
) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    assert pace.on_battery() is expected


def test_a_system_that_does_not_say_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(psutil, "sensors_battery", raising=False)
    assert pace.on_battery() is None
