from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import DamagedProject
from sce_desktop.store.file import formats, migrations
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels
from tests.store.test_migrations import make_first

TRIGGER = "CREATE TRIGGER bad AFTER INSERT ON annotations BEGIN DELETE FROM annotations; END"
VIEW = "CREATE VIEW bad AS SELECT * FROM rows"


def put(kind: str, name: str, sql: str, root: int = 0) -> str:
    return f"INSERT INTO sqlite_schema VALUES ('{kind}', '{name}', 'rows', {root}, '{sql}')"


def replace(table: str, old: str, new: str) -> str:
    return f"UPDATE sqlite_schema SET sql = replace(sql, '{old}', '{new}') WHERE name = '{table}'"


ATTACKS = {
    "trigger": TRIGGER,
    "view": VIEW,
    "type in capitals": put("TRIGGER", "bad", TRIGGER),
    "type in mixed case": put("Trigger", "bad", TRIGGER),
    "type that lies": put("table", "bad", TRIGGER),
    "empty type": put("", "bad", TRIGGER),
    "view in mixed case": put("View", "bad", VIEW),
    "name that lies": put("index", "ix_rows_blank", TRIGGER),
    "name of ours and root": put("table", "annotations", TRIGGER),
    "comment in a virtual table": put(
        "table", "bad", "CREATE/**/VIRTUAL TABLE bad USING fts5(text, content=rows)"
    ),
    "virtual table": "CREATE VIRTUAL TABLE bad USING fts5(text, content='rows')",
    "other search index": "CREATE VIRTUAL TABLE row_search USING fts5(text, content='annotations')",
    "search index of other columns": "CREATE TABLE row_trigrams (id INTEGER PRIMARY KEY, other BLOB)",
    "extra table": "CREATE TABLE more (id INTEGER PRIMARY KEY)",
    "extra index": "CREATE INDEX more ON rows (length)",
    "expression index": "CREATE INDEX more ON rows (hex(zeroblob(1000000)))",
    "column more": "ALTER TABLE marks ADD COLUMN more TEXT",
    "generated column": "ALTER TABLE marks ADD COLUMN more AS (hex(zeroblob(1000000)))",
    "check": replace("marks", "note TEXT NOT NULL", "note TEXT NOT NULL CHECK (length(zeroblob(1e9)))"),
    "check dropped": replace("annotations", "CHECK (decision IN", "CHECK (decision NOT IN"),
    "collation": replace("rows", "text TEXT", "text TEXT COLLATE NOCASE"),
    "comment": replace("rows", "text TEXT", "text /* x */ TEXT"),
    "other default": replace("project", "INTEGER DEFAULT", "INTEGER DEFAULT 7 --"),
    "index of another column": replace("ix_scores_margin", "margin", "top"),
    "same twice": "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'marks'",
    "same root": "UPDATE sqlite_schema SET rootpage ="
    " (SELECT rootpage FROM sqlite_schema WHERE name = 'rows') WHERE name = 'scores'",
    "no root": "UPDATE sqlite_schema SET rootpage = 0 WHERE name = 'marks'",
    "index missing": "DROP INDEX ix_annotations_decision",
    "part of the search index": put(
        "table", "row_search_config", "CREATE TABLE ''row_search_config''(k PRIMARY KEY, v) WITHOUT ROWID", 3
    ),
    "no text": "UPDATE sqlite_schema SET sql = NULL WHERE name = 'marks'",
    "bad byte in a name": "UPDATE sqlite_schema SET name = CAST(x'6d61ff6b73' AS TEXT) WHERE name = 'marks'",
    "bad byte in a text": "UPDATE sqlite_schema SET sql = CAST(CAST(sql AS BLOB) || x'ff' AS TEXT)"
    " WHERE name = 'marks'",
    "text is a number": "UPDATE sqlite_schema SET sql = 7 WHERE name = 'marks'",
}


