"""Bringing the records that can be read of a damaged file into a new project, table by table."""

from __future__ import annotations

import functools
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import sqlalchemy as sa

from sce_desktop.core.blank import is_blank
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.store.content.rows import hash_text
from sce_desktop.store.file import schema
from sce_desktop.store.file.shapes import ESSENTIAL, INSTEAD, Record
from sce_desktop.store.repair.damaged import DamagedFile
from sce_desktop.store.repair.pages import Value
from sce_desktop.store.repair.stored import Malformed, read_json, read_labels, read_shape
from sce_desktop.store.rules.records import field
from sce_desktop.store.sql import now

TABLES: Final = (  # the history of what can be undone stays behind
    "project",
    "imports",
    "rows",
    "cell_types",
    "labels",
    "label_sets",
    "annotations",
    "annotation_labels",
    "marks",
    "runs",
    "scores",
    "model_versions",
    "audits",
    "audit_rows",
    "coders",
    "other_annotations",
)
_SAMPLE: Final = 100
_MOST_ROWS: Final = 20_000_000  # beyond it a number that nothing confirms is garbage
_MADE_AGAIN: Final = ("id", "text_hash", "length", "blank", "text", "cells")  # of a row
_COPIED_COLUMNS: Final = tuple(column for column in schema.rows.columns if column.name not in _MADE_AGAIN)
_ROW: Final = (*_MADE_AGAIN, *(column.name for column in _COPIED_COLUMNS))
_INSERT_ROW: Final = f"INSERT OR IGNORE INTO rows ({', '.join(_ROW)}) VALUES ({', '.join('?' * len(_ROW))})"
_REPLACEABLE: Final = ("source", "finished_at")  # of an import
Problems = list[str]


