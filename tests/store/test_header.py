"""What is looked at before SQLite opens a project: its first bytes, and the files beside it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from sce_desktop.core.errors import DamagedProject, UserError
from sce_desktop.store.file import hardening
from sce_desktop.store.file.connections import connect
from sce_desktop.store.project import Project
from tests.hostile.projects import PROJECTS
from tests.store.conftest import fill


@pytest.fixture
def closed(path: Path, project: Project) -> Path:
    fill(project, ["a", "b", "c"])
    project.close()
    return path


def test_a_journal_that_names_a_file_to_delete_is_not_obeyed(closed: Path) -> None:
    victim = closed.with_name("thesis.txt")
    PROJECTS["journal that deletes a file"](closed)
    for read_only in (False, True):
        with pytest.raises(UserError, match=r"survey\.sce-journal belongs to another program.*move it"):
            Project.open(closed, read_only=read_only)
    assert victim.read_text() == "years of work"
    # It is no false alarm: this is what SQLite does by itself.
    with closing(sqlite3.connect(closed)) as plain:
        plain.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    assert not victim.exists()


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
@pytest.mark.parametrize("name", ["log that is a link", "log that is a pipe", "journal that is a pipe"])
def test_what_is_no_ordinary_file_is_not_opened(closed: Path, name: str) -> None:
    PROJECTS[name](closed)
    for read_only in (False, True):
        with pytest.raises(UserError, match="is not an ordinary file: move it"):
            Project.open(closed, read_only=read_only)
    assert Project.repair_file(closed, closed.with_name("copy.sce")).rows == 3  # and does not wait for a pipe
    thesis = closed.with_name("thesis.txt")
    assert not thesis.exists() or thesis.read_text() == "years of work"


def test_a_backup_over_a_project_obeys_no_journal_either(closed: Path) -> None:
    other = closed.with_name("other.sce")
    with Project.open(closed) as project:
        project.backup(other)
        PROJECTS["journal that deletes a file"](other)
        with pytest.raises(UserError, match="belongs to another program"):
            project.backup(other, overwrite=True)
    assert closed.with_name("thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize(
    "name", ["UTF-16", "format of the schema", "encoding nobody knows", "reserved bytes"]
)
def test_a_header_that_we_never_write_is_refused_and_repaired(closed: Path, name: str) -> None:
    PROJECTS[name](closed)
    with pytest.raises(DamagedProject, match=r"its header says what SCE Desktop never writes.*repair"):
        Project.open(closed)
    copy = closed.with_name("copy.sce")
    assert Project.repair_file(closed, copy).rows == 3
    with Project.open(copy) as project:
        assert project.verify() == []
        assert project.texts([1, 2, 3]) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["pages of 512 bytes", "auto_vacuum", "cache of two billion pages"])
def test_settings_that_do_no_harm_are_left(closed: Path, name: str) -> None:
    PROJECTS[name](closed)
    with Project.open(closed) as project:
        assert project.verify() == []
        assert project.row_count() == 3


def test_connections_have_no_more_room_than_we_need(closed: Path) -> None:
    with closing(connect(closed, "mode=ro")) as plain:
        for pragma, value in (("trusted_schema", 0), ("cell_size_check", 1), ("mmap_size", 0)):
            assert plain.execute(f"PRAGMA {pragma}").fetchone() == (value,)
        for limit, value in hardening._LIMITS.items():
            assert plain.getlimit(limit) <= value
        with pytest.raises(sqlite3.Error, match=r"too many columns|too many terms"):
            plain.execute(f"SELECT {', '.join(['1'] * 300)}")


@pytest.mark.parametrize("name", ["journal that damages", "journal of another database"])
def test_a_journal_that_would_spoil_the_project_is_set_aside(closed: Path, name: str) -> None:
    PROJECTS[name](closed)
    with Project.open(closed, read_only=True) as project:
        assert project.verify() == []
    with Project.open(closed) as project:
        assert project.verify() == []
        assert project.texts([1, 2, 3]) == ["a", "b", "c"]
    assert closed.with_name(f"{closed.name}-journal.of another file").stat().st_size


def test_the_journal_of_an_interrupted_change_is_obeyed(closed: Path) -> None:
    script = """
        import os, sqlite3, sys
        plain = sqlite3.connect(sys.argv[1], isolation_level=None)
        plain.execute("PRAGMA journal_mode=DELETE")
        plain.execute("PRAGMA cache_size=1")
        plain.execute("PRAGMA cache_spill=1")
        plain.execute("BEGIN IMMEDIATE")
        plain.execute("CREATE TABLE junk (x)")
        plain.executemany("INSERT INTO junk VALUES (?)", [("y" * 5000,)] * 200)
        os._exit(9)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(closed)], check=False)
    assert ended.returncode == 9
    assert closed.with_name(f"{closed.name}-journal").stat().st_size
    with Project.open(closed) as project:
        assert project.verify() == []
        assert project.texts([1, 2, 3]) == ["a", "b", "c"]
    assert list(closed.parent.glob("*.of another file")) == []
