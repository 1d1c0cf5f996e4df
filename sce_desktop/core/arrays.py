"""The numpy arrays that pass between modules: float32 numbers, int64 row ids and places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
DoubleArray = NDArray[np.float64]
IdArray = NDArray[np.int64]
_SLICE = 250_000  # what stays in the cache of a processor


def narrow(ids: IdArray) -> IdArray:
    """Return ``ids`` (n,) in half of the room, where they are small enough: 40 MB for ten million.

    They are int32 then, and serve wherever int64 does; the type says nothing of it.
    """
    if len(ids) and int(ids.max()) > np.iinfo(np.int32).max:
        return ids
    return ids.astype(np.int32, copy=False)


def true_places(mask: NDArray[np.bool_]) -> IdArray:
    """Return the places (m,) where ``mask`` (n,) is true, in half of the room that `numpy.flatnonzero` takes.

    They are int32 where that holds them; see `narrow`.
    """
    if len(mask) > np.iinfo(np.int32).max:
        return np.flatnonzero(mask)
    found = np.empty(np.count_nonzero(mask), np.int32)
    done = 0
    for start in range(0, len(mask), _SLICE):
        some = np.flatnonzero(mask[start : start + _SLICE])
        found[done : done + len(some)] = some
        found[done : done + len(some)] += start
        done += len(some)
    return found  # type: ignore[return-value]


def looked_up(table: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Return ``table[places]`` (n,); numpy would make all places 64 bits wide first, here some at a time."""
    found = np.empty(len(places), table.dtype)
    for start in range(0, len(places), _SLICE):
        found[start : start + _SLICE] = table[places[start : start + _SLICE]]
    return found


def counted(groups: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return how often each number below ``size`` is in ``groups`` (n,), as `numpy.bincount` does.

    Those below zero are left out. numpy would make all of them 64 bits wide first.
    """
    found = np.zeros(size, np.int64)
    for start in range(0, len(groups), _SLICE):
        some = groups[start : start + _SLICE]
        if some.dtype.kind == "i":
            some = some[some >= 0]
        found += np.bincount(some, minlength=size)
    return found


def at_least(bound: float) -> np.float32:
    """Return the number that a float32 reaches exactly where it reaches ``bound``, a float64.

    Comparing ten million float32 with a float64 converts each of them.
    """
    found = np.float32(bound)
    return found if np.float64(found) >= bound else np.nextafter(found, np.float32(np.inf))


def at_most(bound: float) -> np.float32:
    """Return the number that a float32 does not exceed exactly where it does not exceed ``bound``."""
    found = np.float32(bound)
    return found if np.float64(found) <= bound else np.nextafter(found, np.float32(-np.inf))


def narrow_range(last: int) -> IdArray:
    """Return the ids from 1 to ``last``, as `narrow` would make them."""
    return np.arange(1, last + 1, dtype=np.int32 if last <= np.iinfo(np.int32).max else np.int64)


class ManyRows(Sequence[int]):
    """Row ids (n,) as a sequence, kept as an array: of ten million a tuple would take 400 MB.

    Equal are only those that are the same rows of the same list.
    """

    def __init__(self, ids: IdArray) -> None:
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> ManyRows: ...
    def __getitem__(self, place: int | slice) -> int | ManyRows:
        return ManyRows(self.ids[place]) if isinstance(place, slice) else int(self.ids[place])

    def __iter__(self) -> Iterator[int]:
        for start in range(0, len(self.ids), 10_000):
            yield from self.ids[start : start + 10_000].tolist()

    def __contains__(self, row_id: object) -> bool:
        return isinstance(row_id, int) and bool((self.ids == row_id).any())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> IdArray:
        return np.array(self.ids, dtype, copy=copy)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ManyRows) and (
            len(self) == len(other) and np.shares_memory(self.ids[:1], other.ids[:1])
        )

    __hash__ = None  # type: ignore[assignment]
