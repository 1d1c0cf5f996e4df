"""Columns of texts as Arrow arrays, made of buffers: Arrow's own conversions of lists load pandas first.

An array of texts is bytes in one piece and the places in it where texts begin and end, so that columns are
cut, put together and written without an object for a cell, and with Python's lock free.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

Held = TypeVar("Held", bound="pa.Array")
MOST_BYTES = 2**31 - 1
"""Of the texts of an array."""


def load(progress: Progress) -> None:
    """Import Arrow, which takes a tenth of a second the first time: ``progress`` is asked in between."""
    import pyarrow

    progress.check()
    import pyarrow.compute

    progress.check()
    assert pyarrow.compute


def of_bytes(data: Any, ends: NDArray[np.integer[Any]]) -> pa.StringArray:
    """Return n texts that are parts of ``data``; ``ends`` (n + 1,): where the first begins and each ends.

    They are not looked at: UTF-8 is what the caller has to have, and no more than `MOST_BYTES`.
    """
    import pyarrow as pa

    places = np.ascontiguousarray(ends, np.int32)
    return pa.StringArray.from_buffers(len(places) - 1, pa.py_buffer(places), pa.py_buffer(data))


def of_texts(texts: Sequence[str | None]) -> pa.StringArray:
    """Return ``texts`` (n,) as an array; None is null.

    Raises:
        TypeError: Something else is among them.
        UnicodeEncodeError: Half a character is.
        OverflowError: They have more than `MOST_BYTES`.
    """
    import pyarrow as pa

    there = None
    found: Sequence[str] = texts  # type: ignore[assignment]
    try:
        whole = "".join(found)
    except TypeError:
        there = np.fromiter((text is not None for text in texts), np.bool_, len(texts))
        found = ["" if text is None else text for text in texts]
        whole = "".join(found)
    data = whole.encode()
    plain = len(data) == len(whole)  # ASCII: each character is a byte
    lengths = map(len, found if plain else [text.encode() for text in found])
    ends = np.zeros(len(found) + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, len(found)), out=ends[1:])
    if len(data) > MOST_BYTES:
        raise OverflowError("too long for one array of texts")
    validity = None if there is None else pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.StringArray.from_buffers(
        len(found), pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(data), validity
    )


def integers(values: NDArray[np.int32]) -> pa.Int32Array:
    """Return ``values`` (n,) as an array."""
    import pyarrow as pa

    held = np.ascontiguousarray(values, np.int32)
    return pa.Int32Array.from_buffers(pa.int32(), len(held), [None, pa.py_buffer(held)])


def whole_numbers(values: Sequence[int | None]) -> pa.Int64Array:
    """Return ``values`` (n,) as an array; None is null."""
    import pyarrow as pa

    there = np.fromiter((value is not None for value in values), np.bool_, len(values))
    held = np.fromiter((value or 0 for value in values), np.int64, len(values))
    validity = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Int64Array.from_buffers(pa.int64(), len(held), [validity, pa.py_buffer(held)])


def floats(values: NDArray[np.float64], present: NDArray[np.bool_] | None = None) -> pa.DoubleArray:
    """Return ``values`` (n,) as an array, null where not ``present``."""
    import pyarrow as pa

    held = np.ascontiguousarray(values, np.float64)
    there = None if present is None else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.DoubleArray.from_buffers(pa.float64(), len(held), [there, pa.py_buffer(held)])


def taken(cells: Held, places: NDArray[np.int32]) -> Held:
    """Return the ``cells`` at ``places`` (m,)."""
    import pyarrow.compute as pc

    return pc.take(cells, integers(places), boundscheck=False)


def repeated(text: str | None, count: int) -> pa.StringArray:
    """Return ``text`` ``count`` times."""
    return taken(of_texts([text]), np.zeros(count, np.int32))


def buffers(texts: pa.StringArray) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the bytes that ``texts`` (n,) are parts of, and (n + 1,) where each begins and ends."""
    _validity, ends, data = texts.buffers()
    if ends is None:
        return np.empty(0, np.uint8), np.zeros(1, np.int32)
    places = np.frombuffer(ends, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data or b"", np.uint8), places


@functools.lru_cache(maxsize=256)
def scalar(text: str) -> pa.StringScalar:
    """Return a text as Arrow's functions take it."""
    return of_texts([text])[0]


def concatenated(parts: Sequence[pa.StringArray]) -> pa.StringArray:
    """Return the texts of ``parts``, one after the other."""
    import pyarrow as pa

    if len(parts) == 1:
        return parts[0]
    return pa.concat_arrays(parts) if parts else of_texts([])
