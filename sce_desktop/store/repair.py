"""Taking what can still be read out of a damaged project, and nothing that acts by itself."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.store import schema
from sce_desktop.store.database import connect, error_code, known_failures
from sce_desktop.store.label_sets import from_json
from sce_desktop.store.opening import new_file, write_schema
from sce_desktop.store.rows import hash_text
from sce_desktop.store.sql import now

_RANGE: Final = 1_000  # records asked for at once
_SMALLEST_RECORD: Final = 16  # bytes; bounds how many there can be where the end of a table is unreadable
_Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was brought over, and a sentence for everything that was not."""

    rows: int
    annotations: int
    scores: int
    problems: tuple[str, ...]


def repair_project(path: Path, copy: Path, progress: Progress) -> RepairReport:
    """Make a new project at ``copy`` of what can be read of the one at ``path``, which is left as it is.

    Rows keep their ids, so that decisions stay with their rows where others are lost.

    Raises:
        UserError: ``path`` is no SQLite file of ours, or ``copy`` exists.
    """
    if not path.is_file():
        raise UserError(f"{path.name} is not a file: choose a project file.")
    with (
        new_file(copy, overwrite=False) as draft,
        known_failures(path),
        contextlib.closing(connect(path.resolve(), "mode=ro")) as source,
    ):
        source.text_factory = lambda stored: stored.decode("utf-8", "replace")
        if source.execute("PRAGMA application_id").fetchone() != (schema.APPLICATION_ID,):
            raise UserError(f"{path.name} is not a project of SCE Desktop: choose a file that it has saved.")
        write_schema(draft, name=path.stem)
        with contextlib.closing(connect(draft, "mode=rw")) as target:
            target.execute("PRAGMA foreign_keys=OFF")  # parents may be lost; orphans are removed at the end
            target.execute("PRAGMA synchronous=OFF")  # new_file makes it durable as a whole
            target.execute("PRAGMA cache_size=-65536")
            target.execute("BEGIN")
            report = _Salvage(source, target, progress).run()
            target.execute("COMMIT")
    return report


