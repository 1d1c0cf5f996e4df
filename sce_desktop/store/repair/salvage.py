"""Bringing the records that can be read of a damaged file into a new project, table by table."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, get_args

import sqlalchemy as sa

from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.blank import is_blank
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.runs import ModelKind
from sce_desktop.store.content.rows import hash_text
from sce_desktop.store.file import schema
from sce_desktop.store.file.shapes import INSTEAD, Record
from sce_desktop.store.repair.damaged import DamagedFile
from sce_desktop.store.repair.pages import Value
from sce_desktop.store.repair.stored import Malformed, is_moment, read_json, read_labels, read_shape
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
        self._copy("cell_types", check=_parse_types)
        self._copy("labels", check=lambda r: _check(bool(str(r["name"]).strip())))
        self._copy("label_sets", check=lambda r: read_labels(r["labels"]))
        self._copy("annotations", check=_with_known_origin)
        self._copy_pairs()
        self._copy("marks")
        self._copy("runs", check=_check_run)
        self._copy("scores")
        self._copy("model_versions", check=_parse_version)
        for table in ("audits", "audit_rows", "coders", "other_annotations"):
            self._copy(table)

    def _copy_project(self) -> None:
        for record in self._source.records("project"):
            try:
                columns, texts = read_shape(record["columns"], record["text_columns"])
            except Malformed:
                continue
            threshold = record.get("threshold")
            if not (isinstance(threshold, float | int) and 0 <= threshold <= 1):
                threshold = None
            whole_table = bool(record.get("whole_table"))
            model = record.get("model")
            # The search index is not brought over.
            kept = {
                **record,
                "id": 1,
                "threshold": threshold,
                "whole_table": whole_table,
                "model": model if isinstance(model, str) else None,
                "model_chosen": isinstance(model, str) and bool(record.get("model_chosen")),
                "searchable_to": 0,
            }
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

    def _copy(self, table: str, *, check: Callable[[Record], object] | None = None) -> None:
        self._insert_all(table, self._source.records(table), check)

    def _insert_all(
        self, table: str, records: Iterable[Record], check: Callable[[Record], object] | None = None
    ) -> None:
        columns = schema.metadata.tables[table].columns
        # Records of older files lack the last ones.
        defaults = [_default(column) for column in columns]
        moments = {name for name in columns.keys() if name.endswith("_at")}  # noqa: SIM118 - of SQLAlchemy

        def sound() -> Iterator[list[Value]]:
            for record in records:
                try:
                    if check is not None:
                        check(record)
                except (ValueError, TypeError, KeyError, AttributeError):
                    self._source.lost[table] += 1
                    continue
                values = [
                    INSTEAD[name] if name in moments and not is_moment(value) and value is not None else value
                    for name, value in record.items()
                ]
                yield values + defaults[len(values) :]

        self._target.executemany(
            f"INSERT OR IGNORE INTO {table} ({', '.join(columns.keys())})"
            f" VALUES ({', '.join('?' * len(columns))})",
            sound(),
        )


def _with_known_origin(record: Record) -> None:
    _check(record["decision"] in set(Decision))
    if record["origin"] not in set(Origin):
        record["origin"] = Origin.IMPORTED.value


def _check_run(record: Record) -> None:
    read_labels(record["labels"])
    _check(record["kind"] in get_args(ModelKind))


def _parse_types(record: Record) -> None:
    """Raise if a record of what cells were is of no rows."""
    _check(0 < int(str(record["first_row"])) <= int(str(record["last_row"])))


def _parse_version(record: Record) -> None:
    """Raise if the settings or metrics of a model version make no sense."""
    for field in ("settings", "metrics"):
        read_json(record[field]).items()


def _is_import(record: Record) -> bool:
    try:
        read_json(record["source"]).items()
    except (ValueError, TypeError, AttributeError):
        return False
    return all(int(str(record[name])) >= 0 for name in ("rows", "blank", "duplicates", "last_row_id"))


def _row(record: Record, text: str, cells: str) -> tuple[Value, ...]:
    kept = (record.get(column.name, _default(column)) for column in _COPIED_COLUMNS)
    return record["id"], hash_text(text), len(text), is_blank(text), text, cells, *kept


def _default(column: sa.Column[Any]) -> Any:
    """Return what a record of an older file has in a column that it lacks."""
    return getattr(column.server_default, "arg", None)


def _ends(imports: list[Record]) -> list[int]:
    return [int(str(record["last_row_id"])) for record in imports]


def _cell_count(cells: object) -> int:
    try:
        return len(read_json(cells))
    except (ValueError, TypeError):
        return 0


def _check(sound: bool) -> None:
    if not sound:
        raise ValueError("it makes no sense")
