"""The import dialog adds rows to the open project, and says what cannot be imported or added."""

from __future__ import annotations

import itertools
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import JobState
from sce_desktop.core.choices import ImportChoices
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import TableOptions
from sce_desktop.tasks.tables import scan, tables
from tests.ui.conftest import MakeProject
from tests.ui.import_bench import (  # noqa: F401
    check,
    choose,
    imported,
    parcels_fixture,
    settle,
    show,
)


def test_new_rows_are_counted_before_they_are_added(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project())
    path = tmp_path / "more.csv"
    path.write_text("ref,text\n9,Two days late\n10,Lost\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path, append=True)
    assert dialog.facts.texts()[0] == "1 new row. 1 row repeats a text of the project (added too)."
    assert dialog.table.preview.mark(0) == "The project already has this text"
    assert dialog.import_button.text() == "Add 2 rows"
    with qtbot.waitSignal(controllers.workspace.rowsChanged):
        dialog.accept()
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.row_count() == 7


def test_labels_of_a_column_come_with_the_rows(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(labels=("Late",)))
    path = tmp_path / "more.csv"
    path.write_text("ref,text\nLate,Came on Monday\nLost,Where is it?\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path, append=True)
    choose(dialog.columns.label_column, 0)
    settle(qtbot, dialog)
    assert "2 labels: " in " ".join(dialog.facts.texts())
    with qtbot.waitSignal(controllers.workspace.rowsChanged):
        dialog.accept()
    assert [label.name for label in controllers.workspace.labels] == ["Late", "Lost"]
    assert controllers.workspace.project is not None
    assert {a.label_ids for a in controllers.workspace.project.annotations([6, 7]).values()} == {(1,), (2,)}


def test_other_columns_are_refused_in_place_and_can_become_a_project(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, parcels: Path
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project())
    dialog = show(qtbot, controllers, parcels, append=True)
    assert not dialog.import_button.isEnabled()
    assert "“topic”" in dialog.problem.text()
    dialog.target.new.setChecked(True)
    settle(qtbot, dialog)
    assert dialog.columns.text_columns == (1,)
    assert dialog.import_button.text() == "Import 5 rows"


def test_adding_ends_with_the_project(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project())
    path = tmp_path / "more.csv"
    path.write_text("ref,text\n9,Two days late\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path, append=True)
    with qtbot.waitSignal(dialog.rejected):
        controllers.projects.close_project()


def test_rows_of_a_stopped_addition_are_removed_behind_the_work(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, more = tmp_path / "a.csv", tmp_path / "more.csv"
    path.write_text("id,text\n1,z\n", encoding="utf-8")
    more.write_text("id,text\n" + "2,y\n" * 60_000, encoding="utf-8")
    project = imported(qtbot, controllers, show(qtbot, controllers, path))
    append_table = tables.append_table

    def stored() -> int:
        with closing(sqlite3.connect(f"{project.path.as_uri()}?mode=ro", uri=True)) as plain:
            (count,) = plain.execute("SELECT count(*) FROM rows").fetchone()
        return int(count)

    def waiting(*args: Any, progress: Progress, **keywords: Any) -> object:
        def report(*_: object, **_stage: object) -> None:
            while stored() > 1:  # some rows are there: now it is stopped
                progress.check()
                threading.Event().wait(0.002)

        held = SimpleNamespace(report=report, check=progress.check, warn=progress.warn)
        return append_table(*args, progress=held, **keywords)

    monkeypatch.setattr(tables, "append_table", waiting)
    job = controllers.projects.import_table(ImportChoices(more, TableOptions(), (1,), append=True))
    assert job is not None
    qtbot.waitUntil(lambda: stored() > 1, timeout=20_000)
    with qtbot.waitSignal(job.ended, timeout=20_000):
        job.cancel()
    assert job.state == JobState.CANCELLED
    assert project.row_count() == 1
    qtbot.waitUntil(lambda: stored() == 1, timeout=20_000)


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", "ref,text\n"), ("a.tsv", "ref\ttext\n"), ("a.csv", "ref,text"), ("b.csv", '"ref","text"\r\n')],
)
def test_a_table_without_rows_cannot_be_imported_and_says_why(
    qtbot: QtBot,
    controllers: Controllers,
    make_project: MakeProject,
    tmp_path: Path,
    append: bool,
    name: str,
    content: str,
) -> None:
    if append:
        with qtbot.waitSignal(controllers.workspace.projectOpened):
            controllers.projects.open_project(make_project())
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    dialog = show(qtbot, controllers, path, append=append)
    assert not dialog.import_button.isEnabled()
    assert dialog.import_button.text() == ("Add" if append else "Import")
    assert dialog.problem.text() == "The table has no rows to import."
    with qtbot.assertNotEmitted(controllers.workspace.projectOpened):
        dialog.accept()
    assert dialog.isVisible()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(100)),
        ("empty.csv", b""),
        ("broken.xlsx", b"PK\x03\x04nothing"),
        ("broken.parquet", b"PAR1nothing"),
    ],
)
def test_what_is_no_table_is_one_sentence_in_place(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    dialog = show(qtbot, controllers, path)
    assert dialog.unread.isVisible()
    assert dialog.unread.text().endswith(".")
    assert not dialog.table.isVisible()
    assert not dialog.import_button.isEnabled()
    dialog.accept()
    assert dialog.isVisible()


def test_closing_while_it_counts_stops_the_count(
    qtbot: QtBot, controllers: Controllers, parcels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file never holds up anything."""

    def endless(*_: object, progress: Progress, **_keywords: object) -> None:
        for done in itertools.count(1):
            progress.report(done, 1000)
            progress.check()
            threading.Event().wait(0.002)

    monkeypatch.setattr(scan, "scan_table", endless)
    dialog = show(qtbot, controllers, parcels, wait=False)
    qtbot.waitUntil(lambda: dialog.reader.count_job is not None and dialog.reader.count_job.done > 0)
    assert "counting" in dialog.facts.headline.text()
    assert dialog.facts.bar.isVisible()
    assert dialog.import_button.isEnabled()  # nobody has to wait for the count
    job = dialog.reader.count_job
    dialog.reject()
    assert job is not None
    qtbot.waitUntil(lambda: not job.active, timeout=2000)
    assert job.state is JobState.CANCELLED
