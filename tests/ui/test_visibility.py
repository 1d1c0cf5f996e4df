"""Work of a panel that waits until somebody looks: alone, behind a tab, while its job runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.jobs import JobState, WorkerQueue
from sce_desktop.core.progress import Progress
from sce_desktop.ui.kit.visibility import VisibilityGate


@pytest.fixture
def worker(qtbot: QtBot) -> Iterator[WorkerQueue]:
    worker = WorkerQueue("reads")
    yield worker
    assert worker.close(10)


class _Panel(QWidget):
    """Counts how often it is to work, and keeps who looks."""

    def __init__(self, *, rest: int = 0) -> None:
        super().__init__()
        self.times = 0
        self.seen: list[bool] = []
        self.visibility = VisibilityGate(self, 0, rest=rest)
        self.visibility.due.connect(self._on_due)
        self.visibility.changed.connect(self._on_changed)

    def _on_due(self) -> None:
        self.times += 1

    def _on_changed(self, seen: bool) -> None:
        self.seen.append(seen)


def test_changes_wait_until_somebody_looks_and_then_count_once(qtbot: QtBot) -> None:
    panel = _Panel()
    qtbot.addWidget(panel)
    panel.visibility.soon()
    panel.visibility.within(60_000)
    assert not panel.visibility.idle
    panel.show()
    qtbot.waitUntil(lambda: panel.times > 0)
    qtbot.waitUntil(lambda: panel.seen == [True])
    assert panel.visibility.idle
    panel.hide()
    qtbot.waitUntil(lambda: panel.seen == [True, False])
    panel.visibility.soon()
    panel.show()
    qtbot.waitUntil(lambda: panel.times > 1)
    qtbot.waitUntil(lambda: panel.seen == [True, False, True])
    assert panel.times == 2


def test_nobody_sees_a_panel_behind_the_tab_of_another(qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    panels = (_Panel(), _Panel())
    docks = tuple(QDockWidget(name) for name in ("First", "Second"))
    for dock, panel in zip(docks, panels, strict=True):
        dock.setWidget(panel)
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, dock)
    window.tabifyDockWidget(*docks)
    docks[1].raise_()
    for panel in panels:
        panel.visibility.soon()
    window.show()
    qtbot.waitUntil(lambda: panels[1].times == 1 and panels[1].seen == [True])
    assert panels[0].isVisible()
    assert (panels[0].times, panels[0].seen) == (0, [])
    docks[0].raise_()
    qtbot.waitUntil(lambda: panels[0].times == 1 and panels[0].seen == [True])
    qtbot.waitUntil(lambda: panels[1].seen == [True, False])


def test_nothing_is_due_while_its_job_runs(qtbot: QtBot, worker: WorkerQueue) -> None:
    gate = threading.Event()

    def task(*, progress: Progress) -> None:
        gate.wait(10)

    panel = _Panel()
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(lambda: panel.seen == [True])
    job = panel.visibility.follow(worker.submit(task, title="Counting"))
    panel.visibility.soon()
    qtbot.waitUntil(lambda: job.state is JobState.RUNNING)
    assert panel.times == 0
    gate.set()
    qtbot.waitUntil(lambda: panel.times == 1)
    assert panel.visibility.job is None


def test_what_is_slow_is_followed_by_a_rest_unless_it_is_wanted_at_once(
    qtbot: QtBot, worker: WorkerQueue
) -> None:
    panel = _Panel(rest=1_000_000)
    qtbot.addWidget(panel)
    panel.show()
    job = panel.visibility.follow(worker.submit(lambda *, progress: None, title="Counting"))
    qtbot.waitUntil(lambda: panel.visibility.job is None)
    assert job.seconds > 0
    panel.visibility.soon()
    assert panel.visibility._timer.remainingTime() > 0
    panel.visibility.within(0)
    qtbot.waitUntil(lambda: panel.times == 1)


def test_what_belongs_to_another_project_is_forgotten(qtbot: QtBot, worker: WorkerQueue) -> None:
    panel = _Panel()
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(lambda: panel.seen == [True])
    job = panel.visibility.follow(worker.submit(lambda *, progress: None, title="Counting"))
    panel.visibility.soon()
    panel.visibility.forget()
    assert panel.visibility.idle
    qtbot.waitUntil(lambda: not worker.busy)
    assert not job.attached
    assert panel.times == 0
