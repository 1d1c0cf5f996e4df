"""Whether what a project holds can be what the program wrote, apart from SQLite's own consistency.

At opening what is small, and the greatest numbers by which arrays are made; the rest where somebody asks.
"""

from __future__ import annotations

import sqlite3
from typing import Final, get_args

import sqlalchemy as sa

from sce_desktop.core.types import ModelKind
from sce_desktop.store import schema
from sce_desktop.store.stored import Malformed, read_json, read_labels, read_shape

_TYPES: Final[dict[type, str]] = {
    sa.Integer: "'integer'",
    sa.Boolean: "'integer'",
    sa.Text: "'text'",
    sa.JSON: "'text'",
    sa.Float: "'real', 'integer'",
    sa.LargeBinary: "'blob'",
}
_SMALL: Final = ("project", "imports", "labels", "label_sets", "runs", "model_versions", "coders", "audits")
_NEAR: Final = 1_000  # a best label beyond it makes arrays grow for nothing
_FAR: Final = 20_000_000  # a row with a greater number needs as many rows, or arrays grow for nothing


def check(plain: sqlite3.Connection) -> None:
    """Raise `Malformed` where the small tables say something that we never write."""
    for table in _SMALL:
        if wrong_types(plain, table):
            raise Malformed(f"table {table} holds something of another kind")
    found = plain.execute(
        "SELECT columns, text_columns, threshold, label_set_id, whole_table, searchable_to FROM project"
    ).fetchall()
    if len(found) != 1:
        raise Malformed("no record of the project")
    columns, texts, threshold, label_set_id, whole_table, searchable_to = found[0]
    read_shape(columns, texts)
    if threshold is not None and not 0 <= threshold <= 1:
        raise Malformed("its threshold is not between 0 and 1")
    last = _check_imports(plain)
    if whole_table not in (0, 1) or not 0 <= searchable_to <= last:
        raise Malformed("the record of the project makes no sense")
    active = plain.execute("SELECT labels FROM label_sets WHERE id = ?", (label_set_id,)).fetchone()
    if active is not None:
        read_labels(active[0])
    elif label_set_id is not None:
        raise Malformed("its label set is missing")
    for table in ("annotations", "marks"):
        (greatest,) = plain.execute(f"SELECT max(row_id) FROM {table}").fetchone()
        if greatest is not None and greatest > last:
            raise Malformed(f"table {table} is about rows that do not exist")
    for run_id, kind, labels, scored in plain.execute("SELECT id, kind, labels, scored FROM runs").fetchall():
        _check_run(plain, run_id, kind, len(read_labels(labels)), scored, last)


def check_all(plain: sqlite3.Connection) -> list[str]:
    """Return a sentence for everything in the whole file that we never write."""
    problems = []
    for table in schema.metadata.tables:
        if odd := wrong_types(plain, table):
            problems.append(f"{odd} records of {table} hold something of another kind.")
    for table, column, read in (
        ("label_sets", "labels", read_labels),
        ("runs", "labels", read_labels),
        ("imports", "source", read_json),
        ("model_versions", "settings", read_json),
        ("model_versions", "metrics", read_json),
    ):
        for record, stored in plain.execute(f"SELECT id, {column} FROM {table}").fetchall():
            try:
                read(stored)
            except Malformed as error:
                problems.append(f"Record {record} of {table}: {error}.")
    if problems:
        return problems
    try:
        check(plain)
    except Malformed as error:
        problems.append(f"The project is damaged: {error}.")
    return problems


def wrong_types(plain: sqlite3.Connection, table: str) -> int:
    """Return how many records of a table hold something that its columns cannot."""
    wrong = []
    for column in schema.metadata.tables[table].columns:
        allowed = _TYPES[type(column.type)] + (", 'null'" if column.nullable else "")
        wrong.append(f"typeof({column.name}) NOT IN ({allowed})")
    (count,) = plain.execute(f"SELECT count(*) FROM {table} WHERE {' OR '.join(wrong)}").fetchone()
    return int(count)


def _check_imports(plain: sqlite3.Connection) -> int:
    """Return the number of the last row."""
    (greatest,) = plain.execute("SELECT max(id) FROM rows").fetchone()
    least, last, rows = plain.execute(
        "SELECT coalesce(min(min(rows, blank, duplicates, last_row_id)), 0),"
        " coalesce(max(last_row_id), 0), coalesce(sum(rows), 0) FROM imports"
    ).fetchone()
    if least < 0 or rows > last or last > (greatest or 0):
        raise Malformed("its imports do not fit its rows")
    if (greatest or 0) - last > _FAR:
        raise Malformed("rows of a broken-off import are too many")
    if last > _FAR:
        (present,) = plain.execute("SELECT count(*) FROM rows").fetchone()
        if last > 2 * present:
            raise Malformed("most of its rows are missing")
    return int(last)


def _check_run(
    plain: sqlite3.Connection, run_id: int, kind: str, labels: int, scored: int, last: int
) -> None:
    if kind not in get_args(ModelKind) or not 0 <= scored <= last:
        raise Malformed("a run in it makes no sense")
    of_run = "FROM scores WHERE run_id = ?1"
    greatest, least, best = plain.execute(
        f"SELECT (SELECT max(row_id) {of_run}), (SELECT min(top) {of_run}), (SELECT max(top) {of_run})",
        (run_id,),
    ).fetchone()
    if greatest is not None and (greatest > last or least < 0 or best > labels + _NEAR):
        raise Malformed("predictions in it do not fit its rows and labels")
