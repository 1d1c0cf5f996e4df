"""The cells of many rows, which are stored as JSON lists, as columns: where nothing is escaped in them.

Each quote opens or closes a cell then, so that the places of quotes are all there is to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from sce_desktop.core import text_arrays

if TYPE_CHECKING:
    import pyarrow as pa

_BEGIN, _END, _COMMA, _QUOTE, _BACKSLASH = (ord(sign) for sign in '[],"\\')
_FIRST_PRINTED: Final = 0x20
LINE_END: Final = b"\n"
"""Stands between two lists: a comma could be of a damaged one."""


def columns_in(
    lists: bytes | None, rows: int, width: int, places: Sequence[int] | None = None
) -> list[pa.StringArray] | None:
    """Return the columns of which ``lists`` are the cells: lists of ``width`` texts, a line each.

    ``places``: of the columns that are wanted, None for all. None comes back where they are not such lists as
    the store writes them, or something is escaped. They are not known to be UTF-8.
    """
    if not lists:
        return None
    if not width:
        return [] if lists == LINE_END.join([b"[]"] * rows) else None
    data = np.frombuffer(lists, np.uint8)
    if _BACKSLASH in lists or np.count_nonzero(data < _FIRST_PRINTED) != rows - 1:
        return None  # line ends apart, which are counted here, JSON has no such character in a text
    quotes = np.flatnonzero(data == _QUOTE).astype(np.int32)
    if len(quotes) != 2 * rows * width:
        return None
    opening, closing = quotes[::2].reshape(rows, width), quotes[1::2].reshape(rows, width)
    inside = (opening[:, 1:] == closing[:, :-1] + 2) & (data[closing[:, :-1] + 1] == _COMMA)
    ends, begins = closing[:-1, -1], opening[1:, 0]
    between = (begins == ends + 4) & (data[ends + 1] == _END)
    between &= (data[begins - 2] == ord(LINE_END)) & (data[begins - 1] == _BEGIN)
    if not (inside.all() and between.all() and quotes[0] == 1 and quotes[-1] == len(data) - 2):
        return None
    if data[0] != _BEGIN or data[-1] != _END:
        return None
    bounds = quotes.copy()
    bounds[::2] += 1  # behind the quote
    cells = text_arrays.of_bytes(data, bounds)  # and between two of them what separates them
    firsts = np.arange(rows, dtype=np.int32) * np.int32(2 * width)
    wanted = range(width) if places is None else places
    return [text_arrays.taken(cells, firsts + np.int32(2 * place)) for place in wanted]
