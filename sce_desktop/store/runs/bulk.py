"""What a run says about many rows, as arrays: for tables, which need nothing of a single row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.runs import Scores
from sce_desktop.store.content.row_columns import asked
from sce_desktop.store.file.connections import raw
from sce_desktop.store.rules.records import checked, malformed
from sce_desktop.store.runs import runs
from sce_desktop.store.sql import Ids, json_ids, numbers_in

_STORED: Final = np.dtype("<f4")
_MOST_BYTES: Final = 100_000_000  # of vectors in one piece; SQLite makes none above a billion


@dataclass(frozen=True, slots=True, eq=False)
class ScoresOfRows:
    """``scores`` of those rows of n that are ``present`` (n,), in their order."""

    present: NDArray[np.bool_]
    scores: Scores


def fetch(connection: sa.Connection, run_id: int, row_ids: Ids) -> ScoresOfRows:
    """Return what a run says about ``row_ids``. `Malformed` names a record that is not as we write it."""
    width = len(runs.get(connection, run_id).labels)
    found = _at_once(connection, run_id, np.asarray(row_ids, np.int64), width)
    return _one_by_one(connection, run_id, row_ids, width) if found is None else found


def _at_once(
    connection: sa.Connection, run_id: int, row_ids: NDArray[np.int64], width: int
) -> ScoresOfRows | None:
    """Return all vectors as one piece, of which SQLite makes one step; None where one is not as usual."""
    size = width * _STORED.itemsize
    if len(row_ids) * size > _MOST_BYTES:
        return None
    where, parameters = asked("scores", "row_id", row_ids)
    # Words are compared only where the cheaper question leaves something open.
    usual = "length(probabilities) = ? THEN CASE typeof(probabilities) WHEN 'blob' THEN 1 END"
    listed, vectors, none, count, usuals, nones, reals = (
        raw(connection)
        .execute(
            "SELECT group_concat(row_id), CAST(group_concat(probabilities, '') AS BLOB), group_concat(none),"
            f" count(*), count(CASE WHEN {usual} END), count(none),"
            " count(CASE WHEN none IS NOT NULL THEN CASE typeof(none) WHEN 'real' THEN 1 END END)"
            f" FROM (SELECT row_id, probabilities, none {where} AND run_id = ?)",
            (size, *parameters, run_id),
        )
        .fetchone()
    )
    scored = numbers_in(listed, np.int64)
    present = np.ones(len(row_ids), np.bool_)
    if not np.array_equal(row_ids, scored):
        present = np.isin(row_ids, scored)
    if (
        usuals != count
        or reals != nones
        or nones not in (0, count)
        or not np.array_equal(row_ids[present], scored)
    ):
        return None
    probabilities = np.frombuffer(vectors or b"", _STORED).reshape(-1, width).astype(np.float32, copy=False)
    # SQLite writes 15 digits, and 9 tell a float32.
    given = numbers_in(none, np.float64).astype(np.float32) if nones else None
    return ScoresOfRows(present, Scores(probabilities, given))


def _one_by_one(connection: sa.Connection, run_id: int, row_ids: Ids, width: int) -> ScoresOfRows:
    found = raw(connection).execute(
        "SELECT row_id, probabilities, none FROM scores"
        " WHERE run_id = ? AND row_id IN (SELECT value FROM json_each(?))",
        (run_id, json_ids(row_ids)),
    )
    records = checked("scores", ("row_id", "probabilities", "none"), found.fetchall())
    by_id = {record[0]: record for record in records}
    present = np.fromiter((int(row_id) in by_id for row_id in row_ids), np.bool_, len(row_ids))
    ordered = [by_id[int(row_id)] for row_id, there in zip(row_ids, present, strict=True) if there]
    for row_id, blob, _none in ordered:
        if len(blob) != width * _STORED.itemsize:
            raise malformed("scores", "probabilities", row_id)
    vectors = np.frombuffer(b"".join(blob for _, blob, _ in ordered), _STORED).reshape(-1, width)
    none = None
    if ordered and ordered[0][2] is not None:
        none = np.asarray([value for _, _, value in ordered], dtype=np.float32)
    return ScoresOfRows(present, Scores(vectors.astype(np.float32, copy=False), none))
