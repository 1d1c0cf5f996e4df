"""Project files that somebody made to do harm, or that a careless program has changed: a builder for each.

`make_sound` makes a project with something in every table. Each of `PROJECTS` changes a copy of it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.figures import Figures, PairedCounts
from sce_desktop.core.runs import Scores
from sce_desktop.core.tables import TypedCells
from sce_desktop.core.training import FinetuneSettings, TrainingReport
from sce_desktop.store.file import schema
from sce_desktop.store.project import Project

ROWS: Final = 60
COLUMNS: Final = ("ref", "text", "group")
DEEP: Final = "[" * 100_000
LABEL: Final = '{"name": "a", "description": "", "synonyms": [], "colour": "", "shortcut": "", "id": 1}'
Builder = Callable[[Path], None]


def make_sound(path: Path) -> None:
    """Make a project that uses every table: 60 rows, 2 labels, 2 runs, a version, a sample, annotators."""
    with Project.create(path) as project:
        cells = [
            TypedCells((f"r{n}", f"text number {n} of the table", str(n % 4)), "ttj") for n in range(ROWS)
        ]
        project.add_rows(COLUMNS, [cells], text_columns=[1], source={"path": "table.csv"})
        a, b = project.set_labels([Label("a", synonyms=("first",)), Label("b")]).labels
        project.decide(range(1, 31), Decision.LABEL, [a.id or 0])
        project.decide([31], Decision.NONE)
        project.decide([32], Decision.SKIPPED)
        project.set_marks(1, note="mind")
        project.set_marks(2, flag=True)
        for alias, high in (("sce", 0.75), ("similarity", 0.625)):
            run = project.open_run(alias, "sce" if alias == "sce" else "similarity", "m", "f", (a, b))
            vectors = np.tile(np.array([high, 1 - high], np.float32), (ROWS, 1))
            project.add_scores(run.id, range(1, ROWS + 1), Scores(vectors))
        figures = Figures(0.5, (0.4, 0.6), 0.5, 0.1)
        report = TrainingReport(PairedCounts(40, 10, 0), figures, replace(figures, accuracy=0.75), figures)
        for name in ("first", "second"):
            project.add_version(
                name=name,
                base="sce-mini",
                base_fingerprint="f",
                data_hash="d",
                train_rows=80,
                held_out_rows=20,
                settings=FinetuneSettings(epochs=3, seed=7),
                report=report,
                seconds=1.5,
                weights=b"\0weights\xff",
            )
        project.activate_version(1)
        project.create_audit([33, 40, 35], 1)
        project.add_coder("other", "file.csv", {1: "a", 2: "b", 3: None, 4: "unknown"})
        project.add_repeat(5, [a.id or 0])
        project.set_threshold(0.5)
        project.decide([50], Decision.LABEL, [b.id or 0])
        project.undo()
        project.build_search_index()


def sql(*statements: str | tuple[str, object], writable_schema: bool = False) -> Builder:
    """Return what runs statements, each with its parameter, without SQLite's own checks."""

    def build(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as plain:
            plain.execute("PRAGMA ignore_check_constraints=ON")
            if writable_schema:
                plain.execute("PRAGMA writable_schema=ON")
            for one in statements:
                statement, *values = (one,) if isinstance(one, str) else one
                plain.execute(statement, values)

    return build


def schema_sql(*statements: str | tuple[str, object]) -> Builder:
    """Return what changes the schema behind SQLite's back."""
    return sql(*statements, writable_schema=True)


def patched(offset: int, content: bytes) -> Builder:
    """Return what writes bytes over those of the file; a negative offset counts from its end."""

    def build(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(offset, os.SEEK_END if offset < 0 else os.SEEK_SET)
            file.write(content)

    return build


def rebuilt(*pragmas: str) -> Builder:
    """Return what writes the file again under other settings of SQLite's."""
    return sql(*pragmas, "VACUUM")


def companion(ending: str, content: bytes) -> Builder:
    """Return what puts a file of that content beside the project."""
    return lambda path: path.with_name(path.name + ending).write_bytes(content) and None


# --- the schema -------------------------------------------------------------------------------------------

_TRIGGER: Final = "CREATE TRIGGER bad AFTER INSERT ON annotations BEGIN DELETE FROM annotations; END"
_VIEW: Final = "CREATE VIEW bad AS SELECT * FROM rows"
_LOOP: Final = (
    "CREATE VIEW {} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
)


def _put(kind: str, name: str, text: str, root: int = 0) -> tuple[str, object]:
    return f"INSERT INTO sqlite_schema VALUES ('{kind}', '{name}', 'rows', {root}, ?)", text


def _in_schema(name: str, old: str, new: str) -> str:
    return f"UPDATE sqlite_schema SET sql = replace(sql, '{old}', '{new}') WHERE name = '{name}'"


def _rows_as_view(path: Path) -> None:
    """Put a view that never ends where the rows are."""
    schema_sql(
        "DELETE FROM sqlite_schema WHERE name IN ('rows', 'ix_rows_blank', 'ix_rows_text_hash')",
        _put("view", "rows", _LOOP.format("rows")),
    )(path)


def _other_encoding(path: Path) -> None:
    """Write the same project in UTF-16."""
    with closing(sqlite3.connect(path)) as old:
        script = [text for (text,) in old.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL")]
        script = [
            text
            for text in script
            if "row_trigrams" not in text and "row_search" not in text and "sqlite_" not in text
        ]
        content = {
            table: old.execute(f"SELECT * FROM {table}").fetchall() for table in schema.metadata.tables
        }
        version = old.execute("PRAGMA user_version").fetchone()[0]
    path.unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as new:
        new.execute("PRAGMA encoding='UTF-16le'")
        new.execute(f"PRAGMA application_id={schema.APPLICATION_ID}")
        new.execute(f"PRAGMA user_version={version}")
        for text in script:
            new.execute(text)
        for table, records in content.items():
            for record in records:
                new.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(record))})", record)
        new.execute("UPDATE project SET searchable_to = 0")


