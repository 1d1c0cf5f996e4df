"""Runs: what a model predicts for each row, whole, beside those of other models and earlier label sets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core import scoring
from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray, counted, looked_up, true_places
from sce_desktop.core.giving_way import giving_way
from sce_desktop.core.runs import ModelKind, Run, Scores
from sce_desktop.store.annotations.label_sets import parsed, to_json
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.rules.records import checked, malformed
from sce_desktop.store.runs.scored import Scored, ScoredRuns
from sce_desktop.store.sql import Ids, insert, json_ids, last_row_id, now

_BATCH_SCORES: Final = 500  # scores in one transaction, which a decision may have to wait for
_BATCH_REMOVE: Final = 5_000
_FIRST_SCORED: Final = "SELECT min(row_id) FROM scores WHERE run_id = ?"
_FETCHED_AT_ONCE: Final = 1_000  # records: a millisecond
_FETCHED: Final = ("row_id", "probabilities", "none", "top", "confidence", "margin")
_FITS: Final = (
    "(SELECT length(probabilities) = 4 * json_array_length(labels) AND top < json_array_length(labels)"
    " FROM runs WHERE id = run_id)"
)
_STORED: Final = np.dtype("<f4")
_RUN: Final = (
    "SELECT id, alias, kind, model, fingerprint, labels, multi_label, created_at, finished_at, scored,"
    " whole_table FROM runs"
)
_runs = schema.runs
_scores = schema.scores


@dataclass(frozen=True, slots=True, eq=False)
class RowScore:
    """What a run says about one row. ``probabilities`` (K,) is in the order of the run's labels."""

    probabilities: FloatArray
    none: float | None  # probability that no label fits, where the model can say so
    top: int  # 0-based place of the best label in the run's labels
    confidence: float
    margin: float


class RunArrays(NamedTuple):
    """What a run says about every row that it has scored, (n,) each, in file order; not to be written to."""

    row_ids: IdArray  # int32 where that holds them; see `core.arrays.narrow`
    top: NDArray[np.int16] | NDArray[np.int32]  # 0-based places in the run's labels
    confidence: FloatArray
    margin: FloatArray


def open_run(
    connection: sa.Connection,
    *,
    alias: str,
    kind: ModelKind,
    model: str,
    fingerprint: str,
    labels: Sequence[Label],
    multi_label: bool,
    whole_table: bool,
) -> Run:
    """Return the run that has given, or would give, the same numbers under ``alias``; else a new one.

    The first run of an alias is its active one. ValueError if a label has no id: they are the project's.
    """
    if any(label.id is None for label in labels):
        raise ValueError("the labels of a run are labels of the project")
    key = _labels_key(labels)
    found = connection.execute(
        sa.select(_runs.c.id).where(
            _runs.c.alias == alias,
            _runs.c.fingerprint == fingerprint,
            _runs.c.labels_key == key,
            _runs.c.multi_label == multi_label,
            _runs.c.whole_table == whole_table,
        )
    ).scalar()
    if found is None:
        found = insert(
            connection,
            _runs,
            alias=alias,
            kind=kind,
            model=model,
            fingerprint=fingerprint,
            labels=to_json(labels),
            labels_key=key,
            multi_label=multi_label,
            created_at=now(),
            active=active(connection, alias) is None,
            scored=0,
            whole_table=whole_table,
        )
    return get(connection, found)


def get(connection: sa.Connection, run_id: int) -> Run:
    """Return a run. KeyError if there is none of that id."""
    found = raw(connection).execute(f"{_RUN} WHERE id = ?", (run_id,)).fetchone()
    if found is None:
        raise KeyError(run_id)
    return _run(found)


def list_all(connection: sa.Connection) -> tuple[Run, ...]:
    """Return all runs, oldest first."""
    return tuple(_run(found) for found in raw(connection).execute(f"{_RUN} ORDER BY id"))


def active(connection: sa.Connection, alias: str) -> Run | None:
    """Return the run that is shown under ``alias``."""
    found = raw(connection).execute(f"{_RUN} WHERE alias = ? AND active", (alias,)).fetchone()
    return None if found is None else _run(found)


def previous(connection: sa.Connection, run: Run) -> Run | None:
    """Return the newest other run under the alias of ``run`` that has scored anything."""
    newest = f"{_RUN} WHERE alias = ? AND scored > 0 AND id != ? ORDER BY id DESC LIMIT 1"
    found = raw(connection).execute(newest, (run.alias, run.id)).fetchone()
    return None if found is None else _run(found)


def activate(connection: sa.Connection, run_id: int) -> None:
    """Show a run under its alias, in place of the one that was. KeyError if there is none of that id."""
    alias = get(connection, run_id).alias
    is_it = _runs.c.id == run_id
    connection.execute(_runs.update().where(_runs.c.alias == alias).values(active=is_it))


def finish(connection: sa.Connection, run_id: int) -> None:
    """Note that a run has seen all rows that there were."""
    connection.execute(_runs.update().where(_runs.c.id == run_id).values(finished_at=now()))


def remove(database: Database, run_id: int) -> None:
    """Remove a run and its scores, in short transactions."""
    statement = "DELETE FROM scores WHERE rowid IN (SELECT rowid FROM scores WHERE run_id = ? LIMIT ?)"
    removed = _BATCH_REMOVE
    while removed == _BATCH_REMOVE:
        with database.write() as connection:
            removed = raw(connection).execute(statement, (run_id, _BATCH_REMOVE)).rowcount
            _count_scored(connection, run_id, -removed)
    with database.write() as connection:
        connection.execute(_runs.delete().where(_runs.c.id == run_id))


