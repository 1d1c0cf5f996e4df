"""One column of the table: its cells without the other ones, how it reads, its order and its values.

The cells of imported rows never change, so what is made of a column is kept until rows are added.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core import folding
from sce_desktop.core.arrays import IdArray, counted, looked_up
from sce_desktop.core.memory import give_back
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.query import CellFilter
from sce_desktop.store.content.column_cells import column_batches, count_cells
from sce_desktop.store.content.column_codes import coded_batches
from sce_desktop.store.content.column_values import ColumnValues, read_column, read_few
from sce_desktop.store.content.rows import counts, shape
from sce_desktop.store.file import schema
from sce_desktop.store.file.functions import whole_characters
from sce_desktop.store.sql import fetch_columns, fetch_ids, last_row_id

_BATCH: Final = 100_000  # rows whose lengths are read at once
_MOST_KEPT: Final = 4  # columns; 4 MB each for a million rows, and their distinct cells
_MOST_BYTES: Final = 130_000_000  # of all columns that are kept, but for the one asked for last
_LARGE: Final = 2_000_000  # rows, from which on columns are in the way of other large work
_READ_BYTES: Final = 8  # a row, about, that reading a column takes
_rows = schema.rows.c
Lengths = NDArray[np.uint16] | NDArray[np.int32]


class ColumnCache:
    """The columns that were asked for last, for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, int], ColumnValues] = OrderedDict()
        self._many = set[tuple[int, int]]()  # columns with too many distinct cells to hold them as such
        self._repeated: tuple[int, NDArray[np.bool_]] = (0, np.zeros(1, bool))
        self._lengths: tuple[int, Lengths] = (0, np.zeros(1, np.uint16))

    def get(self, connection: sa.Connection, column: int, progress: Progress | None = None) -> ColumnValues:
        """Return the column at a 0-based place as ``connection`` sees it. IndexError if there is none."""
        if not 0 <= column < len(shape(connection).columns):
            raise IndexError(f"there is no column {column}")
        last = int(connection.execute(sa.select(last_row_id())).scalar_one())
        with self._lock:
            if (found := self._kept.get((column, last))) is not None:
                self._kept.move_to_end((column, last))
                return found
        watch = progress or SilentProgress()
        with self._lock:  # those that would go afterwards make room before
            while self._kept and self._are_many(also=_READ_BYTES * last):
                self._kept.popitem(last=False)
        values = read_column(lambda: coded_batches(connection, column, last, watch), last, watch)
        self._keep(column, values)
        return values

    def few(self, connection: sa.Connection, column: int, progress: Progress) -> ColumnValues | None:
        """Return what `get` does of a column whose distinct cells are held as such, of any other None."""
        last = int(connection.execute(sa.select(last_row_id())).scalar_one())
        with self._lock:
            known, many = self._kept.get((column, last)), (column, last) in self._many
        if known is None and not many:
            known = read_few(lambda: coded_batches(connection, column, last, progress), last, progress)
            if known is None:
                self._many.add((column, last))
            else:
                self._keep(column, known)
        return known if known is not None and known.distinct is not None else None

    def free(self) -> None:
        """Let go of columns of very many rows; they are read again when they are asked for."""
        with self._lock:
            if not any(last >= _LARGE for _column, last in self._kept):
                return
            self._kept.clear()
        give_back()

    def _keep(self, column: int, values: ColumnValues) -> None:
        with self._lock:
            self._kept[column, values.last] = values
            while len(self._kept) > 1 and self._are_many():
                self._kept.popitem(last=False)
        give_back()  # before who asked sorts by it

    def _are_many(self, also: int = 0) -> bool:
        kept = also + sum(one.nbytes for one in self._kept.values())
        return len(self._kept) > _MOST_KEPT or kept > _MOST_BYTES

    def known(self, connection: sa.Connection, column: int) -> ColumnValues | None:
        """Return the column at a 0-based place if `get` has read it."""
        last = int(connection.execute(sa.select(last_row_id())).scalar_one())
        with self._lock:
            return self._kept.get((column, last))

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

    def lengths(self, connection: sa.Connection, progress: Progress) -> Lengths:
        """Return the number of characters of each text, by row id; 0 where there is no row."""
        last = int(connection.execute(sa.select(last_row_id())).scalar_one())
        with self._lock:
            known, kept = self._lengths
        found: Lengths = kept
        if known != last:
            found = np.zeros(last + 1, np.uint16)
            has_all = counts(connection).rows == last  # a repaired project has gaps
            for start in range(0, last, _BATCH):
                end = min(last, start + _BATCH)
                some = sa.select(_rows.length).where(_rows.id > start, _rows.id <= end).order_by(_rows.id)
                if has_all:
                    (lengths,) = fetch_columns(connection, some, (np.int32,))
                else:
                    some = some.add_columns(_rows.id)
                    lengths, ids = fetch_columns(connection, some, (np.int32, np.int64))
                if lengths.max(initial=0) > np.iinfo(found.dtype).max:
                    found = found.astype(np.int32)
                found[slice(start + 1, end + 1) if has_all else ids] = lengths
                progress.check()
                progress.report(end, last)
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
        if values.codes is None:
            batches = column_batches(connection, column, values.last, progress or SilentProgress())
            return count_cells(batches, values, ids, most=most, containing=containing)
        count = counted(looked_up(values.codes, ids), len(values.ranks))
        texts = values.distinct
        if texts is None:
            texts = _distinct(connection, column, values.last, progress or SilentProgress())
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


def _distinct(connection: sa.Connection, column: int, last: int, progress: Progress) -> tuple[str, ...]:
    places: dict[str, None] = {}
    for _ids, cells in column_batches(connection, column, last, progress):
        places |= dict.fromkeys(cells)
    places.pop("", None)
    return tuple(places)
