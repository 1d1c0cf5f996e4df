"""A long statement of SQLite can be stopped, and an import up to its end."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.content import importing
from sce_desktop.store.file import stopping
from sce_desktop.store.file.placing import put_in_place
from sce_desktop.store.file.stopping import sorting_in_parts, stoppable
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
        assert plain.execute("PRAGMA cache_size").fetchone() == (-2048,)
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
    monkeypatch.setattr(stopping, "_STEPS", 10)
    monkeypatch.setattr("sce_desktop.store.file.placing._LARGE", 0)
    draft, target = tmp_path / "draft", tmp_path / "target.sce"
    with Project.create(draft, draft=True) as project:
        fill(project, [f"text {number}" for number in range(500)])
    with pytest.raises(Cancelled):
        put_in_place(draft, target, overwrite=False, progress=CancelAfter(2))
    assert not target.exists()
    put_in_place(draft, target, overwrite=False, progress=SilentProgress())
    with Project.open(target) as project:
        assert project.row_count() == 500


def test_the_index_is_sorted_in_parts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    counted = importing._count_duplicates

    def count(plain: sqlite3.Connection, before: int) -> int:
        sizes.append(plain.execute("PRAGMA cache_size").fetchone()[0])
        return counted(plain, before)

    monkeypatch.setattr(importing, "_count_duplicates", count)
    fill(project, ["one", "two", "two"])
    assert sizes == [-2048]
    assert project.duplicate_count() == 1
