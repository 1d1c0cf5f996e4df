"""Scores of runs for all rows, kept as arrays: queues are ordered and filtered without a query.

The scores of a run for a row never change, so arrays only grow: a look at how many rows the run has scored
by now says whether they are up to date, and what came since is read alone.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core import scoring
from sce_desktop.core.arrays import FloatArray, IdArray, at_least
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.repair.stored import Malformed
from sce_desktop.store.sql import fetch_ids, numbers_in

_MOST_KEPT_RUNS: Final = 4  # runs; 11 MB each for a million rows
_MOST_KEPT_ROWS: Final = 25_000_000  # of all runs that are kept; the one asked for last stays
_PART: Final = 100_000  # records that are read at once
_MOST_NEW: Final = 100_000  # rows that are read one by one: some 24 MB
_LOOK_S: Final = 0.1  # until who waits for another reader looks whether to go on
_LOOKED_AT: Final = 2_000  # records by which margins are parted
_WHOLE: Final = 2.0**62  # a float32 times it is a whole number ...
_SMALL: Final = 2.0**-38  # ... from here up
_MOST_SHORT: Final = np.iinfo(np.int16).max
_scores = schema.scores


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """What a run says about every row, by row id from 0 to the last one that it has scored at least."""

    count: int  # rows that it has scored
    top: NDArray[np.int16] | NDArray[np.int32]  # 0-based places in the run's labels; -1 where it says nothing
    confidence: FloatArray
    margin: FloatArray
    none: NDArray[np.bool_]  # whether the model itself says that no label fits

    def ids(self, last: int) -> IdArray:
        """Return the rows up to ``last`` that it has scored, in file order."""
        return np.flatnonzero(self.top[: last + 1] >= 0)

    def unfitting(self, threshold: float | None, *, multi_label: bool) -> NDArray[np.bool_]:
        """Return by row id whether no label fits; see `scoring.none_fits`. Not to be written to."""
        if not multi_label:
            return self.none
        least = scoring.MULTI_LABEL_THRESHOLD if threshold is None else threshold
        return self.none | (self.confidence < at_least(least))


_NOTHING: Final = Scored(
    0, np.empty(0, np.int16), np.empty(0, np.float32), np.empty(0, np.float32), np.empty(0, bool)
)


class ScoredRuns:
    """The arrays of the runs that were asked for last, for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._kept: OrderedDict[tuple[int, str], tuple[Scored, int]] = OrderedDict()

    @property
    def plain(self) -> ScoredRuns:
        """What runs themselves say, and nothing else."""
        return self

    def get(self, connection: sa.Connection, run_id: int, progress: Progress | None = None) -> Scored:
        """Return what a run says in the state that ``connection`` sees; nothing if there is no such run.

        ``progress`` is told how far it is where very many rows are read: of ten million that takes long.
        """
        key, count, before = self._known(connection, run_id)
        if before.count == count:
            return before
        watch = progress or SilentProgress()
        while not self._reading.acquire(timeout=_LOOK_S):  # who comes meanwhile does not read the same again
            watch.check()
        try:
            return self._read(connection, run_id, key, count, watch)
        finally:
            self._reading.release()

    def knows(self, connection: sa.Connection, run_id: int) -> bool:
        """Whether `get` answers without reading very many rows."""
        _key, count, before = self._known(connection, run_id)
        return 0 <= count - before.count <= _MOST_NEW

    def _known(self, connection: sa.Connection, run_id: int) -> tuple[tuple[int, str], int, Scored]:
        """Return by what a run is kept, how many rows it has scored, and what is known of it."""
        plain = raw(connection)
        found = plain.execute("SELECT scored, created_at FROM runs WHERE id = ?", (run_id,)).fetchone()
        if found is None:
            return (run_id, ""), 0, _NOTHING
        count, key = found[0], (run_id, found[1])  # an id may be given again
        with self._lock:
            before, _seen = self._kept.get(key, (_NOTHING, 0))
        return key, count, before

    def _read(
        self, connection: sa.Connection, run_id: int, key: tuple[int, str], count: int, progress: Progress
    ) -> Scored:
        plain = raw(connection)
        with self._lock:
            before, seen = self._kept.get(key, (_NOTHING, 0))
        if before.count == count:
            return before
        (newest,) = plain.execute("SELECT coalesce(max(rowid), 0) FROM scores").fetchone()
        now, few = _NOTHING, count - before.count <= _MOST_NEW
        if 0 < before.count < count and few:
            now = _grown(before, _since(connection, run_id, seen))
        if now.count != count:  # the first time, many, or places of a removed run were taken again
            now = _all(connection, run_id, count, progress)
        with self._lock:
            if before.count < count:  # else this connection sees an earlier state
                self._kept[key] = (now, newest)
                self._kept.move_to_end(key)
            while len(self._kept) > 1 and self._are_many():
                self._kept.popitem(last=False)
        return now

    def _are_many(self) -> bool:
        rows = sum(len(scored.top) for scored, _ in self._kept.values())
        return len(self._kept) > _MOST_KEPT_RUNS or rows > _MOST_KEPT_ROWS


