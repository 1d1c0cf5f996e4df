"""Plane geometry: which of many points a drawn line goes round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def inside(points: NDArray[np.floating], polygon: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Return which of ``points`` (n, 2) lie inside ``polygon`` (m, 2), as a mask (n,).

    The last corner is joined to the first. Where the line crosses itself the even-odd rule counts, as for
    what Qt fills. A ray to the right of each point is counted through the edges; an edge looks only at the
    points between the heights of its ends, which are found in an order by height: for a line drawn by hand
    round 100,000 points that is a few passes over them and not one an edge.
    """
    result = np.zeros(len(points), dtype=bool)
    if len(polygon) < 3 or not len(points):
        return result
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    near = near[np.argsort(points[near, 1], kind="stable")]
    x, y = points[near, 0], points[near, 1]
    odd = np.zeros(len(near), dtype=bool)
    for (x0, y0), (x1, y1) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        # Each end belongs to the edge above it, so that a ray through a corner is counted once.
        first, last = np.searchsorted(y, (min(y0, y1), max(y0, y1)), side="left")
        if first < last:
            crossing = x0 + (y[first:last] - y0) / (y1 - y0) * (x1 - x0)
            odd[first:last] ^= x[first:last] < crossing
    result[near] = odd
    return result
