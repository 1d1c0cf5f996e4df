"""Text vectors that stay in memory, for whoever classifies the same texts several times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.runs import as_kept


class VectorMemory:
    """A `core.runs.VectorCache` of at most ``most`` vectors, 1.5 kB each with the bundled model.

    What came first goes first.
    """

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._vectors: dict[tuple[str, str], FloatArray] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, embedder: str, texts: Sequence[str]) -> tuple[NDArray[np.bool_], FloatArray | None]:
        """Return which texts are known (n,), and the vectors of those (m, d); None if none is."""
        vectors = [self._vectors.get((embedder, text)) for text in texts]
        found = np.array([vector is not None for vector in vectors], dtype=np.bool_)
        known = [vector for vector in vectors if vector is not None]
        return found, np.stack(known) if known else None

    def put(self, embedder: str, texts: Sequence[str], vectors: FloatArray) -> None:
        """Keep ``vectors`` (n, d), rounded as they are used when they are new: a row has one score."""
        for text, vector in zip(texts, as_kept(vectors), strict=True):
            self._vectors[embedder, text] = vector.copy()
        while len(self._vectors) > self._most:
            del self._vectors[next(iter(self._vectors))]
