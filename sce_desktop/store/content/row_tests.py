"""Conditions of a `RowQuery` that the text or the cells of each row have to be read for: at the end.

Of ten million rows that takes seconds or minutes. So it is done in parts that can be cancelled, and for the
rows that a window shows first it is done for those alone (`select.first_ids`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import CellFilter, RowQuery
from sce_desktop.core.search_terms import Field, search_terms
from sce_desktop.store.content import search
from sce_desktop.store.content.column_codes import coded_between
from sce_desktop.store.content.column_values import fitting
from sce_desktop.store.content.columns import matches
from sce_desktop.store.content.rows import shape
from sce_desktop.store.file import schema
from sce_desktop.store.sql import fetch_ids, id_list

Mask = NDArray[np.bool_]
"""By row id, from 0 to the last one."""
_rows = schema.rows.c
_PART: Final = 25_000  # rows between two looks at whether to go on
_DENSE: Final = 1.5  # times as many rows may be read one after the other as are asked for: that costs less
_SPARSE: Final = 4  # where no more than one row in so many is left, those are asked for by their ids


class RowTest(Protocol):
    """What is asked of a row's text or cells."""

    @property
    def excluded(self) -> bool:
        """Whether rows that meet it are hidden."""

    @property
    def candidates(self) -> Mask | None:
        """Of all rows those that may meet it, by an index."""

    def meeting(self, connection: sa.Connection, ids: IdArray) -> IdArray:
        """Return those of ``ids`` (n,) that meet it, in any order."""

    def meeting_between(self, connection: sa.Connection, low: int, high: int) -> IdArray:
        """Return the rows from ``low`` up to ``high`` that meet it."""


@dataclass(frozen=True, slots=True, eq=False)
class SqlTest:
    """A condition that SQLite checks."""

    condition: sa.ColumnElement[bool]
    excluded: bool = False
    candidates: Mask | None = None

    def meeting(self, connection: sa.Connection, ids: IdArray) -> IdArray:
        """See `RowTest`."""
        return fetch_ids(connection, sa.select(_rows.id).where(_rows.id.in_(id_list(ids)), self.condition))

    def meeting_between(self, connection: sa.Connection, low: int, high: int) -> IdArray:
        """See `RowTest`."""
        inside = (_rows.id >= low, _rows.id <= high)
        return fetch_ids(connection, sa.select(_rows.id).where(*inside, self.condition))


@dataclass(frozen=True, slots=True, eq=False)
class CellTest:
    """What is asked of the cells of a column: rows that follow each other are read without SQLite's JSON.

    Each distinct cell of some rows is looked at once.
    """

    wanted: CellFilter
    excluded: bool = False
    candidates: Mask | None = None

    def meeting(self, connection: sa.Connection, ids: IdArray) -> IdArray:
        """See `RowTest`."""
        some = sa.select(_rows.id).where(_rows.id.in_(id_list(ids)), matches(connection, self.wanted))
        return fetch_ids(connection, some)

    def meeting_between(self, connection: sa.Connection, low: int, high: int) -> IdArray:
        """See `RowTest`."""
        cells = coded_between(connection, self.wanted.column, low - 1, high)
        return cells.ids[fitting(self.wanted, cells.texts)[cells.codes]]


@dataclass(frozen=True, slots=True, eq=False)
class PatternTest:
    """A regular expression; each part of the rows has its time (`search.PATTERN_SECONDS`)."""

    pattern: str
    excluded: bool = False
    candidates: Mask | None = None

    def meeting(self, connection: sa.Connection, ids: IdArray) -> IdArray:
        """See `RowTest`."""
        return search.matching_pattern(connection, self.pattern, ids)

    def meeting_between(self, connection: sa.Connection, low: int, high: int) -> IdArray:
        """See `RowTest`; dear, so it is asked of the rows alone that are left."""
        return search.matching_pattern(connection, self.pattern, np.arange(low, high + 1))


def row_tests(
    connection: sa.Connection, query: RowQuery, last: int, cells: Sequence[CellFilter]
) -> list[RowTest]:
    """Return what ``query`` asks of texts and, by ``cells``, of columns; what an index narrows down first."""
    columns = shape(connection).columns
    found: list[RowTest] = []
    for term in search_terms(query.search, columns if query.search else ()):
        if term.field is Field.TEXT:
            condition = search.contains(_rows.text, term.value)
            found.append(SqlTest(condition, term.excluded, search.candidates(connection, term.value, last)))
        elif term.field is Field.CELL:
            found.append(CellTest(CellFilter(term.column, contains=term.value), term.excluded))
    for wanted in cells:  # a column that the project does not have hides nothing
        if (wanted.values or wanted.contains) and wanted.column < len(columns):
            found.append(CellTest(replace(wanted, low="", high="")))
    if query.pattern:
        search.check_pattern(query.pattern)
        found.append(PatternTest(query.pattern))  # the dearest one: only rows that are left
    return sorted(found, key=lambda test: test.candidates is None)


def passing(connection: sa.Connection, tests: Sequence[RowTest], ids: IdArray) -> IdArray:
    """Return those of ``ids`` (n,) that all ``tests`` let through, in their order."""
    for test in tests:
        asked = ids if test.candidates is None else ids[test.candidates[ids]]
        met = np.isin(ids, _meeting(connection, test, asked)) if len(asked) else np.zeros(len(ids), bool)
        ids = ids[~met if test.excluded else met]
    return ids


def _meeting(connection: sa.Connection, test: RowTest, ids: IdArray) -> IdArray:
    """Return those of ``ids`` (n,) that meet a test, and maybe rows between them."""
    low, high = int(ids.min()), int(ids.max())
    if 1 < len(ids) > (high - low) / _DENSE and not isinstance(test, PatternTest):
        return test.meeting_between(connection, low, high)
    return test.meeting(connection, ids)


def passing_mask(connection: sa.Connection, tests: Sequence[RowTest], left: Mask, progress: Progress) -> Mask:
    """Return which of the rows ``left``, by row id, all ``tests`` let through."""
    for test in tests:
        asked = left if test.candidates is None else left & test.candidates
        met = np.zeros(len(left), bool)
        for start in range(0, len(left), _PART):
            progress.check()
            end = min(start + _PART, len(left))
            some = np.flatnonzero(asked[start:end]) + start
            sparse = len(some) * _SPARSE <= end - start
            if len(some) and (sparse or isinstance(test, PatternTest)):
                met[test.meeting(connection, some)] = True
            elif len(some):
                met[test.meeting_between(connection, int(some[0]), int(some[-1]))] = True
            progress.report(end, len(left))
        left = left & (~met if test.excluded else met)
    return left
