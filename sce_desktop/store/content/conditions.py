"""The conditions of a `RowQuery`: for each the rows that it lets through."""

from __future__ import annotations

from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.query import CellFilter, RowQuery, RowState
from sce_desktop.core.search_terms import search_terms
from sce_desktop.store.annotations import coders, decisions
from sce_desktop.store.content import search, searched
from sce_desktop.store.content.columns import ColumnCache, matches
from sce_desktop.store.content.rows import counts, shape
from sce_desktop.store.file import schema
from sce_desktop.store.runs import final, runs
from sce_desktop.store.runs.scored import ScoredRuns
from sce_desktop.store.sql import fetch_ids

Mask = NDArray[np.bool_]
"""By row id, from 0 to the last one."""
_rows = schema.rows.c


def masks(
    connection: sa.Connection, query: RowQuery, last: int, scored: ScoredRuns, columns: ColumnCache
) -> list[Mask]:
    """Return which rows each condition of ``query`` lets through."""

    def among(statement: Any) -> Mask:
        return mask(fetch_ids(connection, statement), last)

    found = []
    if query.among is not None:
        chosen = np.array(query.among, np.int64)
        found.append(mask(chosen[(chosen >= 1) & (chosen <= last)], last))
    if query.state is RowState.UNLABELLED:
        found.append(~among(decisions.ids_decided()))
    elif query.state is not RowState.ANY:
        found.append(among(decisions.ids_in_state(query.state)))
    if query.label_ids:
        found.append(among(decisions.ids_with_labels(query.label_ids)))
    if query.former_ids:
        found.append(among(decisions.ids_with_former_labels(query.former_ids)))
    if query.decided_since:
        found.append(among(decisions.ids_decided_since(query.decided_since)))
    if query.disagreeing:
        found.append(mask(coders.disagreements(connection, query.disagreeing), last))
    if query.predicted_ids or query.confidence:
        found.append(_predicted(connection, query, last, scored))
    if query.final is not None:
        found.append(final.by_source(connection, query.final, query.run_id, last, scored.plain))
    if query.disagree is not None:
        found.append(compared(connection, query, last, scored.plain, differ=query.disagree))
    if query.no_text or (query.no_text is False and counts(connection).blank):
        nothing = among(blank(last))
        found.append(nothing if query.no_text else ~nothing)
    if query.duplicate is not None:
        twice = among(_duplicates(last))
        found.append(twice if query.duplicate else ~twice)
    for wanted in query.cells:
        found += _cells(connection, wanted, last, columns)
    for term in search_terms(query.search, shape(connection).columns if query.search else ()):
        met = among(searched.statement(connection, term, last))
        found.append(~met if term.excluded else met)
    if query.pattern:  # the dearest one: only rows that are left
        left = np.logical_and.reduce(found) if found else np.ones(last + 1, bool)
        found.append(mask(search.matching_pattern(connection, query.pattern, left), last))
    return found


def blank(last: int) -> sa.Select[Any]:
    """Return the statement for the ids of the rows with nothing to classify."""
    return sa.select(_rows.id).where(_rows.blank == sa.true(), _rows.id <= last)


def _duplicates(last: int) -> sa.Select[Any]:
    has_text = (_rows.blank == sa.false()) & (_rows.id <= last)
    twice = sa.select(_rows.text_hash).where(has_text).group_by(_rows.text_hash).having(sa.func.count() > 1)
    return sa.select(_rows.id).where(has_text, _rows.text_hash.in_(twice))


def _cells(connection: sa.Connection, wanted: CellFilter, last: int, columns: ColumnCache) -> list[Mask]:
    """Return what a filter by a column lets through; one that the project does not have hides nothing."""
    if wanted.column >= len(shape(connection).columns):
        return []
    found = []
    if wanted.values or wanted.contains:
        fits = sa.select(_rows.id).where(_rows.id <= last, matches(connection, wanted))
        found.append(mask(fetch_ids(connection, fits), last))
    if wanted.low or wanted.high:
        inside = columns.get(connection, wanted.column).between(wanted.low, wanted.high)
        found.append(mask(np.flatnonzero(inside[1:]) + 1, last))
    return found


def _predicted(connection: sa.Connection, query: RowQuery, last: int, scored: ScoredRuns) -> Mask:
    assert query.run_id is not None
    scores = scored.get(connection, query.run_id)
    ids = scores.ids(last)
    if query.predicted_ids:
        run = runs.get(connection, query.run_id)
        places = [place for place, label in enumerate(run.labels) if label.id in query.predicted_ids]
        ids = ids[np.isin(runs.given(connection, run, scored)[ids], places)]
    if query.confidence:
        low, high = query.confidence
        confidence = scores.confidence[ids]
        ids = ids[(low <= confidence) & (confidence <= high)]
    return mask(ids, last)


def compared(
    connection: sa.Connection, query: RowQuery, last: int, scored: ScoredRuns, *, differ: bool
) -> Mask:
    """Return the rows whose label by the first run of ``query.compare`` the second puts first, or does not.

    Where the first says that no label fits there is nothing to compare; both have scored the row.
    """
    assert query.compare is not None
    first, second = (runs.get(connection, run_id) for run_id in query.compare)
    tops = []
    for run, places in (
        (first, runs.given(connection, first, scored)),
        (second, scored.get(connection, second.id).top),
    ):
        label_ids = np.array([label.id for label in run.labels], np.int64)
        ids = np.flatnonzero(places[: last + 1] >= 0)
        top = np.zeros(last + 1, np.int64)  # label ids begin at 1
        top[ids] = label_ids[places[ids]]
        tops.append(top)
    ours, theirs = tops
    result: Mask = (ours > 0) & (theirs > 0) & ((ours != theirs) if differ else (ours == theirs))
    return result


def mask(ids: IdArray, last: int) -> Mask:
    """Return the mask that lets ``ids`` through."""
    result = np.zeros(last + 1, bool)
    result[ids] = True
    return result
