"""Projects come and go whole, edits are told, work stops before a project closes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import takeover, work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import JobState
from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.choices import ExportChoices, ImportChoices
from sce_desktop.core.colours import FIRST_COLOURS
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.tables import TableOptions
from sce_desktop.store.project import Project
from tests.ui.conftest import MakeProject

LABELS = ("Late", "Damaged", "Praise")


def open_in(qtbot: QtBot, controllers: Controllers, path: Path) -> Project:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(path)
    assert controllers.workspace.project is not None
    return controllers.workspace.project


def told(controllers: Controllers) -> list[tuple[str, str]]:
    heard: list[tuple[str, str]] = []
    controllers.messages.notified.connect(lambda sentence, tone: heard.append((tone, sentence)))
    return heard


def endless(project: Project, *, progress: Progress) -> None:
    while True:
        progress.check()
        threading.Event().wait(0.002)


# --- projects ----------------------------------------------------------------------------------------------


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


# --- tables ------------------------------------------------------------------------------------------------


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "in.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_import_makes_and_opens_a_project(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    path = table(tmp_path, "id,text,gold\n1,late,Late\n2,broken,Late\n3,kind,Praise\n4,,\n")
    controllers.preferences.settings["projects_folder"] = str(tmp_path / "projects")
    choices = ImportChoices(path, TableOptions(), text_columns=(1,), label_column=2)
    heard = told(controllers)
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.import_table(choices)
    assert [tone for tone, _ in heard] == ["info"]
    assert "1 row has no text" in heard[0][1]
    project = controllers.workspace.project
    assert project is not None
    assert project.path == tmp_path / "projects" / "in.sce"
    assert [label.name for label in controllers.workspace.labels] == ["Late", "Praise"]
    ids = project.row_ids()
    annotations = project.annotations(ids)
    late, praise = (label.id for label in controllers.workspace.labels)
    assert [annotations[i].label_ids if i in annotations else () for i in ids.tolist()] == [
        (late,),
        (late,),
        (praise,),
        (),
    ]
    assert {annotation.origin for annotation in annotations.values()} == {Origin.IMPORTED}
    assert [row.cells[2] for row in project.rows(ids)] == ["Late", "Late", "Praise", ""]


def test_import_of_the_same_table_again_takes_a_free_name(tmp_path: Path) -> None:
    (tmp_path / "in.sce").write_bytes(b"")
    (tmp_path / "in 2.sce").write_bytes(b"")
    assert work.free_path(tmp_path, "in") == tmp_path / "in 3.sce"


def test_failed_import_leaves_nothing(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    folder = tmp_path / "projects"
    controllers.preferences.settings["projects_folder"] = str(folder)
    heard = told(controllers)
    with qtbot.waitSignal(controllers.messages.notified):
        controllers.projects.import_table(
            ImportChoices(table(tmp_path, "text\na\n"), TableOptions(encoding="none"), text_columns=(0,))
        )
    assert heard[0][0] == "warn"
    assert list(folder.iterdir()) == []


def test_folder_that_cannot_be_made_is_reported(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    controllers.preferences.settings["projects_folder"] = str(tmp_path / "file" / "projects")
    heard = told(controllers)
    with qtbot.waitSignal(controllers.messages.notified):
        controllers.projects.import_table(
            ImportChoices(table(tmp_path, "text\na\n"), TableOptions(), text_columns=(0,))
        )
    assert heard[0][0] == "warn"
    assert "choose another" in heard[0][1]


def test_append_adds_rows_and_tells(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    project = open_in(qtbot, controllers, make_project(labels=LABELS))
    path = table(tmp_path, "ref,text\n9,one more\n")
    with qtbot.waitSignals([controllers.workspace.rowsChanged, controllers.workspace.countsChanged]):
        controllers.projects.import_table(ImportChoices(path, TableOptions(), text_columns=(1,), append=True))
    assert project.row_count() == 6
    assert tuple(label.name for label in controllers.workspace.labels) == LABELS


def test_append_of_other_columns_is_refused(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    project = open_in(qtbot, controllers, make_project())
    heard = told(controllers)
    with qtbot.waitSignal(controllers.messages.notified):
        controllers.projects.import_table(
            ImportChoices(table(tmp_path, "other\nx\n"), TableOptions(), text_columns=(0,), append=True)
        )
    assert heard[0][0] == "warn"
    assert project.row_count() == 5


def test_export_writes_and_says_how_many(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    heard = told(controllers)
    job = controllers.projects.export_table(ExportChoices(tmp_path / "out.csv"))
    assert job is not None
    with qtbot.waitSignal(job.finished) as finished:
        pass
    assert finished.args == [5]
    assert heard == [("info", f"5 rows were written to {tmp_path / 'out.csv'}.")]
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("ref,text,label")


def test_preview_fails_to_the_caller_alone(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    heard = told(controllers)
    job = controllers.projects.preview(tmp_path / "missing.csv")
    with qtbot.waitSignal(job.failed) as failed:
        pass
    assert isinstance(failed.args[0], UserError)
    assert heard == []


# --- edits -------------------------------------------------------------------------------------------------


def test_labels_get_colours_that_stay(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project())
    with qtbot.waitSignal(controllers.workspace.labelsChanged):
        assert controllers.edits.set_labels(
            [Label("Late"), Label("Damaged", colour=FIRST_COLOURS[0]), Label("Praise")]
        )
    assert [label.colour for label in controllers.workspace.labels] == [
        FIRST_COLOURS[1],
        FIRST_COLOURS[0],
        FIRST_COLOURS[2],
    ]
    assert all(label.id is not None for label in controllers.workspace.labels)
    with qtbot.waitSignal(controllers.workspace.labelsChanged):
        controllers.edits.set_labels(controllers.workspace.labels[1:])
    assert [label.colour for label in controllers.workspace.labels] == [FIRST_COLOURS[0], FIRST_COLOURS[2]]


def test_same_labels_again_change_nothing(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project())
    controllers.edits.set_labels([Label("Late"), Label("Damaged")])
    with qtbot.assertNotEmitted(controllers.workspace.labelsChanged):
        assert controllers.edits.set_labels(controllers.workspace.labels)


def test_two_equal_labels_are_refused_in_place(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    heard = told(controllers)
    assert not controllers.edits.set_labels([Label("Late"), Label("Late")])
    assert heard[0][0] == "warn"
    assert tuple(label.name for label in controllers.workspace.labels) == LABELS


def test_decisions_and_marks_are_reported_and_counted(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    project = open_in(qtbot, controllers, make_project(labels=LABELS))
    late = controllers.workspace.labels[0].id
    assert late is not None
    with qtbot.waitSignal(controllers.workspace.annotationsChanged) as changed:
        assert controllers.edits.decide([1, 2], Decision.LABEL, [late])
    assert changed.args == [[1, 2]]
    assert project.annotations([1])[1].queue == "file"
    qtbot.waitUntil(
        lambda: controllers.workspace.counts is not None and controllers.workspace.counts.labelled == 2
    )
    assert controllers.workspace.counts is not None
    assert controllers.workspace.counts.labels[late] == 2
    assert controllers.edits.clear_decision([2])
    assert controllers.edits.set_marks([4], flag=True, note="look again")
    assert project.marks([4])[4].note == "look again"
    qtbot.waitUntil(
        lambda: (
            controllers.workspace.counts is not None
            and controllers.workspace.counts.states[RowState.FLAGGED] == 1
        )
    )
    assert controllers.workspace.counts.labelled == 1


def test_edit_without_a_project_does_nothing(controllers: Controllers) -> None:
    assert not controllers.edits.decide([1], Decision.NONE)
    assert not controllers.edits.set_labels([Label("a")])
    assert controllers.projects.save_copy(Path("x")) is None
    assert controllers.scorer.score() is None


def test_query_and_row_are_reported_once(qtbot: QtBot, controllers: Controllers) -> None:
    with qtbot.waitSignal(controllers.navigation.queryChanged):
        controllers.navigation.set_query(RowQuery(search="late"))
    with qtbot.assertNotEmitted(controllers.navigation.queryChanged):
        controllers.navigation.set_query(RowQuery(search="late"))
    with qtbot.waitSignal(controllers.navigation.currentRowChanged):
        controllers.navigation.set_current_row(3)
    with qtbot.assertNotEmitted(controllers.navigation.currentRowChanged):
        controllers.navigation.set_current_row(3)


def test_setting_is_written(controllers: Controllers) -> None:
    controllers.preferences.change_setting("theme", "dark")
    assert '"theme": "dark"' in controllers.preferences.settings.file.read_text(encoding="utf-8")
