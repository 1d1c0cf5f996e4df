"""The rows of a project, exactly as they were read."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeVar

import numpy as np
import sqlalchemy as sa

from sce_desktop.core.annotations import Row
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.giving_way import giving_way
from sce_desktop.core.tables import Cell
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.repair.stored import Malformed, read_json, read_shape
from sce_desktop.store.rules.records import checked, malformed
from sce_desktop.store.sql import LAST_ROW, Ids, json_ids, last_row_id

HASH_BYTES: Final = 16
_AMONG: Final = f"id IN (SELECT value FROM json_each(?)) AND id <= {LAST_ROW}"
_MOST_CHARACTERS: Final = 50_000_000  # of rows that are read at once
_MISSING: Final = "rows of it are missing"
_CELLS: Final = frozenset((str, type(None)))
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import brought: ``blank`` and ``duplicates`` (of an earlier row) are among ``rows``."""

    rows: int
    blank: int
    duplicates: int


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """An import as the project remembers it. ``source`` is where rows came from, by the importer."""

    id: int
    source: dict[str, Any]
    rows: int
    blank: int
    duplicates: int
    finished_at: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What the rows of a project look like: ``text_columns`` are 0-based places in ``columns``."""

    columns: tuple[str, ...]
    text_columns: tuple[int, ...]

    def text_of(self, cells: Sequence[Cell]) -> str:
        """Return the text to classify: the text cells that are not blank, joined by line breaks."""
        if len(self.text_columns) == 1:
            return cells[self.text_columns[0]] or ""
        texts = (cells[column] for column in self.text_columns)
        return "\n".join(text for text in texts if text and not is_blank(text))


def shape(connection: sa.Connection) -> Shape:
    """Return what the rows look like; no columns before the first import."""
    return _parsed(*raw(connection).execute("SELECT columns, text_columns FROM project").fetchone())


@functools.lru_cache(maxsize=8)
def _parsed(columns: str, text_columns: str) -> Shape:
    return Shape(*read_shape(columns, text_columns))


def hash_text(text: str) -> bytes:
    """Return the bytes by which equal texts are known."""
    return hashlib.blake2b(text.encode(), digest_size=HASH_BYTES).digest()


def counts(connection: sa.Connection) -> ImportReport:
    """Return how many rows there are, how many of them are blank, how many repeat an earlier text."""
    record = schema.imports.c
    sums = (sa.func.coalesce(sa.func.sum(c), 0) for c in (record.rows, record.blank, record.duplicates))
    rows, blank, duplicates = connection.execute(sa.select(*sums)).one()
    return ImportReport(rows, blank, duplicates)


def imports(connection: sa.Connection) -> tuple[ImportRecord, ...]:
    """Return the finished imports in their order."""
    record = schema.imports.c
    columns = (record.id, record.source, record.rows, record.blank, record.duplicates, record.finished_at)
    return tuple(
        ImportRecord(*found) for found in connection.execute(sa.select(*columns).order_by(record.id))
    )


def fetch(connection: sa.Connection, ids: Ids) -> list[Row]:
    """Return the rows with ``ids`` in their order. KeyError if one does not exist."""
    layout = shape(connection)
    records = raw(connection).execute(f"SELECT id, text, cells FROM rows WHERE {_AMONG}", (json_ids(ids),))
    found = {row.id: row for row in _made(records.fetchall(), layout)}
    return _in_order(connection, found, ids)


def texts(connection: sa.Connection, ids: Ids) -> list[str]:
    """Return the texts of ``ids`` in their order. KeyError if one does not exist."""
    records = raw(connection).execute(f"SELECT id, text FROM rows WHERE {_AMONG}", (json_ids(ids),))
    found: dict[int, str] = dict(giving_way(checked("rows", ("id", "text"), records.fetchall())))
    return _in_order(connection, found, ids)


def _in_order(connection: sa.Connection, found: dict[int, _T], ids: Ids) -> list[_T]:
    try:
        return [found[int(id_)] for id_ in ids]
    except KeyError:
        (present,) = raw(connection).execute(f"SELECT count(*) FROM rows WHERE id <= {LAST_ROW}").fetchone()
        if present < counts(connection).rows:
            raise Malformed(_MISSING) from None
        raise


def exists(connection: sa.Connection, row_id: int) -> bool:
    """Return whether a finished import has brought a row of that number, and nobody has deleted it."""
    found = raw(connection).execute(f"SELECT 1 FROM rows WHERE id = ? AND id <= {LAST_ROW}", (row_id,))
    return found.fetchone() is not None


def last(connection: sa.Connection) -> int:
    """Return the id of the last row; 0 if there is none."""
    return int(connection.execute(sa.select(last_row_id())).scalar_one())


def fetch_after(connection: sa.Connection, row_id: int, count: int, *, end: int) -> list[Row]:
    """Return up to ``count`` rows that follow ``row_id`` in file order, none behind ``end``.

    Fewer where they are long: those that are left follow the last one.
    """
    layout = shape(connection)
    reading = raw(connection).execute(
        "SELECT id, text, cells FROM rows WHERE id > ? AND id <= ? ORDER BY id LIMIT ?", (row_id, end, count)
    )
    found: list[tuple[int, str, str]] = []
    characters, cut = 0, False
    for record in giving_way(reading):
        found.append(record)
        characters += len(record[1]) + len(record[2])
        if characters >= _MOST_CHARACTERS:  # long texts come in smaller parts, whatever was asked for
            cut = True
            break
    reading.close()
    # A project that was repaired has gaps, and its imports fewer rows than the number of the last one.
    expected = len(found) if cut else min(count, max(0, end - row_id))
    whole = len(found) == expected and (not found or found[-1][0] == row_id + expected)
    if not whole and counts(connection).rows == last(connection):
        raise Malformed(_MISSING)
    return _made(found, layout)


def cell_types(connection: sa.Connection, ids: Ids) -> dict[int, str]:
    """Return what the cells of ``ids`` were, a letter a cell; rows of texts alone are absent."""
    width = len(shape(connection).columns)
    found = raw(connection).execute(
        "SELECT asked.value, types FROM json_each(?) AS asked JOIN cell_types"
        " ON first_row = (SELECT max(first_row) FROM cell_types WHERE first_row <= asked.value)"
        " WHERE last_row >= asked.value",
        (json_ids(ids),),
    )
    records = checked("cell_types", ("first_row", "types"), found.fetchall())
    return {id_: types for id_, types in records if len(types) == width}


def same_text(connection: sa.Connection, row_id: int) -> IdArray:
    """Return the other rows that have exactly the text of ``row_id``, in file order."""
    found = raw(connection).execute(f"{_SAME_TEXT} ORDER BY id", {"id": int(row_id)})
    return np.array([id_ for (id_,) in found], np.int64)


def with_same_texts(connection: sa.Connection, ids: Ids) -> IdArray:
    """Return ``ids`` and all other rows that have exactly the text of one of them, in file order."""
    same = f"SELECT text_hash FROM rows WHERE blank = 0 AND {_AMONG}"
    asked = json_ids(ids)
    found = raw(connection).execute(
        f"SELECT id FROM rows WHERE {_AMONG} UNION"
        f" SELECT id FROM rows WHERE blank = 0 AND text_hash IN ({same}) AND id <= {LAST_ROW} ORDER BY id",
        (asked, asked),
    )
    return np.array([id_ for (id_,) in found], np.int64)


def count_same_text(connection: sa.Connection, row_id: int, most: int) -> int:
    """Return how many other rows have exactly the text of ``row_id``; no more than ``most`` are counted."""
    statement = f"SELECT count(*) FROM ({_SAME_TEXT} LIMIT :most)"
    (count,) = raw(connection).execute(statement, {"id": int(row_id), "most": most}).fetchone()
    return int(count)


_SAME_TEXT = (
    "SELECT id FROM rows WHERE blank = 0 AND text_hash = (SELECT text_hash FROM rows WHERE id = :id)"
    f" AND id != :id AND id <= {LAST_ROW}"
)


def _made(records: Sequence[tuple[int, str, str]], layout: Shape) -> list[Row]:
    """Return the rows of records (id, text, cells). `Malformed` names the first that we would not write."""
    cells = _unpack_all(records, layout)
    if cells is None:
        return [Row(id_, id_ - 1, text, _unpack(id_, text, packed, layout)) for id_, text, packed in records]
    return [
        Row(id_, id_ - 1, text, tuple(of_row))
        for (id_, text, _), of_row in giving_way(zip(records, cells, strict=True))
    ]


def _unpack_all(records: Sequence[tuple[int, str, str]], layout: Shape) -> list[list[Cell]] | None:
    """Return the cells of all records, by one look at their JSON; None where one is not as usual."""
    width, place = len(layout.columns), layout.text_columns[0] if layout.text_columns else 0
    try:
        found = read_json(f"[{','.join([packed for _, _, packed in records])}]")
    except (Malformed, TypeError):
        return None
    if len(found) != len(records) or not {list}.issuperset(map(type, found)):
        return None
    for (_, text, _), cells in zip(records, found, strict=True):
        if len(cells) < width:
            cells.insert(place, text)
    whole = {width}.issuperset(map(len, found)) and _CELLS.issuperset(map(type, chain.from_iterable(found)))
    return found if whole and {str}.issuperset(type(text) for _, text, _ in records) else None


def _unpack(id_: int, text: str, packed: str, shape: Shape) -> tuple[Cell, ...]:
    if type(text) is not str:
        raise malformed("rows", "text", id_)
    try:
        cells = read_json(packed)
    except Malformed:
        raise malformed("rows", "cells", id_) from None
    if type(cells) is list and len(cells) < len(shape.columns):
        cells.insert(shape.text_columns[0], text)
    if type(cells) is not list or len(cells) != len(shape.columns) or not _CELLS.issuperset(map(type, cells)):
        raise malformed("rows", "cells", id_)
    return tuple(cells)
