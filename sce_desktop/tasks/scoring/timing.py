"""How long embedding takes, told apart from scoring without asking the model."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.runs import VectorCache


class TimedCache:
    """A vector cache that counts the seconds from each look-up until the missing vectors are there.

    That is the time of embedding, the cache's own included. Without an ``inner`` cache nothing is kept.
    """

    def __init__(self, inner: VectorCache | None) -> None:
        self._inner = inner
        self._since = 0.0
        self.seconds = 0.0

    def get(self, embedder: str, texts: Sequence[str]) -> tuple[NDArray[np.bool_], FloatArray | None]:
        """Look up ``texts``."""
        self._since = time.perf_counter()
        if self._inner is None:
            return np.zeros(len(texts), dtype=np.bool_), None
        found, vectors = self._inner.get(embedder, texts)
        if found.all():
            self._count()
        return found, vectors

    def put(self, embedder: str, texts: Sequence[str], vectors: FloatArray) -> None:
        """Keep ``vectors``."""
        if self._inner is not None:
            self._inner.put(embedder, texts, vectors)
        self._count()

    def _count(self) -> None:
        now = time.perf_counter()
        self.seconds += now - self._since
        self._since = now
