from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from sce_desktop.core.annotations import Decision, RowMarks
from sce_desktop.core.errors import DamagedProject, UserError
from sce_desktop.core.query import RowQuery
from sce_desktop.store.content.rows import hash_text
from sce_desktop.store.file import first_format, migrations, placing, schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.project import Project

FIRST_ROWS = """
    INSERT INTO label_sets VALUES (1, 'Labels', 1,
        '[{"name": "a", "description": "", "synonyms": [], "colour": "", "shortcut": "", "id": 1}]',
        0, '2026-01-01T00:00:00.000+00:00');
    INSERT INTO project VALUES (1, 'Old', '2026-01-01T00:00:00.000+00:00', '["ref", "text"]', '[1]', 1, 0);
    INSERT INTO labels VALUES (1, 'a', 1);
    INSERT INTO rows VALUES (1, x'c88d4df74262143a08e9d190e3bd67f1', 3, 0, 'one', '["r1"]');
    INSERT INTO rows VALUES (2, x'cae66941d9efbd404e4d88758ea67670', 0, 1, '', '["r2", null]');
    INSERT INTO imports VALUES (1, '{"path": "old.csv"}', 2, 1, 0, 2, '2026-01-01T00:00:00.000+00:00');
    INSERT INTO annotations VALUES (1, 'label', 'hand', '2026-01-02T00:00:00.000+00:00', '');
    INSERT INTO annotation_labels VALUES (1, 1);
    INSERT INTO marks VALUES (2, 1, 0, 'a note');
    INSERT INTO runs VALUES (1, 'sce', 'sce', 'sce-mini', 'f',
        '[{"name": "a", "description": "", "synonyms": [], "colour": "", "shortcut": "", "id": 1}]',
        'key', 0, '2026-01-01T00:00:00.000+00:00', NULL, 1, 1);
    INSERT INTO scores VALUES (1, 1, 0, 1.0, 1.0, NULL, x'0000803f');
"""


def make_first(path: Path) -> None:
    with closing(sqlite3.connect(path)) as plain:
        plain.executescript(first_format.SQL)
        plain.executescript(FIRST_ROWS)
        plain.execute(f"PRAGMA application_id={schema.APPLICATION_ID}")
        plain.execute("PRAGMA user_version=1")


def make_format(path: Path, version: int) -> None:
    """Make a project of an older format, as the program of that time left it."""
    make_first(path)
    engine = sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(path), poolclass=sa.NullPool)
    with engine.begin() as connection:
        for step in NOW[: version - 1]:
            step(connection)
        connection.exec_driver_sql(f"PRAGMA user_version={version}")


def shape_of(path: Path) -> dict[str, Any]:
    """Return everything that the schema of a file says, in a form that does not hang on how it came about."""
    engine = sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(path), poolclass=sa.NullPool)
    with engine.connect() as connection:
        inspector = sa.inspect(connection)
        return {
            table: {
                "columns": [
                    (c["name"], str(c["type"]), c["nullable"], c["default"], c["primary_key"])
                    for c in inspector.get_columns(table)
                ],
                "indexes": sorted(
                    (i["name"], i["column_names"], i["unique"]) for i in inspector.get_indexes(table)
                ),
                "foreign": sorted(
                    (f["constrained_columns"], f["referred_table"], f["referred_columns"], str(f["options"]))
                    for f in inspector.get_foreign_keys(table)
                ),
                "unique": sorted(u["column_names"] for u in inspector.get_unique_constraints(table)),
                "checks": sorted(c["sqltext"] for c in inspector.get_check_constraints(table)),
            }
            for table in sorted(inspector.get_table_names())
        }


def test_first_format_opens_with_all_that_is_in_it(path: Path) -> None:
    make_first(path)
    with Project.open(path) as project:
        assert (project.name, project.row_count(), project.blank_count()) == ("Old", 2, 1)
        assert [row.cells for row in project.rows([1, 2])] == [("r1", "one"), ("r2", None)]
        assert project.annotations([1])[1].decision is Decision.LABEL
        assert project.marks([2]) == {2: RowMarks(2, unsure=True, note="a note")}
        assert project.scores(1, [1])[1].probabilities.tolist() == [1.0]
        assert project.imports()[0].source == {"path": "old.csv"}
        assert project.verify() == []


