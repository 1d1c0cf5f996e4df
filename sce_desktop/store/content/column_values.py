"""What is known of one column of the table: for each row where its cell comes in the order, and its value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core import folding
from sce_desktop.core.arrays import IdArray, looked_up
from sce_desktop.core.giving_way import giving_way
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import CellFilter
from sce_desktop.core.readings import WAYS, Kind, Reading, read_all
from sce_desktop.store.content.ordering import by_key, first_by_key
from sce_desktop.store.file.functions import whole_characters


class Coded(Protocol):
    """The cells of some rows; see `column_codes.CodedCells`."""

    @property
    def ids(self) -> IdArray:
        """The rows (n,)."""

    @property
    def texts(self) -> list[str]:
        """Their cells (d,), each once."""

    @property
    def codes(self) -> NDArray[np.int32]:
        """For each row (n,) the place of its cell in ``texts``."""


Batches = Callable[[], Iterator[Coded]]
"""Begins to give the cells of all rows, some rows at a time, in file order."""
MOST_DISTINCT: Final = 300_000
"""Distinct cells that are held as such; of more, each row has its own number."""
MOST_CHARACTERS: Final = 20_000_000  # of them
_AT_ONCE: Final = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class ColumnValues:
    """A column of all rows up to the last one when it was read.

    Cells that are equal share a code, 0 being an empty one; where there are very many distinct cells (d) the
    code of a row is its id, and d the last id.
    """

    reading: Reading
    last: int  # row id
    codes: NDArray[np.integer[Any]] | None  # by row id, as narrow as they fit; None: each row has its own
    ranks: NDArray[np.int32]  # (d + 1,) by code: the place in the order; blank cells have 0
    numbers: NDArray[np.float64]  # (d + 1,) by code: what the cell reads as, or NaN; (0,) of texts
    distinct: tuple[str, ...] | None  # (d,); None where they take too much room

    @property
    def nbytes(self) -> int:
        """The memory that it takes, texts aside."""
        return sum(part.nbytes for part in (self.codes, self.ranks, self.numbers) if part is not None)

    def by_row(self, values: NDArray[Any], ids: IdArray) -> NDArray[Any]:
        """Return ``values``, which are by code, of ``ids`` (n,)."""
        return looked_up(values, ids if self.codes is None else looked_up(self.codes, ids))

    def ordered(self, ids: IdArray, *, descending: bool, count: int | None = None) -> IdArray:
        """Return ``ids`` by their cells; equal cells in the order of ``ids``, blank ones at the end.

        At least the first ``count`` of them, if it is given. ``ids`` are in file order.
        """
        if count is None:
            return by_key(ids, self._keys(ids, descending=descending))
        return first_by_key(ids, self._keys(ids, descending=descending), count)

    def _keys(self, ids: IdArray, *, descending: bool) -> NDArray[np.uint32]:
        """Return what sorts as the cells of ``ids`` (n,) do."""
        keys = self.by_row(self.ranks, ids).view(np.uint32)
        if descending:
            return np.invert(keys, out=keys)  # 0 is the greatest then
        keys -= np.uint32(1)  # and so it is here
        return keys

    def between(self, low: str, high: str) -> NDArray[np.bool_]:
        """Return by row id whether the cell lies between two bounds, of which one may be empty."""
        if not len(self.numbers):
            return np.zeros(self.last + 1, bool)
        least, most = (self.reading.value(bound) if bound else np.nan for bound in (low, high))
        inside = ~np.isnan(self.numbers)
        if low:
            inside &= self.numbers >= least
        if high:
            inside &= self.numbers <= self._end(high, most)
        return inside if self.codes is None else looked_up(inside, self.codes)

    def matching(self, wanted: CellFilter) -> NDArray[np.bool_]:
        """Return by row id which cells are among some values and contain a text; ``distinct`` is not None."""
        assert self.distinct is not None
        assert self.codes is not None
        fits = fitting(wanted, ("", *self.distinct))
        found = looked_up(fits, self.codes)
        found[0] = False
        return found

    def _end(self, high: str, most: float) -> float:
        """Return the last moment of a day that is named without a time, else the bound itself."""
        return most + 86_399.999_999 if self.reading.kind is Kind.DATE and ":" not in high else most


def fitting(wanted: CellFilter, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return for each of ``texts`` (n,) whether a cell with it is among some values and contains a text."""
    fits = np.ones(len(texts), bool)
    if wanted.values:
        values = {whole_characters(value or "") for value in wanted.values}
        fits &= [(text in values) is not wanted.without for text in giving_way(texts)]
    if wanted.contains:
        contains = _contains(whole_characters(wanted.contains))
        fits &= [bool(text) and contains(text) for text in giving_way(texts)]
    return fits


def _contains(needle: str) -> Callable[[str], bool]:
    key, accented = folding.bare(needle), folding.folded(needle)
    if not accented:  # all that was typed is what never counts: take it as it is
        return lambda text: needle in text
    if key != accented:
        return lambda text: accented in folding.folded(text)
    return lambda text: folding.contains_bare(text, key)


def read_column(batches: Batches, last: int, progress: Progress) -> ColumnValues:
    """Read a column whose cells ``batches`` gives, of rows up to the id ``last``."""
    return read_few(batches, last, progress) or _read_rows(batches, last, progress)


