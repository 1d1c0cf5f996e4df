"""WorkerQueues: delivery in the GUI thread, cancel at any moment, detach, failure, shutdown."""

from __future__ import annotations

import random
import threading
import time
import weakref
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import worker_thread
from sce_desktop.controllers.crashes import Crash
from sce_desktop.controllers.jobs import Job, JobState, WorkerQueue, drop
from sce_desktop.controllers.worker_thread import UPDATES_PER_SECOND
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress


@pytest.fixture
def worker(qapp) -> Iterator[WorkerQueue]:
    worker = WorkerQueue("model")
    yield worker
    assert worker.close(timeout=10)


def work(seconds: float, *, progress: Progress, batch: float = 0.002) -> int:
    """Count batches until the time is over, as every task does."""
    end = time.monotonic() + seconds
    done = 0
    while time.monotonic() < end:
        progress.check()
        time.sleep(batch)
        done += 1
        progress.report(done, None, stage="Counting")
    return done


def double(number: int, *, progress: Progress, plus: int = 0) -> int:
    return 2 * number + plus


def record(job: Job) -> list[str]:
    """Write down every signal of the job in the order of arrival."""
    seen: list[str] = []
    for name in ("started", "progressed", "warned", "finished", "failed", "cancelled", "ended"):
        getattr(job, name).connect(lambda *_, name=name: seen.append(name))
    return seen


def test_result_arrives_in_the_gui_thread(qtbot: QtBot, worker: WorkerQueue) -> None:
    threads: list[int] = []
    job = worker.submit(lambda *, progress: threading.get_ident(), title="Where")
    job.finished.connect(lambda _: threads.append(threading.get_ident()))
    seen = record(job)
    assert job.state is JobState.WAITING
    with qtbot.waitSignal(job.finished) as finished:
        pass
    assert threads == [threading.get_ident()]
    assert finished.args[0] != threading.get_ident()
    qtbot.waitUntil(lambda: "ended" in seen)
    assert seen == ["started", "finished", "ended"]
    assert job.state is JobState.FINISHED
    assert not worker.busy


def test_arguments_reach_the_function(qtbot: QtBot, worker: WorkerQueue) -> None:
    job = worker.submit(double, 20, plus=2, title="Double")
    with qtbot.waitSignal(job.finished) as finished:
        pass
    assert finished.args == [42]


def test_thousand_quick_jobs_keep_their_order(qtbot: QtBot, worker: WorkerQueue) -> None:
    results: list[int] = []
    for number in range(1000):
        worker.submit(double, number, title="Quick").finished.connect(results.append)
    qtbot.waitUntil(lambda: not worker.busy)
    assert results == [2 * number for number in range(1000)]


def test_that_something_else_begins_is_reported_at_once(qtbot: QtBot, worker: WorkerQueue) -> None:
    """The rows on the screen are shown when the next stage begins, not when it has gone on for a while."""
    told, go_on = threading.Event(), threading.Event()

    def task(*, progress: Progress) -> None:
        progress.report(0, 9, stage="First")
        progress.report(3, 9, stage="First")
        progress.report(3, 9, stage="Second")
        told.set()
        go_on.wait(10)

    updates: list[tuple[object, ...]] = []
    job = worker.submit(task, title="Stages")
    job.progressed.connect(lambda *update: updates.append(update))
    qtbot.waitUntil(told.is_set)
    qtbot.waitUntil(lambda: (3, 9, "Second") in updates)
    assert job.active
    go_on.set()
    qtbot.waitUntil(lambda: not job.active)


def test_progress_is_throttled_and_the_last_report_arrives(qtbot: QtBot, worker: WorkerQueue) -> None:
    def task(*, progress: Progress) -> None:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            progress.report(1, 7)
        progress.report(7, 7, stage="Last")

    updates: list[tuple[object, ...]] = []
    job = worker.submit(task, title="Flood")
    job.progressed.connect(lambda *update: updates.append(update))
    with qtbot.waitSignal(job.finished):
        pass
    assert updates[0] == (1, 7, "")
    assert updates[-1] == (7, 7, "Last")
    assert len(updates) <= 0.5 * UPDATES_PER_SECOND + 3


def test_counts_above_32_bits_arrive_whole(qtbot: QtBot, worker: WorkerQueue) -> None:
    job = worker.submit(lambda *, progress: progress.report(5_000_000_000, 9_000_000_000), title="Bytes")
    with qtbot.waitSignal(job.progressed) as progressed:
        pass
    assert progressed.args == [5_000_000_000, 9_000_000_000, ""]


