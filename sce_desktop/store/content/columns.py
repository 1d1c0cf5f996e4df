"""One column of the table: its cells without the other ones, how it reads, its order and its values.

The cells of imported rows never change, so what is made of a column is kept until rows are added.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core import folding
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.query import CellFilter
from sce_desktop.core.readings import Kind, Reading, read_all
from sce_desktop.store.content.ordering import by_key, of_numbers
from sce_desktop.store.content.rows import shape
from sce_desktop.store.file import schema
from sce_desktop.store.file.database import raw
from sce_desktop.store.file.functions import whole_characters
from sce_desktop.store.sql import fetch_columns, fetch_ids, last_row_id

_BATCH: Final = 20_000  # rows
_MOST_KEPT: Final = 4  # columns; 4 MB each for a million rows, and their distinct cells
_MOST_CHARACTERS: Final = 20_000_000  # of distinct cells that are kept with a column
_rows = schema.rows.c


@dataclass(frozen=True, slots=True, eq=False)
class ColumnValues:
    """A column of all rows up to the last one when it was read; d distinct cells that are not empty."""

    reading: Reading
    codes: NDArray[np.int32]  # by row id: 0 for an empty cell, else the place of the distinct cell plus 1
    ranks: NDArray[np.int32]  # (d + 1,) by code: the place in the order; blank cells have 0
    numbers: NDArray[np.float64]  # (d + 1,) by code: what the cell reads as; NaN where it has no value
    distinct: tuple[str, ...] | None  # (d,); None where they take too much room

    def ordered(self, ids: IdArray, *, descending: bool, count: int | None = None) -> IdArray:
        """Return ``ids`` by their cells; equal cells in the order of ``ids``, blank ones at the end.

        At least the first ``count`` of them, if it is given. ``ids`` are in file order.
        """
        codes = self.codes[ids]
        if count is not None and len(self.ranks) and 4 * count < len(ids):
            best = self._first(codes, count, descending=descending)
            if best is not None:
                some = ids[best]
                return by_key(some, of_numbers(self.ranks[codes[best]]), descending=descending)
        ranks = self.ranks[codes]
        is_filled = ranks > 0
        if is_filled.all():
            return by_key(ids, of_numbers(ranks), descending=descending)
        filled = by_key(ids[is_filled], of_numbers(ranks[is_filled]), descending=descending)
        return np.concatenate([filled, ids[~is_filled]])

    def _first(self, codes: NDArray[np.int32], count: int, *, descending: bool) -> IdArray | None:
        """Return the places of at least the first ``count`` rows; None where too few have a cell."""
        sizes = np.bincount(codes, minlength=len(self.ranks))
        sizes[self.ranks == 0] = 0
        by_rank = np.bincount(self.ranks, weights=sizes)
        summed = np.cumsum(by_rank[::-1] if descending else by_rank)
        place = int(np.searchsorted(summed, count))
        if place >= len(summed):
            return None
        chosen = self.ranks >= len(summed) - 1 - place if descending else self.ranks <= place
        return np.flatnonzero((chosen & (self.ranks > 0))[codes])

    def between(self, low: str, high: str) -> NDArray[np.bool_]:
        """Return by row id whether the cell lies between two bounds, of which one may be empty."""
        least, most = (self.reading.value(bound) if bound else np.nan for bound in (low, high))
        inside = ~np.isnan(self.numbers)
        if low:
            inside &= self.numbers >= least
        if high:
            inside &= self.numbers <= self._end(high, most)
        return inside[self.codes]

    def _end(self, high: str, most: float) -> float:
        """Return the last moment of a day that is named without a time, else the bound itself."""
        return most + 86_399.999_999 if self.reading.kind is Kind.DATE and ":" not in high else most


class ColumnCache:
    """The columns that were asked for last, for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, int], ColumnValues] = OrderedDict()
        self._repeated: tuple[int, NDArray[np.bool_]] = (0, np.zeros(1, bool))
        self._lengths: tuple[int, NDArray[np.int32]] = (0, np.zeros(1, np.int32))

    def get(self, connection: sa.Connection, column: int, progress: Progress | None = None) -> ColumnValues:
        """Return the column at a 0-based place as ``connection`` sees it. IndexError if there is none."""
        if not 0 <= column < len(shape(connection).columns):
            raise IndexError(f"there is no column {column}")
        last = int(connection.execute(sa.select(last_row_id())).scalar_one())
        with self._lock:
            if (found := self._kept.get((column, last))) is not None:
                self._kept.move_to_end((column, last))
                return found
        values = _read(connection, column, last, progress or SilentProgress())
        with self._lock:
            self._kept[column, last] = values
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return values

    def knows(self, connection: sa.Connection, column: int | None) -> bool:
        """Whether `get` of a column or, for None, `lengths` answers at once."""
        last = int(connection.execute(sa.select(last_row_id())).scalar_one())
        with self._lock:
            return (self._lengths[0] == last) if column is None else (column, last) in self._kept

    def repeated(self, connection: sa.Connection) -> NDArray[np.bool_]:
        """Return by row id whether another row has exactly the same text; blank ones have none."""
        last = int(connection.execute(sa.select(last_row_id())).scalar_one())
        with self._lock:
            known, found = self._repeated
        if known != last:
            has_text = (_rows.blank == sa.false()) & (_rows.id <= last)
            twice = sa.select(_rows.text_hash).where(has_text).group_by(_rows.text_hash)
            twice = twice.having(sa.func.count() > 1)
            ids = fetch_ids(connection, sa.select(_rows.id).where(has_text, _rows.text_hash.in_(twice)))
            found = np.zeros(last + 1, bool)
            found[ids] = True
            with self._lock:
                self._repeated = (last, found)
        return found

    def knows_repeated(self, connection: sa.Connection) -> bool:
        """Whether `repeated` answers at once."""
        last = int(connection.execute(sa.select(last_row_id())).scalar_one())
        with self._lock:
            return self._repeated[0] == last

    def lengths(self, connection: sa.Connection, progress: Progress) -> NDArray[np.int32]:
        """Return the number of characters of each text, by row id; 0 where there is no row."""
        last = int(connection.execute(sa.select(last_row_id())).scalar_one())
        with self._lock:
            known, found = self._lengths
        if known != last:
            found = np.zeros(last + 1, np.int32)
            for start in range(0, last, _BATCH * 10):
                some = sa.select(_rows.id, _rows.length).where(
                    _rows.id > start, _rows.id <= min(last, start + _BATCH * 10)
                )
                ids, lengths = fetch_columns(connection, some, (np.int64, np.int32))
                found[ids] = lengths
                progress.check()
                progress.report(min(last, start + _BATCH * 10), last)
            with self._lock:
                self._lengths = (last, found)
        return found

    def counts(
        self,
        connection: sa.Connection,
        column: int,
        ids: IdArray,
        *,
        most: int,
        containing: str = "",
        progress: Progress | None = None,
    ) -> tuple[list[tuple[str, int]], int]:
        """Count the cells of ``ids`` in a column.

        Returns:
            The commonest ``most`` distinct cells that contain ``containing`` (letter case aside) with their
            rows, most frequent first, then in the order of the column; "" stands for empty cells. And how
            many distinct cells there are that do.
        """
        values = self.get(connection, column, progress)
        count = np.bincount(values.codes[ids], minlength=len(values.ranks))
        texts = values.distinct
        if texts is None:
            texts = _distinct(connection, column, len(values.codes) - 1, progress or SilentProgress())
        present = np.flatnonzero(count)
        if containing:
            key = folding.bare(containing) or containing
            found = [int(code) for code in present if code and key in folding.bare(texts[code - 1])]
            present = np.array(found, np.int64)
        order = np.lexsort((values.ranks[present], -count[present]))[:most]
        best = [(texts[code - 1] if code else "", int(count[code])) for code in present[order].tolist()]
        return best, len(present)


