from __future__ import annotations

import time

import numpy as np

from sce_desktop.tasks.scoring.timing import TimedCache


class Known:
    """A cache that has everything but "new"."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def get(self, embedder: str, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        found = np.asarray([text != "new" for text in texts])
        return found, np.ones((int(found.sum()), 2), dtype=np.float32)

    def put(self, embedder: str, texts: list[str], vectors: np.ndarray) -> None:
        self.kept += texts


def test_time_from_looking_up_to_the_last_vector_counts() -> None:
    inner = Known()
    timed = TimedCache(inner)
    found, vectors = timed.get("g", ["old", "new"])
    assert found.tolist() == [True, False]
    assert vectors is not None
    time.sleep(0.02)
    timed.put("g", ["new"], np.ones((1, 2), dtype=np.float32))
    assert inner.kept == ["new"]
    assert timed.seconds >= 0.02


def test_nothing_to_embed_takes_no_time() -> None:
    timed = TimedCache(Known())
    timed.get("g", ["old"])
    time.sleep(0.02)
    timed.get("g", ["old"])
    assert timed.seconds < 0.02


def test_without_a_cache_nothing_is_found() -> None:
    timed = TimedCache(None)
    found, vectors = timed.get("g", ["a", "b"])
    assert (found.any(), vectors) == (False, None)
    timed.put("g", ["a"], np.ones((1, 2), dtype=np.float32))
