"""The cells of one column of the table, read of all rows some at a time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from sce_desktop.core import folding
from sce_desktop.core.arrays import IdArray, counted, looked_up
from sce_desktop.core.giving_way import giving_way
from sce_desktop.core.progress import Progress
from sce_desktop.store.content.column_values import ColumnValues
from sce_desktop.store.content.rows import Shape, shape
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.functions import whole_characters

_BATCH: Final = 5_000  # rows: reading their JSON keeps the interpreter for some milliseconds
_rows = schema.rows.c


def column_batches(
    connection: sa.Connection, column: int, last: int, progress: Progress
) -> Iterator[tuple[list[int], list[str]]]:
    """Give ids and cells of the rows up to ``last``, a batch at a time; an empty text stands for a null too.

    Many lists of cells are read as one JSON text: SQLite would read each of them several times.
    """
    done = 0
    for ids, cells in cells_between(connection, column, 0, last):
        progress.check()
        yield ids, cells
        done += len(ids)
        progress.report(done, last)


def cells_between(
    connection: sa.Connection, column: int, after: int, last: int
) -> Iterator[tuple[list[int], list[str]]]:
    """Give the same of the rows behind the id ``after``."""
    layout = shape(connection)
    is_text = layout.text_columns == (column,)
    reading = raw(connection).execute(
        f"SELECT id, cells{', text' if is_text else ''} FROM rows WHERE id > ? AND id <= ? ORDER BY id",
        (after, last),
    )
    while batch := reading.fetchmany(_BATCH):
        ids, cells, *texts = zip(*batch, strict=True)
        found = _taken(cells, texts[0] if is_text else (), layout, column)
        yield list(ids), _extracted(connection, column, ids) if found is None else found


def _taken(cells: tuple[Any, ...], texts: tuple[Any, ...], layout: Shape, column: int) -> list[str] | None:
    """Return the cells (n,) in a column of rows with these lists of cells; None: SQLite is to say."""
    width, text_at = len(layout.columns), layout.text_columns[0] if layout.text_columns else 0
    try:
        lists = json.loads(f"[{','.join(cells)}]")
        if len(lists) != len(cells):
            return None
        if len(layout.text_columns) != 1 or column < text_at:
            found = [one[column] for one in lists]
        elif column == text_at:
            pairs = zip(lists, texts, strict=True)
            found = [one[column] if len(one) == width else text for one, text in pairs]
        else:  # the text's cell is left out where it is the text itself
            found = [one[column if len(one) == width else column - 1] for one in lists]
        found = [cell or "" for cell in found]
        plain = "".join(found).isascii()
    except (ValueError, IndexError, KeyError, TypeError, RecursionError):
        return None
    return found if plain else [whole_characters(cell) for cell in found]


def _extracted(connection: sa.Connection, column: int, ids: tuple[int, ...]) -> list[str]:
    """Return the cells of rows that follow each other as SQLite reads them: it says which one is damaged."""
    from sce_desktop.store.content.columns import cell

    some = sa.select(cell(connection, column)).where(_rows.id >= ids[0], _rows.id <= ids[-1])
    return list(connection.execute(some.order_by(_rows.id)).scalars())


def count_cells(
    batches: Iterable[tuple[list[int], list[str]]],
    values: ColumnValues,
    ids: IdArray,
    *,
    most: int,
    containing: str,
) -> tuple[list[tuple[str, int]], int]:
    """Count the cells of ``ids`` in a column with very many distinct ones; see `ColumnCache.counts`.

    The commonest are known by their place in the order; where ways to write one number share that, how many
    distinct cells there are is counted without telling them apart.
    """
    wanted = np.zeros(values.last + 1, bool)
    wanted[ids] = True
    key, distinct = folding.bare(containing) or containing, 0
    if not containing:
        sizes = counted(looked_up(values.ranks, ids), int(values.ranks.max()) + 1)
        distinct = int(np.count_nonzero(sizes))
        common = np.zeros(len(sizes), bool)
        common[np.argsort(-sizes, kind="stable")[:most]] = True
        wanted[ids] = looked_up(common, looked_up(values.ranks, ids))
    counts: Counter[str] = Counter()
    ranks: dict[str, int] = {}
    for some, cells in batches:
        for row_id, text in giving_way(list(zip(some, cells, strict=True))):
            if wanted[row_id] and (not containing or (text and key in folding.bare(text))):
                counts[text] += 1
                ranks.setdefault(text, int(values.ranks[row_id]))
    best = sorted(counts, key=lambda text: (-counts[text], ranks[text]))[:most]
    return [(text, counts[text]) for text in best], distinct or len(counts)
