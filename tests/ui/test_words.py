"""Figures, times and progress in words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.jobs import Job, WorkerQueue
from sce_desktop.controllers.words import progress_text, step_text
from sce_desktop.core.text import duration, exact_share_text, interval_text, share_text


@pytest.fixture
def job(qtbot: QtBot) -> Iterator[Job]:
    worker = WorkerQueue("words")
    yield worker.submit(lambda *, progress: None, title="Scoring")
    assert worker.close(10)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "0 s"), (89, "89 s"), (100, "2 min"), (3600, "60 min"), (8000, "2 h 13 min")]
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("scoring with SCE", "Scoring with SCE"),
        ("starting torch", "Scoring: starting torch"),
        ("", "Scoring"),
    ],
)
def test_what_runs_is_said_once(job: Job, stage: str, words: str) -> None:
    job.stage = stage
    assert progress_text(job).split(" · ")[0] == words


@pytest.mark.parametrize(
    ("total", "done", "words"),
    [
        (2, (0, 1), "Scoring: loading models · 50% · 10 s left"),
        (2, (0, 2), "Scoring: loading models · 100%"),
        (400, (0, 300), "Scoring: loading models · 75% · 30/s · 3 s left"),
        (400, (0, 400), "Scoring: loading models · 100% · 40/s"),
    ],
)
def test_a_rate_is_of_many_and_no_time_is_left_where_a_stage_is_done(
    job: Job, total: int, done: tuple[int, int], words: str
) -> None:
    for at, count in zip((100.0, 110.0), done, strict=True):
        job._receive("progressed", (count, total, "loading models", at))
    assert progress_text(job) == words


@pytest.mark.parametrize(
    ("done", "total", "stage", "words"),
    [
        (0, None, "", "Scoring…"),
        (3, None, "comparing texts", "Comparing texts…"),
        (120, 300, "comparing LLMs", "Comparing LLMs… 40%"),
        (301, 300, "comparing texts", "Comparing texts… 100%"),
    ],
)
def test_a_step_is_said_in_few_words(job: Job, done: int, total: int | None, stage: str, words: str) -> None:
    job.done, job.total, job.stage = done, total, stage
    assert step_text(job) == words


def test_shares_have_no_space_and_one_sign_for_both_ends() -> None:
    shares = (0, 0.004, 0.005, 0.526, 1)
    assert [share_text(share) for share in shares] == ["0%", "< 1%", "< 1%", "53%", "100%"]
    assert exact_share_text(0.8125) == "81.2%"
    assert interval_text((0.4634, 0.6617)) == "46.3 to 66.2%"