def test_rate_is_that_of_the_stage(qtbot: QtBot, worker: WorkerQueue) -> None:
    def task(*, progress: Progress) -> None:
        progress.report(0, 100, stage="Slow")
        time.sleep(0.3)
        progress.report(1, 100, stage="Slow")
        time.sleep(0.1)
        progress.report(0, 1000, stage="Fast")
        time.sleep(0.2)
        progress.report(500, 1000, stage="Fast")

    job = worker.submit(task, title="Stages")
    with qtbot.waitSignal(job.finished):
        pass
    assert job.rate is not None
    assert 500 < job.rate < 3000
    assert job.seconds_left is not None
    assert 0.1 < job.seconds_left < 1


def test_warnings_are_reported_once(qtbot: QtBot, worker: WorkerQueue) -> None:
    def task(*, progress: Progress) -> None:
        for _ in range(3):
            progress.warn("Two columns bear this name; the first is taken.")

    job = worker.submit(task, title="Warn")
    with qtbot.waitSignal(job.finished):
        pass
    assert job.warnings == ["Two columns bear this name; the first is taken."]


def test_user_error_fails_the_job_and_is_no_crash(qtbot: QtBot, worker: WorkerQueue) -> None:
    def task(*, progress: Progress) -> None:
        raise UserError("The disk is full; free some space and export again.")

    crashes: list[Crash] = []
    worker.crashed.connect(crashes.append)
    job = worker.submit(task, title="Export")
    with qtbot.waitSignal(job.failed) as failed:
        pass
    assert isinstance(failed.args[0], UserError)
    assert str(job.error) == "The disk is full; free some space and export again."
    assert failed.args[0].__traceback__ is None
    assert not crashes


def test_bug_fails_the_job_with_its_traceback_and_the_worker_lives(qtbot: QtBot, worker: WorkerQueue) -> None:
    def task(*, progress: Progress) -> None:
        raise ZeroDivisionError("a text of the user".upper())

    crashes: list[Crash] = []
    worker.crashed.connect(crashes.append)
    job = worker.submit(task, title="Bug")
    with qtbot.waitSignal(job.failed) as failed:
        pass
    assert failed.args[0] == crashes[0]
    assert "ZeroDivisionError" in crashes[0].trace
    assert "A TEXT" not in crashes[0].trace
    assert "ZeroDivisionError" in str(crashes[0])
    after = worker.submit(double, 1, title="After")
    with qtbot.waitSignal(after.finished):
        pass


@pytest.mark.parametrize("seed", range(10))
def test_cancel_at_a_random_moment(qtbot: QtBot, worker: WorkerQueue, seed: int) -> None:
    job = worker.submit(work, 20, title="Long")
    qtbot.wait(random.Random(seed).randrange(250))
    asked = time.monotonic()
    with qtbot.waitSignal(job.ended, timeout=2000):
        job.cancel()
        assert job.state is JobState.CANCELLING
    assert time.monotonic() - asked < 2
    assert job.state is JobState.CANCELLED
    assert not worker.busy


def test_waiting_job_is_cancelled_at_once_and_never_runs(qtbot: QtBot, worker: WorkerQueue) -> None:
    ran: list[int] = []
    gate = threading.Event()
    first = worker.submit(lambda *, progress: gate.wait(10), title="Blocks")
    second = worker.submit(lambda *, progress: ran.append(1), title="Waits")
    with qtbot.waitSignal(second.cancelled, timeout=1000):
        second.cancel()
    assert first.active
    gate.set()
    qtbot.waitUntil(lambda: not worker.busy)
    assert ran == []


def test_cancel_after_the_end_changes_nothing(qtbot: QtBot, worker: WorkerQueue) -> None:
    job = worker.submit(double, 1, title="Done")
    with qtbot.waitSignal(job.ended):
        pass
    job.cancel()
    assert job.state is JobState.FINISHED


def test_detached_job_is_silent_but_its_state_stays_true(qtbot: QtBot, worker: WorkerQueue) -> None:
    job = worker.submit(work, 0.3, title="Detached")
    seen = record(job)
    qtbot.waitUntil(lambda: job.state is JobState.RUNNING)
    before = list(seen)
    job.detach()
    qtbot.waitUntil(lambda: not worker.busy)
    assert seen == before
    assert job.state is JobState.FINISHED


