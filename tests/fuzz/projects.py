"""``python -m tests.fuzz projects``: damage small project files, open, verify, read, export and repair them.

Each must be refused in one sentence, or do as a whole project does.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import sqlite3
import struct
from pathlib import Path
from typing import Any

from tests.fuzz import campaign, json_mutations
from tests.hostile import model_cases, models

_VALUES: tuple[Any, ...] = (
    *(None, 0, 1, -1, 2, 7, 10**9, 2**31, 2**62, 0.5, 1e308, "", "a", "label", "null", "[]", "{}", "\ud7ff"),
    *(b"", b"\xff\xfe", b"\x00" * 40, "x" * 2_000, "[" * 3_000, '{"a":' * 1_500 + "1" + "}" * 1_500),
)
_SQL = (
    "CREATE TRIGGER t AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END",
    "CREATE VIEW v AS SELECT * FROM {table}",
    "CREATE TABLE more(a)",
    "CREATE INDEX more ON {table}(abs(rowid))",
    "DROP TABLE {table}",
    "DELETE FROM {table}",
    "PRAGMA user_version = {number}",
    "PRAGMA application_id = {number}",
    "UPDATE {table} SET rowid = rowid + {number}",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) "
    "INSERT OR IGNORE INTO {table} SELECT {table}.* FROM {table}, n",
)


class Projects:
    """A small project with rows, labels, scores and decisions."""

    name = "projects"

    def __init__(self) -> None:
        self.whole: list[bytes] = []

    def prepare(self, folder: Path) -> None:
        """Make two projects: one just imported, one with labels, annotations, scores and a version."""
        os.environ["SCE_DESKTOP_HOME"] = str(folder / "home")
        folder.mkdir()
        import sce_desktop.ml.hub.session
        import sce_desktop.tasks.training.versions  # noqa: F401

        model = model_cases.KINDS["sce"](folder / "sce")
        table = folder / "table.csv"
        lines = [f"{i},The parcel {i} came late,{('late', 'damaged')[i % 2]},{i % 3}\n" for i in range(60)]
        table.write_text("id,text,label,other\n" + "".join(lines), encoding="utf-8")
        for number, more in enumerate(([], ["--gold", "label"])):
            path = folder / f"{number}.sce"
            create = ["project", "create", str(path), str(table), "--text", "text"]
            _run([*create, "--label", "late", "--label", "damaged", *more], must=True)
            if number:
                _run(["project", "score", str(path), "--model", str(model)], must=True)
                _run(["project", "finetune", str(path), "--model", str(model)], must=False)
            self.whole.append(path.read_bytes())

    def make(self, chance: random.Random, folder: Path) -> str:
        """Damage a copy of one."""
        path = folder / "a.sce"
        path.write_bytes(chance.choice(self.whole))
        kinds = [
            chance.choice([_content, _content, _json, _schema, _page, _header, _bytes]) for _ in range(3)
        ]
        return "; ".join(damage(chance, path) for damage in kinds[: chance.choice([1, 1, 2, 3])])

    def use(self, folder: Path) -> str:
        """Run every command that reads it, and open it as the window does."""
        path = folder / "a.sce"
        words = [_run(["project", "info", str(path)]), _run(["project", "verify", str(path)])]
        words.append(_run(["project", "export", str(path), "-o", str(folder / "out.csv")]))
        words.append(_opened(path))
        words.append(_run(["project", "repair", str(path), str(folder / "repaired.sce")]))
        if words[-1] == "done":
            # what repair wrote must be whole
            assert _run(["project", "verify", str(folder / "repaired.sce")]) == "done", (
                "repaired, but not whole"
            )
        return "used" if words.count("done") == len(words) else "refused"


def _run(arguments: list[str], *, must: bool = False) -> str:
    from sce_desktop.cli import main

    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        code = main(arguments)
    said = errors.getvalue()
    assert "Traceback" not in said, said
    if must:
        assert not code, said
    if not code:
        return "done"
    lines = [line for line in said.splitlines() if line.strip()]
    if lines:
        models.one_sentence(lines[-1])
    return "refused"


def _opened(path: Path) -> str:
    from sce_desktop.core.errors import UserError
    from sce_desktop.core.query import RowQuery
    from sce_desktop.store.project import Project

    try:
        with contextlib.closing(Project.open(path)) as project:
            ids = project.row_ids(RowQuery())
            project.texts(ids[:50])
            project.annotations(ids[:50])
            project.label_set()
            project.versions()
            for run in project.runs():
                project.scores(run.id, ids[:50])
    except UserError as error:
        models.one_sentence(str(error))
        return "refused"
    return "done"


# --- damage ------------------------------------------------------------------------------------------------


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    )
    return [name for (name,) in found]


@contextlib.contextmanager
def _changed(path: Path) -> Any:
    """Give a connection that may write anything; what SQLite refuses is left as it is."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("PRAGMA foreign_keys = OFF")
        with contextlib.suppress(sqlite3.Error, ValueError, OverflowError, IndexError, TypeError):
            yield connection
    except (sqlite3.Error, UnicodeError):
        pass
    finally:
        with contextlib.suppress(sqlite3.Error, UnicodeError):
            connection.execute("PRAGMA journal_mode = DELETE")
        connection.close()


