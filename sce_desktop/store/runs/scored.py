"""Scores of runs for all rows, kept as arrays: queues are ordered and filtered without a query.

The scores of a run for a row never change, so arrays only grow: a look at how many rows the run has scored
by now says whether they are up to date, and what came since is read alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray
from sce_desktop.store.file import schema
from sce_desktop.store.file.database import raw
from sce_desktop.store.sql import fetch_columns, fetch_ids

_MOST_KEPT_RUNS: Final = 4  # runs; 20 MB each for a million rows
_scores = schema.scores


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """What a run says about every row, by row id from 0 to the last one that it has scored at least."""

    count: int  # rows that it has scored
    top: IdArray  # 0-based places in the run's labels; -1 where it says nothing
    confidence: NDArray[np.float64]
    margin: NDArray[np.float64]
    none: NDArray[np.bool_]  # whether the model itself says that no label fits

    def ids(self, last: int) -> IdArray:
        """Return the rows up to ``last`` that it has scored, in file order."""
        return np.flatnonzero(self.top[: last + 1] >= 0)


_NOTHING: Final = Scored(0, np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0, bool))


class ScoredRuns:
    """The arrays of the runs that were asked for last, for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, str], tuple[Scored, int]] = OrderedDict()

    @property
    def plain(self) -> ScoredRuns:
        """What runs themselves say, and nothing else."""
        return self

    def get(self, connection: sa.Connection, run_id: int) -> Scored:
        """Return what a run says in the state that ``connection`` sees; nothing if there is no such run."""
        plain = raw(connection)
        found = plain.execute("SELECT scored, created_at FROM runs WHERE id = ?", (run_id,)).fetchone()
        if found is None:
            return _NOTHING
        count, key = found[0], (run_id, found[1])  # an id may be given again
        with self._lock:
            before, seen = self._kept.get(key, (_NOTHING, 0))
        if before.count == count:
            return before
        (newest,) = plain.execute("SELECT coalesce(max(rowid), 0) FROM scores").fetchone()
        now = _grown(before, _since(connection, run_id, seen)) if 0 < before.count < count else _NOTHING
        if now.count != count:  # the first time, or places of a removed run were taken again
            now = _grown(_NOTHING, _all(connection, run_id))
        with self._lock:
            if before.count < count:  # else this connection sees an earlier state
                self._kept[key] = (now, newest)
                self._kept.move_to_end(key)
            while len(self._kept) > _MOST_KEPT_RUNS:
                self._kept.popitem(last=False)
        return now


def _since(connection: sa.Connection, run_id: int, seen: int) -> list[Any]:
    """Return row id, top, confidence, margin and none of what was written after the record ``seen``."""
    found = raw(connection).execute(
        # The plus keeps SQLite from the index on run_id, by which it would look at all records of the run.
        "SELECT row_id, top, confidence, margin, coalesce(none >= 0.5, 0) FROM scores"
        " WHERE rowid > ? AND +run_id = ?",
        (seen, run_id),
    )
    ids, top, confidence, margin, none = np.array(found.fetchall(), np.float64).reshape(-1, 5).T
    return [ids.astype(np.int64), top.astype(np.int64), confidence, margin, none.astype(bool)]


def _all(connection: sa.Connection, run_id: int) -> list[Any]:
    """Return the same of every record, from three indexes that hold all of it: the records are large.

    What was stored is float32; as such it comes back whole, though SQLite writes 15 digits.
    """
    of_run = _scores.c.run_id == run_id
    tops = sa.select(_scores.c.row_id, _scores.c.top, _scores.c.confidence).where(of_run)
    ids, top, confidence = fetch_columns(connection, tops, (np.int64, np.int64, np.float32))
    order = np.argsort(ids)
    margins = sa.select(_scores.c.row_id, _scores.c.margin).where(of_run)
    others, margin = fetch_columns(connection, margins, (np.int64, np.float32))
    unfitting = fetch_ids(connection, sa.select(_scores.c.row_id).where(of_run, sa.text("none >= 0.5")))
    none = np.isin(ids[order], unfitting)
    return [ids[order], top[order], confidence[order], margin[np.argsort(others)], none]


def _grown(before: Scored, records: list[Any]) -> Scored:
    ids, top, confidence, margin, none = records
    size = max(len(before.top), int(ids.max(initial=-1)) + 1)
    kept = len(before.top)
    result = Scored(
        before.count + len(ids),
        np.full(size, -1, np.int64),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size, bool),
    )
    for old, new, values in (
        (before.top, result.top, top),
        (before.confidence, result.confidence, confidence),
        (before.margin, result.margin, margin),
        (before.none, result.none, none),
    ):
        new[:kept] = old
        new[ids] = values
    return result
