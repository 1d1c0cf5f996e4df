"""The conditions of a `RowQuery`: for each the rows that it lets through."""

from __future__ import annotations

from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import CellFilter, RowQuery, RowState
from sce_desktop.core.runs import Run
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
    connection: sa.Connection,
    query: RowQuery,
    last: int,
    scored: ScoredRuns,
    columns: ColumnCache,
    progress: Progress,
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
        twice = columns.repeated(connection)
        found.append(twice if query.duplicate else ~twice)
    for wanted in query.cells:
        found += _cells(connection, wanted, last, columns, progress)
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


def _cells(
    connection: sa.Connection, wanted: CellFilter, last: int, columns: ColumnCache, progress: Progress
) -> list[Mask]:
    """Return what a filter by a column lets through; one that the project does not have hides nothing."""
    if wanted.column >= len(shape(connection).columns):
        return []
    found = []
    if wanted.values or wanted.contains:
        fits = sa.select(_rows.id).where(_rows.id <= last, matches(connection, wanted))
        found.append(mask(fetch_ids(connection, fits), last))
    if wanted.low or wanted.high:
        inside = columns.get(connection, wanted.column, progress).between(wanted.low, wanted.high)
        found.append(mask(np.flatnonzero(inside[1:]) + 1, last))
    return found


def _predicted(connection: sa.Connection, query: RowQuery, last: int, scored: ScoredRuns) -> Mask:
    assert query.run_id is not None
    scores = scored.get(connection, query.run_id)
    size = min(last + 1, len(scores.top))
    fits = scores.top[:size] >= 0
    if query.predicted_ids:
        run = runs.get(connection, query.run_id)
        # -1 and -2, no score and no label, are the places at the end.
        wanted = np.array([*(label.id in query.predicted_ids for label in run.labels), False, False])
        fits &= wanted[runs.given(connection, run, scored)[:size]]
    if query.confidence:
        low, high = map(np.float64, query.confidence)  # a bound that float32 lacks is none of its numbers
        fits &= (low <= scores.confidence[:size]) & (scores.confidence[:size] <= high)
    result = np.zeros(last + 1, bool)
    result[:size] = fits
    return result


def compared(
    connection: sa.Connection, query: RowQuery, last: int, scored: ScoredRuns, *, differ: bool
) -> Mask:
    """Return the rows whose label by the first run of ``query.compare`` the second puts first, or does not.

    Where the first says that no label fits there is nothing to compare; both have scored the row.
    """
    assert query.compare is not None
    first, second = (runs.get(connection, run_id) for run_id in query.compare)
    ours, theirs = (
        _label_ids(run, places, last)
        for run, places in (
            (first, runs.given(connection, first, scored)),
            (second, scored.get(connection, second.id).top),
        )
    )
    result: Mask = (ours > 0) & (theirs > 0)
    result &= (ours != theirs) if differ else (ours == theirs)
    return result


def _label_ids(run: Run, places: NDArray[Any], last: int) -> NDArray[np.int32]:
    """Return by row id, from 0 to ``last``, the id of the label at a place of ``run``; 0: no label."""
    known = np.array([*(label.id or 0 for label in run.labels), 0, 0], np.int32)  # -1 and -2 at the end
    result = np.zeros(last + 1, np.int32)
    result[: len(places)] = known[places[: last + 1]]
    return result


def mask(ids: IdArray, last: int) -> Mask:
    """Return the mask that lets ``ids`` through."""
    result = np.zeros(last + 1, bool)
    result[ids] = True
    return result
