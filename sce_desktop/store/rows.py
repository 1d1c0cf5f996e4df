"""The rows of a project, exactly as they were read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from sce_desktop.core.types import Cell, IdArray, Row
from sce_desktop.store import schema
from sce_desktop.store.sql import Ids, fetch_ids, id_list, last_row_id

HASH_BYTES: Final = 16
_table = schema.rows


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import brought: ``blank`` and ``duplicates`` (of an earlier row) are among ``rows``."""

    rows: int
    blank: int
    duplicates: int


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """An import as the project remembers it. ``source`` is what the importer said of where rows came from."""

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
        return "\n".join(text for text in texts if text and not text.isspace())


def shape(connection: sa.Connection) -> Shape:
    """Return what the rows look like; no columns before the first import."""
    found = connection.execute(sa.select(schema.project.c.columns, schema.project.c.text_columns)).one()
    return Shape(tuple(found.columns), tuple(found.text_columns))


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
    statement = sa.select(_table.c.id, _table.c.text, _table.c.cells).where(
        _table.c.id.in_(id_list(ids)), _table.c.id <= last_row_id()
    )
    found = {
        id_: Row(id_, id_ - 1, text, _unpack(text, cells, layout))
        for id_, text, cells in connection.execute(statement)
    }
    return [found[int(id_)] for id_ in ids]


def texts(connection: sa.Connection, ids: Ids) -> list[str]:
    """Return the texts of ``ids`` in their order. KeyError if one does not exist."""
    statement = sa.select(_table.c.id, _table.c.text).where(
        _table.c.id.in_(id_list(ids)), _table.c.id <= last_row_id()
    )
    found: dict[int, str] = dict(connection.execute(statement).all())
    return [found[int(id_)] for id_ in ids]


def fetch_after(connection: sa.Connection, row_id: int, count: int) -> list[Row]:
    """Return up to ``count`` rows that follow ``row_id`` in file order."""
    layout = shape(connection)
    statement = (
        sa.select(_table.c.id, _table.c.text, _table.c.cells)
        .where(_table.c.id > row_id, _table.c.id <= last_row_id())
        .order_by(_table.c.id)
        .limit(count)
    )
    found = connection.execute(statement)
    return [Row(id_, id_ - 1, text, _unpack(text, cells, layout)) for id_, text, cells in found]


def same_text(connection: sa.Connection, row_id: int) -> IdArray:
    """Return the other rows that have exactly the text of ``row_id``, in file order."""
    return fetch_ids(connection, _same_text(row_id).order_by(_table.c.id))


def count_same_text(connection: sa.Connection, row_id: int, most: int) -> int:
    """Return how many other rows have exactly the text of ``row_id``; no more than ``most`` are counted."""
    some = _same_text(row_id).limit(most).subquery()
    return int(connection.execute(sa.select(sa.func.count()).select_from(some)).scalar_one())


def _same_text(row_id: int) -> sa.Select[Any]:
    own = sa.select(_table.c.text_hash).where(_table.c.id == row_id).scalar_subquery()
    return sa.select(_table.c.id).where(
        _table.c.blank.is_(sa.false()),
        _table.c.text_hash == own,
        _table.c.id != row_id,
        _table.c.id <= last_row_id(),
    )


def _unpack(text: str, packed: str, shape: Shape) -> tuple[Cell, ...]:
    cells = json.loads(packed)
    if len(cells) < len(shape.columns):
        cells.insert(shape.text_columns[0], text)
    return tuple(cells)
