"""The rows that a `RowQuery` asks for, in its order: decided without reading one of them where that can be.

The order and each condition are one statement that an index serves; the ids that they give are combined here,
which is faster than any plan for the whole and does not hang on what SQLite makes of it. Rows that an order
knows nothing about (not scored, not annotated) come behind the others in file order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray, counted, looked_up, narrow_range, true_places
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.runs import Run
from sce_desktop.store.annotations import decisions
from sce_desktop.store.content import conditions, first_rows, ordering, rows
from sce_desktop.store.content.by_annotation import by_annotation
from sce_desktop.store.content.columns import ColumnCache
from sce_desktop.store.content.row_tests import CellTest, RowTest, passing, passing_mask, row_tests
from sce_desktop.store.file import schema
from sce_desktop.store.runs import runs
from sce_desktop.store.runs.scored import Scored, ScoredOnce, ScoredRuns
from sce_desktop.store.sql import fetch_ids, last_row_id

_SLICE: Final = 50_000  # rows
_SCREENS: Final = 256  # rows that are found first where texts have to be read: some screens of them
_TESTED: Final = (2_048, 8_192, 32_768)  # rows of an order that are read until those are found
_STEP: Final = 512  # rows that are read first: then it is known about how many more that takes


class FoundRows:
    """The rows that a query asks for: the conditions first, so that no more are ordered than are shown.

    ``tests`` are those that take reading a row; only `test_all` applies them to what `ordered` returns.
    ``last``: of the rows up to this one alone, for a query whose one condition is a search.
    """

    def __init__(
        self,
        connection: sa.Connection,
        query: RowQuery,
        scored: ScoredRuns,
        columns: ColumnCache,
        progress: Progress,
        *,
        last: int | None = None,
    ) -> None:
        self._connection, self._query, self._progress = connection, query, progress
        self._scored, self._columns = ScoredOnce(scored, progress), columns
        newest: int = connection.execute(sa.select(last_row_id())).scalar_one()
        self._last = newest if last is None else last
        masks = conditions.masks(connection, query, self._last, self._scored, columns, progress)
        cells = [one for one in query.cells if conditions.known_cells(connection, one, columns) is None]
        self.tests = row_tests(connection, query, self._last, cells)
        masks += [test.candidates for test in self.tests if test.candidates is not None and not test.excluded]
        progress.check()
        self._mask: conditions.Mask | None = None
        self._listed: IdArray | None = None
        self.count = self._last
        if rows.counts(connection).rows != newest:  # a repaired project has gaps
            self._hide(conditions.mask(every_id(connection, self._last), self._last), masks)
        elif masks:
            self._hide(self._shown(), masks)

    @property
    def _ids(self) -> IdArray:
        """The rows that are found by now, in file order: listed where somebody asks, as they may be many."""
        if self._listed is None:
            self._listed = narrow_range(self._last) if self._mask is None else true_places(self._mask)
        return self._listed

    def _shown(self) -> conditions.Mask:
        """Return by row id which rows are found by now."""
        if self._mask is not None:
            return self._mask
        every = np.ones(self._last + 1, bool)
        every[0] = False
        return every

    def _hide(self, shown: conditions.Mask, masks: Sequence[conditions.Mask]) -> None:
        for one in masks:
            shown &= one
        self._mask, self._listed = shown, None
        self.count = int(np.count_nonzero(shown))

    def has(self, row_id: int) -> bool:
        """Whether a row is among those found."""
        return 0 < row_id <= self._last and (self._mask is None or bool(self._mask[row_id]))

    def meets(self, row_id: int) -> bool:
        """Whether a row is among those found and passes all tests."""
        return self.has(row_id) and len(passing(self._connection, self.tests, np.array([row_id]))) > 0

    def test_all(self) -> None:
        """Take the rows alone that pass all tests too."""
        if not self.tests:
            return
        if self.count <= _TESTED[-1] and 2 * self.count < self._last:
            passed = passing(self._connection, self.tests, self._ids)
            self._hide(conditions.mask(passed, self._last), ())
            return
        tests = [test for test in self.tests if not self._by_column_alone(test)]
        self._hide(passing_mask(self._connection, tests, self._shown(), self._progress), ())

    def _by_column_alone(self, test: RowTest) -> bool:
        """Apply a test of cells by the column, which is kept then: whoever asks again need not read it."""
        if not isinstance(test, CellTest):
            return False
        known = self._columns.few(self._connection, test.wanted.column, self._progress)
        if known is not None:
            met = known.matching(test.wanted)
            self._hide(self._shown(), [~met if test.excluded else met])
        return known is not None

    def first_tested(self) -> IdArray:
        """Return the first rows that pass all tests, as far as they are among the first of the order."""
        done, step, count, found = 0, _STEP, 0, list[IdArray]()
        ordered = np.empty(0, np.int64)
        for most in _TESTED:
            if len(ordered) < min(most, self.count):
                ordered = self.ordered(most)
            while done < min(most, len(ordered)) and count < _SCREENS:
                self._progress.check()
                some = ordered[done : min(done + step, most)]
                found.append(passing(self._connection, self.tests, some))
                done, count = done + len(some), count + len(found[-1])
                # As many as are likely to do, and some more; but the first ones may be unlike the rest.
                step = min(max(_STEP, done * (_SCREENS - count) * 6 // (5 * max(1, count))), 3 * done)
        return np.concatenate(found)

    def ordered(self, count: int | None = None) -> IdArray:
        """Return the rows in their order; of some orders at least the first ``count`` alone, if given."""
        query = self._query
        self._progress.check()
        match query.order:
            case RowOrder.FILE:
                if count is not None and self._mask is not None and count < self.count:
                    return first_rows.first_of(self._mask, count, descending=query.descending)
                return self._ids[::-1] if query.descending else self._ids
            case RowOrder.RANDOM:
                return _by_random(self._ids, query.seed, count)
            case RowOrder.LENGTH:
                lengths = self._columns.lengths(self._connection, self._progress)
                if count is not None and count < self.count:
                    shown = self._shown()
                    first = first_rows.by_value(lengths, shown, count, descending=query.descending)
                    if first is not None:
                        return first
                return self._by_key(self._at(lengths, self._ids), count)
            case RowOrder.DISAGREE:
                plain = self._scored.plain
                differs = conditions.compared(self._connection, query, self._last, plain, differ=True)
                return self._apart(self._at(differs, self._ids), count)
            case RowOrder.COLUMN:
                return self._by_column(count)
            case RowOrder.GIVEN | RowOrder.ANNOTATION:
                if query.order is RowOrder.GIVEN:
                    known = _given(query, self._last)
                else:
                    known = by_annotation(self._connection, descending=query.descending)
                if self._mask is not None:
                    known = known[self._mask[known]]
                if count is not None and len(known) >= count:
                    return known
                return np.concatenate([known, self._but(known)])
        return self._by_score(count)

    def _apart(self, first: NDArray[np.bool_], count: int | None) -> IdArray:
        """Return the rows (n,) of which ``first`` is true, or not if it is descending, then the others."""
        if self._query.descending:
            first = ~first
        enough = count is not None and np.count_nonzero(first) >= count
        parts = [self._ids[true_places(first)]]
        return parts[0] if enough else np.concatenate([*parts, self._ids[true_places(~first)]])

    def _but(self, known: IdArray) -> IdArray:
        """Return the other rows, in file order."""
        if len(known) == self.count:
            return self._ids[:0]
        others = ~conditions.mask(known, self._last)
        return self._ids[true_places(self._at(others, self._ids))]

    def _by_key(self, values: NDArray[Any], count: int | None) -> IdArray:
        down = self._query.descending
        if count is None:
            return ordering.by_key(self._ids, ordering.of_numbers(values), descending=down)
        return ordering.first_by_key(self._ids, ordering.of_numbers(values), count, descending=down)

    def _by_column(self, count: int | None) -> IdArray:
        query, ids = self._query, self._ids
        assert query.order_column is not None
        if query.order_column >= len(rows.shape(self._connection).columns):
            return ids
        column = self._columns.get(self._connection, query.order_column, self._progress)
        return column.ordered(ids, descending=query.descending, count=count)

    def _by_score(self, count: int | None) -> IdArray:
        """Order the rows that the run has scored; the others follow."""
        query = self._query
        assert query.run_id is not None
        scores = self._scored.get(self._connection, query.run_id)
        self._progress.check()
        has_score = np.zeros(self._last + 1, bool)
        has_score[: len(scores.top)] = scores.top[: self._last + 1] >= 0
        if query.order is RowOrder.RARE:
            has_score[fetch_ids(self._connection, decisions.ids_decided())] = False
        if count is not None and (first := self._first_by_score(scores, has_score, count)) is not None:
            return first
        inside = self._at(has_score, self._ids)
        ids = self._ids if inside.all() else self._ids[true_places(inside)]
        if query.order is RowOrder.RARE and len(ids) < np.count_nonzero(has_score):
            # Labels take turns among all rows, so that a filter moves none past another.
            known = self._known(true_places(has_score), scores, None)
            hidden = np.ones(self._last + 1, bool)
            hidden[self._ids] = False
            return np.concatenate([known[true_places(~looked_up(hidden, known))], self._ids[~inside]])
        short = count if count is not None and len(ids) >= count else None
        known = self._known(ids, scores, short)
        if short is not None:
            return known
        return np.concatenate([known, self._ids[~inside]])

    def _first_by_score(self, scores: Scored, has_score: conditions.Mask, count: int) -> IdArray | None:
        """Return the first rows of some orders by one pass over the arrays; None where that does not do."""
        query, size = self._query, min(len(scores.top), self._last + 1)
        inside = has_score if self._mask is None else has_score & self._mask
        found = int(np.count_nonzero(inside))
        if found < count:
            return None
        if query.order in (RowOrder.CONFIDENCE, RowOrder.MARGIN):
            values = scores.confidence if query.order is RowOrder.CONFIDENCE else scores.margin
            return first_rows.by_value(values[:size], inside[:size], count, descending=query.descending)
        if query.order is not RowOrder.RARE or query.descending:
            return None
        if self._mask is not None and found < np.count_nonzero(has_score):
            return None  # labels take turns among all rows
        run = runs.get(self._connection, query.run_id or 0)
        given = runs.given(self._connection, run, self._scored)
        if given is not scores.top:
            inside[:size] &= given[:size] >= 0
            if np.count_nonzero(inside) < count:
                return None
        decided = self._decided(run)
        top, confidence = scores.top[:size], scores.confidence[:size]
        # Of the first rows none stands behind more of its own label than there are turns for.
        for wanted in (ordering.turns_of_first(decided, count), np.full(len(decided), count)):
            ids = first_rows.surest(top, confidence, wanted, inside[:size])
            if np.minimum(counted(top[ids], len(decided)), wanted).sum() >= count:
                break  # else labels ran out of rows, and others have more turns
        turns = ordering.in_turns(ids, top[ids], ordering.of_floats(confidence[ids]), decided)
        return turns[:count]  # a label that ran out of rows here has more of them in the whole order

    def _decided(self, run: Run) -> NDArray[np.int64]:
        counts = decisions.label_counts(self._connection)
        return np.array([counts.get(label.id or 0, 0) for label in run.labels], np.int64)

    def _at(self, values: NDArray[Any], ids: IdArray) -> NDArray[Any]:
        """Return ``values``, which are by row id, of ``ids``; of all rows without a copy."""
        if ids is self._ids and self._mask is None and len(values) > self._last:
            return values[1 : self._last + 1]
        return looked_up(values, ids)

    def _known(self, ids: IdArray, scores: Scored, count: int | None) -> IdArray:
        query = self._query
        down = query.descending
        if query.order in (RowOrder.CONFIDENCE, RowOrder.MARGIN):
            values = scores.confidence if query.order is RowOrder.CONFIDENCE else scores.margin
            if count is None:
                return ordering.by_key(ids, ordering.of_floats(self._at(values, ids)), descending=down)
            keys = ordering.of_floats(self._at(values, ids))
            return ordering.first_by_key(ids, keys, count, descending=down)
        run = runs.get(self._connection, query.run_id or 0)
        given = runs.given(self._connection, run, self._scored)
        self._progress.check()
        if query.order is RowOrder.RARE:
            fits = np.ones(len(ids), bool) if given is scores.top else self._at(given, ids) >= 0
            return self._rare(ids, scores, run, fits)
        places = self._at(given, ids)
        if places.min(initial=0) < 0:  # none of these, behind the labels
            places = np.where(places < 0, places.dtype.type(len(run.labels)), places)
        if count is None:
            values = self._at(scores.confidence, ids)
            return ordering.grouped(ids, places, ordering.of_floats(values), descending=down)
        keys = ordering.of_floats(self._at(scores.confidence, ids))
        return ordering.first_grouped(ids, places, keys, count, descending=down)

    def _rare(self, ids: IdArray, scores: Scored, run: Run, fits: NDArray[np.bool_]) -> IdArray:
        """Return undecided rows; labels with the fewest decisions take turns, surest first.

        Rows that no label fits come last, in turns by the label that is the nearest.
        """
        decided = self._decided(run)
        turns = []
        for inside in (fits, ~fits):
            some = ids if inside.all() else ids[true_places(inside)]
            if len(some):
                sure = self._at(scores.confidence, some)  # its keys are held by nobody here: see `by_key`
                turns.append(
                    ordering.in_turns(some, self._at(scores.top, some), ordering.of_floats(sure), decided)
                )
        known: IdArray = turns[0] if len(turns) == 1 else np.concatenate([ids[:0], *turns])
        return known[::-1] if self._query.descending else known


def every_id(connection: sa.Connection, last: int) -> IdArray:
    """Return all ids in file order; there are gaps among them only in a repaired project."""
    if rows.counts(connection).rows == last:
        return narrow_range(last)
    # No ORDER BY: SQLite then reads the index on hashes and not the texts.
    ids: IdArray = np.sort(fetch_ids(connection, sa.select(schema.rows.c.id).where(schema.rows.c.id <= last)))
    return ids


def _given(query: RowQuery, last: int) -> IdArray:
    given = np.array(query.given, np.int64)
    given = given[(given >= 1) & (given <= last)]
    _, first = np.unique(given, return_index=True)
    known: IdArray = given[np.sort(first)]
    return known[::-1] if query.descending else known


def _by_random(ids: IdArray, seed: int, count: int | None) -> IdArray:
    """Return ``ids`` by a number for each that depends on it and ``seed`` alone; see `select.first_ids`."""
    short = count is not None and 4 * count < len(ids)
    most = np.uint64((2**64 - 1) // len(ids) * (2 * count + 64)) if short and count else None
    if most is not None:
        few = [some[_random_keys(some, seed) <= most] for some in _slices(ids)]
        first = np.concatenate(few)
        if count is not None and len(first) >= count:
            ids = first
    return ordering.by_hash(ids, partial(_random_keys, seed=seed))


def _slices(ids: IdArray) -> Iterator[IdArray]:
    """Give parts that stay in the cache of a processor."""
    for start in range(0, len(ids), _SLICE):
        yield ids[start : start + _SLICE]


def _random_keys(ids: IdArray, seed: int) -> NDArray[np.uint64]:
    """Return a key (n,) for each id that depends on it and ``seed`` alone."""
    start = ordering.scattered(np.array([seed % 2**64], np.uint64))  # seed + id would only shift the order
    return ordering.scattered(start + ids.astype(np.uint64) * ordering.GOLDEN)
