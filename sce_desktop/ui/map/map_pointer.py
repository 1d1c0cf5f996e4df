"""Going from point to point of the map by keys, as the mouse does by moving."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Way = Literal["left", "right", "up", "down"]
_WAYS: dict[Way, tuple[int, int]] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_ASIDE = 2.0  # how much farther a pixel aside counts than one ahead
_LEAST = 0.5  # pixels ahead: points that lie on each other are one place


def next_point(pixels: NDArray[np.float64], here: NDArray[np.float64], way: Way) -> int:
    """Return the place in ``pixels`` (n, 2) of the point that comes next from ``here`` (2,) in one ``way``.

    It lies in the quarter of the plane that opens that way, and is the nearest there, where aside counts more
    than ahead. Returns -1 if there is none.
    """
    across, down = _WAYS[way]
    offsets = pixels - here
    ahead = offsets[:, 0] * across + offsets[:, 1] * down
    aside = np.abs(offsets[:, 0] * down + offsets[:, 1] * across)
    within = np.flatnonzero((ahead >= _LEAST) & (aside <= ahead))
    if not len(within):
        return -1
    return int(within[(ahead[within] + _ASIDE * aside[within]).argmin()])


def nearest_point(pixels: NDArray[np.float64], here: NDArray[np.float64]) -> int:
    """Return the place in ``pixels`` (n, 2) of the point nearest to ``here`` (2,); -1 if there is none."""
    return int(((pixels - here) ** 2).sum(axis=1).argmin()) if len(pixels) else -1


def seen(pixels: NDArray[np.float64], width: int, height: int) -> NDArray[np.bool_]:
    """Return which of ``pixels`` (n, 2) lie within a widget of this size, as a mask (n,)."""
    return np.all((pixels >= 0) & (pixels < (width, height)), axis=1)
