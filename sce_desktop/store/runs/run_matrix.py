"""All probabilities of a run as one matrix, read of many rows at a time."""

from __future__ import annotations

import sqlite3
from typing import Final

import numpy as np
import sqlalchemy as sa

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.giving_way import give_way
from sce_desktop.store.file.connections import raw
from sce_desktop.store.rules.records import malformed
from sce_desktop.store.runs import runs
from sce_desktop.store.runs.large_arrays import large, let_go
from sce_desktop.store.sql import numbers_in

_STORED: Final = np.dtype("<f4")
_WRITTEN: Final = 500_000  # rows after which the pages of a file that holds them are let go
_MOST_BYTES: Final = 4_000_000  # of vectors in one piece: some milliseconds
_FETCHED_AT_ONCE: Final = 1_000  # records, where they come one by one: a millisecond


def matrix(connection: sa.Connection, run_id: int) -> tuple[IdArray, FloatArray]:
    """Return the scored rows (n,) in file order and their probabilities (n, K), each column in one piece.

    The ids are int32 where that holds them; see `arrays.narrow`.
    """
    plain = raw(connection)
    (count, last) = plain.execute(
        "SELECT count(*), coalesce(max(row_id), 0) FROM scores WHERE run_id = ?", (run_id,)
    ).fetchone()
    labels = len(runs.get(connection, run_id).labels)
    ids = np.empty(count, np.int32 if last <= np.iinfo(np.int32).max else np.int64)
    probabilities = large((labels, count), np.float32).T
    at_once = max(1, _MOST_BYTES // (max(1, labels) * _STORED.itemsize))
    place = 0
    while place < count:
        give_way()
        some, vectors = _next(plain, run_id, int(ids[place - 1]) if place else None, at_once, labels)
        ids[place : place + len(some)], probabilities[place : place + len(some)] = some, vectors
        place += len(some)
        if place % _WRITTEN < len(some):
            let_go(probabilities)
    let_go(probabilities)
    return ids, probabilities


def _next(
    plain: sqlite3.Connection, run_id: int, after: int | None, count: int, labels: int
) -> tuple[IdArray, FloatArray]:
    """Return the next ``count`` rows, fewer at the end, and their vectors: SQLite gives them as one piece."""
    records = (
        "SELECT row_id, probabilities FROM scores WHERE run_id = ? AND row_id > ? ORDER BY row_id LIMIT ?"
    )
    where = (run_id, np.iinfo(np.int64).min if after is None else after, count)
    size = labels * _STORED.itemsize
    usual = "typeof(probabilities) = 'blob' AND length(probabilities) = ?"
    listed, vectors, found, usuals = plain.execute(
        "SELECT group_concat(row_id), CAST(group_concat(probabilities, '') AS BLOB), count(*),"
        f" total({usual}) FROM ({records})",
        (size, *where),
    ).fetchone()
    if usuals != found:
        _name_malformed(plain.execute(records, where), size)
    ids = numbers_in(listed, np.int64)
    return ids, np.frombuffer(vectors or b"", _STORED).reshape(len(ids), labels)


def _name_malformed(found: sqlite3.Cursor, size: int) -> None:
    """Raise the error that names the first record whose vector is none of ``size`` bytes."""
    while some := found.fetchmany(_FETCHED_AT_ONCE):
        for row_id, blob in some:
            if type(blob) is not bytes or len(blob) != size:
                raise malformed("scores", "probabilities", row_id)
