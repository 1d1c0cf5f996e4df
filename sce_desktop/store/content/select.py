"""Answering a `RowQuery` with ids: all of them, or the first ones soon where the rest takes long."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import sqlalchemy as sa

from sce_desktop.core.arrays import IdArray, looked_up
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.search_terms import Field, search_terms
from sce_desktop.store.content import conditions, rows
from sce_desktop.store.content.columns import ColumnCache
from sce_desktop.store.content.found_rows import FoundRows, every_id
from sce_desktop.store.content.row_tests import SqlTest, passing
from sce_desktop.store.content.trigrams import BLOCK
from sce_desktop.store.runs.scored import ScoredRuns
from sce_desktop.store.sql import fetch_ids, last_row_id

_HEADS: Final = (16 * BLOCK, 64 * BLOCK)  # first rows of the file that a search is asked of before all others
_ENOUGH: Final = 64  # rows found among them that are shown: a screen


def row_ids(
    connection: sa.Connection,
    query: RowQuery,
    scored: ScoredRuns,
    columns: ColumnCache,
    progress: Progress | None = None,
) -> IdArray:
    """Return the ids of the rows that ``query`` asks for, in its order."""
    found = FoundRows(connection, query, scored, columns, progress or SilentProgress())
    found.test_all()
    return found.ordered()


def first_ids(
    connection: sa.Connection,
    query: RowQuery,
    scored: ScoredRuns,
    columns: ColumnCache,
    count: int,
    least: int,
    progress: Progress | None = None,
    *,
    near: int | None = None,
    readable: int | None = None,
) -> tuple[IdArray, int | None]:
    """Return the first of what `row_ids` returns, and how many there are in all.

    At least ``count``, and all of them where there are fewer than ``least``, where the order knows no shorter
    way, or where the row ``near`` is among the others. Where texts or cells of as many rows have to be read,
    those of the first ones of the order alone are: then few may be found, or none yet, and how many there are
    is not known (None). So it is from ``readable`` rows on, if that is given and ``near`` not left out by it.
    """
    progress = progress or SilentProgress()
    if readable is not None and _searches_alone(connection, query):
        head = _first_in_file(connection, query, scored, columns, near, progress)
        if head is not None:
            return head, None
    found = FoundRows(connection, query, scored, columns, progress)
    if found.tests and found.count >= min(least, readable or least):
        first = found.first_tested()
        if found.count >= least or near is None or (first == near).any() or not found.meets(near):
            return first, None
    found.test_all()
    first = found.ordered(count if found.count >= least else None)
    if near is not None and found.has(near) and not (first == near).any():
        first = found.ordered()
    return first, found.count


def _searches_alone(connection: sa.Connection, query: RowQuery) -> bool:
    """Whether words in texts are all that a query in file order asks for."""
    if query != RowQuery(query.search, run_id=query.run_id, compare=query.compare, seed=query.seed):
        return False
    terms = search_terms(query.search, rows.shape(connection).columns)
    return bool(terms) and all(term.field is Field.TEXT for term in terms)


def _first_in_file(
    connection: sa.Connection,
    query: RowQuery,
    scored: ScoredRuns,
    columns: ColumnCache,
    near: int | None,
    progress: Progress,
) -> IdArray | None:
    """Return the first rows in file order that a search alone finds; None if the whole index has to tell.

    The index of ten million rows is 600 blocks, of each of which a trigram reads a record from the disk; a
    screen of rows is in a few of them.
    """
    newest = connection.execute(sa.select(last_row_id())).scalar_one()
    for last in _HEADS:
        if 2 * last > newest:
            return None
        found = FoundRows(connection, query, scored, columns, progress, last=last)
        if any(test.candidates is None for test in found.tests):
            return None
        if found.count < _ENOUGH:
            continue
        first = found.first_tested()
        if len(first) < _ENOUGH:
            continue
        if near is not None and not (first == near).any():
            asked = [replace(test, candidates=None) for test in found.tests if isinstance(test, SqlTest)]
            if rows.exists(connection, near) and len(passing(connection, asked, np.array([near]))):
                return None
        return first
    return None


def must_read(connection: sa.Connection, query: RowQuery, scored: ScoredRuns, columns: ColumnCache) -> bool:
    """Return whether `row_ids` would have to read a column, scores, the length or the hash of every row."""
    wanted = {cell.column for cell in query.cells if cell.low or cell.high}
    if query.order is RowOrder.COLUMN and query.order_column is not None:
        wanted.add(query.order_column)
    if query.duplicate is not None and not columns.knows_repeated(connection):
        return True
    if not all(scored.knows(connection, run_id) for run_id in query.scored_by):
        return True
    unknown = any(not columns.knows(connection, column) for column in wanted)
    return unknown or (query.order is RowOrder.LENGTH and not columns.knows(connection, None))


def unscored_ids(connection: sa.Connection, run_id: int, scored: ScoredRuns) -> IdArray:
    """Return the rows that are not blank and have no score in this run, in file order."""
    last = connection.execute(sa.select(last_row_id())).scalar_one()
    every = every_id(connection, last)
    done = conditions.mask(fetch_ids(connection, conditions.blank(last)), last)
    done[scored.get(connection, run_id).ids(last)] = True
    return every[~looked_up(done, every)].astype(np.int64)