class _Salvage:
    def __init__(self, source: sqlite3.Connection, target: sqlite3.Connection, progress: Progress) -> None:
        self._source = source
        self._target = target
        self._progress = progress
        self._problems: list[str] = []
        (pages,) = source.execute("PRAGMA page_count").fetchone()
        (size,) = source.execute("PRAGMA page_size").fetchone()
        self._most_records = pages * size // _SMALLEST_RECORD
        tables = source.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        )
        self._tables = {name for (name,) in tables}

    def run(self) -> RepairReport:
        self._copy_project()
        self._copy_rows()
        self._copy("labels")
        self._copy("label_sets", check=_parse_labels)
        self._copy("annotations")
        self._copy("annotation_labels", key="row_id")
        self._copy("marks")
        self._copy("runs", check=_parse_labels)
        self._copy("scores", key="rowid")
        self._mend_labels()
        self._remove_orphans()
        return RepairReport(
            rows=self._count("rows"),
            annotations=self._count("annotations"),
            scores=self._count("scores"),
            problems=tuple(self._problems),
        )

    # --- table by table

    def _copy_project(self) -> None:
        for record in self._read("project", "id"):
            with contextlib.suppress(ValueError, TypeError):
                columns, texts = json.loads(record["columns"]), json.loads(record["text_columns"])
                if all(isinstance(c, str) for c in columns) and all(0 <= t < len(columns) for t in texts):
                    self._target.execute(
                        "UPDATE project SET name = ?, created_at = ?, columns = ?, text_columns = ?",
                        (record["name"], record["created_at"], record["columns"], record["text_columns"]),
                    )
                    self._target.execute("UPDATE project SET label_set_id = ?", (record["label_set_id"],))
                    self._columns, self._texts = columns, texts
                    return
        # Without the record nobody knows the place of the text among the columns: it becomes the last one.
        self._problems.append("The names of the columns are lost.")
        others = 0
        with contextlib.suppress(ValueError, TypeError, StopIteration):
            others = len(json.loads(next(self._read("rows", "id"))["cells"]))
        self._columns = [*(f"column {number + 1}" for number in range(others)), "text"]
        self._texts = [others]
        self._target.execute(
            "UPDATE project SET columns = ?, text_columns = ?",
            (json.dumps(self._columns), json.dumps(self._texts)),
        )

    def _copy_rows(self) -> None:
        odd = 0
        blank = 0
        for record in self._read("rows", "id"):
            text, cells = record["text"], record["cells"]
            if not self._fits(cells):
                odd += 1
                cells = json.dumps([None] * (len(self._columns) - 1))
            nothing = not text.strip()
            blank += nothing
            self._target.execute(
                "INSERT INTO rows (id, text_hash, length, blank, text, cells) VALUES (?, ?, ?, ?, ?, ?)",
                (record["id"], hash_text(text), len(text), nothing, text, cells),
            )
        if odd:
            self._problems.append(f"Of {odd} rows only the text could be read.")
        sources = [record["source"] for record in self._read("imports", "id")]
        (total, last) = self._target.execute("SELECT count(*), coalesce(max(id), 0) FROM rows").fetchone()
        (distinct,) = self._target.execute(
            "SELECT count(DISTINCT text_hash) FROM rows WHERE blank = 0"
        ).fetchone()
        self._target.execute(
            "INSERT INTO imports (source, rows, blank, duplicates, last_row_id, finished_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (sources[0] if sources else "{}", total, blank, total - blank - distinct, last, now()),
        )

    def _copy(
        self, table: str, *, key: str | None = None, check: Callable[[_Record], object] | None = None
    ) -> None:
        columns = schema.metadata.tables[table].columns.keys()
        statement = (
            f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        )
        for record in self._read(table, key or columns[0]):
            with contextlib.suppress(ValueError, TypeError, KeyError):
                if check is not None:
                    check(record)
                self._target.execute(statement, [record[column] for column in columns])

    # --- reading

    def _read(self, table: str, key: str) -> Iterator[_Record]:
        """Give every record of ``table`` that can be read, going around those that cannot."""
        names = schema.metadata.tables[table].columns.keys()
        statement = (
            f"SELECT {', '.join(names)} FROM {table} NOT INDEXED WHERE {key} BETWEEN ? AND ? ORDER BY {key}"
        )
        if table not in self._tables:
            self._problems.append(f"The table {table} is missing.")
            return
        lost = 0
        ranges = [(start, start + _RANGE - 1) for start in range(0, self._end(table, key), _RANGE)][::-1]
        while ranges:
            self._progress.check()
            start, end = ranges.pop()
            try:
                found = self._source.execute(statement, (start, end)).fetchall()
            except sqlite3.DatabaseError as error:
                if error_code(error) not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR):
                    self._problems.append(f"The table {table} cannot be read: {error}.")
                    return
                if start == end:
                    lost += 1
                else:
                    middle = (start + end) // 2
                    ranges += [(middle + 1, end), (start, middle)]
                continue
            yield from (dict(zip(names, record, strict=True)) for record in found)
            self._progress.report(end, stage=f"Reading {table}")
        if lost:
            self._problems.append(f"Up to {lost} records of the table {table} are lost.")

    def _end(self, table: str, key: str) -> int:
        try:
            (greatest,) = self._source.execute(f"SELECT max({key}) FROM {table} NOT INDEXED").fetchone()
        except sqlite3.DatabaseError:
            return self._most_records
        return min((greatest or 0) + 1, 2**31)

    def _fits(self, cells: str) -> bool:
        try:
            values = json.loads(cells)
        except (ValueError, TypeError):
            return False
        lengths = {len(self._columns)} | ({len(self._columns) - 1} if len(self._texts) == 1 else set())
        return isinstance(values, list) and len(values) in lengths

    # --- making it whole

    def _mend_labels(self) -> None:
        """Use the newest label set that is left if the active one is lost, and know all labels of it."""
        self._target.execute(
            "UPDATE project SET label_set_id = (SELECT max(id) FROM label_sets)"
            " WHERE label_set_id IS NULL OR label_set_id NOT IN (SELECT id FROM label_sets)"
        )
        found = self._target.execute(
            "SELECT labels FROM label_sets WHERE id = (SELECT label_set_id FROM project)"
        ).fetchone()
        used = {label.id: label.name for label in from_json(json.loads(found[0]))} if found else {}
        self._target.executemany(
            "INSERT OR IGNORE INTO labels (id, name, active) VALUES (?, ?, 1)", used.items()
        )
        self._target.execute("UPDATE labels SET active = 0")
        self._target.executemany("UPDATE labels SET active = 1 WHERE id = ?", [(id_,) for id_ in used])

    def _remove_orphans(self) -> None:
        """Remove what belongs to something that is lost."""
        for table, condition, told in (
            (
                "annotations",
                "row_id NOT IN (SELECT id FROM rows)",
                "{} decisions are about rows that are lost.",
            ),
            ("annotation_labels", "label_id NOT IN (SELECT id FROM labels)", "{} labels of rows are lost."),
            ("annotation_labels", "row_id NOT IN (SELECT row_id FROM annotations)", ""),
            (
                "annotations",
                "decision = 'label' AND row_id NOT IN (SELECT row_id FROM annotation_labels)",
                "{} decisions have lost their labels.",
            ),
            ("marks", "row_id NOT IN (SELECT id FROM rows)", "{} notes are about rows that are lost."),
            ("scores", "run_id NOT IN (SELECT id FROM runs) OR row_id NOT IN (SELECT id FROM rows)", ""),
            (
                "scores",
                "length(probabilities) <> 4 * (SELECT json_array_length(labels) FROM runs WHERE id = run_id)",
                "{} scores do not fit their labels.",
            ),
        ):
            removed = self._target.execute(f"DELETE FROM {table} WHERE {condition}").rowcount
            if removed and told:
                self._problems.append(told.format(removed))
        self._target.execute("UPDATE runs SET scored = (SELECT count(*) FROM scores WHERE run_id = runs.id)")

    def _count(self, table: str) -> int:
        (count,) = self._target.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(count)


def _parse_labels(record: _Record) -> object:
    """Raise if the labels of a record make no sense: whoever reads it later would stumble."""
    return from_json(json.loads(record["labels"]))
