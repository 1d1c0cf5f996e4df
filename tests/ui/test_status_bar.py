"""The status bar and the jobs panel: what runs, how it ended, and the log."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.jobs import JobState, WorkerQueue
from sce_desktop.core.choices import Counts
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowState
from sce_desktop.ui.window.jobs_panel import JobsPanel
from sce_desktop.ui.window.status_bar import StatusBar


@pytest.fixture
def worker(qapp) -> Iterator[WorkerQueue]:
    worker = WorkerQueue("files")
    yield worker
    assert worker.close(timeout=10)


def test_status_bar_shows_the_running_job_and_stops_it(qtbot: QtBot, worker: WorkerQueue) -> None:
    status = StatusBar((worker,))
    qtbot.addWidget(status)
    status.show()
    states = dict.fromkeys(RowState, 0) | {RowState.ANY: 2400, RowState.LABELLED: 250, RowState.NONE: 8}
    status.set_counts(Counts(states, labels={}, predicted={}, scored=1466, blank=0))
    assert status.counts.whole().split("    ") == ["2,400 rows", "258 labelled", "1,466 scored"]
    status.set_counts(Counts(states, labels={}, predicted={}, scored=1466, blank=0), found=1021)
    assert status.counts.whole().startswith("1,021 of 2,400 rows    258 labelled")
    assert not status.bar.isVisible()

    def task(*, progress: Progress) -> None:
        progress.report(0, 100, stage="embedding")
        while True:
            progress.report(61, 100, stage="embedding")
            progress.check()
            threading.Event().wait(0.005)

    job = worker.submit(task, title="Scoring")
    qtbot.waitUntil(lambda: "61%" in status.progress.whole())
    assert status.progress.whole().startswith("Scoring: embedding · 61%")
    assert status.bar.value() == 610
    with qtbot.waitSignal(job.cancelled):
        status.stop_button.click()
        assert "stopping" in status.progress.whole()
        assert not status.stop_button.isEnabled()
    assert not status.bar.isVisible()  # at once: the button must not stop what comes next in its place
    assert not status.progress.whole()


@pytest.mark.parametrize(
    ("done", "total", "at_once"), [(1, 1000, True), (800, 1000, False), (0, 1000, False), (5, None, False)]
)
def test_a_job_is_shown_at_once_if_it_says_that_most_of_it_is_to_come(
    qtbot: QtBot,
    worker: WorkerQueue,
    monkeypatch: pytest.MonkeyPatch,
    done: int,
    total: int | None,
    at_once: bool,
) -> None:
    """Other jobs may end within the quarter of a second after which any job is shown."""
    status = StatusBar((worker,))
    qtbot.addWidget(status)
    monkeypatch.setattr(status._show_soon, "start", lambda: None)
    heard: list[tuple[int, int | None]] = []
    worker.jobChanged.connect(lambda job: heard.append((job.done, job.total)))

    def task(*, progress: Progress) -> None:
        progress.report(done, total)
        while True:
            progress.check()
            threading.Event().wait(0.005)

    job = worker.submit(task, title="Exporting")
    qtbot.waitUntil(lambda: (done, total) in heard)
    assert status.progress.whole().startswith("Exporting") is at_once
    assert status.stop_button.isHidden() is not at_once
    with qtbot.waitSignal(job.cancelled):
        job.cancel()
    assert status.stop_button.isHidden()


def test_of_several_jobs_the_one_that_began_last_is_shown_and_stopped(
    qtbot: QtBot, worker: WorkerQueue
) -> None:
    """A table is scored for hours: what is done meanwhile shows its progress, and Stop is about it."""
    other = WorkerQueue("writes")
    status = StatusBar((worker, other))
    qtbot.addWidget(status)
    status.show()

    def task(*, progress: Progress) -> None:
        while True:
            progress.check()
            threading.Event().wait(0.005)

    try:
        scoring = worker.submit(task, title="Scoring")
        qtbot.waitUntil(lambda: status.progress.whole() == "Scoring")
        waiting = worker.submit(task, title="Loading")
        labelling = other.submit(task, title="Labelling")
        qtbot.waitUntil(lambda: status.progress.whole() == "Labelling")
        with qtbot.waitSignal(labelling.cancelled):
            status.stop_button.click()
        assert scoring.state is JobState.RUNNING
        assert status.progress.whole() == "Scoring"
        for job in (waiting, scoring):
            with qtbot.waitSignal(job.cancelled):
                job.cancel()
    finally:
        assert other.close(timeout=10)


def test_the_name_of_a_job_does_not_widen_the_window(qtbot: QtBot, worker: WorkerQueue) -> None:
    status = StatusBar((worker,))
    qtbot.addWidget(status)
    status.resize(500, 30)
    status.show()
    gate = threading.Event()
    worker.submit(lambda *, progress: gate.wait(5), title="Suggesting " * 30)
    qtbot.waitUntil(lambda: status.progress.isVisible() and "…" in status.progress.text())
    assert status.minimumSizeHint().width() <= 500
    assert status.progress.toolTip() == "Suggesting " * 30
    gate.set()


def test_counts_of_millions_do_not_widen_the_window(qtbot: QtBot) -> None:
    status = StatusBar(())
    qtbot.addWidget(status)
    status.resize(200, 30)
    status.show()
    least = status.minimumSizeHint().width()
    states = dict.fromkeys(RowState, 0) | {RowState.ANY: 12_345_678, RowState.LABELLED: 2_345_678}
    status.set_counts(Counts(states, labels={}, predicted={}, scored=9_876_543, blank=0, draft=1_234_567))
    qtbot.waitUntil(lambda: "…" in status.counts.text())
    assert status.minimumSizeHint().width() - least < 40
    assert status.counts.toolTip() == status.counts.whole()
    assert "1,234,567" in status.counts.whole()


def test_quiet_jobs_are_not_shown(qtbot: QtBot, worker: WorkerQueue) -> None:
    status, panel = StatusBar((worker,)), JobsPanel((worker,))
    qtbot.addWidget(status)
    qtbot.addWidget(panel)
    gate = threading.Event()
    worker.submit(lambda *, progress: gate.wait(5), title="Query", quiet=True)
    qtbot.wait(30)
    assert not status.bar.isVisibleTo(status)
    assert panel.model.rowCount() == 0
    gate.set()


def test_jobs_panel_tells_how_jobs_ended(qtbot: QtBot, worker: WorkerQueue) -> None:
    panel = JobsPanel((worker,))
    qtbot.addWidget(panel)

    def fail(*, progress: Progress) -> None:
        raise UserError("The disk is full; free some space.")

    def warn(*, progress: Progress) -> None:
        progress.warn("3 rows have no text.")

    worker.submit(fail, title="Export")
    worker.submit(warn, title="Import")
    qtbot.waitUntil(lambda: not worker.busy)
    cells = [[panel.model.index(row, column).data() for column in range(4)] for row in range(2)]
    assert cells == [
        ["Import", "Finished", "0 s", "3 rows have no text."],
        ["Export", "Failed", "0 s", "The disk is full; free some space."],
    ]


def test_log_tail_shows_lines_of_any_thread_without_tracebacks(qtbot: QtBot, worker: WorkerQueue) -> None:
    panel = JobsPanel((worker,))
    qtbot.addWidget(panel)
    panel.show()

    def task(*, progress: Progress) -> None:
        try:
            raise ValueError("secret")
        except ValueError:
            logging.getLogger("sce_desktop.test").warning("Something to know", exc_info=True)

    worker.submit(task, title="Logs")
    qtbot.waitUntil(lambda: "Something to know" in panel.log.toPlainText())
    assert "secret" not in panel.log.toPlainText()


def test_log_handler_goes_with_the_panel(qtbot: QtBot, worker: WorkerQueue) -> None:
    handlers = logging.getLogger().handlers  # windows of tests before may still be on their way out
    before = list(handlers)
    panel = JobsPanel((worker,))
    (added,) = [one for one in handlers if one not in before]
    panel.deleteLater()
    qtbot.waitUntil(lambda: added not in handlers)