def harm(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("PRAGMA writable_schema=ON")
        for statement in statements:
            plain.execute(statement)


@pytest.fixture
def closed(path: Path, project: Project) -> Path:
    """Make a project with a decision and a note on each of four rows."""
    fill(project, ["a", "b", "c", "d"])
    (label,) = use_labels(project, "x")
    project.decide([1, 2, 3, 4], Decision.LABEL, [label])
    for row in range(1, 5):
        project.set_marks(row, note=f"note {row}")
    project.close()
    return path


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_file_with_anything_that_is_not_ours_is_refused_and_rescued(
    closed: Path, tmp_path: Path, attack: str
) -> None:
    harm(closed, attack)
    before = closed.read_bytes()
    for read_only in (False, True):
        with pytest.raises(DamagedProject, match=r"project repair survey\.sce COPY") as caught:
            Project.open(closed, read_only=read_only)
        assert str(caught.value).isprintable()
        assert "survey.sce" in caught.value.what
    assert closed.read_bytes() == before
    report = Project.repair_file(closed, tmp_path / "copy.sce")
    assert (report.rows, report.annotations) == (4, 4)
    with Project.open(tmp_path / "copy.sce") as new:
        assert new.verify() == []
        new.decide([2], Decision.SKIPPED)  # nothing acts on it
        assert len(new.annotations([1, 2, 3, 4])) == 4
        assert [mark.note for mark in new.marks([1, 2, 3, 4]).values()] == [f"note {n}" for n in range(1, 5)]


@pytest.mark.parametrize("version", range(1, migrations.schema_version() + 1))
def test_every_format_is_known_and_one_step_off_is_not(path: Path, version: int) -> None:
    make_first(path)
    engine = sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(path), poolclass=sa.NullPool)
    with engine.begin() as connection:
        for step in migrations.MIGRATIONS[: version - 1]:
            step(connection)
    with closing(sqlite3.connect(path)) as plain:
        same = [v for v in range(1, migrations.schema_version() + 1) if not formats.difference(plain, v)]
    alike = {7, 8}  # the search index, which is made behind the work, is another one: no table differs
    assert same == (sorted(alike) if version in alike else [version])
    harm(path, f"PRAGMA user_version={version}", TRIGGER)
    with pytest.raises(DamagedProject, match="database program"):
        Project.open(path)
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["survey.sce"]  # no copy was kept
    harm(path, "DROP TRIGGER bad")
    with Project.open(path) as project:
        assert project.verify() == []


@pytest.mark.parametrize("read_only", [False, True])
def test_statistics_that_another_program_has_made_are_no_harm(closed: Path, *, read_only: bool) -> None:
    with closing(sqlite3.connect(closed)) as plain:
        plain.execute("ANALYZE")
        assert plain.execute("SELECT count(*) FROM sqlite_stat1").fetchone()[0]
    with Project.open(closed, read_only=read_only) as project:
        assert len(project.annotations([1, 2, 3, 4])) == 4
        assert project.verify() == []
        if not read_only:
            project.decide([2], Decision.SKIPPED)


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat CHECK (length(zeroblob(1e9))))"),
        ("sqlite_stat2", "CREATE TABLE sqlite_stat2(tbl,idx,stat)"),
        ("sqlite_stat4", TRIGGER),
        ("sqlite_stat4", VIEW),
    ],
)
def test_what_only_has_the_name_of_statistics_is_refused(closed: Path, name: str, sql: str) -> None:
    harm(closed, put("table", name, sql))
    with pytest.raises(DamagedProject):
        Project.open(closed)


def test_statistics_of_the_finer_kind_are_known(closed: Path) -> None:
    sql = "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"
    with closing(sqlite3.connect(closed, isolation_level=None)) as plain:
        plain.execute("CREATE TABLE stand_in(tbl,idx,neq,nlt,ndlt,sample)")
        plain.execute("PRAGMA writable_schema=ON")
        names = f"sql = '{sql}', name = 'sqlite_stat4', tbl_name = 'sqlite_stat4'"
        plain.execute(f"UPDATE sqlite_schema SET {names} WHERE name = 'stand_in'")
    with Project.open(closed) as project:
        assert project.verify() == []


@pytest.mark.parametrize("version", [*range(1, migrations.schema_version() - 1)])  # 7 has the tables of 8
def test_version_set_back_is_refused(closed: Path, version: int) -> None:
    harm(closed, f"PRAGMA user_version={version}")
    with pytest.raises(DamagedProject):
        Project.open(closed)


def test_new_project_has_what_the_last_step_leaves(closed: Path) -> None:
    """Whoever changes `schema` has to write a step that comes to the same text."""
    with Project.open(closed) as project:
        project.build_search_index()
    with closing(sqlite3.connect(closed)) as plain:
        found = {entry for entry, _ in formats.entries(plain)}
    known = formats.of_version(migrations.schema_version())
    assert found == known.required | known.optional - formats._fts_entries()


def test_search_index_is_known_without_its_extension() -> None:
    assert formats._fts_entries() < formats.of_version(1).optional


def test_text_of_a_schema_counts_and_its_blanks_do_not() -> None:
    one = "CREATE TABLE a (\n\tb TEXT DEFAULT '0' NOT NULL)"
    assert formats.canonical(one) == formats.canonical("CREATE  TABLE a(b TEXT NOT NULL DEFAULT '0' )")
    for other in ("B TEXT", "b TEXT -- x\n", "b TEXT DEFAULT ' 0'", "b TEXT DEFAULT 0"):
        assert formats.canonical(f"CREATE TABLE a ({other} NOT NULL)") != formats.canonical(one)
