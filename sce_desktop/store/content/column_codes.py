"""The cells of one column of all rows as codes of the distinct ones: no object is made for each cell.

Nearly all lists of cells are as `importing` writes them: texts alone, and no character that JSON escapes.
Then the quotes alone say where each cell is, which takes a third of the time of parsing (`listed_cells`). A
batch of rows in which anything is otherwise is parsed.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.giving_way import give_way
from sce_desktop.core.progress import Progress
from sce_desktop.store.content.column_cells import cells_between
from sce_desktop.store.content.listed_cells import columns_in
from sce_desktop.store.content.rows import Shape, shape
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.functions import whole_characters

_BATCH: Final = 25_000  # rows
_FEW: Final = 10_000  # rows that are parsed sooner than Arrow is imported, which somebody may wait for
_MOST_BYTES: Final = 50_000_000  # of cells in one piece


@dataclass(frozen=True, slots=True, eq=False)
class CodedCells:
    """The cells of some rows: ``texts`` (d,), each once, and for each of the ``ids`` (n,) which one it has.

    An empty text stands for a null too.
    """

    ids: IdArray
    texts: list[str]
    codes: NDArray[np.int32]  # (n,)


def coded_batches(
    connection: sa.Connection, column: int, last: int, progress: Progress
) -> Iterator[CodedCells]:
    """Give the cells of the rows up to ``last`` in file order, some rows at a time."""
    start = 0
    while start < last:
        end = min(last, start + _BATCH)
        progress.check()
        give_way()
        yield coded_between(connection, column, start, end)
        progress.report(end, last)
        start = end


def coded_between(connection: sa.Connection, column: int, after: int, end: int) -> CodedCells:
    """Return the cells of the rows behind the id ``after`` up to ``end``."""
    layout = shape(connection)
    place, found = _place(layout, column), None
    if place is not None and (end - after > _FEW or "pyarrow.compute" in sys.modules):
        found = _at_once(connection, place, after, end)
    return _parsed(connection, column, after, end) if found is None else found


def _place(layout: Shape, column: int) -> tuple[int, int] | None:
    """Return how many cells a list has, and the place of the column among them; None: it may be the text.

    The text's cell is left out where it is the text itself.
    """
    if len(layout.text_columns) != 1:
        return len(layout.columns), column
    (text_at,) = layout.text_columns
    if column == text_at:
        return None
    return len(layout.columns) - 1, column - (column > text_at)


def _at_once(connection: sa.Connection, place: tuple[int, int], start: int, end: int) -> CodedCells | None:
    """Return the cells of the rows after ``start``; None where anything is unusual, such as a missing row."""
    plain = raw(connection)
    before = plain.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    try:
        odd, rows, cells = plain.execute(
            "SELECT total(typeof(cells) != 'text'), count(*), CAST(group_concat(cells, '\n') AS BLOB)"
            " FROM rows WHERE id > ? AND id <= ?",  # they come by their ids, which are searched for
            (start, end),
        ).fetchone()
    except sqlite3.DataError:  # more than fits into one piece
        return None
    finally:
        plain.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)
    if odd or rows != end - start:
        return None
    found = cells_at(cells, end - start, *place)
    if found is None:
        return None
    texts, codes = found
    return CodedCells(np.arange(start + 1, end + 1), texts, codes)


def cells_at(
    lists: bytes | None, count: int, width: int, place: int
) -> tuple[list[str], NDArray[np.int32]] | None:
    """Return what stands at ``place`` in JSON lists of ``width`` texts: each text once, and codes (count,).

    Args:
        lists: As many as ``count``, a line each.

    Returns:
        None where one of them is written in any other way than ``["a","b"]``, or has an escape.
    """
    import pyarrow.compute as pc

    if not (found := columns_in(lists, count, width, [place] if width else None)):
        return None
    coded = pc.dictionary_encode(found[0])
    try:
        texts = coded.dictionary.to_pylist()
    except UnicodeDecodeError:
        return None
    if not "".join(texts).isascii():
        texts = [whole_characters(text) for text in texts]
    return texts, coded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)


def _parsed(connection: sa.Connection, column: int, start: int, end: int) -> CodedCells:
    """Return the same of lists that are written in any way."""
    places, all_ids, codes = dict[str, int](), list[int](), list[int]()
    for ids, cells in cells_between(connection, column, start, end):
        all_ids += ids
        codes += [places.setdefault(text, len(places)) for text in cells]
    return CodedCells(np.array(all_ids, np.int64), list(places), np.array(codes, np.int32))
