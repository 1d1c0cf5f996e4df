"""The window says when it answers, and when the answer is painted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.answering import CalmTimer
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import WorkerQueue
from sce_desktop.core import giving_way
from sce_desktop.core.annotations import Decision
from sce_desktop.core.giving_way import begin_answer, end_answer, is_answering
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from tests.ui.conftest import MakeProject


def test_an_edit_is_an_answer_until_nothing_is_left_to_do(
    controllers: Controllers, make_project: MakeProject, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(labels=("Late", "Kind")))
    qtbot.waitUntil(lambda: not is_answering())
    label_id = controllers.workspace.labels[0].id
    assert label_id is not None
    seen: list[bool] = []
    controllers.edits.decided.connect(lambda _ids, _words: seen.append(is_answering()))
    assert controllers.edits.decide([1], Decision.LABEL, [label_id])
    assert seen == [True]
    qtbot.waitUntil(lambda: not is_answering())


def test_another_row_is_an_answer_too(controllers: Controllers, qtbot: QtBot) -> None:
    end_answer()
    seen: list[bool] = []
    controllers.navigation.currentRowChanged.connect(lambda _row: seen.append(is_answering()))
    controllers.navigation.set_current_row(2)
    assert seen == [True]
    qtbot.waitUntil(lambda: not is_answering())


def test_another_query_is_an_answer_too(controllers: Controllers, qtbot: QtBot) -> None:
    end_answer()
    seen: list[bool] = []
    controllers.navigation.queryChanged.connect(lambda _query: seen.append(is_answering()))
    controllers.navigation.set_query(RowQuery(search="late"))
    assert seen == [True]
    qtbot.waitUntil(lambda: not is_answering())


class Chain(QWidget):
    """As the row panel: what is shown asks for heights, these for a layout, that for painting."""

    def __init__(self) -> None:
        super().__init__()
        self.painted: list[bool] = []
        self._heights = QTimer(self, singleShot=True, interval=0)
        self._heights.timeout.connect(self.update)

    def show_other(self) -> None:
        QTimer.singleShot(0, self, self._heights.start)

    def paintEvent(self, event: QPaintEvent) -> None:
        self.painted.append(is_answering())


def test_what_is_painted_after_heights_were_asked_for_is_of_the_answer(
    controllers: Controllers, qtbot: QtBot
) -> None:
    chain = Chain()
    qtbot.addWidget(chain)
    chain.show()
    qtbot.waitExposed(chain)
    qtbot.waitUntil(lambda: bool(chain.painted))
    end_answer()
    chain.painted.clear()
    controllers.navigation.set_current_row(2)
    chain.show_other()
    qtbot.waitUntil(lambda: bool(chain.painted))
    assert chain.painted[0]
    qtbot.waitUntil(lambda: not is_answering())


def test_what_the_window_waits_for_does_not_give_way(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(giving_way, "MOST_S", 600.0)
    monkeypatch.setattr(giving_way, "MOST_IN_A_ROW_S", 600.0)
    worker = WorkerQueue("read")
    try:

        def read(*, progress: Progress) -> str:
            giving_way.give_way()
            return "read"

        end_answer()
        begin_answer()
        with qtbot.waitSignal(worker.submit(read, title="on the screen", first=True).finished):
            pass
        assert is_answering()
    finally:
        end_answer()
        worker.close()


@pytest.fixture
def long_answer(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An answer that takes as long as the test."""
    monkeypatch.setattr(giving_way, "MOST_S", 60.0)
    monkeypatch.setattr(giving_way, "MOST_IN_A_ROW_S", 60.0)
    end_answer()
    begin_answer()
    yield
    end_answer()


@pytest.mark.usefixtures("long_answer")
def test_what_can_wait_comes_after_the_answer(qtbot: QtBot) -> None:
    timer, went_off = CalmTimer(interval=0), []
    timer.calm.connect(lambda: went_off.append(is_answering()))
    timer.start()
    with qtbot.waitSignal(timer.timeout):
        pass
    assert (went_off, timer.isActive()) == ([], True)
    end_answer()
    qtbot.waitUntil(lambda: went_off == [False])
    assert (timer.isActive(), timer.interval()) == (False, 0)


def test_an_answer_without_an_end_holds_nothing_up_for_long(qtbot: QtBot) -> None:
    end_answer()
    timer, went_off = CalmTimer(interval=0), []
    timer.calm.connect(lambda: went_off.append(is_answering()))
    begin_answer()
    timer.start()
    qtbot.waitUntil(lambda: went_off == [True])
    end_answer()


@pytest.mark.usefixtures("long_answer")
def test_what_workers_report_comes_after_the_answer_and_in_order(qtbot: QtBot) -> None:
    worker = WorkerQueue("held")
    try:
        reports: list[object] = []

        def work(*, progress: Progress) -> str:
            progress.report(1, 2, stage="begun")
            progress.warn("odd")
            return "done"

        def read(*, progress: Progress) -> str:
            return "read"

        waits = worker.submit(work, title="waits")
        waits.progressed.connect(lambda done, _total, _stage: reports.append(done))
        waits.warned.connect(reports.append)
        waits.finished.connect(reports.append)
        for _ in range(2):  # one behind the other: the second comes after what waits
            with qtbot.waitSignal(worker.submit(read, title="on the screen", first=True).finished):
                pass  # what the window shows may wait for it: it is not held back
        assert (reports, waits.active) == ([], True)
        end_answer()
        qtbot.waitUntil(lambda: not worker.busy)
        assert reports == [1, "odd", "done"]
    finally:
        worker.close()