_SCHEMA: Final[dict[str, Builder]] = {
    "trigger": sql(_TRIGGER),
    "trigger of type TRIGGER": schema_sql(_put("TRIGGER", "bad", _TRIGGER)),
    "trigger of type Trigger": schema_sql(_put("Trigger", "bad", _TRIGGER)),
    "trigger called a table": schema_sql(_put("table", "bad", _TRIGGER)),
    "view of type View": schema_sql(_put("View", "bad", _VIEW)),
    "view for rows without end": _rows_as_view,
    "virtual table with a comment": schema_sql(
        _put("table", "bad", "CREATE/**/VIRTUAL TABLE bad USING fts5(text, content=rows)")
    ),
    "virtual table of the file system": schema_sql(
        _put("table", "bad", "CREATE VIRTUAL TABLE bad USING fts3tokenize('simple')")
    ),
    "generated column": sql("ALTER TABLE marks ADD COLUMN more AS (hex(zeroblob(500000000)))"),
    "index of an expression": schema_sql(
        _in_schema("ix_rows_blank", "(blank)", "(hex(zeroblob(500000000)))")
    ),
    "index with another condition": schema_sql(
        _in_schema("ix_rows_blank", "WHERE blank = 1", "WHERE length(zeroblob(900000000))")
    ),
    "altered CHECK": schema_sql(
        _in_schema("marks", "note TEXT NOT NULL", "note TEXT NOT NULL CHECK (length(hex(zeroblob(5e8))))")
    ),
    "altered default": schema_sql(_in_schema("project", "DEFAULT ''0''", "DEFAULT (hex(zeroblob(5e8)))")),
    "extra table": sql("CREATE TABLE more (id INTEGER PRIMARY KEY)"),
    "shadow tables with content": schema_sql(
        _put(
            "table", "row_search_content", "CREATE TABLE 'row_search_content'(id INTEGER PRIMARY KEY, c0)", 5
        )
    ),
    "search index of another table": sql(
        "DROP TABLE row_trigrams", "CREATE VIRTUAL TABLE row_search USING fts5(text, content='annotations')"
    ),
    "search index garbled": sql("UPDATE row_trigrams SET rows = randomblob(300)"),
    "search index of another shape": sql("UPDATE row_trigrams SET rows = zeroblob(0)"),
    "two tables, one root": schema_sql(
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'rows')"
        " WHERE name = 'scores'"
    ),
    "schema of a megabyte": schema_sql(
        _in_schema("marks", "note TEXT", "note TEXT /*' || hex(zeroblob(500000)) || '*/")
    ),
    "expression a thousand deep": schema_sql(
        (
            "UPDATE sqlite_schema SET sql = ? WHERE name = 'ix_rows_blank'",
            f"CREATE INDEX ix_rows_blank ON rows (blank) WHERE {'(' * 5000}blank{')' * 5000}",
        )
    ),
    "bad byte in a name": schema_sql(
        "UPDATE sqlite_schema SET name = CAST(x'6d61ff6b73' AS TEXT) WHERE name = 'marks'"
    ),
    "statistics that lie": sql(
        "ANALYZE", "UPDATE sqlite_stat1 SET stat = '1000000000 1000000000 1000000000', idx = 'nothing'"
    ),
    "statistics of another shape": schema_sql(
        _put("table", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat CHECK (length(zeroblob(9e8))))")
    ),
    "numbers used up": sql("UPDATE sqlite_sequence SET seq = 9223372036854775807"),
    "number a text": sql("UPDATE sqlite_sequence SET seq = 'x'"),
    "numbers of another table": sql("INSERT INTO sqlite_sequence VALUES ('nothing', -5)"),
}

