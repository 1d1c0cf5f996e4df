"""The numpy arrays that pass between modules: float32 numbers, int64 row ids and places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
DoubleArray = NDArray[np.float64]
IdArray = NDArray[np.int64]
