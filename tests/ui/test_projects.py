"""Projects come and go whole, and work stops before a project closes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import takeover
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import JobState
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.query import RowQuery
from sce_desktop.store.project import Project
from tests.ui.conftest import MakeProject
from tests.ui.projects_bench import LABELS, endless, open_in, told


def test_open_and_close(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> None:
    path = make_project(labels=LABELS)
    project = open_in(qtbot, controllers, path)
    assert project.name == "Parcels"
    assert tuple(label.name for label in controllers.workspace.labels) == LABELS
    assert controllers.navigation.query == RowQuery()
    qtbot.waitUntil(lambda: controllers.workspace.counts is not None)
    assert controllers.workspace.counts is not None
    assert (
        controllers.workspace.counts.rows,
        controllers.workspace.counts.labelled,
        controllers.workspace.counts.blank,
    ) == (5, 0, 1)
    controllers.navigation.set_current_row(2)
    with qtbot.waitSignals([controllers.navigation.currentRowChanged, controllers.workspace.projectClosed]):
        controllers.projects.close_project()
    assert controllers.workspace.project is None
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    assert (
        controllers.workspace.labels,
        controllers.navigation.current_row,
        controllers.workspace.counts,
        controllers.workspace.runs,
    ) == ((), None, None, ())
    assert [file.name for file in path.parent.glob("Parcels.sce*")] == ["Parcels.sce"]


def test_opening_the_open_project_changes_nothing(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project()
    project = open_in(qtbot, controllers, path)
    controllers.projects.open_project(path.parent / "." / path.name)
    qtbot.wait(100)
    assert controllers.workspace.project is project
    assert not project.read_only


def test_reopening_right_after_closing_is_not_read_only(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project()
    open_in(qtbot, controllers, path)
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert not open_in(qtbot, controllers, path).read_only


def test_what_cannot_be_opened_keeps_the_open_project(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    project = open_in(qtbot, controllers, make_project())
    other = tmp_path / "picture.sce"
    other.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(1000))
    heard = told(controllers)
    with qtbot.waitSignal(controllers.messages.notified):
        controllers.projects.open_project(other)
    assert heard[0][0] == "warn"
    assert controllers.workspace.project is project
    assert project.row_count() == 5


def test_newer_project_is_refused_in_one_sentence(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project()
    with sqlite3.connect(path) as raw:
        raw.execute("PRAGMA user_version = 999")
    raw.close()
    heard = told(controllers)
    with qtbot.waitSignal(controllers.messages.notified):
        controllers.projects.open_project(path)
    assert heard[0][0] == "warn"
    assert "newer" in heard[0][1]
    assert controllers.workspace.project is None


def test_second_window_is_read_only_and_says_so(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project(labels=LABELS)
    with Project.open(path):
        heard = told(controllers)
        project = open_in(qtbot, controllers, path)
        assert project.read_only
        assert controllers.workspace.read_only
        assert heard == [("warn", project.read_only_reason)]
        assert not controllers.edits.decide([1], Decision.NONE)
        assert not controllers.edits.set_labels([Label("Other")])
        assert len(heard) == 3
        with qtbot.waitSignal(controllers.workspace.projectClosed):
            controllers.projects.close_project()


def test_the_second_window_takes_over_by_one_click(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(takeover, "LOOK_MS", 20)
    path = make_project(labels=LABELS)
    offers: list[tuple[str, str, Callable[[], object], str]] = []
    controllers.messages.offered.connect(lambda *offer: offers.append(offer))
    with Project.open(path) as first:
        open_in(qtbot, controllers, path)
        controllers.navigation.set_query(RowQuery(search="late"))
        controllers.navigation.set_current_row(2)
        first.decide([1], Decision.NONE)
        qtbot.wait(100)
        assert offers == []  # it is still open there
    qtbot.waitUntil(lambda: len(offers) == 1)
    sentence, button, take, _ = offers[0]
    assert (sentence, button) == (takeover.FREE, "Make changes here")
    assert controllers.workspace.read_only
    with qtbot.waitSignals([controllers.workspace.projectOpened, controllers.workspace.countsChanged]):
        take()
    assert not controllers.workspace.read_only
    assert (controllers.navigation.query.search, controllers.navigation.current_row) == (
        "late",
        2,
    )  # where it was
    assert controllers.edits.decide([2], Decision.NONE)
    qtbot.wait(100)
    assert len(offers) == 1
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    assert [file.name for file in path.parent.glob("Parcels.sce*")] == ["Parcels.sce"]
    with Project.open(path) as again:
        assert list(again.annotations([1, 2])) == [1, 2]


def test_opening_again_what_was_open_elsewhere_takes_over_too(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project(labels=LABELS)
    with Project.open(path):
        open_in(qtbot, controllers, path)
        assert open_in(qtbot, controllers, path).read_only  # it still is
    assert not open_in(qtbot, controllers, path).read_only


def test_nobody_waits_for_a_project_that_is_closed_or_write_protected(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(takeover, "LOOK_MS", 20)
    path, other = make_project(labels=LABELS), make_project("Other")
    offers: list[str] = []
    controllers.messages.offered.connect(lambda sentence, *_: offers.append(sentence))
    with Project.open(path):
        open_in(qtbot, controllers, path)
        open_in(qtbot, controllers, other)
    assert not controllers.takeover._timer.isActive()
    qtbot.wait(60)
    assert offers == []


def test_opening_another_project_ends_the_work_on_the_first(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    first = open_in(qtbot, controllers, make_project("First"))
    job = controllers.workspace.submit(endless, first, title="Endless")
    reading = controllers.workspace.submit(endless, first, title="Endless too", worker="reads", quiet=True)
    controllers.workspace.workers.files.cancel_all()  # opening waits in the same worker: not meant here
    second = make_project("Second", texts=("one",))
    opened = open_in(qtbot, controllers, second)
    assert opened.row_count() == 1
    assert (job.state, reading.state) == (JobState.CANCELLED, JobState.CANCELLED)
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    assert not list(second.parent.glob("First.sce-*"))


@pytest.mark.parametrize("worker", ["models", "files", "reads"])
def test_shut_down_waits_for_work_and_leaves_one_file(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, worker: str
) -> None:
    path = make_project()
    project = open_in(qtbot, controllers, path)
    job = controllers.workspace.submit(endless, project, title="Endless", worker=worker)  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: job.state is JobState.RUNNING)
    with qtbot.waitSignal(controllers.projects.settled, timeout=2000):
        controllers.projects.shut_down()
    assert job.state is JobState.CANCELLED
    assert controllers.workspace.project is None
    assert [file.name for file in path.parent.glob("Parcels.sce*")] == ["Parcels.sce"]
    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    raw.close()


def test_project_that_arrives_during_shut_down_is_closed(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project()
    controllers.projects.open_project(path)
    with qtbot.waitSignal(controllers.projects.settled):
        controllers.projects.shut_down()
    assert controllers.workspace.project is None
    with Project.open(path) as again:
        assert not again.read_only


def test_copy_is_a_project(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    copy = tmp_path / "Copy.sce"
    job = controllers.projects.save_copy(copy)
    assert job is not None
    with qtbot.waitSignal(job.finished):
        pass
    with Project.open(copy) as project:
        assert project.row_count() == 5