def test_a_dropped_job_stops_and_is_silent(qtbot: QtBot, worker: WorkerQueue) -> None:
    job = worker.submit(work, 30, title="Dropped")
    seen = record(job)
    qtbot.waitUntil(lambda: job.state is JobState.RUNNING)
    before = list(seen)
    drop(job, None)
    qtbot.waitUntil(lambda: not worker.busy)
    assert seen == before
    assert job.state is JobState.CANCELLED


def test_result_already_on_its_way_is_dropped_by_detach(qtbot: QtBot, worker: WorkerQueue) -> None:
    returned = threading.Event()

    def task(*, progress: Progress) -> str:
        returned.set()
        return "stale"

    job = worker.submit(task, title="Stale")
    seen = record(job)
    returned.wait(5)
    time.sleep(0.05)  # the result is now posted; the GUI thread has not looked at it yet
    job.detach()
    qtbot.waitUntil(lambda: not worker.busy)
    assert seen == []


def test_detach_inside_a_slot_stops_what_follows(qtbot: QtBot, worker: WorkerQueue) -> None:
    job = worker.submit(double, 1, title="Inside")
    seen = record(job)
    job.finished.connect(lambda _: job.detach())
    qtbot.waitUntil(lambda: not worker.busy)
    assert seen == ["started", "finished"]


def test_first_overtakes_what_waits(qtbot: QtBot, worker: WorkerQueue) -> None:
    order: list[str] = []
    gate = threading.Event()
    worker.submit(lambda *, progress: gate.wait(10), title="Blocks")
    worker.submit(lambda *, progress: order.append("usual"), title="Usual")
    worker.submit(lambda *, progress: order.append("first"), title="First", first=True)
    gate.set()
    qtbot.waitUntil(lambda: not worker.busy)
    assert order == ["first", "usual"]


def test_quiet_work_is_kept_back_until_the_release(qtbot: QtBot, worker: WorkerQueue) -> None:
    worker.hold()
    order: list[int] = []
    for number, options in enumerate(({"quiet": True}, {"quiet": True, "first": True}, {})):
        job = worker.submit(double, number, title="Double", **options)
        job.finished.connect(order.append)
    dropped = worker.submit(double, 9, title="Double", quiet=True)
    qtbot.waitUntil(lambda: len(order) == 2)
    with qtbot.waitSignal(dropped.cancelled):
        dropped.cancel()
    assert sorted(order) == [2, 4]
    assert worker.busy
    worker.release()
    worker.release()
    qtbot.waitUntil(lambda: not worker.busy)
    assert order[2:] == [0]


def test_what_is_kept_back_does_not_keep_a_worker_from_closing(qtbot: QtBot) -> None:
    worker = WorkerQueue("model")
    worker.hold()
    worker.submit(double, 1, title="Double", quiet=True)
    assert worker.close(timeout=10)


def test_two_workers_run_side_by_side(qtbot: QtBot, worker: WorkerQueue) -> None:
    other = WorkerQueue("io")
    gate = threading.Event()
    worker.submit(lambda *, progress: gate.wait(10), title="Model")
    job = other.submit(double, 1, title="File")
    with qtbot.waitSignal(job.finished):
        pass
    assert worker.busy
    gate.set()
    assert other.close(timeout=10)


def test_close_during_a_job_joins_and_silences_it(qtbot: QtBot) -> None:
    worker = WorkerQueue("io")
    job = worker.submit(work, 20, title="Long")
    waiting = [worker.submit(work, 20, title="Waits") for _ in range(3)]
    seen = record(job)
    qtbot.waitUntil(lambda: job.state is JobState.RUNNING)
    before = len(seen)
    assert worker.close(timeout=5)
    qtbot.wait(50)
    assert len(seen) == before
    assert all(other.state is JobState.CANCELLED for other in waiting)
    with pytest.raises(RuntimeError, match="closed"):
        worker.submit(double, 1, title="Late")


def test_close_tells_when_a_job_does_not_listen(qtbot: QtBot) -> None:
    worker = WorkerQueue("io")
    gate = threading.Event()
    worker.submit(lambda *, progress: gate.wait(20), title="Deaf")
    qtbot.wait(50)
    assert not worker.close(timeout=0.1)
    gate.set()
    assert worker.close(timeout=5)