def cell(connection: sa.Connection, column: int) -> sa.ColumnElement[Any]:
    """Return the expression for the cell of a row in a column; an empty text stands for a null too.

    The cells are a JSON list in which the text's cell is left out where it is the text itself
    (`importing`), so places after it are one less.
    """
    layout = shape(connection)
    width = len(layout.columns)
    text_at = layout.text_columns[0] if layout.text_columns else width
    whole = _extracted(column)
    if len(layout.text_columns) != 1 or column < text_at:
        found = whole
    else:
        packed: sa.ColumnElement[Any] = _rows.text if column == text_at else _extracted(column - 1)
        found = sa.case((sa.func.json_array_length(_rows.cells) == width, whole), else_=packed)
    return sa.func.coalesce(found, "")


def matches(connection: sa.Connection, wanted: CellFilter) -> sa.ColumnElement[bool]:
    """Return the condition that a cell is one of some values, or none, and contains a piece of text."""
    found = cell(connection, wanted.column)
    conditions: list[sa.ColumnElement[bool]] = []
    if wanted.values:
        values = [whole_characters(value or "") for value in wanted.values]
        conditions.append(found.not_in(values) if wanted.without else found.in_(values))
    if wanted.contains:
        conditions.append(_contains(found, whole_characters(wanted.contains)))
    return sa.and_(sa.true(), *conditions)


