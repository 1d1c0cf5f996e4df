"""Many rows by column, for tables: no object is made for a row.

SQLite hands over a block of rows as a few long texts, so that a block takes one step, in which Python's lock
is free: whoever reads record by record beside a thread that computes waits for the lock at each.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import sqlalchemy as sa

from sce_desktop.core import text_arrays
from sce_desktop.core.giving_way import give_way
from sce_desktop.core.tables import Cell
from sce_desktop.store.content import rows
from sce_desktop.store.content.listed_cells import LINE_END, columns_in
from sce_desktop.store.file.connections import raw
from sce_desktop.store.repair.stored import Malformed, read_json
from sce_desktop.store.sql import LAST_ROW, Ids, is_range, json_ids, numbers_in

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_BYTES: Final = 20_000_000  # of texts, or cells, in one piece
_CELLS: Final = frozenset((str, type(None)))


@dataclass(frozen=True, slots=True, eq=False)
class RowColumns:
    """The cells of n rows by column, and their ``texts`` (n,): arrays of Arrow where nothing is unusual."""

    columns: tuple[Sequence[Cell] | pa.StringArray, ...]
    texts: Sequence[str] | pa.StringArray


def asked(table: str, key: str, ids: Ids) -> tuple[str, tuple[object, ...]]:
    """Return FROM and WHERE, as SQL, with parameters, for the records of ``ids`` in their order.

    ``key`` is the column of the row's id. What comes out has to be compared with ``ids``: SQLite keeps the
    order of the outer loop, and promises it nowhere.
    """
    if is_range(ids):
        return f"FROM {table} WHERE {table}.{key} BETWEEN ? AND ?", (int(ids[0]), int(ids[-1]))
    return f"FROM json_each(?) AS asked CROSS JOIN {table} WHERE {table}.{key} = asked.value", (
        json_ids(ids),
    )


def fetch(connection: sa.Connection, ids: Ids) -> RowColumns:
    """Return the rows with ``ids`` in their order by column. KeyError if one does not exist."""
    layout = rows.shape(connection)
    found = _at_once(connection, ids, layout)
    if found is None:  # unusual cells, long texts, a row that is missing: one by one
        single = rows.fetch(connection, ids)
        columns = tuple(zip(*(row.cells for row in single), strict=True)) if single else ()
        found = RowColumns(columns or ((),) * len(layout.columns), [row.text for row in single])
    return found


def _at_once(connection: sa.Connection, ids: Ids, layout: rows.Shape) -> RowColumns | None:
    """Return the rows; None where something about them is not as usual."""
    if not len(ids) or not layout.columns:
        return None
    where, parameters = asked("rows", "id", ids)
    plain = raw(connection)
    before = plain.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    try:
        listed, texts, lengths, cells, odd = plain.execute(
            "SELECT group_concat(id), CAST(group_concat(text, '') AS BLOB),"
            " group_concat(length(CAST(text AS BLOB))), CAST(group_concat(cells, '\n') AS BLOB),"
            " total(typeof(text) != 'text' OR typeof(cells) != 'text')"
            f" FROM (SELECT rows.id, text, cells {where} AND rows.id <= {LAST_ROW})",
            parameters,
        ).fetchone()
    except sqlite3.DataError:  # more than fits into one piece
        return None
    finally:
        plain.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)
    if odd or not np.array_equal(numbers_in(listed, np.int64), np.asarray(ids, np.int64)):
        return None
    give_way()
    ends = np.zeros(len(ids) + 1, np.int64)
    np.cumsum(numbers_in(lengths, np.int64), out=ends[1:])
    if len(texts) != ends[-1]:
        return None
    of_rows = text_arrays.of_bytes(texts, ends)
    columns = _columns(cells, of_rows, layout)
    if columns is None or not all(map(_is_utf_8, (of_rows, *columns))):
        return None
    return RowColumns(tuple(columns), of_rows)


def _columns(
    cells: bytes, texts: pa.StringArray, layout: rows.Shape
) -> list[Sequence[Cell] | pa.StringArray] | None:
    """Return the columns of which ``cells`` are the JSON lists of all rows; None if they are not as usual."""
    width, columns = len(layout.columns), list[Any]()
    for of_lists in (width - 1, width):  # without the cell that is the text, and with it
        if (found := columns_in(cells, len(texts), of_lists)) is not None:
            columns = list(found)
            break
    else:
        give_way()
        columns = list(_parsed(cells, len(texts)) or ())
    if len(columns) == width - 1:
        columns.insert(layout.text_columns[0], texts)
    return columns if len(columns) == width else None


def _parsed(cells: bytes, count: int) -> list[Sequence[Cell]] | None:
    """Return the same cells, having read them as JSON."""
    if cells.count(LINE_END) != count - 1:  # one is in the midst of a list
        return None
    try:
        found = read_json(f"[{cells.replace(LINE_END, b',').decode()}]")
    except (Malformed, UnicodeDecodeError):
        return None
    give_way()
    if len(found) != count or not {list}.issuperset(map(type, found)):
        return None
    if len(set(map(len, found))) > 1 or not _CELLS.issuperset(map(type, chain.from_iterable(found))):
        return None
    return list(zip(*found, strict=True))


def _is_utf_8(column: Sequence[Cell] | pa.StringArray) -> bool:
    import pyarrow as pa

    if isinstance(column, pa.StringArray):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            return False
    return True