def add_scores(database: Database, run_id: int, row_ids: Ids, scores: Scores) -> None:
    """Keep ``scores`` of ``row_ids`` (n,), in short transactions.

    A row that this run has scored keeps what it has: the same run says the same. KeyError if there is no such
    run, ValueError if a row is not in the project or the numbers do not fit the rows or the run's labels.
    """
    ids = np.asarray(row_ids, np.int64)
    probabilities = np.ascontiguousarray(scores.probabilities, _STORED)
    with database.read() as connection:
        labels = get(connection, run_id).labels
        last = connection.execute(sa.select(last_row_id())).scalar_one()
    if probabilities.shape != (len(ids), len(labels)):
        raise ValueError(f"{probabilities.shape} probabilities for {len(ids)} rows and {len(labels)} labels")
    if not len(ids):
        return
    if not np.isfinite(probabilities).all():
        raise ValueError("a probability is not a number")
    if ids.min() < 1 or ids.max() > last:
        raise ValueError("no such row")
    best, confidence, margin = scoring.top(probabilities)
    none = [None] * len(ids) if scores.none is None else np.asarray(scores.none, float).tolist()
    vectors = (vector.tobytes() for vector in probabilities)
    columns = (ids.tolist(), best.tolist(), confidence.tolist(), margin.tolist(), none, vectors)
    records = [(run_id, *record) for record in zip(*columns, strict=True)]
    for start in range(0, len(records), _BATCH_SCORES):
        with database.write() as connection:
            added = (
                raw(connection)
                .executemany(
                    "INSERT OR IGNORE INTO scores"
                    " (run_id, row_id, top, confidence, margin, none, probabilities)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    records[start : start + _BATCH_SCORES],
                )
                .rowcount
            )
            _count_scored(connection, run_id, added)


def fetch(connection: sa.Connection, run_id: int, row_ids: Ids) -> dict[int, RowScore]:
    """Return what a run says about ``row_ids`` by row; a row without a score is absent."""
    found = raw(connection).execute(
        f"SELECT {', '.join(_FETCHED)}, {_FITS} FROM scores"
        " WHERE run_id = ? AND row_id IN (SELECT value FROM json_each(?))",
        (run_id, json_ids(row_ids)),
    )
    records = checked("scores", _FETCHED, found.fetchall())
    scores = {}
    for row_id, blob, none, top, confidence, margin, fits in giving_way(records):
        if not fits:
            raise malformed("scores", "probabilities", row_id)
        scores[row_id] = RowScore(_vector(blob), none, top, confidence, margin)
    return scores


def first_scored(connection: sa.Connection, run_id: int) -> IdArray:
    """Return the first row (1,) in file order that a run has scored; (0,) if there is none."""
    (first,) = raw(connection).execute(_FIRST_SCORED, (run_id,)).fetchone()
    return np.empty(0, np.int64) if first is None else np.array([first], np.int64)


def arrays(scored_rows: Scored) -> RunArrays:
    """Return best label, confidence and margin of every row that a run has scored; not to be written to."""
    ids = true_places(scored_rows.top >= 0)
    columns: tuple[NDArray[Any], ...] = (scored_rows.top, scored_rows.confidence, scored_rows.margin)
    if len(ids) == len(scored_rows.top) - 1:  # every row: nothing is copied
        top, confidence, margin = (column[1:] for column in columns)
    else:
        top, confidence, margin = (looked_up(column, ids) for column in columns)
    for column in (top, confidence, margin):
        column.flags.writeable = False
    return RunArrays(
        ids, top, confidence.astype(np.float32, copy=False), margin.astype(np.float32, copy=False)
    )


def given(connection: sa.Connection, run: Run, scored: ScoredRuns) -> NDArray[np.int16] | NDArray[np.int32]:
    """Return the place of the label that ``run`` gives each row, by row id from 0 to the last it has scored.

    -1 where it says nothing, -2 where it says that no label fits. Not to be written to.
    """
    scored_rows = scored.get(connection, run.id)
    (threshold,) = raw(connection).execute("SELECT threshold FROM project").fetchone()
    none = scored_rows.unfitting(threshold, multi_label=run.multi_label)
    if not none.any():
        return scored_rows.top
    places = scored_rows.top.copy()
    places[(places >= 0) & none] = -2
    return places


def predicted_counts(connection: sa.Connection, run_id: int, scored: ScoredRuns) -> dict[int, int]:
    """Return the number of rows to which a run gives each of its labels, by label id."""
    run = get(connection, run_id)
    places = given(connection, run, scored)
    counts = counted(places, len(run.labels))
    labels = zip(run.labels, counts, strict=True)
    return {label.id: int(count) for label, count in labels if label.id is not None}


def _labels_key(labels: Sequence[Label]) -> str:
    """Return what is equal where labels are the same and say the same; colours and shortcuts say nothing."""
    contents = [[label.id, label.name, label.description, label.synonyms] for label in labels]
    return hashlib.blake2b(json.dumps(contents).encode(), digest_size=16).hexdigest()


def _count_scored(connection: sa.Connection, run_id: int, change: int) -> None:
    connection.execute(_runs.update().where(_runs.c.id == run_id).values(scored=_runs.c.scored + change))


def _vector(blob: bytes) -> FloatArray:
    return np.frombuffer(blob, _STORED).astype(np.float32, copy=False)


def _run(found: tuple[Any, ...]) -> Run:
    run_id, alias, kind, model, fingerprint, labels, multi_label, *rest = found
    created_at, finished_at, scored, whole_table = rest
    return Run(
        id=run_id,
        alias=alias,
        kind=kind,
        model=model,
        fingerprint=fingerprint,
        labels=parsed(labels),
        multi_label=bool(multi_label),
        created_at=created_at,
        finished_at=finished_at,
        scored=scored,
        whole_table=bool(whole_table),
    )