class Salvage:
    """Copies what `DamagedFile` gives and makes sense; the result may have gaps, see `rebuilding`."""

    def __init__(self, source: DamagedFile, target: sqlite3.Connection, problems: Problems) -> None:
        self._source = source
        self._target = target
        self._problems = problems
        self._columns: list[str] = []
        self._texts: list[int] = []

    def run(self) -> None:
        """Copy everything."""
        self._copy_project()
        self._copy_rows()
        for table in ("cell_types", "labels", "label_sets", "annotations"):
            self._copy(table)
        self._copy_pairs()
        for table in ("marks", "runs", "scores", "model_versions"):
            self._copy(table)
        for table in ("audits", "audit_rows", "coders", "other_annotations"):
            self._copy(table)

    def _copy_project(self) -> None:
        for record in self._source.records("project"):
            try:
                columns, texts = read_shape(record["columns"], record["text_columns"])
            except Malformed:
                continue
            # The search index is not brought over.
            values = self._fitting("project", {**record, "id": 1, "searchable_to": 0})
            if values is None:
                continue
            kept = dict(zip(record, values, strict=True))
            self._target.execute(
                f"UPDATE project SET {', '.join(f'{name} = ?' for name in kept)}", list(kept.values())
            )
            self._columns, self._texts = list(columns), list(texts)
            return
        # Without the record nobody knows the place of the text among the columns: it becomes the last one.
        lengths: Counter[int] = Counter()
        for record in self._source.records("rows"):
            lengths[_cell_count(record["cells"])] += 1
            if lengths.total() == _SAMPLE:
                break
        if not lengths and not self._source.broken["project"]:
            return
        self._problems.append(_("The names of the columns are lost."))
        others = max(0, lengths.most_common(1)[0][0] if lengths else 0)
        self._columns = [*(f"column {number + 1}" for number in range(others)), "text"]
        self._texts = [others]
        self._target.execute(
            "UPDATE project SET columns = ?, text_columns = ?",
            (json.dumps(self._columns), json.dumps(self._texts)),
        )

    # --- rows

    def _copy_rows(self) -> None:
        imports = [record for record in self._source.records("imports") if _is_import(record)]
        known = sum(int(str(record["rows"])) for record in imports)
        # Rows behind the last import are those of one that broke off; without any record of one, all count.
        last = max((int(str(record["last_row_id"])) for record in imports), default=0)
        if self._source.lacks("imports") or not 0 < known <= last:
            last = _MOST_ROWS
        changed, odd = self._copy_sound_rows(last), 0
        first_changed = 0
        if changed:
            changed, first_changed, odd = self._copy_changed_rows(last)
        if odd:
            self._problems.append(
                ngettext(
                    "Only the text of {count} row could be read.",
                    "Only the texts of {count} rows could be read.",
                    odd,
                )
            )
        if changed:
            self._problems.append(
                ngettext(
                    "The text of {count} row may differ from what was imported (row {first}).",
                    "The texts of {count} rows may differ from what was imported, first in row {first}.",
                    changed,
                    first=first_changed,
                )
            )
        (present,) = self._target.execute("SELECT count(*) FROM rows").fetchone()
        self._target.execute("DELETE FROM rows WHERE id > max(?, 2 * ?)", (_MOST_ROWS, present))
        total, blank, last = self._target.execute(
            "SELECT count(*), coalesce(sum(blank), 0), coalesce(max(id), 0) FROM rows"
        ).fetchone()
        if 0 < known == total and not self._source.lacks("imports"):
            self._source.made_up_for.add("rows")
        if known > total:
            self._problems.append(
                ngettext(
                    "{count} of {all} rows is lost.",
                    "{count} of {all} rows are lost.",
                    known - total,
                    all=number(known),
                )
            )
        (distinct,) = self._target.execute(
            "SELECT count(DISTINCT text_hash) FROM rows WHERE blank = 0"
        ).fetchone()
        repeated = total - blank - distinct
        sums = [sum(int(str(record[field])) for record in imports) for field in ("blank", "duplicates")]
        if known == total and sums == [blank, repeated] and max(_ends(imports), default=0) == last:
            self._insert_all("imports", imports)
            return
        source = next((record["source"] for record in imports), "{}")
        merged = {
            "id": 1,
            "source": source,
            "rows": total,
            "blank": blank,
            "duplicates": repeated,
            "last_row_id": last,
            "finished_at": now(),
        }
        self._insert_all("imports", [merged] if total or imports else [])

    def _copy_sound_rows(self, last: int) -> int:
        """Copy the rows whose text is what was imported; return how many there are besides."""
        others = 0

        def sound() -> Iterator[tuple[Value, ...]]:
            nonlocal others
            for record in self._source.records("rows"):
                text, row_id = str(record["text"]), record["id"]
                if not isinstance(row_id, int) or not 0 < row_id <= last:
                    continue
                if hash_text(text) != record["text_hash"] or not self._fits(record["cells"]):
                    others += 1
                else:
                    yield _row(record, text, str(record["cells"]))

        self._target.executemany(_INSERT_ROW, sound())
        return others

    def _copy_changed_rows(self, last: int) -> tuple[int, int, int]:
        """Copy the other rows; return how many texts may have changed, the first, and how many lost cells."""
        changed: set[int] = set()
        odd = 0
        for record in self._source.records("rows"):
            text, row_id, cells = str(record["text"]), record["id"], record["cells"]
            if not isinstance(row_id, int) or not 0 < row_id <= last:
                continue
            fits = self._fits(cells)
            other = hash_text(text) != record["text_hash"]
            if not other and fits:
                continue
            if not fits:
                cells = json.dumps([None] * (len(self._columns) - 1))
            if self._target.execute(_INSERT_ROW, _row(record, text, str(cells))).rowcount > 0:
                odd += not fits
                if other:
                    changed.add(row_id)
        return len(changed), min(changed, default=0), odd

    def _fits(self, cells: object) -> bool:
        """Whether ``cells`` is what a row of this project can have; see `importing` for their form."""
        try:
            values = read_json(cells)
        except (ValueError, TypeError):
            return False
        lengths = {len(self._columns)} | ({len(self._columns) - 1} if len(self._texts) == 1 else set())
        return (
            isinstance(values, list)
            and len(values) in lengths
            and all(value is None or isinstance(value, str) for value in values)
        )

    # --- the rest

    def _copy_pairs(self) -> None:
        labels = {label_id for (label_id,) in self._target.execute("SELECT id FROM labels")}
        for (stored,) in self._target.execute("SELECT labels FROM label_sets"):
            labels |= {label.id for label in read_labels(stored)}
        self._target.executemany(
            "INSERT OR IGNORE INTO annotation_labels (row_id, label_id) VALUES (?, ?)",
            self._source.pairs(labels),
        )

    def _copy(self, table: str) -> None:
        self._insert_all(table, self._source.records(table))

    def _fitting(self, table: str, record: Record) -> list[Value] | None:
        """Return the values of a record, those that a column cannot hold replaced; None if it needs one."""
        values = list(record.values())
        for place, (name, value) in enumerate(record.items()):
            if field(table, name).holds(value):
                continue
            if name in _needed(table):
                return None
            values[place] = _instead(table, name)
        self._source.replaced[table] += values != list(record.values())
        return values

    def _insert_all(self, table: str, records: Iterable[Record]) -> None:
        columns = schema.metadata.tables[table].columns
        # Records of older files lack the last ones.
        defaults = [_default(column) for column in columns]

        def sound() -> Iterator[list[Value]]:
            for record in records:
                values = self._fitting(table, record)
                if values is None:
                    self._source.lost[table] += 1
                else:
                    yield values + defaults[len(values) :]

        self._target.executemany(
            f"INSERT OR IGNORE INTO {table} ({', '.join(columns.keys())})"
            f" VALUES ({', '.join('?' * len(columns))})",
            sound(),
        )


def _is_import(record: Record) -> bool:
    return all(
        field("imports", name).holds(value) for name, value in record.items() if name not in _REPLACEABLE
    )


def _row(record: Record, text: str, cells: str) -> tuple[Value, ...]:
    kept = (record.get(column.name, _default(column)) for column in _COPIED_COLUMNS)
    return record["id"], hash_text(text), len(text), is_blank(text), text, cells, *kept


@functools.cache
def _needed(table: str) -> frozenset[str]:
    """Return the columns without which a record is worth nothing."""
    columns = schema.metadata.tables[table].columns
    keys = {column.name for column in columns if column.primary_key or column.foreign_keys}
    keys -= {"label_set_id"}  # the project's: `rebuilding` chooses one
    return frozenset(keys | ESSENTIAL.get(table, {column.name for column in columns}))


@functools.cache
def _instead(table: str, name: str) -> Value:
    """Return what stands for a value that is lost."""
    column = schema.metadata.tables[table].columns[name]
    if column.nullable:
        return None
    default = _default(column)
    for value in (default, INSTEAD.get(name), 0, 1, "", b""):
        if value is not None and field(table, name).holds(value):
            return value
    raise KeyError(name)


def _default(column: sa.Column[Any]) -> Any:
    """Return what a record of an older file has in a column that it lacks."""
    default = getattr(column.server_default, "arg", None)
    return int(default) if default else default


def _ends(imports: list[Record]) -> list[int]:
    return [int(str(record["last_row_id"])) for record in imports]


def _cell_count(cells: object) -> int:
    try:
        return len(read_json(cells))
    except (ValueError, TypeError):
        return 0
