"""How many threads the libraries of a process may have."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_THREADS = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Of torch, of tokenizers, and of numpy's libraries."""


@contextmanager
def threads_each(share: int) -> Iterator[None]:
    """Give processes that start meanwhile ``share`` threads each, unless the user has said how many.

    A worker cannot do so itself: what it imports with the main module and with its opener comes before its
    first line, and libraries look once. With a thread of each for every core, 20 workers on 32 cores spent
    most of the cores on threads that waited for each other.
    """
    ours = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(ours, str(share)))
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)