def _cell(chance: random.Random, connection: sqlite3.Connection) -> tuple[str, str, int]:
    """Return a table, a column of it, and the rowid of one of its rows."""
    table = chance.choice(_tables(connection))
    column = chance.choice([row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')])
    rows = [row for (row,) in connection.execute(f'SELECT rowid FROM "{table}" LIMIT 100')]
    return table, column, chance.choice(rows or [1])


def _content(chance: random.Random, path: Path) -> str:
    words = "content"
    with _changed(path) as connection:
        table, column, row = _cell(chance, connection)
        value = chance.choice(_VALUES)
        words = f"{table}.{column} = {str(value)[:20]!r}"
        where = "" if chance.randrange(4) == 0 else f" WHERE rowid = {row}"
        connection.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ?{where}', (value,))
    return words


def _json(chance: random.Random, path: Path) -> str:
    words = "json"
    with _changed(path) as connection:
        for _each in range(20):
            table, column, row = _cell(chance, connection)
            found = connection.execute(f'SELECT "{column}" FROM "{table}" WHERE rowid = {row}').fetchone()
            if not found or not isinstance(found[0], str) or found[0][:1] not in "[{":
                continue
            try:
                content, words = json_mutations.mutated_text(chance, found[0], chance.choice([1, 2]))
            except (ValueError, RecursionError):
                continue
            text = content.decode("utf-8", "replace")
            connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = {row}', (text,))
            return f"{table}.{column} {words}"
    return words


def _schema(chance: random.Random, path: Path) -> str:
    words = "schema"
    with _changed(path) as connection:
        table = chance.choice(_tables(connection))
        if chance.random() < 0.5:
            number = chance.choice([0, 1, 5, 99, 2**31 - 1])
            words = chance.choice(_SQL).format(table=f'"{table}"', number=number)
            connection.execute(words)
            return words
        connection.execute("PRAGMA writable_schema = ON")
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema")]
        name = chance.choice(names)
        (sql,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
        content, words = json_mutations.mutated_bytes(chance, (sql or "").encode())
        column, value = chance.choice(
            [
                ("sql", content.decode("utf-8", "replace")),
                ("sql", (sql or "").replace("NOT NULL", "").replace("CHECK", "")),
                ("type", chance.choice(["TRIGGER", "View", "", "table"])),
                ("rootpage", chance.choice([0, 1, 2, 3, 10**6, -1])),
                ("name", chance.choice(["", "x", b"\xff", name.upper()])),
                ("tbl_name", chance.choice(["", "x", name])),
            ]
        )
        connection.execute(f"UPDATE sqlite_schema SET {column} = ? WHERE name = ?", (value, name))
        words = f"schema {name}.{column} {words}"
    return words


def _page(chance: random.Random, path: Path) -> str:
    data = bytearray(path.read_bytes().ljust(4096, b"\0"))
    size = 4096
    page = chance.randrange(max(1, len(data) // size)) * size
    kind = chance.choice(["zero", "copy", "header", "cells"])
    if kind == "zero":
        data[page : page + size] = bytes(size)
    elif kind == "copy":
        other = chance.randrange(max(1, len(data) // size)) * size
        data[page : page + size] = data[other : other + size]
    else:
        at = page + (chance.randrange(12) if kind == "header" else chance.randrange(size - 8))
        data[at : at + 4] = struct.pack(">I", chance.choice([0, 1, 2**31, 2**32 - 1, 0x0D000001]))
    path.write_bytes(data)
    return f"page {page // size} {kind}"


def _header(chance: random.Random, path: Path) -> str:
    data = bytearray(path.read_bytes().ljust(100, b"\0"))
    at = chance.randrange(100)
    data[at] = chance.randrange(256)
    path.write_bytes(data)
    return f"header {at}"


def _bytes(chance: random.Random, path: Path) -> str:
    content, word = json_mutations.mutated_bytes(chance, path.read_bytes())
    path.write_bytes(content)
    return word


def main(arguments: list[str]) -> int:
    """Run the fuzzer."""
    return campaign.run(Projects(), arguments)
