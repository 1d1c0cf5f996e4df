"""The numpy arrays that pass between modules: float32 numbers, int64 row ids and places."""

from __future__ import annotations

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
    return ids.astype(np.int32)  # type: ignore[return-value]
