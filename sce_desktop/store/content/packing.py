"""What the store keeps of rows that come by column, made by column."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sce_desktop.core.blank import is_blank
from sce_desktop.core.column_rows import ColumnRows
from sce_desktop.core.giving_way import giving_way
from sce_desktop.core.text_arrays import buffers, scalar
from sce_desktop.store.content.rows import HASH_BYTES

if TYPE_CHECKING:
    import pyarrow as pa

_VISIBLE: Final = np.zeros(256, np.bool_)
_VISIBLE[0x21:0x7F] = True  # a text that begins so is not blank
_ESCAPED: Final = np.zeros(256, np.bool_)
_ESCAPED[[*range(0x20), ord('"'), ord("\\")]] = True  # JSON writes them otherwise


def packed(rows: ColumnRows, text_column: int) -> list[Any]:
    """Return hash, length, blank, text and cells of each row, one after the other.

    The cells are a JSON list without that of the text. UnicodeEncodeError does not come up: what Arrow holds
    is UTF-8. Needs a column beside the text. Hashes are `bytearray` and blank is 0 or 1: for `bytes` and
    `bool` Python's sqlite3 first looks for an adapter, which takes as long as storing the row.
    """
    import pyarrow.compute as pc

    text = rows.columns[text_column]
    texts = text.to_pylist()
    others = [column for place, column in enumerate(rows.columns) if place != text_column]
    fields: list[Any] = [None] * (5 * len(rows))
    fields[0::5] = hashes(texts)
    fields[1::5] = pc.utf8_length(text).to_pylist()
    fields[2::5] = _blank(text, texts)
    fields[3::5] = texts
    fields[4::5] = _lists(others).to_pylist()
    return fields


def hashes(texts: Sequence[str]) -> list[bytearray]:
    """Return `rows.hash_text` of each text, for `packed`. A copy takes half the time of a new one."""
    fresh = blake2b(digest_size=HASH_BYTES)
    made = []
    for text in giving_way(texts):
        text_hash = fresh.copy()
        text_hash.update(text.encode())
        made.append(bytearray(text_hash.digest()))
    return made


def _blank(column: pa.StringArray, texts: list[str]) -> list[int]:
    """Return 1 for each text that `is_blank`, else 0, having looked at the first byte of most."""
    data, ends = buffers(column)
    starts = ends[:-1]
    first = data[np.minimum(starts, max(len(data) - 1, 0))] if len(data) else np.zeros(len(starts), np.uint8)
    blank = ~(_VISIBLE[first] & (ends[1:] > starts))
    for place in np.flatnonzero(blank).tolist():
        blank[place] = is_blank(texts[place])
    return blank.view(np.uint8).tolist()


def _lists(columns: list[pa.StringArray]) -> pa.StringArray:
    """Return the cells of each row as a JSON list of texts."""
    import pyarrow.compute as pc

    between, begin, end, nothing = map(scalar, ('","', '["', '"]', ""))
    cells = pc.binary_join_element_wise(*map(_written, columns), between)
    return pc.binary_join_element_wise(begin, cells, end, nothing)


def _written(column: pa.StringArray) -> pa.StringArray:
    """Return the cells as JSON writes them between quotes."""
    import pyarrow as pa

    data, ends = buffers(column)
    if not _ESCAPED[data[ends[0] : ends[-1]]].any():
        return column
    return pa.array([encode_basestring(cell)[1:-1] for cell in giving_way(column.to_pylist())], pa.string())
