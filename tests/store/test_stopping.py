"""A long statement of SQLite can be stopped, and an import up to its end."""

from __future__ import annotations

import errno
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.content import importing
from sce_desktop.store.file import stopping
from sce_desktop.store.file.connections import connect
from sce_desktop.store.file.placing import put_in_place
from sce_desktop.store.file.stopping import fetch_watched, sorting_in_parts, stoppable
from sce_desktop.store.project import Project
from tests.store.conftest import fill
from tests.store.test_importing import COLUMNS, INDEXES, CancelAfter, stored_rows

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_a_statement_is_stopped() -> None:
    plain = sqlite3.connect(":memory:")
    with pytest.raises(Cancelled), stoppable(plain, CancelAfter(5)):
        plain.execute(ENDLESS).fetchone()
    assert plain.execute("SELECT 1").fetchone() == (1,)  # and nobody is asked any more


def test_other_failures_stay_as_they_are() -> None:
    with pytest.raises(sqlite3.OperationalError), stoppable(sqlite3.connect(":memory:"), SilentProgress()):
        sqlite3.connect(":memory:").execute("SELECT * FROM nothing")


def test_the_cache_is_as_it_was() -> None:
    plain = sqlite3.connect(":memory:")
    plain.execute("PRAGMA cache_size=-4321")
    with sorting_in_parts(plain):
        assert plain.execute("PRAGMA cache_size").fetchone() == (-1024,)
    assert plain.execute("PRAGMA cache_size").fetchone() == (-4321,)


def test_an_import_is_stopped_while_its_index_is_made(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "_STEPS", 100)
    table = [(str(number), f"text {number}", "DE") for number in range(3000)]
    asked = 0

    class Counting(SilentProgress):
        def check(self) -> None:
            nonlocal asked
            asked += 1

    project.add_rows(COLUMNS, [table], text_columns=[1], source={}, progress=Counting())
    assert asked > 10
    with Project.create(project.path.with_name("other.sce")) as other:
        with pytest.raises(Cancelled):
            other.add_rows(COLUMNS, [table], text_columns=[1], source={}, progress=CancelAfter(asked - 3))
        assert stored_rows(other) == (0, INDEXES)
        assert other.add_rows(COLUMNS, [table], text_columns=[1], source={}).rows == 3000


def test_a_draft_is_not_put_in_place_when_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sce_desktop.store.file.placing._LARGE", 0)
    draft, target = tmp_path / "draft", tmp_path / "target.sce"
    with Project.create(draft, draft=True) as project:
        fill(project, [f"text {number}" for number in range(500)])
    with pytest.raises(Cancelled):
        put_in_place(draft, target, overwrite=False, progress=CancelAfter(0))
    assert not target.exists()
    put_in_place(draft, target, overwrite=False, progress=SilentProgress())
    with Project.open(target) as project:
        assert project.row_count() == 500


def test_nobody_waits_for_a_slow_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sce_desktop.store.file.placing._LARGE", 0)
    draft, target, slow = tmp_path / "draft", tmp_path / "target.sce", threading.Event()
    with Project.create(draft, draft=True) as project:
        fill(project, ["one"])
    monkeypatch.setattr("os.fsync", lambda _file: slow.wait())
    with pytest.raises(Cancelled):
        put_in_place(draft, target, overwrite=False, progress=CancelAfter(5))
    slow.set()
    assert not target.exists()


def test_a_disk_that_fails_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sce_desktop.store.file.placing._LARGE", 0)
    draft, target = tmp_path / "draft", tmp_path / "target.sce"
    with Project.create(draft, draft=True) as project:
        fill(project, ["one"])

    def full(_file: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError, match="There is no room"):
        put_in_place(draft, target, overwrite=False)
    assert not target.exists()


def test_a_statement_in_another_thread_is_stopped(path: Path) -> None:
    plain = connect(path, "mode=rwc")
    with closing(plain):
        with pytest.raises(Cancelled):
            fetch_watched(plain, ENDLESS, CancelAfter(2))
        assert fetch_watched(plain, "SELECT 1", SilentProgress()) == (1,)
        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            fetch_watched(plain, "SELECT * FROM no_such", SilentProgress())


def test_a_draft_that_is_stopped_is_thrown_away_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed: list[int] = []
    drop = importing.drop_unfinished
    monkeypatch.setattr(importing, "drop_unfinished", lambda *args: (removed.append(1), drop(*args)))
    for draft, times in ((True, 1), (False, 2)):  # before an import nothing is left to remove
        removed.clear()
        with Project.create(tmp_path / f"{draft}.sce", draft=draft) as project, pytest.raises(Cancelled):
            project.add_rows(
                COLUMNS, [[("1", "one", "DE")]] * 3, text_columns=[1], source={}, progress=CancelAfter(3)
            )
        assert len(removed) == times


def test_the_index_is_sorted_in_parts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    counted = importing._count_texts

    def count(plain: sqlite3.Connection) -> int:
        sizes.append(plain.execute("PRAGMA cache_size").fetchone()[0])
        return counted(plain)

    monkeypatch.setattr(importing, "_count_texts", count)
    fill(project, ["one", "two", "two"])
    assert sizes == [-1024]
    assert project.duplicate_count() == 1