def _contains(found: sa.ColumnElement[Any], needle: str) -> sa.ColumnElement[bool]:
    key, accented = folding.bare(needle), folding.folded(needle)
    if not accented:  # all that was typed is what never counts: take it as it is
        return sa.func.instr(found, needle) > 0
    if key != accented:
        return sa.func.contains_folded(found, accented) == 1
    return sa.func.contains_bare(found, key) == 1


def _extracted(place: int) -> sa.ColumnElement[Any]:
    """Return the expression for a place of the list; SQLite's own ends a text where it has a NUL."""
    escaped = sa.func.instr(_rows.cells, "\\u") > 0
    plain = sa.func.json_extract(_rows.cells, f"$[{place}]")
    return sa.case((escaped, sa.func.json_cell(_rows.cells, place)), else_=plain)


def _read(connection: sa.Connection, column: int, last: int, progress: Progress) -> ColumnValues:
    codes = np.zeros(last + 1, np.int32)
    places: dict[str, int] = {"": 0}
    for ids, cells in _batches(connection, column, last, progress):
        codes[ids] = [places.setdefault(text, len(places)) for text in cells]
    del places[""]
    distinct = tuple(places)
    progress.check()
    reading, values = read_all(distinct)
    numbers = np.array([np.nan, *values])
    progress.check()
    ranks = np.zeros(len(distinct) + 1, np.int32)
    filled = np.array([place for place, text in enumerate(distinct, 1) if not text.isspace()], np.int64)
    if reading.kind is Kind.TEXT:
        texts = [distinct[place - 1] for place in filled.tolist()]
        keys = [folding.bare(text) for text in texts]
        order = sorted(range(len(texts)), key=texts.__getitem__)
        order.sort(key=keys.__getitem__)  # stable: texts that differ in case or accents alone stay apart
        ranks[filled[order]] = np.arange(1, len(filled) + 1)
    elif len(filled):
        _, places_of = np.unique(numbers[filled], return_inverse=True)  # 1 and 1.0 are equal
        ranks[filled] = places_of + 1
    kept = sum(map(len, distinct)) <= _MOST_CHARACTERS
    return ColumnValues(reading, codes, ranks, numbers, distinct if kept else None)


def _distinct(connection: sa.Connection, column: int, last: int, progress: Progress) -> tuple[str, ...]:
    places: dict[str, None] = {}
    for _ids, cells in _batches(connection, column, last, progress):
        places |= dict.fromkeys(cells)
    places.pop("", None)
    return tuple(places)


def _batches(connection: sa.Connection, column: int, last: int, progress: Progress) -> Any:
    """Give ids and cells of the rows up to ``last``, a batch at a time."""
    statement = sa.select(_rows.id, cell(connection, column)).where(_rows.id <= last)
    sql = str(statement.compile(connection, compile_kwargs={"literal_binds": True}))
    reading, done = raw(connection).execute(sql), 0
    while batch := reading.fetchmany(_BATCH):
        progress.check()
        ids, cells = zip(*batch, strict=True)
        yield list(ids), cells
        done += len(batch)
        progress.report(done, last)
