"""The face of a project, as far as the rows go: they come in, are found, and are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa

from sce_desktop.core.annotations import Row
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.readings import Reading
from sce_desktop.core.tables import Cell
from sce_desktop.store.content import importing, row_columns, rows, search, select
from sce_desktop.store.content.columns import ColumnCache
from sce_desktop.store.content.row_columns import RowColumns
from sce_desktop.store.content.rows import ImportRecord, ImportReport
from sce_desktop.store.content.staging import StagedRows
from sce_desktop.store.file.database import Database
from sce_desktop.store.runs.drafts import DraftedRuns
from sce_desktop.store.runs.scored import ScoredRuns
from sce_desktop.store.sql import Ids, last_row_id


class RowMethods:
    """A part of `Project`."""

    _database: Database
    _scored: ScoredRuns
    _drafted: DraftedRuns
    _columns: ColumnCache

    @property
    def columns(self) -> tuple[str, ...]:
        """The headers of the original table in their order; empty before the first import."""
        with self._database.read() as connection:
            return rows.shape(connection).columns

    @property
    def text_columns(self) -> tuple[int, ...]:
        """The 0-based places of the columns that make the text."""
        with self._database.read() as connection:
            return rows.shape(connection).text_columns

    def text_of(self, cells: Sequence[Cell]) -> str:
        """Return the text to classify: the text cells that are not blank, joined by line breaks."""
        with self._database.read() as connection:
            return rows.shape(connection).text_of(cells)

    def add_rows(
        self,
        columns: Sequence[str],
        batches: Iterable[Sequence[Sequence[Cell]]],
        *,
        text_columns: Sequence[int],
        source: dict[str, Any],
        progress: Progress | None = None,
        and_then: Callable[[StagedRows], object] | None = None,
        remove_cancelled: bool = True,
    ) -> ImportReport:
        """Append rows. Nobody sees them until all are there; if it breaks off or is cancelled, none stays.

        So it is with what ``and_then`` says about them: it is handed `StagedRows`, which take labels and
        annotations before the rows are seen. If it fails no row stays. Whoever decides meanwhile waits for a
        small part of it at most.

        ``text_columns`` are 0-based places in ``columns``; ``source`` is what to remember of where the rows
        came from, anything that JSON can hold. Without ``remove_cancelled`` the rows of a cancelled call stay
        unseen until `remove_unfinished`, the next call or the next opening, so that nobody waits for it.
        UserError if the project's columns or text columns are others.
        """
        watcher = progress or SilentProgress()
        return importing.add_rows(
            self._database,
            columns,
            batches,
            text_columns=text_columns,
            source=source,
            progress=watcher,
            and_then=and_then,
            remove_cancelled=remove_cancelled,
        )

    def remove_unfinished(self, progress: Progress | None = None) -> None:
        """Remove the rows that a cancelled `add_rows` has left. Cancelled: the others go later."""
        importing.remove_unfinished(self._database, progress or SilentProgress())

    def imports(self) -> tuple[ImportRecord, ...]:
        """Return what was imported, oldest first."""
        with self._database.read() as connection:
            return rows.imports(connection)

    def row_count(self) -> int:
        """Return the number of rows."""
        with self._database.read() as connection:
            return rows.counts(connection).rows

    def last_row_id(self) -> int:
        """Return the number of the last row, which is higher than `row_count` where rows were deleted."""
        with self._database.read() as connection:
            return int(connection.execute(sa.select(last_row_id())).scalar_one() or 0)

    def blank_count(self) -> int:
        """Return the number of rows with nothing to classify."""
        with self._database.read() as connection:
            return rows.counts(connection).blank

    def duplicate_count(self) -> int:
        """Return the number of rows, blank ones aside, that repeat the text of an earlier row exactly."""
        with self._database.read() as connection:
            return rows.counts(connection).duplicates

    def row_ids(
        self,
        query: RowQuery | None = None,
        progress: Progress | None = None,
        *,
        draft: bool = False,
        compact: bool = False,
    ) -> IdArray:
        """Return the ids (n,) that ``query`` asks for in its order; all in file order without one.

        ``progress`` is told how far it is where a column or all lengths have to be read first (`must_read`).
        ``draft``: rows that have no score yet are filtered and ordered by their draft, but for final labels
        and for disagreements of models. ``compact``: int32 where that holds the ids (`arrays.narrow`).
        """
        scored = self._drafted if draft else self._scored
        with self._database.read() as connection:
            found = select.row_ids(connection, query or RowQuery(), scored, self._columns, progress)
        return found if compact else found.astype(np.int64, copy=False)

    def must_read(self, query: RowQuery) -> bool:
        """Whether `row_ids` would have to read a column, scores, the length or the hash of every row."""
        with self._database.read() as connection:
            return select.must_read(connection, query, self._scored, self._columns)

    def first_ids(
        self,
        query: RowQuery,
        count: int,
        *,
        least: int,
        near: int | None = None,
        readable: int | None = None,
        draft: bool = False,
        progress: Progress | None = None,
    ) -> tuple[IdArray, int | None]:
        """Return the first of what `row_ids` returns, ``count`` at least, and how many there are in all.

        All of them where there are fewer than ``least``, where the order knows no shorter way, or where the
        row ``near`` is among the others. Where texts of many rows have to be read (of ``least``, or of
        ``readable``) some rows come, or none yet, and None: how many there are is not known. Ids are int32
        where that holds them; ``draft`` as for `row_ids`.
        """
        scored = self._drafted if draft else self._scored
        with self._database.read() as connection:
            return select.first_ids(
                connection, query, scored, self._columns, count, least, progress, near=near, readable=readable
            )

    def reading(self, column: int) -> Reading:
        """Return how a column reads as a whole. IndexError if there is none at that 0-based place."""
        with self._database.read() as connection:
            return self._columns.get(connection, column).reading

    def free_columns(self) -> None:
        """Let go of the own columns of millions of rows, before work that needs the memory."""
        self._columns.free()

    def cell_counts(
        self, column: int, ids: IdArray, *, most: int, containing: str = "", progress: Progress | None = None
    ) -> tuple[list[tuple[str, int]], int]:
        """Return the commonest cells of ``ids`` in a column; see `columns.ColumnCache.counts`."""
        with self._database.read() as connection:
            return self._columns.counts(
                connection, column, ids, most=most, containing=containing, progress=progress
            )

    def has_row(self, row_id: int) -> bool:
        """Whether there is a row of that number: one that was deleted for good has left a gap."""
        with self._database.read() as connection:
            return rows.exists(connection, row_id)

    def rows(self, ids: Ids) -> list[Row]:
        """Return the rows with ``ids`` in their order. KeyError if one does not exist."""
        with self._database.read() as connection:
            return rows.fetch(connection, ids)

    def row_columns(self, ids: Ids) -> RowColumns:
        """Return the rows with ``ids`` in their order by column. KeyError if one does not exist."""
        with self._database.read() as connection:
            return row_columns.fetch(connection, ids)

    def cell_types(self, ids: Ids) -> dict[int, str]:
        """Return what the cells of ``ids`` were, a letter of `CellType` a cell; rows of texts are absent."""
        with self._database.read() as connection:
            return rows.cell_types(connection, ids)

    def texts(self, ids: Ids) -> list[str]:
        """Return the texts of ``ids`` in their order. KeyError if one does not exist."""
        with self._database.read() as connection:
            return rows.texts(connection, ids)

    def iter_rows(self, batch: int = 5000) -> Iterator[list[Row]]:
        """Give all rows that there are at the beginning in file order, ``batch`` at a time."""
        with self._database.read() as connection:
            end = rows.last(connection)
        after = 0
        while after < end:
            with self._database.read() as connection:
                found = rows.fetch_after(connection, after, batch, end=end)
            if not found:
                return
            yield found
            after = found[-1].id

    def same_text_ids(self, row_id: int) -> IdArray:
        """Return the other rows with exactly the same text, in file order; none for a blank one."""
        with self._database.read() as connection:
            return rows.same_text(connection, row_id)

    def with_same_texts(self, ids: Ids) -> IdArray:
        """Return ``ids`` and all other rows with exactly the text of one of them, in file order."""
        with self._database.read() as connection:
            return rows.with_same_texts(connection, ids)

    def count_same_text(self, row_id: int, most: int) -> int:
        """Return how many rows `same_text_ids` would find; no more than ``most`` are counted."""
        with self._database.read() as connection:
            return rows.count_same_text(connection, row_id, most)

    def build_search_index(self, progress: Progress | None = None) -> None:
        """Make searching fast, in short transactions; searching works before, during and without it."""
        search.build_index(self._database, progress or SilentProgress())
