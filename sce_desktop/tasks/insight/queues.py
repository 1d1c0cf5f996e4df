"""The orders in which rows are offered for a decision, each from arrays that say what is known of them.

`RowQuery` sorts a project's rows by confidence, margin, disagreement and rare labels by itself; what it
cannot has a function that ends in ``_ids`` here.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.scoring import top
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.vectors import KnownVectors, project_vectors

SPREAD_ROWS: Final = 20_000
"""`diverse` looks at so many rows, drawn at random: the time it takes is bounded, whatever the table."""
SPREAD_COUNT: Final = 500
NEAR_ROWS: Final = 5_000
"""Decided rows that `diverse_ids` keeps away from, drawn at random if there are more."""
_BLOCK: Final = 512  # times 20,000 distances in float32: 41 MB


def least_certain(probabilities: FloatArray) -> IdArray:
    """Return the places of the n rows, the lowest best probability first. Ties stay in file order."""
    return np.argsort(probabilities.max(axis=1), kind="stable")


def smallest_margin(probabilities: FloatArray) -> IdArray:
    """Return the places (n,), the smallest distance of best and second best probability first."""
    return np.argsort(top(probabilities)[2], kind="stable")


def models_disagree(first: FloatArray, second: FloatArray) -> IdArray:
    """Return the places (n,), rows with different best labels first, the farthest apart leading.

    The distance of two models is half the sum of the differences (total variation).
    """
    apart = np.abs(first - second).sum(axis=1) / 2
    same = first.argmax(axis=1) == second.argmax(axis=1)
    return np.lexsort((-apart, same))


def diverse(
    vectors: FloatArray, *, near: FloatArray | None = None, count: int = SPREAD_COUNT, seed: int = 0
) -> IdArray:
    """Return the places (n,), the first ``count`` spread over the map, the rest in random order.

    Each next row is drawn with a probability that grows with the squared distance to the nearest row before
    it (k-means++, Arthur and Vassilvitskii 2007).

    Args:
        vectors: (n, d) of the undecided rows.
        near: (m, d) of rows that are decided already: what lies near them can wait.
        count: How many are spread.
        seed: The same seed, the same order.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(vectors))
    pool = order[:SPREAD_ROWS]
    points = vectors[pool]
    if len(pool) == 0:
        return order
    lengths = np.einsum("ij,ij->i", points, points)

    def squared(others: FloatArray) -> FloatArray:
        """Return the squared distance (n,) of each point to the nearest of ``others`` (m, d)."""
        squares = lengths[:, None] + np.einsum("ij,ij->i", others, others) - 2 * (points @ others.T)
        nearest: FloatArray = np.maximum(squares.min(axis=1), 0)
        return nearest

    chosen: list[int] = []
    apart = np.ones(len(points), dtype=np.float32)
    for start in range(0, 0 if near is None else len(near), _BLOCK):
        assert near is not None
        found = squared(near[start : start + _BLOCK])
        apart = np.minimum(apart, found) if start else found
    while len(chosen) < min(count, len(pool)):
        sums = np.cumsum(apart, dtype=np.float64)
        if sums[-1] <= 1e-6 * len(pool):
            break  # only copies of what was chosen are left
        place = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
        first_of_all = not chosen and (near is None or not len(near))
        chosen.append(min(place, len(pool) - 1))
        found = squared(points[chosen[-1] : chosen[-1] + 1])
        apart = found if first_of_all else np.minimum(apart, found)
        apart[chosen[-1]] = 0
    first = pool[chosen]
    return np.concatenate([first, order[~np.isin(order, first)]])


def diverse_ids(
    project: Project, known: KnownVectors, open_ids: IdArray, *, seed: int = 0, progress: Progress
) -> IdArray:
    """Return ``open_ids`` as `diverse` orders them, away from the decided rows; those without vector last.

    Vectors are looked up for as many rows as `diverse` looks at, drawn at random, and not for all.

    Raises:
        UserError: No row has been read by the model yet.
        Cancelled: The user stopped.
    """
    rng = np.random.default_rng(seed)
    pool = np.sort(rng.permutation(open_ids)[:SPREAD_ROWS])
    decided = project.row_ids(RowQuery(state=RowState.LABELLED, blank=False))
    found, vectors = project_vectors(project, known, pool, progress=progress)
    near = None
    if len(decided):
        near = project_vectors(project, known, rng.permutation(decided)[:NEAR_ROWS], progress=progress)[1]
    first = found[diverse(vectors, near=near, seed=seed)]
    rest = open_ids[~np.isin(open_ids, first)]
    return np.concatenate([first, rest])


def shuffled(rows: int, *, seed: int = 0) -> IdArray:
    """Return the places of ``rows`` rows in random order."""
    return np.random.default_rng(seed).permutation(rows)
