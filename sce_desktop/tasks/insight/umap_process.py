"""UMAP in a process of its own: ``python -P -m MODULE VECTORS PLACES SEED MOST``.

Its compiled parts keep Python's lock for up to a second at a time, which would freeze the window from a
thread, they cannot be stopped half-way, and importing them takes long. A process can be ended at any moment.
"""

from __future__ import annotations

import sys

import numpy as np

BLOCK = 50_000


def main(vectors_file: str, places_file: str, seed: str, most: str) -> None:
    """Write the places (n, 2) of vectors (n, d); above ``most`` rows the others are placed among as many."""
    from umap import UMAP

    vectors = np.load(vectors_file, mmap_mode="r", allow_pickle=False)
    chosen = np.arange(len(vectors))
    if len(vectors) > int(most):
        chosen = np.sort(np.random.default_rng(int(seed)).choice(len(vectors), int(most), replace=False))
    some = np.asarray(vectors[chosen])
    # With a seed UMAP works on one core, so that the map is the same every time.
    model = UMAP(
        n_neighbors=min(15, len(some) - 1), min_dist=0.1, metric="cosine", random_state=int(seed), n_jobs=1
    )
    places = np.empty((len(vectors), 2), dtype=np.float32)
    places[chosen] = model.fit_transform(some)
    others = np.setdiff1d(np.arange(len(vectors)), chosen, assume_unique=True)
    for start in range(0, len(others), BLOCK):
        block = others[start : start + BLOCK]
        places[block] = model.transform(np.asarray(vectors[block]))
    np.save(places_file, places, allow_pickle=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