class ScoredOnce(ScoredRuns):
    """What runs say during one query: the same each time, though drafts grow and end meanwhile."""

    def __init__(self, scored: ScoredRuns, progress: Progress | None = None) -> None:
        super().__init__()
        self._scored = scored
        self._progress = progress
        self._said: dict[int, Scored] = {}

    @property
    def plain(self) -> ScoredRuns:
        """The same without drafts: the query's transaction keeps it as it is."""
        return ScoredOnce(self._scored.plain, self._progress)

    def get(self, connection: sa.Connection, run_id: int, progress: Progress | None = None) -> Scored:
        """Return what a run said when it was asked first."""
        if run_id not in self._said:
            self._said[run_id] = self._scored.get(connection, run_id, progress or self._progress)
        return self._said[run_id]


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


def _all(connection: sa.Connection, run_id: int, count: int, progress: Progress) -> Scored:
    """Return the same of every record, from three indexes that hold all of it: the records are large.

    They are read in parts, so that their texts take little room and parsing them stops the window for some
    milliseconds at a time, and each part goes to its place at once. What was stored is float32, and comes
    back whole.
    """
    plain = raw(connection)
    (labels,) = plain.execute("SELECT json_array_length(labels) FROM runs WHERE id = ?", (run_id,)).fetchone()
    (last,) = plain.execute("SELECT max(row_id) FROM scores WHERE run_id = ?", (run_id,)).fetchone()
    size = 0 if last is None else int(last) + 1
    many = labels - 1 > _MOST_SHORT
    result = Scored(
        count,
        np.full(size, -1, np.int32) if many else np.full(size, -1, np.int16),
        np.zeros(size, np.float32),
        np.zeros(size, np.float32),
        np.zeros(size, bool),
    )
    pieces = max(1, count // (_PART * max(1, labels)))
    bounds = [-1.0, *np.linspace(0, 1, pieces + 1)[1:-1].tolist(), 2.0]
    found = others = 0
    for place in range(labels):
        for low, high in pairwise(bounds):
            ids, confidence = _values(plain, "confidence", (run_id, place, low, high), "AND top = ?")
            result.top[ids], result.confidence[ids] = place, confidence
            found += len(ids)
            progress.check()
            progress.report((found + others) // 2, count)
    for low, high in pairwise([-1.0, *_quantiles(plain, run_id, count), 2.0]):
        ids, margin = _values(plain, "margin", (run_id, low, high), "")
        result.margin[ids] = margin
        others += len(ids)
        progress.check()
        progress.report((found + others) // 2, count)
    if found != others or found != np.count_nonzero(result.top >= 0):
        raise Malformed(_("something in it is not a number"))
    unfitting = fetch_ids(
        connection, sa.select(_scores.c.row_id).where(_scores.c.run_id == run_id, sa.text("none >= 0.5"))
    )
    result.none[unfitting[unfitting < size]] = True
    return replace(result, count=found)


def _quantiles(plain: sqlite3.Connection, run_id: int, count: int) -> list[float]:
    """Return margins that part the records of a run into pieces of some 100,000, about."""
    wanted = count // _PART
    if wanted < 2:
        return []
    (last,) = plain.execute("SELECT max(rowid) FROM scores").fetchone()
    places = np.linspace(1, last, min(_LOOKED_AT, count), dtype=np.int64).tolist()
    found = plain.execute(
        f"SELECT margin FROM scores WHERE rowid IN ({', '.join(map(str, places))}) AND +run_id = ?", (run_id,)
    )
    known = [value for (value,) in found if isinstance(value, float)]
    return np.unique(np.quantile(known, np.linspace(0, 1, wanted + 1)[1:-1])).tolist() if known else []


def _values(plain: sqlite3.Connection, column: str, where: tuple[Any, ...], more: str) -> list[Any]:
    """Return row ids and values of a column that is above one bound, and no more than the next.

    SQLite writes and numpy reads a whole number three times as fast as a fraction.
    """
    records = f"SELECT row_id, {column} AS value FROM scores WHERE run_id = ? {more}"
    records += f" AND {column} > ? AND {column} <= ?"
    ids, values, numbers, small = plain.execute(
        f"SELECT group_concat(row_id), group_concat(CAST(value * {_WHOLE} AS INTEGER)),"
        f" sum(typeof(value) IN ('real', 'integer')), sum(value > 0 AND value < {_SMALL}) FROM ({records})",
        where,
    ).fetchone()
    found = [numbers_in(ids, np.int64), numbers_in(values, np.int64).astype(np.float64) / _WHOLE]
    if len(found[0]) != len(found[1]) or len(found[0]) != (numbers or 0):
        raise Malformed(_("something in it is not a number"))
    if small:  # a whole number of them has not all of their digits
        exact = plain.execute(f"{records} AND {column} < {_SMALL}", where).fetchall()
        places = {row_id: place for place, row_id in enumerate(found[0].tolist())}
        for row_id, value in exact:
            found[1][places[row_id]] = value
    return [found[0], found[1].astype(np.float32)]


def _grown(before: Scored, records: list[Any]) -> Scored:
    ids, top, confidence, margin, none = records
    kept = len(before.top)
    size = max(kept, int(ids.max(initial=-1)) + 1)
    result = Scored(
        before.count + len(ids),
        np.full(size, -1, np.int32 if top.max(initial=0) > _MOST_SHORT else before.top.dtype),
        np.zeros(size, np.float32),
        np.zeros(size, np.float32),
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
