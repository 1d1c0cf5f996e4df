"""The conditions of a `RowQuery` that arrays and indexes answer: for each the rows that it lets through.

What texts and cells have to be read for is in `row_tests`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray, at_least, at_most, looked_up
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import CellFilter, RowQuery, RowState
from sce_desktop.core.search_terms import Field, search_terms
from sce_desktop.store.annotations import coders, decisions
from sce_desktop.store.content import searched
from sce_desktop.store.content.column_values import ColumnValues
from sce_desktop.store.content.columns import ColumnCache
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
        if (wanted.low or wanted.high) and wanted.column < len(shape(connection).columns):
            inside = columns.get(connection, wanted.column, progress).between(wanted.low, wanted.high)
            inside[0] = False
            found.append(inside)
        if (known := known_cells(connection, wanted, columns)) is not None:
            found.append(known.matching(wanted))
    for term in search_terms(query.search, shape(connection).columns if query.search else ()):
        if term.field not in (Field.TEXT, Field.CELL):
            met = among(searched.statement(connection, term, last))
            found.append(~met if term.excluded else met)
    return found


def known_cells(connection: sa.Connection, wanted: CellFilter, columns: ColumnCache) -> ColumnValues | None:
    """Return the column that a filter by values or contents asks for, where its cells are known."""
    known = columns.known(connection, wanted.column) if wanted.values or wanted.contains else None
    return known if known is not None and known.distinct is not None else None


def blank(last: int) -> sa.Select[Any]:
    """Return the statement for the ids of the rows with nothing to classify."""
    return sa.select(_rows.id).where(_rows.blank == sa.true(), _rows.id <= last)


def _predicted(connection: sa.Connection, query: RowQuery, last: int, scored: ScoredRuns) -> Mask:
    assert query.run_id is not None
    scores = scored.get(connection, query.run_id)
    result = np.zeros(last + 1, bool)
    fits = result[: len(scores.top)]
    np.greater_equal(scores.top[: last + 1], 0, out=fits)
    if query.predicted_ids:
        run = runs.get(connection, query.run_id)
        # -1 and -2, no score and no label, are the places at the end.
        wanted = np.array([*(label.id in query.predicted_ids for label in run.labels), False, False])
        fits &= looked_up(wanted, runs.given(connection, run, scored)[: last + 1])
    if query.confidence:
        low, high = query.confidence  # a bound that float32 lacks is none of its numbers
        fits &= scores.confidence[: last + 1] >= at_least(low)
        fits &= scores.confidence[: last + 1] <= at_most(high)
    return result


def compared(
    connection: sa.Connection, query: RowQuery, last: int, scored: ScoredRuns, *, differ: bool
) -> Mask:
    """Return the rows whose label by the first run of ``query.compare`` the second puts first, or does not.

    Where the first says that no label fits there is nothing to compare; both have scored the row.
    """
    assert query.compare is not None
    first, second = (runs.get(connection, run_id) for run_id in query.compare)
    ours = runs.given(connection, first, scored)[: last + 1]
    theirs = scored.get(connection, second.id).top[: last + 1]
    size = min(len(ours), len(theirs))
    ours, theirs = ours[:size], theirs[:size]
    place_of = {label.id: place for place, label in enumerate(second.labels)}
    places = [place_of.get(label.id, len(place_of)) for label in first.labels]
    result = np.zeros(last + 1, bool)
    found = result[:size]
    if places != list(range(len(places))):  # else they have the same labels in the same order
        ours = looked_up(np.array([*places, -2, -1], np.int32), ours)
    np.greater_equal(ours, 0, out=found)
    found &= theirs >= 0
    found &= (ours != theirs) if differ else (ours == theirs)
    return result


def mask(ids: IdArray, last: int) -> Mask:
    """Return the mask that lets ``ids`` through."""
    result = np.zeros(last + 1, bool)
    result[ids] = True
    return result
