"""Answering a `RowQuery` with ids: which rows to show is decided without reading one of them.

The order and each condition are one statement that an index serves; the ids that they give are combined here,
which is faster than any plan for the whole and does not hang on what SQLite makes of it. Rows that an order
knows nothing about (not scored, not annotated) come behind the others in file order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.annotations import Decision
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.scoring import rare_label
from sce_desktop.store.annotations import decisions
from sce_desktop.store.annotations.label_sets import active_set
from sce_desktop.store.content import conditions, rows
from sce_desktop.store.content.columns import ColumnCache
from sce_desktop.store.file import schema
from sce_desktop.store.runs import runs
from sce_desktop.store.runs.scored import ScoredRuns
from sce_desktop.store.sql import fetch_ids, is_seen, last_row_id


def row_ids(connection: sa.Connection, query: RowQuery, scored: ScoredRuns, columns: ColumnCache) -> IdArray:
    """Return the ids of the rows that ``query`` asks for, in its order."""
    last = connection.execute(sa.select(last_row_id())).scalar_one()
    every = _every(connection, last)
    match query.order:
        case RowOrder.FILE:
            ids = every[::-1] if query.descending else every
        case RowOrder.RANDOM:
            ids = every[np.argsort(_random_keys(every, query.seed), kind="stable")]
        case RowOrder.LENGTH:
            row = schema.rows.c
            by_length = sa.select(row.id).where(row.id <= last).order_by(_directed(row.length, query), row.id)
            ids = fetch_ids(connection, by_length)
        case RowOrder.DISAGREE:
            differs = conditions.compared(connection, query, last, scored.plain, differ=True)[every]
            parts = [every[differs], every[~differs]]
            ids = np.concatenate(parts[::-1] if query.descending else parts)
        case RowOrder.COLUMN:
            assert query.order_column is not None
            ids = every
            if query.order_column < len(rows.shape(connection).columns):
                column = columns.get(connection, query.order_column)
                ids = column.ordered(every, descending=query.descending)
        case _:
            known = _known(connection, query, last, scored)
            ids = np.concatenate([known, every[~conditions.mask(known, last)[every]]])
    for condition in conditions.masks(connection, query, last, scored, columns):
        ids = ids[condition[ids]]
    return ids


def _known(connection: sa.Connection, query: RowQuery, last: int, scored: ScoredRuns) -> IdArray:
    """Return the rows that the order of ``query`` says something about, in it."""
    match query.order:
        case RowOrder.GIVEN:
            return _given(query, last)
        case RowOrder.RARE:
            return _rare(connection, query, last, scored)
        case RowOrder.ANNOTATION:
            return fetch_ids(connection, _by_annotation(connection, query))
    return _by_score(connection, query, last, scored)


def unscored_ids(connection: sa.Connection, run_id: int, scored: ScoredRuns) -> IdArray:
    """Return the rows that are not blank and have no score in this run, in file order."""
    last = connection.execute(sa.select(last_row_id())).scalar_one()
    every = _every(connection, last)
    done = conditions.mask(fetch_ids(connection, conditions.blank(last)), last)
    done[scored.get(connection, run_id).ids(last)] = True
    return every[~done[every]]


def _every(connection: sa.Connection, last: int) -> IdArray:
    """Return all ids in file order; there are gaps among them only in a repaired project."""
    if rows.counts(connection).rows == last:
        return np.arange(1, last + 1)
    # No ORDER BY: SQLite then reads the index on hashes and not the texts.
    ids: IdArray = np.sort(fetch_ids(connection, sa.select(schema.rows.c.id).where(schema.rows.c.id <= last)))
    return ids


def _given(query: RowQuery, last: int) -> IdArray:
    given = np.array(query.given, np.int64)
    given = given[(given >= 1) & (given <= last)]
    _, first = np.unique(given, return_index=True)
    known: IdArray = given[np.sort(first)]
    return known[::-1] if query.descending else known


def _rare(connection: sa.Connection, query: RowQuery, last: int, scored: ScoredRuns) -> IdArray:
    """Return the undecided rows of the run; labels with the fewest decisions take turns, surest first.

    Rows that no label fits come last, in turns by the label that is the nearest.
    """
    assert query.run_id is not None
    scores = scored.get(connection, query.run_id)
    ids = scores.ids(last)
    ids = ids[~conditions.mask(fetch_ids(connection, decisions.ids_decided()), last)[ids]]
    top, confidence = scores.top[ids], scores.confidence[ids].astype(np.float32)
    run = runs.get(connection, query.run_id)
    counts = decisions.label_counts(connection)
    decided = np.array([counts.get(label.id or 0, 0) for label in run.labels], np.int64)
    fits = runs.given(connection, run, scored)[ids] >= 0
    turns = [
        some[rare_label(top[some], confidence[some], decided)] for some in map(np.flatnonzero, (fits, ~fits))
    ]
    known: IdArray = ids[np.concatenate(turns)]
    return known[::-1] if query.descending else known


def _by_score(connection: sa.Connection, query: RowQuery, last: int, scored: ScoredRuns) -> IdArray:
    assert query.run_id is not None
    scores = scored.get(connection, query.run_id)
    ids = scores.ids(last)
    direction = -1 if query.descending else 1
    match query.order:
        case RowOrder.CONFIDENCE:
            order = np.argsort(direction * scores.confidence[ids], kind="stable")
        case RowOrder.MARGIN:
            order = np.argsort(direction * scores.margin[ids], kind="stable")
        case _:
            run = runs.get(connection, query.run_id)
            places = runs.given(connection, run, scored)[ids]
            places = np.where(places < 0, len(run.labels), places)  # none of these, behind the labels
            order = np.lexsort((-scores.confidence[ids], direction * places))
    return ids[order]


def _by_annotation(connection: sa.Connection, query: RowQuery) -> sa.Select[Any]:
    label_set = active_set(connection)
    places = {label.id: place for place, label in enumerate(label_set.labels)} if label_set else {}
    other_places = {Decision.NONE.value: len(places), Decision.SKIPPED.value: len(places) + 1}
    decided = schema.annotations.c
    other = sa.case(other_places, value=decided.decision).label("place")
    bare = decided.decision.in_(other_places)
    parts = [sa.select(decided.row_id, other).where(bare, is_seen(decided.row_id))]
    if places:
        of_row = schema.annotation_labels.c
        first = sa.func.min(sa.case(places, value=of_row.label_id)).label("place")
        labelled = sa.select(of_row.row_id, first).where(of_row.label_id.in_(places), is_seen(of_row.row_id))
        parts.append(labelled.group_by(of_row.row_id))
    known = sa.union_all(*parts).subquery().c
    return sa.select(known.row_id).order_by(_directed(known.place, query), known.row_id)


def _directed(column: sa.ColumnElement[Any], query: RowQuery) -> sa.ColumnElement[Any]:
    return column.desc() if query.descending else column.asc()


def _random_keys(ids: IdArray, seed: int) -> NDArray[np.uint64]:
    """Return a key (n,) for each id that depends on it and ``seed`` alone."""
    start = _mixed(
        np.array([seed % 2**64], np.uint64)
    )  # mixed by itself: seed + id would only shift the order
    return _mixed(start + ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter keys over all numbers (the last step of SplitMix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = keys ^ (keys >> np.uint64(31))
    return mixed