def test_submit_from_another_thread_is_refused(worker: WorkerQueue) -> None:
    errors: list[BaseException] = []

    def misuse() -> None:
        try:
            worker.submit(double, 1, title="Wrong")
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=misuse)
    thread.start()
    thread.join()
    assert "GUI thread" in str(errors[0])


def test_worker_tells_of_every_change(qtbot: QtBot, worker: WorkerQueue) -> None:
    states: list[JobState] = []
    worker.jobChanged.connect(lambda job: states.append(job.state))
    with qtbot.waitSignals([worker.jobSubmitted, worker.idle]):
        worker.submit(double, 1, title="Watched").detach()
    assert states == [JobState.RUNNING, JobState.FINISHED]


def test_the_last_report_is_shown_while_the_thread_is_in_a_long_batch(
    qtbot: QtBot, worker: WorkerQueue
) -> None:
    """Held back as it came too soon after the one before, it must not wait for the next one."""
    go_on = threading.Event()

    def work(*, progress: Progress) -> None:
        for done in (1, 2, 3):
            progress.report(done, 4, stage="batches")
        go_on.wait()
        progress.report(4, 4, stage="batches")

    told: list[int] = []
    job = worker.submit(work, title="Work")
    job.progressed.connect(lambda done, _total, _stage: told.append(done))
    try:
        qtbot.waitUntil(lambda: job.done == 3)
    finally:
        go_on.set()
    with qtbot.waitSignal(job.ended):
        pass
    assert told == sorted(told)
    assert job.done == 4


@pytest.mark.parametrize(("least", "times"), [(0.0, 1), (60.0, 0)])
def test_memory_goes_back_after_work_that_took_long(
    qtbot: QtBot, worker: WorkerQueue, monkeypatch: pytest.MonkeyPatch, least: float, times: int
) -> None:
    given_back = threading.Event()
    calls: list[None] = []

    def give_back() -> None:
        calls.append(None)
        given_back.set()

    monkeypatch.setattr(worker_thread, "LARGE_S", least)
    monkeypatch.setattr(worker_thread, "give_back", give_back)
    with qtbot.waitSignal(worker.submit(double, 3, title="Double").finished):
        pass
    if times:
        assert given_back.wait(10)
    monkeypatch.setattr(worker_thread, "LARGE_S", 60.0)
    with qtbot.waitSignal(worker.submit(double, 3, title="Double").finished):
        pass  # whatever came after the first is over by now
    assert len(calls) == times


def test_who_waits_goes_before_memory_is_given_back(
    qtbot: QtBot, worker: WorkerQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    given_back, go_on = threading.Event(), threading.Event()

    def give_back() -> None:
        happened.append("given back")
        given_back.set()

    def large(*, progress: Progress) -> None:
        go_on.wait(10)
        monkeypatch.setattr(worker_thread, "LARGE_S", 0.0)
        happened.append("large")

    def small(*, progress: Progress) -> None:
        happened.append("small")

    monkeypatch.setattr(worker_thread, "LARGE_S", 60.0)
    monkeypatch.setattr(worker_thread, "give_back", give_back)
    worker.submit(large, title="Large")
    last = worker.submit(small, title="Small")
    with qtbot.waitSignal(last.finished):
        go_on.set()
    assert given_back.wait(10)
    assert happened == ["large", "small", "given back"]


class Rows:
    """What a job is given, that takes much memory."""


def look_at(*_rows: Rows, progress: Progress, among: Rows, end: str) -> None:
    while end == "cancelled":
        progress.check()
        threading.Event().wait(0.005)
    if end == "failed":
        raise UserError("no")


@pytest.mark.parametrize("end", ["finished", "failed", "cancelled"])
def test_a_job_that_has_ended_holds_nothing_that_it_was_given(
    qtbot: QtBot, worker: WorkerQueue, end: str
) -> None:
    """It stays in the list of jobs: four orders of ten million rows held 160 MB there."""
    given = [Rows(), Rows()]
    known = [weakref.ref(one) for one in given]
    job = worker.submit(look_at, given[0], title="Look", among=given[1], end=end)
    given.clear()
    if end == "cancelled":
        job.cancel()
    with qtbot.waitSignal(job.ended):
        pass
    qtbot.waitUntil(lambda: [one() for one in known] == [None, None])
    assert job.state is JobState(end)
