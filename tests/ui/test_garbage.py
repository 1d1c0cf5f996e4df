"""While a worker runs, nothing is collected in its thread."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import garbage
from sce_desktop.controllers.garbage import INTERVAL_MS, GuiCollector
from sce_desktop.controllers.jobs import WorkerQueue
from sce_desktop.core.giving_way import begin_answer, end_answer
from sce_desktop.core.progress import Progress
from sce_desktop.imports import importing


class Cyclic(QObject):
    """Refers to itself, as a widget does whose signal is connected to a lambda that holds it."""

    def __init__(self) -> None:
        super().__init__()
        self.timer = QTimer(self)
        self.timer.start(1000)
        self.me = self


def allocate(*, progress: Progress) -> list[list[int]]:
    return [[] for _ in range(200_000)]  # enough to set off Python's own collection many times


def test_objects_die_in_the_gui_thread(qtbot: QtBot) -> None:
    died_in: list[int] = []
    worker = WorkerQueue("files")
    for _ in range(20):
        weakref.finalize(Cyclic(), lambda: died_in.append(threading.get_ident()))
    job = worker.submit(allocate, title="Allocates")
    with qtbot.waitSignal(job.finished) as finished:
        pass
    assert len(finished.args[0]) == 200_000
    qtbot.waitUntil(lambda: len(died_in) == 20, timeout=20 * INTERVAL_MS)
    assert set(died_in) == {threading.get_ident()}
    assert worker.close(timeout=5)


def test_python_collects_again_after_the_last_worker(qtbot: QtBot) -> None:
    assert gc.isenabled()
    first, second = WorkerQueue("files"), WorkerQueue("models")
    assert not gc.isenabled()
    assert first.close(timeout=5)
    assert first.close(timeout=5)  # closing twice counts once
    assert not gc.isenabled()
    assert second.close(timeout=5)
    assert gc.isenabled()


@pytest.fixture
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has asked for anything lately."""
    monkeypatch.setattr(garbage, "since_answer", lambda: 60.0)


@pytest.mark.usefixtures("calm")
def test_collect_follows_the_thresholds(qtbot: QtBot) -> None:
    collector = GuiCollector()
    before = gc.get_stats()[0]["collections"]
    gc.collect()
    collector.collect()  # nothing is over its threshold right after a collection
    assert gc.get_stats()[0]["collections"] == before
    keep = [[] for _ in range(100_000)]
    collector.collect()
    assert gc.get_stats()[0]["collections"] == before + 1
    assert keep
    collector.stop()


def test_what_is_garbage_waits_for_a_pause_of_the_user_unless_there_is_much(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage, "CALM_S", 3_600.0)
    collector = GuiCollector()
    gc.collect()
    kept = [[] for _ in range(5 * gc.get_threshold()[0])]
    before = [one["collections"] for one in gc.get_stats()]
    begin_answer()
    end_answer()
    collector.collect()
    assert [one["collections"] for one in gc.get_stats()] == before
    monkeypatch.setattr(garbage, "MOST_YOUNG", len(kept))
    collector.collect()
    assert [one["collections"] for one in gc.get_stats()] != before
    monkeypatch.setattr(garbage, "MOST_YOUNG", 100 * len(kept))
    kept += [[] for _ in range(5 * gc.get_threshold()[0])]
    before = [one["collections"] for one in gc.get_stats()]
    monkeypatch.setattr(garbage, "CALM_S", 0.0)
    collector.collect()
    assert [one["collections"] for one in gc.get_stats()] != before
    collector.stop()


@pytest.mark.usefixtures("calm")
def test_nothing_is_collected_while_libraries_come_in(qtbot: QtBot) -> None:
    gc.unfreeze()  # whatever tests before this one have loaded
    collector = GuiCollector()
    gc.collect()
    try:
        with importing():
            with importing():
                kept: list[list[int]] = [[] for _ in range(5 * gc.get_threshold()[0])]
                before = [one["collections"] for one in gc.get_stats()]
                collector.collect()
            assert gc.get_freeze_count() == 0  # the outer one is not through
            collector.collect()
            assert [one["collections"] for one in gc.get_stats()] == before
        assert gc.get_freeze_count() > len(kept)
    finally:
        gc.unfreeze()
        collector.stop()
