"""Clusters of text vectors: how many there are, which rows are typical, which are like nothing else.

Spherical k-means on the first principal components. The number of clusters is the one with the highest mean
silhouette (Rousseeuw 1987, doi 10.1016/0377-0427(87)90125-7). `docs/research/labels-from-nothing.md` compares
this with HDBSCAN and with a choice by stability, on three labelled sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.discovery import MOST_CLUSTERS
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress

COMPONENTS: Final = 50
_STARTS: Final = 5  # of k-means
_LEAST_MEMBERS: Final = 10  # rows of a mean cluster where nobody says how many clusters there are
_SILHOUETTE_ROWS: Final = 2000
_NEAREST: Final = 50  # rows at a centre among which the typical ones are chosen
_DIVERSITY: Final = 0.5
"""Weight of being unlike what was chosen, against being near the centre (Carbonell and Goldstein 1998)."""


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """``members`` (n,) is the cluster of each row, ``centres`` (k, d) are of length 1, as ``points`` are."""

    members: IdArray
    centres: FloatArray
    points: FloatArray  # (n, d)

    def __len__(self) -> int:
        return len(self.centres)

    def nearest(self, cluster: int) -> IdArray:
        """Return the places (m,) of a cluster's rows, the nearest to its centre first."""
        inside = np.flatnonzero(self.members == cluster)
        order: IdArray = inside[np.argsort(-(self.points[inside] @ self.centres[cluster]), kind="stable")]
        return order

    def typical(self, cluster: int, count: int) -> IdArray:
        """Return places of up to ``count`` rows near the centre that are unlike each other.

        By maximal marginal relevance: each step takes the row with the best difference of its similarity to
        the centre and its greatest similarity to a row that was taken before.
        """
        near = self.nearest(cluster)[:_NEAREST]
        central = self.points[near] @ self.centres[cluster]
        alike = self.points[near] @ self.points[near].T
        chosen: list[int] = []
        while len(chosen) < min(count, len(near)):
            worth = (1 - _DIVERSITY) * central
            if chosen:
                worth = worth - _DIVERSITY * alike[:, chosen].max(axis=1)
            worth[chosen] = -np.inf
            chosen.append(int(worth.argmax()))
        return near[chosen]


def cluster(
    vectors: FloatArray, clusters: int | None = None, *, seed: int = 0, progress: Progress
) -> Clustering:
    """Cluster text vectors (n, d), n ≥ 2; the largest cluster is number 0.

    Args:
        vectors: Of any length.
        clusters: How many; None: the number from 2 to `MOST_CLUSTERS` with the highest silhouette.
        seed: Of the starts of k-means and of the rows that the silhouette is computed on.
        progress: Checked after every start.

    Raises:
        Cancelled: The user stopped.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # so little is fastest so, and whatever else runs keeps the other cores
        points = _points(vectors, seed)
        different = len(np.unique(points.round(5), axis=0))
        automatic = min(MOST_CLUSTERS, max(2, len(points) // _LEAST_MEMBERS))
        most = min(clusters or automatic, different, len(points) - 1)
        if most < 2:
            return Clustering(
                np.zeros(len(points), dtype=np.int64), _normed(points.mean(axis=0)[None]), points
            )
        if clusters:
            members = _k_means(points, most, seed, progress)
        else:
            members = _best_number(points, most, seed, progress)
    by_size = np.argsort(-np.bincount(members), kind="stable")
    number = np.empty(len(by_size), dtype=np.int64)
    number[by_size] = np.arange(len(by_size))
    members = number[members]
    centres = _normed(np.stack([points[members == one].mean(axis=0) for one in range(len(by_size))]))
    return Clustering(members, centres, points)


def _points(vectors: FloatArray, seed: int) -> FloatArray:
    """Return the first principal components (n, d) at length 1, so that distances are those of angles."""
    from sklearn.decomposition import PCA

    dimensions = min(COMPONENTS, *vectors.shape)
    normed = _normed(vectors)
    if dimensions < 2:
        return normed
    return _normed(PCA(dimensions, svd_solver="randomized", random_state=seed).fit_transform(normed))


def _normed(vectors: FloatArray) -> FloatArray:
    found: FloatArray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return found


def _best_number(points: FloatArray, most: int, seed: int, progress: Progress) -> IdArray:
    from sklearn.metrics import silhouette_score

    some = np.random.default_rng(seed).permutation(len(points))[:_SILHOUETTE_ROWS]
    best, highest = None, -np.inf
    for clusters in range(2, most + 1):
        progress.report(clusters - 2, most - 1, stage=_("comparing numbers of clusters"))
        members = _k_means(points, clusters, seed, progress)
        seen = len(np.unique(members[some]))
        if not 2 <= seen < len(some):
            continue
        score = silhouette_score(points[some], members[some])
        if best is None or score > highest:
            best, highest = members, score
    return _k_means(points, 2, seed, progress) if best is None else best


def _k_means(points: FloatArray, clusters: int, seed: int, progress: Progress) -> IdArray:
    """Return the cluster (n,) of each point, by the best of several starts.

    One start at a time: scikit-learn's own ``n_init`` would keep the user waiting who wants to stop.
    """
    from sklearn.cluster import KMeans

    best = None
    for start in range(_STARTS):
        progress.check()
        found = KMeans(clusters, n_init=1, random_state=seed + start).fit(points)
        if best is None or found.inertia_ < best.inertia_:
            best = found
    assert best is not None
    members = np.unique(best.labels_, return_inverse=True)[1].astype(np.int64)  # none is empty
    return members
