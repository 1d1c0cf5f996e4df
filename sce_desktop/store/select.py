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

from sce_desktop.core.types import Decision, IdArray
from sce_desktop.store import decisions, rows, runs, schema, search
from sce_desktop.store.label_sets import active_set
from sce_desktop.store.query import RowOrder, RowQuery, RowState
from sce_desktop.store.sql import fetch_columns, fetch_ids, last_row_id

_Mask = NDArray[np.bool_]  # by row id, from 0 to the last one
_scores = schema.scores


def row_ids(connection: sa.Connection, query: RowQuery) -> IdArray:
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
            differs = _compared(connection, query, last, differ=True)[every]
            parts = [every[differs], every[~differs]]
            ids = np.concatenate(parts[::-1] if query.descending else parts)
        case _:
            ordered = _by_annotation if query.order is RowOrder.ANNOTATION else _by_score
            known = fetch_ids(connection, ordered(connection, query))
            ids = np.concatenate([known, every[~_mask(known, last)[every]]])
    for condition in _conditions(connection, query, last):
        ids = ids[condition[ids]]
    return ids


def unscored_ids(connection: sa.Connection, run_id: int) -> IdArray:
    """Return the rows that are not blank and have no score in this run, in file order."""
    last = connection.execute(sa.select(last_row_id())).scalar_one()
    every = _every(connection, last)
    scored = fetch_ids(connection, sa.select(_scores.c.row_id).where(_scores.c.run_id == run_id))
    done = _mask(scored, last) | _mask(fetch_ids(connection, _blank(last)), last)
    return every[~done[every]]


def _every(connection: sa.Connection, last: int) -> IdArray:
    """Return all ids in file order; there are gaps among them only in a repaired project."""
    if rows.counts(connection).rows == last:
        return np.arange(1, last + 1)
    # No ORDER BY: SQLite then reads the index on hashes and not the texts.
    ids: IdArray = np.sort(fetch_ids(connection, sa.select(schema.rows.c.id).where(schema.rows.c.id <= last)))
    return ids


def _conditions(connection: sa.Connection, query: RowQuery, last: int) -> list[_Mask]:
    def among(statement: Any) -> _Mask:
        return _mask(fetch_ids(connection, statement), last)

    conditions = []
    if query.state is RowState.UNLABELLED:
        conditions.append(~among(decisions.ids_decided()))
    elif query.state is not RowState.ANY:
        conditions.append(among(decisions.ids_in_state(query.state)))
    if query.label_ids:
        conditions.append(among(decisions.ids_with_labels(query.label_ids)))
    if query.predicted_ids or query.confidence:
        conditions.append(among(_predicted(connection, query)))
    if query.disagree is not None:
        conditions.append(_compared(connection, query, last, differ=query.disagree))
    if query.blank is not None:
        blank = among(_blank(last))
        conditions.append(blank if query.blank else ~blank)
    if query.search:
        conditions.append(among(search.matching_ids(connection, query.search)))
    return conditions


def _blank(last: int) -> sa.Select[Any]:
    return sa.select(schema.rows.c.id).where(schema.rows.c.blank == sa.true(), schema.rows.c.id <= last)


def _by_score(_connection: sa.Connection, query: RowQuery) -> sa.Select[Any]:
    match query.order:
        case RowOrder.CONFIDENCE:
            keys = [_directed(_scores.c.confidence, query)]
        case RowOrder.MARGIN:
            keys = [_directed(_scores.c.margin, query)]
        case _:
            keys = [_directed(_scores.c.top, query), _scores.c.confidence.desc()]
    statement = sa.select(_scores.c.row_id).where(_scores.c.run_id == query.run_id)
    return statement.order_by(*keys, _scores.c.row_id)


def _by_annotation(connection: sa.Connection, query: RowQuery) -> sa.Select[Any]:
    label_set = active_set(connection)
    places = {label.id: place for place, label in enumerate(label_set.labels)} if label_set else {}
    other_places = {Decision.NONE.value: len(places), Decision.SKIPPED.value: len(places) + 1}
    decided = schema.annotations.c
    other = sa.case(other_places, value=decided.decision).label("place")
    parts = [sa.select(decided.row_id, other).where(decided.decision.in_(other_places))]
    if places:
        of_row = schema.annotation_labels.c
        first = sa.func.min(sa.case(places, value=of_row.label_id)).label("place")
        labelled = sa.select(of_row.row_id, first).where(of_row.label_id.in_(places)).group_by(of_row.row_id)
        parts.append(labelled)
    known = sa.union_all(*parts).subquery().c
    return sa.select(known.row_id).order_by(_directed(known.place, query), known.row_id)


def _predicted(connection: sa.Connection, query: RowQuery) -> sa.Select[Any]:
    assert query.run_id is not None
    statement = sa.select(_scores.c.row_id).where(_scores.c.run_id == query.run_id)
    if query.predicted_ids:
        labels = runs.get(connection, query.run_id).labels
        places = [place for place, label in enumerate(labels) if label.id in query.predicted_ids]
        statement = statement.where(_scores.c.top.in_(places))
    if query.confidence:
        statement = statement.where(_scores.c.confidence.between(*query.confidence))
    return statement


def _compared(connection: sa.Connection, query: RowQuery, last: int, *, differ: bool) -> _Mask:
    """Return which rows both runs of ``query.compare`` have scored, with different or the same top labels."""
    assert query.compare is not None
    tops = []
    for run_id in query.compare:
        label_ids = np.array([label.id for label in runs.get(connection, run_id).labels], np.int64)
        scored = sa.select(_scores.c.row_id, _scores.c.top).where(_scores.c.run_id == run_id)
        ids, places = fetch_columns(connection, scored, (np.int64, np.int64))
        top = np.zeros(last + 1, np.int64)  # label ids begin at 1
        top[ids] = label_ids[places]
        tops.append(top)
    ours, theirs = tops
    result: _Mask = (ours > 0) & (theirs > 0) & ((ours != theirs) if differ else (ours == theirs))
    return result


def _directed(column: sa.ColumnElement[Any], query: RowQuery) -> sa.ColumnElement[Any]:
    return column.desc() if query.descending else column.asc()


def _mask(ids: IdArray, last: int) -> _Mask:
    mask = np.zeros(last + 1, bool)
    mask[ids] = True
    return mask


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
