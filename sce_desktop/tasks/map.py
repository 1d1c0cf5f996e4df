"""Text vectors laid out on a plane: at once by principal components, better by UMAP where it is installed."""

from __future__ import annotations

import importlib.util
from typing import Final

import numpy as np

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import FloatArray

FITTED: Final = 20_000
"""Components are found on so many rows, drawn at random, and serve for all."""
UMAP_FITTED: Final = 50_000
_BLOCK: Final = 50_000


def has_umap() -> bool:
    """Whether UMAP is installed (the extra ``map``). Imports nothing."""
    return importlib.util.find_spec("umap") is not None


def pca_map(vectors: FloatArray, *, seed: int = 0) -> FloatArray:
    """Return (n, 2) places between -1 and 1. The same vectors and seed give the same map.

    Scikit-learn's PCA with its randomised solver; of each axis the end with the farther row is the positive
    one, so that a map does not flip from one machine to the next.
    """
    places = np.zeros((len(vectors), 2), dtype=np.float32)
    if len(vectors) < 3 or not np.ptp(vectors, axis=0).any():
        places[:, 0] = np.linspace(-1, 1, len(vectors)) if len(vectors) > 1 else 0
        return places
    from sklearn.decomposition import PCA

    components = min(2, vectors.shape[1])
    model = PCA(components, svd_solver="randomized", random_state=seed).fit(_some(vectors, FITTED, seed))
    for start in range(0, len(vectors), _BLOCK):
        places[start : start + _BLOCK, :components] = model.transform(vectors[start : start + _BLOCK])
    return _framed(places)


def umap_map(vectors: FloatArray, *, seed: int = 0, progress: Progress) -> FloatArray:
    """Return (n, 2) places between -1 and 1 by UMAP with cosine distances.

    With a seed UMAP works on one core, so that the map is the same every time; above 50,000 rows it is
    fitted on as many and the others are placed among them.

    Raises:
        UserError: UMAP is not installed.
        Cancelled: The user stopped before it began; it cannot be stopped half-way.
    """
    if not has_umap():
        raise UserError("UMAP is not installed: run pip install 'sce-desktop[map]', or use the other map.")
    if len(vectors) < 5:
        return pca_map(vectors, seed=seed)
    from umap import UMAP

    progress.check()
    progress.report(0, None, stage="laying out the map")
    some = _some(vectors, UMAP_FITTED, seed)
    model = UMAP(
        n_neighbors=min(15, len(some) - 1), min_dist=0.1, metric="cosine", random_state=seed, n_jobs=1
    )
    if len(some) == len(vectors):
        return _framed(np.asarray(model.fit_transform(vectors), dtype=np.float32))
    model.fit(some)
    places = np.empty((len(vectors), 2), dtype=np.float32)
    for start in range(0, len(vectors), _BLOCK):
        progress.check()
        places[start : start + _BLOCK] = model.transform(vectors[start : start + _BLOCK])
        progress.report(min(start + _BLOCK, len(vectors)), len(vectors), stage="laying out the map")
    return _framed(places)


def _some(vectors: FloatArray, most: int, seed: int) -> FloatArray:
    if len(vectors) <= most:
        return vectors
    return vectors[np.sort(np.random.default_rng(seed).choice(len(vectors), most, replace=False))]


def _framed(places: FloatArray) -> FloatArray:
    """Return ``places`` moved to the middle, turned the agreed way round and scaled alike on both axes."""
    low, high = places.min(axis=0), places.max(axis=0)
    centred = places - np.median(places, axis=0)
    flip = np.where(-centred.min(axis=0) > centred.max(axis=0), -1, 1)
    framed = (places - (low + high) / 2) * flip
    result: FloatArray = (framed / max(float(np.abs(framed).max()), 1e-12)).astype(np.float32)
    return result
