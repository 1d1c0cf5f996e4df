"""What a run says about many rows, as arrays: for tables, which need nothing of a single row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.runs import Scores
from sce_desktop.store.file.database import raw
from sce_desktop.store.rules.records import checked, malformed
from sce_desktop.store.runs import runs
from sce_desktop.store.sql import Ids, json_ids

_STORED: Final = np.dtype("<f4")


@dataclass(frozen=True, slots=True, eq=False)
class ScoresOfRows:
    """``scores`` of those rows of n that are ``present`` (n,), in their order."""

    present: NDArray[np.bool_]
    scores: Scores


def fetch(connection: sa.Connection, run_id: int, row_ids: Ids) -> ScoresOfRows:
    """Return what a run says about ``row_ids``. `Malformed` names a record that is not as we write it."""
    width = len(runs.get(connection, run_id).labels)
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