def read_few(batches: Batches, last: int, progress: Progress) -> ColumnValues | None:
    """Return the same of a column with no more than `MOST_DISTINCT` distinct cells, of any other None."""
    codes = np.zeros(last + 1, np.int32)
    places: dict[str, int] = {"": 0}
    for some in batches():
        of_texts = np.array([places.setdefault(text, len(places)) for text in some.texts], np.int32)
        codes[some.ids] = of_texts[some.codes]
        if len(places) > MOST_DISTINCT:
            return None
    del places[""]
    distinct = tuple(places)
    progress.check()
    reading, values = read_all(distinct)
    progress.check()
    ranks = np.zeros(len(distinct) + 1, np.int32)
    filled = np.array([place for place, text in enumerate(distinct, 1) if not text.isspace()], np.int64)
    numbers = np.zeros(0)
    if reading.kind is Kind.TEXT:
        texts = [distinct[place - 1] for place in filled.tolist()]
        keys = [folding.bare(text) for text in giving_way(texts)]
        order = sorted(range(len(texts)), key=texts.__getitem__)
        order.sort(key=keys.__getitem__)  # stable: texts that differ in case or accents alone stay apart
        ranks[filled[order]] = np.arange(1, len(filled) + 1)
    else:
        numbers = np.array([np.nan, *values])
        there = np.zeros(len(numbers), bool)
        there[filled] = True
        ranks = _ranks(numbers, there)
    kept = sum(map(len, distinct)) <= MOST_CHARACTERS
    narrow = codes.astype(np.min_scalar_type(len(distinct)), copy=False)
    return ColumnValues(reading, last, narrow, ranks, numbers, distinct if kept else None)


def _ranks(numbers: NDArray[np.float64], there: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return where in their order ``numbers`` (n,) stand, from 1 on, and 0 where none is ``there`` (n,).

    1 and 1.0 are equal. No list of places is made, which of ten million takes 40 to 80 MB.
    """
    known = numbers[there]
    known.sort()
    new = np.append(True, known[1:] != known[:-1]) if len(known) else np.zeros(0, bool)
    if not new.all():  # of ten million that differ a copy takes 80 MB
        known = known[new]
    ranks = np.empty(len(numbers), np.int32)
    for start in range(0, len(numbers), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        ranks[some] = np.searchsorted(known, numbers[some]) + 1
        ranks[some] *= there[some]
    return ranks


def _read_rows(batches: Batches, last: int, progress: Progress) -> ColumnValues:
    """Read a column with very many distinct cells: no Python object is held for any of them."""
    for way in WAYS:
        numbers = np.full(last + 1, np.nan)
        for some in batches():
            values = _values(way, some.texts)
            if values is None:
                break
            numbers[some.ids] = values[some.codes]
        else:
            there = ~np.isnan(numbers)
            if there.any():
                progress.check()
                return ColumnValues(way, last, None, _ranks(numbers, there), numbers, None)
    del numbers
    return ColumnValues(Reading(), last, None, _text_ranks(batches, last, progress), np.zeros(0), None)


def _values(way: Reading, cells: list[str]) -> NDArray[np.float64] | None:
    """Return what ``cells`` (n,) read as, NaN for blank ones; None where one of them does not."""
    import pyarrow as pa

    if way == Reading(Kind.NUMBER):  # nearly all are written as Arrow reads them, in a fraction of the time
        filled = pa.array([cell or None for cell in cells], pa.string())
        try:
            found = filled.cast(pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            found = np.array([np.inf])
        if not np.isinf(found).any() and np.count_nonzero(np.isnan(found)) == filled.null_count:
            return found
    values = np.array([way.value(cell) for cell in giving_way(cells)])
    odd = np.flatnonzero(np.isnan(values)).tolist()
    return None if any(cells[place] and not cells[place].isspace() for place in odd) else values


def _text_ranks(batches: Batches, last: int, progress: Progress) -> NDArray[np.int32]:
    """Return by row id the place of each text in the order of all, from 1 on; 0 where it is blank.

    Arrow holds and sorts them: by UTF-8, which is the order of their characters.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    keys, texts, ids_of = [], [], []
    for some in batches():
        there = np.array([bool(text) and not text.isspace() for text in some.texts], bool)[some.codes]
        codes = some.codes[there]
        keys.append(pa.array([folding.bare(text) for text in some.texts], pa.large_string()).take(codes))
        texts.append(pa.array(some.texts, pa.large_string()).take(codes))
        ids_of.append(some.ids[there].astype(np.int32))
    progress.check()
    table = pa.table({"key": pa.chunked_array(keys), "text": pa.chunked_array(texts)})
    del keys, texts
    order = pc.sort_indices(table, [("key", "ascending"), ("text", "ascending")]).to_numpy()
    ranks = np.zeros(last + 1, np.int32)
    if not len(order):
        return ranks
    ordered = table["text"].take(order)
    del table
    other = pc.not_equal(ordered[1:], ordered[:-1]).to_numpy()
    del ordered
    ranks[looked_up(np.concatenate(ids_of), order)] = np.cumsum(np.append(True, other), dtype=np.int32)
    return ranks