# --- the header, the pages, what lies beside the file -------------------------------------------------------


def _foreign_log(path: Path) -> None:
    """Leave the log of another database beside the project, whose header says that it has one."""
    other = path.with_name("other.db")
    with closing(sqlite3.connect(other, isolation_level=None)) as plain:
        plain.execute("PRAGMA page_size=8192")
        plain.execute("PRAGMA journal_mode=WAL")
        plain.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")
        plain.execute("INSERT INTO rows (text) VALUES ('foreign')")
        path.with_name(f"{path.name}-wal").write_bytes(other.with_name("other.db-wal").read_bytes())
    other.unlink()
    patched(18, b"\x02\x02")(path)


def _journal(pages: list[tuple[int, bytes]], size: int, count: int, super_name: bytes = b"") -> bytes:
    """Return a rollback journal: https://www.sqlite.org/fileformat2.html#the_rollback_journal."""
    nonce = 7
    journal = struct.pack(">8s5I", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", len(pages), nonce, count, 512, size)
    journal = journal.ljust(512, b"\0")
    for number, page in pages:
        total = nonce + sum(page[place] for place in range(size - 200, 0, -200))
        journal += struct.pack(">I", number) + page + struct.pack(">I", total & 0xFFFFFFFF)
    if super_name:
        # A page number that no database has, the name, its length, its sum, and the magic again.
        journal += struct.pack(">I", 0x40000000 // size + 1) + super_name
        journal += struct.pack(">II", len(super_name), sum(super_name))
        journal += b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    return journal


def _hot_journal(path: Path) -> None:
    """Leave a journal that puts garbage into the project when SQLite rolls it back."""
    count = path.stat().st_size // 8192
    page = path.read_bytes()[:8192]
    path.with_name(f"{path.name}-journal").write_bytes(
        _journal([(1, page), (3, b"\xff" * 8192), (5, b"\x0d" + b"\0" * 8191)], 8192, count)
    )


def _journal_of_another(path: Path) -> None:
    """Leave the journal that another database of this name had when its program was killed."""
    path.with_name(f"{path.name}-journal").write_bytes(
        _journal([(1, b"SQLite format 3\0".ljust(4096, b"\x01"))], 4096, 1)
    )


def _journal_that_deletes(path: Path) -> None:
    """Leave a journal that names a file of the user's, which SQLite takes for one of its own and deletes."""
    victim = path.with_name("thesis.txt")
    victim.write_text("years of work")
    page = path.read_bytes()[:8192]
    path.with_name(f"{path.name}-journal").write_bytes(
        _journal([(1, page)], 8192, path.stat().st_size // 8192, os.fsencode(victim))
    )


def _log_that_is_a_link(path: Path) -> None:
    """Let the log be a file of the user's, which SQLite would write over."""
    path.with_name("thesis.txt").write_text("years of work")
    path.with_name(f"{path.name}-wal").symlink_to("thesis.txt")
    patched(18, b"\x02\x02")(path)


def _pipe(ending: str) -> Builder:
    def build(path: Path) -> None:
        os.mkfifo(path.with_name(path.name + ending))

    return build


def _cut(share: float) -> Builder:
    return lambda path: os.truncate(path, int(path.stat().st_size * share))


def _shared_overflow(path: Path) -> None:
    """Let 400 rows be one text of two million characters: 800 MB in a file of 2.5 MB."""
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("UPDATE rows SET text = ?, length = 2000000 WHERE id = 60", ("x" * 2_000_000,))
    content = path.read_bytes()
    size = 8192
    inner = 0
    # The leaf with the long record: a table leaf whose one cell goes on elsewhere.
    for start in range(size, len(content), size):
        page = content[start : start + size]
        if page[0] == 13 and b"x" * 100 in page:
            inner = start
    page = bytearray(content[inner : inner + size])
    cells = int.from_bytes(page[3:5], "big")
    pointers = struct.unpack(f">{cells}H", page[8 : 8 + 2 * cells])
    # Every record of the page becomes the last one: the same bytes, the same pages behind.
    page[8 : 8 + 2 * cells] = struct.pack(f">{cells}H", *[pointers[-1]] * cells)
    path.write_bytes(content[:inner] + bytes(page) + content[inner + size :])


def _page_in_a_circle(path: Path) -> None:
    """Let an inner page of the rows be its own child."""
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        for number in range(61, 3000):
            plain.execute(
                "INSERT INTO rows (text_hash, length, blank, text, cells) VALUES (x'00', 1, 0, 'x', ?)",
                (json.dumps([str(number), "y" * 200]),),
            )
        (root,) = plain.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'rows'").fetchone()
    start = (root - 1) * 8192
    page = bytearray(path.read_bytes()[start : start + 8192])
    assert page[0] == 5
    page[8:12] = struct.pack(">I", root)
    patched(start, bytes(page))(path)


_FILE: Final[dict[str, Builder]] = {
    "empty": lambda path: os.truncate(path, 0),
    "header alone": lambda path: os.truncate(path, 100),
    "half": _cut(0.5),
    "last page missing": lambda path: os.truncate(path, path.stat().st_size - 8192),
    "magic lost": patched(0, b"\0" * 16),
    "page size of nothing": patched(16, b"\0\0"),
    "page size of 512": patched(16, b"\x02\0"),
    "reserved bytes": patched(20, b"\xff"),
    "pages beyond the end": patched(28, b"\x7f\xff\xff\xff"),
    "free pages without end": patched(32, b"\0\0\0\x02\x7f\xff\xff\xff"),
    "format of the schema": patched(44, b"\0\0\0\x09"),
    "cache of two billion pages": patched(48, b"\x7f\xff\xff\xff"),
    "encoding nobody knows": patched(56, b"\0\0\0\x07"),
    "version 0": sql("PRAGMA user_version=0"),
    "version set back": sql("PRAGMA user_version=3"),
    "version of one before": sql("PRAGMA user_version=6"),
    "version negative": sql("PRAGMA user_version=-1"),
    "version of the far future": sql("PRAGMA user_version=2147483647"),
    "mark of another program": sql("PRAGMA application_id=7"),
    "UTF-16": _other_encoding,
    "pages of 512 bytes": rebuilt("PRAGMA page_size=512"),
    "auto_vacuum": rebuilt("PRAGMA auto_vacuum=FULL"),
    "root page zeroed": patched(100, b"\0" * 8092),
    "pages in a circle": _page_in_a_circle,
    "records that share their pages": _shared_overflow,
    "log of another database": _foreign_log,
    "log of garbage": companion("-wal", b"\x37\x7f\x06\x82" + os.urandom(9_000)),
    "log that is a link": _log_that_is_a_link,
    "log that is a pipe": _pipe("-wal"),
    "journal of garbage": companion("-journal", os.urandom(9_000)),
    "journal that is a pipe": _pipe("-journal"),
    "journal of another database": _journal_of_another,
    "journal that damages": _hot_journal,
    "journal that deletes a file": _journal_that_deletes,
}

# --- what is in the tables ----------------------------------------------------------------------------------


def _in(column: str, table: str, value: object, where: str = "") -> Builder:
    return sql((f"UPDATE {table} SET {column} = ? {where}", value))


_CONTENTS: Final[dict[str, Builder]] = {
    "last row of a billion": _in("last_row_id", "imports", 1_000_000_000),
    "last row and row of a billion": sql(
        "UPDATE rows SET id = 1000000000 WHERE id = 60", "UPDATE imports SET last_row_id = 1000000000"
    ),
    "last row a text": _in("last_row_id", "imports", "x"),
    "rows of an import": _in("rows", "imports", 1_000_000_000),
    "source of an import a list": _in("source", "imports", "[1, 2]"),
    "source of an import deep": _in("source", "imports", DEEP),
    "columns null": _in("columns", "project", "null"),
    "columns deep": _in("columns", "project", DEEP),
    "columns a million": _in("columns", "project", json.dumps(["x"] * 1_000_000)),
    "columns twice the same": _in("columns", "project", '["text", "text", "text"]'),
    "text columns a million": _in("text_columns", "project", json.dumps([1] * 1_000_000)),
    "threshold a text": _in("threshold", "project", "high"),
    "threshold beyond": _in("threshold", "project", 7.5),
    "name a blob": _in("name", "project", b"\xff"),
    "no project record": sql("DELETE FROM project"),
    "name with control characters": _in("name", "project", "\x1b[2J\x1b]0;own\x07 \u202egnp.exe"),
    "name of 50 MB": _in("name", "project", "x" * 50_000_000),
    "created at no time": _in("created_at", "project", "yesterday"),
    "row missing": sql("DELETE FROM rows WHERE id = 5"),
    "row text a blob": _in("text", "rows", b"\xff\0", "WHERE id = 5"),
    "row text no UTF-8": sql("UPDATE rows SET text = CAST(x'61ff' AS TEXT) WHERE id = 5"),
    "row text of 60 MB": _in("text", "rows", "x" * 60_000_000, "WHERE id = 5"),
    "row blank a text": _in("blank", "rows", "x", "WHERE id = 5"),
    "row length a lie": _in("length", "rows", 2**62, "WHERE id = 5"),
    "row hash short": _in("text_hash", "rows", b"x", "WHERE id = 5"),
    "cells deep": _in("cells", "rows", DEEP, "WHERE id = 5"),
    "cells an object": _in("cells", "rows", '{"a": 1}', "WHERE id = 5"),
    "cells are numbers": _in("cells", "rows", "[1, 2]", "WHERE id = 5"),
    "cells a million": _in("cells", "rows", json.dumps(["x"] * 1_000_000), "WHERE id = 5"),
    "cells a number of a million digits": _in("cells", "rows", "9" * 1_000_000, "WHERE id = 5"),
    "types of cells": _in("types", "cell_types", b"\xff"),
    "types of cells nobody knows": _in("types", "cell_types", "xyz"),
    "types of no rows": sql("UPDATE cell_types SET first_row = 50, last_row = 3"),
    "labels deep": _in("labels", "label_sets", DEEP),
    "label lacks a key": _in("labels", "label_sets", '[{"name": "a"}]'),
    "label with a key more": _in("labels", "label_sets", f'[{LABEL[:-1]}, "more": 1}}]'),
    "label id of a trillion": _in("labels", "label_sets", f"[{LABEL.replace('1}', '1000000000000}')}]"),
    "label id the greatest": sql("UPDATE labels SET id = 9223372036854775807 WHERE id = 2"),
    "label id of 400 digits": _in("labels", "label_sets", f"[{LABEL.replace('1}', '9' * 400 + '}')}]"),
    "label without a name": _in("name", "labels", " ", "WHERE id = 1"),
    "labels two million": _in("labels", "label_sets", f"[{','.join([LABEL] * 200_000)}]"),
    "label set missing": _in("label_set_id", "project", 99),
    "label set version negative": _in("version", "label_sets", -(2**63)),
    "decision unknown": _in("decision", "annotations", "maybe", "WHERE row_id = 5"),
    "origin unknown": _in("origin", "annotations", "evil", "WHERE row_id = 5"),
    "decided at no time": _in("decided_at", "annotations", "yesterday", "WHERE row_id = 5"),
    "decided at without a zone": _in("decided_at", "annotations", "2026-01-01T00:00:00", "WHERE row_id = 5"),
    "decided at bytes": _in("decided_at", "annotations", b"\x07", "WHERE row_id = 5"),
    "queue a number": _in("queue", "annotations", b"7", "WHERE row_id = 5"),
    "annotation far away": _in("row_id", "annotations", 10**9, "WHERE row_id = 9"),
    "annotation of a row below": _in("row_id", "annotations", -7, "WHERE row_id = 9"),
    "annotation without its label": sql("DELETE FROM annotation_labels WHERE row_id = 9"),
    "label of a row unknown": _in("label_id", "annotation_labels", 77, "WHERE row_id = 9"),
    "label of a row a text": _in("label_id", "annotation_labels", "x", "WHERE row_id = 9"),
    "label of a row the greatest": _in("label_id", "annotation_labels", 2**63 - 1, "WHERE row_id = 9"),
    "note a blob": _in("note", "marks", b"\xff", "WHERE row_id = 1"),
    "flag of 5": _in("flag", "marks", 5, "WHERE row_id = 1"),
    "kind of a run": _in("kind", "runs", "evil", "WHERE id = 1"),
    "labels of a run": _in("labels", "runs", "null", "WHERE id = 1"),
    "labels of a run fewer": _in("labels", "runs", f"[{LABEL}]", "WHERE id = 1"),
    "run without labels": _in("labels", "runs", "[]", "WHERE id = 1"),
    "scored of a run": _in("scored", "runs", 10**9, "WHERE id = 1"),
    "two runs shown": sql("UPDATE runs SET alias = 'sce', active = 1"),
    "run created at bytes": _in("created_at", "runs", b"\x07", "WHERE id = 1"),
    "score far away": _in("row_id", "scores", 10**9, "WHERE row_id = 9 AND run_id = 1"),
    "score below": _in("row_id", "scores", -5, "WHERE row_id = 9 AND run_id = 1"),
    "best label of a billion": _in("top", "scores", 10**9, "WHERE row_id = 9"),
    "best label just beyond": _in("top", "scores", 5, "WHERE row_id = 9"),
    "confidence infinite": _in("confidence", "scores", float("inf"), "WHERE row_id = 9"),
    "confidence a blob": _in("confidence", "scores", b"x", "WHERE row_id = 9"),
    "none a text": _in("none", "scores", "x", "WHERE row_id = 9"),
    "probabilities cut": _in("probabilities", "scores", b"\0", "WHERE row_id = 9"),
    "probabilities too many": _in("probabilities", "scores", b"\0" * 400, "WHERE row_id = 9"),
    "probabilities none": _in("probabilities", "scores", b"", "WHERE row_id = 9"),
    "probabilities NaN": _in("probabilities", "scores", b"\xff" * 8, "WHERE row_id = 9"),
    "two versions in use": sql("UPDATE model_versions SET active = 1"),
    "settings of a version deep": _in("settings", "model_versions", DEEP),
    "settings of a version a list": _in("settings", "model_versions", "[1]"),
    "metrics of a version": _in("metrics", "model_versions", '{"before": 7, "after": []}'),
    "seconds of a version": _in("seconds", "model_versions", float("inf")),
    "rows of a version negative": _in("train_rows", "model_versions", -(2**63)),
    "action unknown": _in("kind", "actions", "evil"),
    "action of bytes": _in("text", "actions", b"\xff"),
    "action of a missing label set": sql("UPDATE actions SET label_set_id = 99"),
    "action of rows without end": _in("rows", "actions", 2**63 - 1),
    "action the last": sql(
        "UPDATE actions SET id = 9223372036854775807 WHERE id = (SELECT max(id) FROM actions)"
    ),
    "history with a decision unknown": _in("decision", "row_changes", "maybe"),
    "history with labels no list": _in("labels", "row_changes", "1,x,["),
    "history with labels unknown": _in("labels", "row_changes", "77"),
    "history with labels deep": _in("labels", "row_changes", DEEP),
    "history of rows far away": _in("row_id", "row_changes", 10**9, "WHERE row_id = 9"),
    "history with a note of bytes": _in("note", "row_changes", b"\xff"),
    "sample of a row far away": _in("row_id", "audit_rows", 10**9, "WHERE place = 1"),
    "sample of a row twice": _in("row_id", "audit_rows", 33),
    "sample drawn from 800 million": _in("frame", "audits", b"\xff" * 20_000_000),
    "sample drawn from nothing": _in("frame", "audits", b""),
    "annotator a blob": _in("name", "coders", b"\0"),
    "annotator of a row far away": _in("row_id", "other_annotations", 10**12, "WHERE row_id = 4"),
    "annotator of a row below": _in("row_id", "other_annotations", -1, "WHERE row_id = 4"),
    "annotator with a label of bytes": _in("label", "other_annotations", b"\xff", "WHERE row_id = 4"),
    "annotator who is missing": sql("DELETE FROM coders"),
    "repeat with an infinite label": _in("source", "coders", 'repeat:[["a", Infinity]]', "WHERE id = 2"),
    "searchable far away": _in("searchable_to", "project", 10**9),
    "searchable without an index": sql("DROP TABLE row_trigrams"),
    "form of the search a blob": _in("search_form", "project", b"\xff"),
    "model a blob": _in("model", "project", b"\xff"),
}

PARTS: Final = {"schema": _SCHEMA, "file": _FILE, "contents": _CONTENTS}
PROJECTS: Final[dict[str, Builder]] = {name: build for part in PARTS.values() for name, build in part.items()}
