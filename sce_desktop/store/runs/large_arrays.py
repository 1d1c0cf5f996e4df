"""Arrays that are too large for memory: a file that nobody sees holds them, and what is used is read."""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from math import prod
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

_MOST: Final = 100_000_000  # bytes that are held in memory
_Kind = TypeVar("_Kind", bound=np.generic)


def large(shape: tuple[int, ...], kind: type[_Kind]) -> NDArray[_Kind]:
    """Return an array to be filled, of one ``kind`` of numbers.

    The probabilities of ten million rows and twenty labels take 800 MB. A file for as much goes when the
    array does, also where the program is killed. Where the disk has no room it is in memory after all.
    """
    size = np.dtype(kind).itemsize * prod(shape)
    if size > _MOST:
        with contextlib.suppress(OSError), tempfile.TemporaryFile() as file:
            _reserve(file.fileno(), size)
            return np.memmap(file, kind, "r+", shape=shape)
    return np.empty(shape, kind)


def let_go(array: NDArray[Any]) -> None:
    """Let no page of an array that is in a file be held as memory until it is used again."""
    file = getattr(array, "_mmap", None)
    if file is not None and hasattr(mmap, "MADV_DONTNEED"):
        file.madvise(mmap.MADV_DONTNEED)


def _reserve(descriptor: int, size: int) -> None:
    """Make a file ``size`` bytes long: a page without room on the disk ends the process that writes it.

    Raises:
        OSError: There is no room.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    zeros = bytes(1_000_000)
    for start in range(0, size, len(zeros)):
        os.write(descriptor, zeros[: size - start])
