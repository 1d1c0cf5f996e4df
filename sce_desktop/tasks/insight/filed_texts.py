"""Texts that are compared with each other, in a file that nobody sees: of a million only places are held.

As strings they take twice their bytes and 50 more each. The system keeps in memory what is used of the file
as far as there is room, and it goes when the texts do, also where the program is killed.
"""

from __future__ import annotations

import mmap
import tempfile
from array import array
from collections.abc import Iterable
from hashlib import blake2b
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.imports import importing

_DIGEST: Final = 16  # bytes: no two texts that differ have the same
_AT_ONCE: Final = 1_000_000  # bytes that are written at once
_ERRORS: Final = "surrogatepass"  # half a character is one like others


class FiledTexts:
    """Texts (n,), of each its first ``longest`` characters.

    ``leads`` (n,): for each text the first place where the same one stands, the same all through.
    """

    leads: NDArray[np.int32]

    def __init__(self, texts: Iterable[str], longest: int) -> None:
        self._ends, digests, size = array("q", [0]), bytearray(), 0
        with _Filed() as filed:
            for text in texts:
                data = text.encode("utf-8", _ERRORS)
                digests += blake2b(data, digest_size=_DIGEST).digest()
                if len(text) > longest:
                    data = text[:longest].encode("utf-8", _ERRORS)
                filed.add(data)
                size += len(data)
                self._ends.append(size)
            self._data = filed.all()
        self.leads = _leads(np.frombuffer(digests, np.uint64).reshape(-1, 2))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, place: int) -> str:
        return str(self._data[self._ends[place] : self._ends[place + 1]], "utf-8", _ERRORS)

    def empty(self) -> NDArray[np.bool_]:
        """Return which of them (n,) have no characters."""
        ends = np.frombuffer(self._ends, np.int64)
        return ends[1:] == ends[:-1]

    def ranks(self) -> NDArray[np.int32]:
        """Return the place of each text (n,) among all in their order; the same ones stand as they are."""
        with importing():
            import pyarrow as pa
            import pyarrow.compute as pc

        # Bytes of UTF-8 are in the order of the characters.
        buffers = [None, pa.py_buffer(self._ends), pa.py_buffer(self._data)]
        (order,) = pc.array_sort_indices(
            pa.Array.from_buffers(pa.large_binary(), len(self), buffers)
        ).buffers()[1:]
        ranks = np.empty(len(self), np.int32)
        ranks[np.frombuffer(order, np.uint64, len(self))] = np.arange(len(self), dtype=np.int32)
        return ranks


def _leads(digests: NDArray[np.uint64]) -> NDArray[np.int32]:
    order = np.lexsort(digests.T).astype(np.int32)  # stable: the first place comes first
    ordered = digests[order]
    first = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(order)]
    leads = np.empty(len(order), np.int32)
    leads[order] = np.repeat(order[first], np.diff(np.append(np.flatnonzero(first), len(order))))
    return leads


class _Filed:
    """Bytes that are written one after another; where the disk has no room they are in memory after all."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._file = self._made()

    @staticmethod
    def _made() -> IO[bytes] | None:
        try:
            return tempfile.TemporaryFile(buffering=0)
        except OSError:
            return None

    def __enter__(self) -> _Filed:
        return self

    def __exit__(self, *_raised: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, data: bytes) -> None:
        """Put ``data`` behind the others."""
        self._waiting += data
        if len(self._waiting) >= _AT_ONCE:
            self._write()

    def all(self) -> bytes | mmap.mmap:
        """Return the bytes, to be read as long as somebody holds them."""
        self._write()
        if self._file is None or not self._file.tell():
            return bytes(self._waiting)
        return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)

    def _write(self) -> None:
        if self._file is None:
            return
        try:
            while self._waiting:
                del self._waiting[: self._file.write(self._waiting)]
        except OSError:
            self._file.seek(0)
            self._waiting[:0] = self._file.read()
            self._file.close()
            self._file = None
