"""Parquet, by pyarrow, one row group's batch after the other: nulls are None, all else as `arrow_text` says.

Numbers that the metadata of Hugging Face has names for are shown as these names. What the columns were is
kept in `Table.types`, so that a parquet file can be written from the texts again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.limits import (
    CELLS_A_BYTE,
    FREE_CELLS,
    FREE_REPEATED,
    MAX_COLUMNS,
    MAX_DEPTH,
    MAX_ITEMS,
    MAX_NESTED,
    MAX_RATIO,
)
from sce_desktop.core.progress import Progress
from sce_desktop.core.quoting import shortened
from sce_desktop.core.tables import Cell, TableOptions
from sce_desktop.core.text import size_text
from sce_desktop.data.column_types import ClassNames, ColumnTypes, with_names
from sce_desktop.data.csv.text_source import file_size, reading
from sce_desktop.data.parquet.arrow_text import texts_of
from sce_desktop.data.parquet.pages import BrokenPageError, HugePageError, look_at_pages
from sce_desktop.data.reader import Cells, Table

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_CHUNK = 1000  # rows
_CHUNK_BYTES = 1 << 25
_CHUNK_REPEATED = 1 << 28  # bytes, were each row the whole dictionary of a column
_COUNTED = 100_000  # parts of columns that are looked at
_REPEATS = 8  # bytes a row: a column that takes less can hold little but references to a few texts


class ParquetTable(Table):
    """A parquet file. It has no options; rows serve as line numbers."""

    kind = "parquet"

    def __init__(self, path: Path, options: TableOptions) -> None:
        import pyarrow.parquet as pq

        super().__init__(path)
        file_size(path)
        with _reading(path), pq.ParquetFile(path) as file:
            if file.metadata.num_columns > MAX_COLUMNS:
                raise self._too_much()
            self.columns = tuple(file.schema_arrow.names)
            self.estimated_rows = max(file.metadata.num_rows, 0)
            self._check(file)
            self.types = ColumnTypes.of_schema(file.schema_arrow)
            self._repeating = _repeating(file)
        if not self.columns:
            raise UserError(_("{file} has no columns: choose another table.", file=path.name))
        self._names = self.types.class_names()
        self.notes = tuple(
            _(
                "“{column}” holds Hugging Face class numbers, shown by their names: {names}.",
                column=shortened(self.columns[place]),
                names=shortened(names.sentence),
            )
            for place, names in self._names.items()
        )

    def _check(self, file: pq.ParquetFile) -> None:
        """Refuse what would unpack to more than its size lets expect; find out how many rows go at once."""
        if any(_depth(kind) > MAX_DEPTH for kind in file.schema_arrow.types):
            raise self._too_much()
        try:
            pages = look_at_pages(self.path, file)
        except HugePageError:
            raise self._too_much() from None
        rows = max(self.estimated_rows or 0, 1)
        for place, values in pages.values.items():
            if file.metadata.schema.column(place).max_repetition_level and values > MAX_ITEMS * rows:
                raise self._too_much()
        cells = rows * max(len(self.columns), 1)
        if cells > FREE_CELLS and cells > CELLS_A_BYTE * file_size(self.path):
            raise self._too_much()
        by_row = _CHUNK_BYTES * rows // max(pages.unpacked, 1)
        by_dictionary = _CHUNK_REPEATED // max(pages.longest_dictionary, 1)
        self._at_once = max(min(_CHUNK, by_row, by_dictionary), 1)

    def _too_much(self) -> UserError:
        return UserError(
            _(
                "{file} unpacks to far more than its size lets expect: write it again, or as CSV.",
                file=self.path.name,
            )
        )

    def _chunks(self, progress: Progress) -> Iterator[tuple[list[Cells], float]]:
        import pyarrow.parquet as pq

        done = size = 0
        most = max(FREE_REPEATED, MAX_RATIO * file_size(self.path))
        with _reading(self.path), pq.ParquetFile(self.path, read_dictionary=self._repeating) as file:
            total = max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(batch_size=self._at_once, use_threads=False):
                size += sum(map(_expanded, batch.columns))
                if any(map(_is_long, batch.columns)):
                    raise self._too_much()
                if (estimate := size * total // max(done + len(batch), 1)) > most:
                    raise UserError(
                        _(
                            "{file} unpacks to {size} of text: remove the columns with the longest texts.",
                            file=self.path.name,
                            size=size_text(estimate),
                        )
                    )
                columns = [self._texts(place, column, done) for place, column in enumerate(batch.columns)]
                done += len(batch)
                yield list(zip(*columns, strict=True)), done / total

    def _texts(self, place: int, column: pa.Array, done: int) -> list[Cell]:
        broken: set[int] = set()
        texts = texts_of(column, broken)
        for row in sorted(broken):
            self._problem(
                done + row + 1,
                lambda: _(
                    "Some bytes of “{column}” are not UTF-8: they are shown as “\ufffd”.",
                    column=shortened(self.columns[place]),
                ),
            )
        names: ClassNames | None = self._names.get(place)
        return texts if names is None else with_names(texts, names)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    import pyarrow as pa

    damaged = UserError(
        _("{file} is not a Parquet file, or is damaged: download or write it again.", file=path.name)
    )
    with reading(path):
        try:
            yield
        except (pa.ArrowException, UnicodeDecodeError, OverflowError, BrokenPageError):
            raise damaged from None
        except OSError as error:
            if error.errno is None:  # Arrow's own, in several lines
                raise damaged from None
            raise


def _repeating(file: pq.ParquetFile) -> list[str]:
    """Return the columns of texts that say the same few texts again and again: they are kept once each."""
    import pyarrow as pa

    metadata = file.metadata
    found = []
    for place in range(metadata.num_columns):
        column = metadata.schema.column(place)
        name = column.path
        if file.schema_arrow.names.count(name) != 1:
            continue
        kind = file.schema_arrow.field(name).type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            continue
        groups = range(min(metadata.num_row_groups, 1 + _COUNTED // metadata.num_columns))
        chunks = [metadata.row_group(group).column(place) for group in groups]
        size = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.has_dictionary_page)
        if 0 < size < _REPEATS * sum(metadata.row_group(group).num_rows for group in groups):
            found.append(name)
    return found


def _depth(kind: pa.DataType) -> int:
    """Return how many lists, maps and structures are within each other, up to one more than is allowed."""
    depth, waiting = 0, [kind]
    while waiting and depth <= MAX_DEPTH:
        waiting = [one.field(place).type for one in waiting for place in range(one.num_fields)]
        depth += 1
    return depth


def _is_long(column: pa.Array) -> bool:
    import pyarrow as pa

    return pa.types.is_nested(column.type) and column.nbytes > MAX_NESTED


def _expanded(column: pa.Array) -> int:
    """Return how many bytes the texts of a column of a batch take when each is written out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary) if _has_length(column.dictionary.type) else None
    if lengths is None:
        return int(column.nbytes)
    return pc.sum(lengths.take(column.indices)).as_py() or 0


def _has_length(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind)