def test_migrated_first_format_equals_a_new_project(path: Path, tmp_path: Path) -> None:
    make_first(path)
    Project.open(path).close()
    Project.create(tmp_path / "new.sce").close()
    assert shape_of(path) == shape_of(tmp_path / "new.sce")


def test_rows_of_invisible_characters_become_blank(path: Path) -> None:
    make_first(path)
    with closing(sqlite3.connect(path)) as plain:
        for row_id, text in enumerate(["\u200b", "seen", "\u200b", "seen", "\ufeff\0"], start=3):
            hashed = hash_text(text)
            plain.execute("INSERT INTO rows VALUES (?, ?, 1, 0, ?, '[\"r\"]')", (row_id, hashed, text))
            plain.execute("INSERT INTO scores VALUES (1, ?, 0, 1.0, 1.0, NULL, x'0000803f')", (row_id,))
        plain.execute("UPDATE runs SET scored = 6")
        plain.execute("INSERT INTO imports VALUES (2, '{}', 5, 0, 2, 7, '2026-01-01T00:00:00.000+00:00')")
        plain.commit()
    with Project.open(path) as project:
        assert [row.blank for row in project.rows(range(1, 8))] == [
            False,
            True,
            True,
            False,
            True,
            False,
            True,
        ]
        assert project.row_ids(RowQuery(blank=True)).tolist() == [2, 3, 5, 7]
        assert [(one.rows, one.blank, one.duplicates) for one in project.imports()] == [(2, 1, 0), (5, 3, 1)]
        assert (project.blank_count(), project.duplicate_count()) == (4, 1)
        assert sorted(project.scores(1, range(1, 8))) == [1, 4, 6]
        assert project.runs()[0].scored == 3
        assert project.verify() == []


def test_format_3_knows_no_whole_table_whatever_its_models_are_called(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_first(path)
    with monkeypatch.context() as before:
        before.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:2])
        engine = sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(path), poolclass=sa.NullPool)
        with engine.begin() as connection:
            migrations.migrate(connection, 1)
    assert version(path) == 3
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("UPDATE runs SET model = 'x, whole table'")
    with Project.open(path) as project:
        (run,) = project.runs()
        assert (run.model, run.title, run.whole_table) == ("x, whole table", "x, whole table", False)
        assert not project.whole_table()
        assert project.threshold() is None
        known = project.open_run("sce", "sce", "x", "known", run.labels, whole_table=True)
    assert version(path) == FORMAT
    with Project.open(path) as project:
        assert project.runs() == (run, known)


# --- the ladder itself, with steps that do not exist yet

NOW = migrations.MIGRATIONS.copy()
FORMAT = len(NOW) + 1


def make_present(path: Path) -> None:
    """Make a project of the present format that was once of the first."""
    make_first(path)
    Project.open(path).close()
    path.with_name("survey (before update from format 1).sce").unlink()


def add_colour(connection: sa.Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE marks ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'")


def rename_project(connection: sa.Connection) -> None:
    connection.exec_driver_sql("UPDATE project SET name = name || '!'")


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as plain:
        return int(plain.execute("PRAGMA user_version").fetchone()[0])


def test_older_project_is_copied_then_migrated_step_by_step(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_present(path)
    monkeypatch.setattr(migrations, "MIGRATIONS", [*NOW, add_colour, rename_project])
    with Project.open(path) as project:
        assert project.name == "Old!"
        assert project.row_count() == 2
    copy = path.with_name(f"survey (before update from format {FORMAT}).sce")
    assert (version(path), version(copy)) == (FORMAT + 2, FORMAT)
    assert sorted(path.parent.iterdir()) == [copy, path]

    monkeypatch.setattr(migrations, "MIGRATIONS", NOW)
    with Project.open(copy) as old:  # the version before can still open the copy
        assert (old.name, old.verify()) == ("Old", [])


def test_copies_of_several_updates_are_all_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_present(path)
    path.with_name(f"survey (before update from format {FORMAT}).sce").write_text("kept")
    monkeypatch.setattr(migrations, "MIGRATIONS", [*NOW, rename_project])
    Project.open(path).close()
    assert path.with_name(f"survey (before update from format {FORMAT}).sce").read_text() == "kept"
    assert version(path.with_name(f"survey (before update from format {FORMAT}) 2.sce")) == FORMAT


def test_failing_migration_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_connection: sa.Connection) -> None:
        raise RuntimeError("a bug in a step")

    make_present(path)
    monkeypatch.setattr(migrations, "MIGRATIONS", [*NOW, rename_project, fail])
    with pytest.raises(RuntimeError, match="a bug in a step"):
        Project.open(path)
    monkeypatch.setattr(migrations, "MIGRATIONS", NOW)
    with Project.open(path) as project:
        assert (project.name, project.read_only) == ("Old", False)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_ERROR])
