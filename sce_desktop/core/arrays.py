"""The numpy arrays that pass between modules: float32 numbers, int64 row ids and places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
DoubleArray = NDArray[np.float64]
IdArray = NDArray[np.int64]


def narrow(ids: IdArray) -> IdArray:
    """Return ``ids`` (n,) in half of the room, where they are small enough: 40 MB for ten million.

    They are int32 then, and serve wherever int64 does; the type says nothing of it.
    """
    if len(ids) and int(ids.max()) > np.iinfo(np.int32).max:
        return ids
    return ids.astype(np.int32)


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
