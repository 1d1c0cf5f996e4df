"""How the window closes, and how it comes back."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import JobState, WorkerQueues
from sce_desktop.core.annotations import Decision
from sce_desktop.core.progress import Progress
from sce_desktop.store.project import Project
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.window_bench import MakeWindow, make_window_fixture, open_in, window_fixture  # noqa: F401


@pytest.mark.parametrize("worker", ["models", "files", "reads"])
def test_closing_during_work_waits_for_it_and_loses_nothing(
    qtbot: QtBot, window: MainWindow, workers: WorkerQueues, make_project: MakeProject, worker: str
) -> None:
    path = make_project()
    controllers = open_in(qtbot, window, path)
    controllers.edits.decide([1], Decision.NONE)
    ended = threading.Event()

    def slow_to_stop(*, progress: Progress) -> None:
        try:
            while True:
                progress.check()
                threading.Event().wait(0.2)
        finally:
            ended.set()

    job = controllers.workspace.submit(slow_to_stop, title="Slow", worker=worker)  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: job.state is JobState.RUNNING)
    with qtbot.waitSignal(controllers.projects.settled, timeout=2000):
        assert not window.close()
        assert not window.isEnabled()
        assert "Finishing" in window.strip.text.text()
    assert ended.is_set()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert [file.name for file in path.parent.glob("Parcels.sce*")] == ["Parcels.sce"]
    with Project.open(path) as project:
        assert project.annotations([1])[1].decision is Decision.NONE


def test_closing_while_nothing_runs_closes(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: not any(worker.busy for worker in window._controllers.workspace.workers))
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible())


def test_a_window_that_is_gone_is_not_closed_again(
    qtbot: QtBot, window: MainWindow, controllers: Controllers
) -> None:
    window.deleteLater()
    controllers.projects.settled.emit()
    qtbot.waitUntil(lambda: not isValid(window))


def test_window_comes_back_as_it_was(
    qtbot: QtBot, make_window: MakeWindow, make_project: MakeProject, controllers: Controllers
) -> None:
    first = make_window()
    open_in(qtbot, first, make_project())
    first.resize(790, 640)
    first.docks["Jobs and log"].bring()
    first.beside.setSizes([520, 270])
    assert first.beside.sizes()[1] > 265  # more than its least: the second window begins with less room
    first.workspace.setSizes([210, 280])
    sizes = [*first.workspace.sizes(), *first.beside.sizes()]
    with qtbot.waitSignal(controllers.projects.settled):
        first.close()
    second = make_window()
    assert (second.width(), second.height()) == (790, 640)
    assert second.docks["Jobs and log"].isVisible()
    second.pages.setCurrentWidget(second.workspace)
    second.beside.set_project_open(True)
    assert [*second.workspace.sizes(), *second.beside.sizes()] == pytest.approx(sizes, abs=4)
    assert [project.name for project in second._recent.all()] == ["Parcels"]


@pytest.mark.parametrize(
    "content",
    [b"[" * 200_000, bytes(range(256)) * 50, b'[{"path": 3, "opened_at": 1}]', None],
    ids=["deep", "binary", "a number as path", "a folder"],
)
def test_a_broken_list_of_recent_projects_keeps_no_window_from_opening(
    make_window: MakeWindow, tmp_path: Path, content: bytes | None
) -> None:
    if content is None:
        (tmp_path / "recent.json").mkdir()
    else:
        (tmp_path / "recent.json").write_bytes(content)
    window = make_window()
    assert window.isVisible()
    assert window.start_page.recent_list.count() == 0


@pytest.mark.parametrize(
    "text",
    [
        "[General]\ngeometry=5\ndocks=true\nzones=a, b\nfolder=1, 2\n",
        "[General]\ngeometry=@ByteArray(nonsense)\ndocks=@ByteArray(\\0\\xff)\nzones=@ByteArray()\n",
        "\0\xff\0[[[[",
    ],
    ids=["other kinds", "other bytes", "no ini file"],
)
def test_a_broken_state_of_the_window_keeps_it_not_from_opening(
    make_window: MakeWindow, tmp_path: Path, text: str
) -> None:
    (tmp_path / "window.ini").write_text(text, encoding="utf-8")
    assert make_window().isVisible()


@pytest.mark.parametrize("asked", [True, False], ids=["by the button", "by the system"])
def test_closing_a_project_whose_file_is_gone(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, controllers: Controllers, asked: bool
) -> None:
    """A person is asked, once; the system is not. Nothing is lost in either case."""
    path = make_project()
    open_in(qtbot, window, path)
    assert controllers.edits.decide([1], Decision.NONE)
    path.unlink()
    if asked:
        window.close()
        qtbot.wait(50)
        assert window.isVisible()
        assert window.lost.box is not None
        window.lost.watch.look()
        assert window.status.saved.text() == "Not saved"
    with qtbot.waitSignal(controllers.projects.settled):
        window.close() if asked else window.close_unasked()
    with Project.open(path.with_name("Parcels (rescued).sce")) as project:
        assert list(project.annotations(range(1, 6))) == [1]