def test_only_a_missing_module_keeps_the_old_index_in_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    execute = sa.Connection.exec_driver_sql

    def failing(self: sa.Connection, statement: str, *more: Any) -> Any:
        if statement != "DROP TABLE IF EXISTS row_search":
            return execute(self, statement, *more)
        if code != sqlite3.SQLITE_ERROR:
            raw(self).rollback()  # SQLite does so by itself
        error = sqlite3.OperationalError("a stand-in")
        error.sqlite_errorcode = code
        raise sa.exc.OperationalError(statement, None, error)

    make_format(path, 6)
    monkeypatch.setattr(sa.Connection, "exec_driver_sql", failing)
    if code == sqlite3.SQLITE_ERROR:
        Project.open(path).close()
    else:
        with pytest.raises(UserError, match="disk"):
            Project.open(path)
    assert version(path) == (FORMAT if code == sqlite3.SQLITE_ERROR else 6)


def test_no_version_without_what_was_done_for_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(connection: sa.Connection) -> None:
        raw(connection).rollback()

    make_present(path)
    monkeypatch.setattr(migrations, "MIGRATIONS", [*NOW, lose, rename_project])
    with pytest.raises(RuntimeError, match="lose ended the transaction"):
        Project.open(path)
    monkeypatch.setattr(migrations, "MIGRATIONS", NOW)
    with Project.open(path) as project:
        assert project.name == "Old"


def test_older_project_that_cannot_be_written_is_reported(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_present(path)
    monkeypatch.setattr(migrations, "MIGRATIONS", [*NOW, rename_project])
    with pytest.raises(UserError, match="older version"):
        Project.open(path, read_only=True)
    assert (version(path), sorted(path.parent.iterdir())) == (FORMAT, [path])


def test_no_update_without_room_for_the_copy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_folder: Path) -> None:
        raise OSError("no room")

    make_present(path)
    monkeypatch.setattr(migrations, "MIGRATIONS", [*NOW, rename_project])
    monkeypatch.setattr(placing, "sync_folder", fail)
    with pytest.raises(UserError, match="cannot be written"):
        Project.open(path)
    assert version(path) == FORMAT


@pytest.mark.parametrize("steps", range(len(NOW)))
def test_older_project_can_be_looked_at_without_being_changed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    make_format(path, steps + 1)
    before = path.read_bytes()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with Project.open(path, read_only=True, older=True) as project:
        assert (project.path, project.row_count(), project.read_only) == (path, 2, True)
        assert project.annotations([1])[1].decision is Decision.LABEL
        assert project.verify() == []
        project.backup(path.with_name("backup.sce"))
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []
    assert path.read_bytes() == before
    with Project.open(path.with_name("backup.sce")) as backup:
        assert backup.verify() == []
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["backup.sce", "survey.sce", "temporary"]


@pytest.mark.parametrize("text", ["x'ff00'", "CAST(x'61ff' AS TEXT)"], ids=["bytes", "no UTF-8"])
def test_older_project_that_no_step_can_read_is_a_sentence(path: Path, text: str) -> None:
    make_first(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute(f"UPDATE rows SET text = {text} WHERE id = 1")
    for read_only in (True, False):
        with pytest.raises(DamagedProject, match=r"cannot be updated|invalid characters in a text"):
            Project.open(path, read_only=read_only, older=read_only)
    assert version(path) == 1
    report = Project.repair_file(path, path.with_name("copy.sce"))
    assert report.rows >= 1
    with Project.open(path.with_name("copy.sce")) as project:
        assert project.verify() == []


def test_older_project_that_is_damaged_leaves_no_copy(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_first(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("UPDATE imports SET last_row_id = 1000000000")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with pytest.raises(DamagedProject, match="imports do not fit"):
        Project.open(path, read_only=True, older=True)
    assert list(temporary.iterdir()) == []
