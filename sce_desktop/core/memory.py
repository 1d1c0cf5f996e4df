"""Memory that is free and still held: what large work leaves behind goes back to the system.

glibc keeps what threads have freed, for the next time. Its heaps are one for each thread, and what is used
last stands at the end of each, so that hundreds of megabytes may lie free before it.
"""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Give free memory back to the system, where the C library can: some milliseconds without the lock."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and hasattr(arrow, "default_memory_pool"):  # else it is being imported
        arrow.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(ctypes.c_size_t(0))
