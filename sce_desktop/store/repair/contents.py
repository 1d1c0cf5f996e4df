"""Whether what a project holds can be what the program wrote, apart from SQLite's own consistency.

At opening what is small, and the greatest numbers by which arrays are made; the rest where somebody asks.
"""

from __future__ import annotations

import math
import sqlite3
from typing import Any, Final, get_args

import sqlalchemy as sa

from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.runs import ModelKind
from sce_desktop.store.file import schema
from sce_desktop.store.repair.stored import Malformed, is_moment, read_json, read_labels, read_shape

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
_SHOWN: Final = 40  # characters of something odd
_FAR: Final = 20_000_000  # a row with a greater number needs as many rows, or arrays grow for nothing


def check(plain: sqlite3.Connection) -> None:
    """Raise `Malformed` where the small tables say something that we never write."""
    for table in _SMALL:
        if wrong_types(plain, table):
            raise Malformed(_("table {table} contains values of the wrong type", table=table))
    found = plain.execute(
        "SELECT columns, text_columns, threshold, label_set_id, whole_table, searchable_to, model_chosen"
        " FROM project"
    ).fetchall()
    if len(found) != 1:
        raise Malformed(_("the project record is missing"))
    columns, texts, threshold, label_set_id, whole_table, searchable_to, model_chosen = found[0]
    read_shape(columns, texts)
    if threshold is not None and not 0 <= threshold <= 1:
        raise Malformed(_("its threshold is not between 0 and 1"))
    last = _check_imports(plain)
    if whole_table not in (0, 1) or model_chosen not in (0, 1) or not 0 <= searchable_to <= last:
        raise Malformed(_("the project record is invalid"))
    active = plain.execute("SELECT labels FROM label_sets WHERE id = ?", (label_set_id,)).fetchone()
    if active is not None:
        read_labels(active[0])
    elif label_set_id is not None:
        raise Malformed(_("its label set is missing"))
    # An import that broke off leaves rows that nobody has seen, and what came with them (`staging`).
    (unseen,) = plain.execute("SELECT max(id) FROM rows").fetchone()
    for table in ("annotations", "annotation_labels", "marks"):
        (greatest,) = _ends(plain, f"SELECT max(row_id) FROM {table}")
        if greatest is not None and not (isinstance(greatest, int) and greatest <= max(last, unseen or 0)):
            raise Malformed(_("table {table} refers to rows that do not exist", table=table))
    (greatest,) = _ends(plain, "SELECT max(label_id) FROM annotation_labels")
    if not isinstance(greatest, int | None):
        raise Malformed(_("an annotation in it has an invalid label"))
    for run_id, kind, labels, scored in plain.execute("SELECT id, kind, labels, scored FROM runs").fetchall():
        _check_run(plain, run_id, kind, len(read_labels(labels)), scored, last)


def check_all(plain: sqlite3.Connection) -> list[str]:
    """Return a sentence for everything in the whole file that we never write."""
    problems = []
    for table in schema.metadata.tables:
        if odd := wrong_types(plain, table):
            problems.append(
                ngettext(
                    "{count} record of {table} contains a value of the wrong type.",
                    "{count} records of {table} contain values of the wrong type.",
                    odd,
                    table=table,
                )
            )
        elif found := _wrong_moments(plain, table):
            problems.append(found)
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
                problems.append(
                    _("Record {record} of {table}: {error}.", record=record, table=table, error=error)
                )
    if problems:
        return problems
    try:
        check(plain)
    except Malformed as error:
        problems.append(_("The project is damaged: {error}.", error=error))
    return problems


def wrong_types(plain: sqlite3.Connection, table: str) -> int:
    """Return how many records of a table hold something that its columns cannot."""
    wrong = []
    for column in schema.metadata.tables[table].columns:
        allowed = _TYPES[type(column.type)] + (", 'null'" if column.nullable else "")
        wrong.append(f"typeof({column.name}) NOT IN ({allowed})")
    (count,) = plain.execute(f"SELECT count(*) FROM {table} WHERE {' OR '.join(wrong)}").fetchone()
    return int(count)


def _wrong_moments(plain: sqlite3.Connection, table: str) -> str:
    """Return a sentence about the records of a table with a time that is none; empty if there are none."""
    wrong, first = 0, ""
    for column in schema.metadata.tables[table].columns:
        if not column.name.endswith("_at"):
            continue
        for (stored,) in plain.execute(f"SELECT {column.name} FROM {table}"):
            if stored is not None and not is_moment(stored):
                wrong += 1
                first = first or f"{column.name}: “{stored[:_SHOWN]}”"
    if not wrong:
        return ""
    return ngettext(
        "{count} record of {table} contains an invalid time ({example}).",
        "{count} records of {table} contain an invalid time ({example}).",
        wrong,
        table=table,
        example=first,
    )


def _check_imports(plain: sqlite3.Connection) -> int:
    """Return the number of the last row."""
    (greatest,) = plain.execute("SELECT max(id) FROM rows").fetchone()
    least, last, rows = plain.execute(
        "SELECT coalesce(min(min(rows, blank, duplicates, last_row_id)), 0),"
        " coalesce(max(last_row_id), 0), coalesce(sum(rows), 0) FROM imports"
    ).fetchone()
    if least < 0 or rows > last or last > (greatest or 0):
        raise Malformed(_("its imports do not fit its rows"))
    if (greatest or 0) - last > _FAR:
        raise Malformed(_("an interrupted import left too many rows"))
    if last > _FAR:
        (present,) = plain.execute("SELECT count(*) FROM rows").fetchone()
        if last > 2 * present:
            raise Malformed(_("most of its rows are missing"))
    return int(last)


def _check_run(
    plain: sqlite3.Connection, run_id: int, kind: str, labels: int, scored: int, last: int
) -> None:
    if kind not in get_args(ModelKind) or not 0 <= scored <= last:
        raise Malformed(_("a run in it is invalid"))
    # Each is the end of an index, where SQLite puts texts and bytes after all numbers.
    ends = ["max(row_id)", "max(top)", "min(top)"]
    ends += [f"{end}({column})" for column in ("confidence", "margin") for end in ("min", "max")]
    of_run = (f"(SELECT {end} FROM scores WHERE run_id = {run_id:d})" for end in ends)
    found = _ends(plain, f"SELECT {', '.join(of_run)}")
    if found[0] is None:
        return
    if not all(isinstance(number, int | float) for number in found):
        raise Malformed(_("predictions in it are not numbers"))
    greatest, best, least, *probabilities = found
    if greatest > last or least < 0 or best > labels + _NEAR:
        raise Malformed(_("predictions in it do not fit its rows and labels"))
    if not all(map(math.isfinite, probabilities)):
        raise Malformed(_("predictions in it are not numbers"))


def _ends(plain: sqlite3.Connection, statement: str) -> tuple[Any, ...]:
    """Return the one record of a statement; (None,) where an index that it needs is damaged."""
    try:
        found: tuple[Any, ...] = plain.execute(statement).fetchone()
    except sqlite3.DatabaseError:
        return (None,)
    return found
