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
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import Cell, TableOptions
from sce_desktop.core.text import size_text
from sce_desktop.data.column_types import ClassNames, ColumnTypes, with_names
from sce_desktop.data.csv.text_source import file_size, reading
from sce_desktop.data.parquet.arrow_text import texts_of
from sce_desktop.data.reader import Cells, Table

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_CHUNK = 1000  # rows
_MOST_BYTES = 64 << 30  # of texts: a file can name one long text again and again
_REPEATS = 8  # bytes a row: a column that takes less can hold little but references to a few texts


class ParquetTable(Table):
    """A parquet file. It has no options; rows serve as line numbers."""

    kind = "parquet"

    def __init__(self, path: Path, options: TableOptions) -> None:
        import pyarrow.parquet as pq

        super().__init__(path)
        file_size(path)
        with _reading(path), pq.ParquetFile(path) as file:
            self.columns = tuple(file.schema_arrow.names)
            self.estimated_rows = file.metadata.num_rows
            self.types = ColumnTypes.of_schema(file.schema_arrow)
            self._repeating = _repeating(file)
        if not self.columns:
            raise UserError(_("{file} has no columns: choose another table.", file=path.name))
        self._names = self.types.class_names()
        self.notes = tuple(
            _(
                "“{column}” holds Hugging Face class numbers, shown by their names: {names}.",
                column=self.columns[place],
                names=names.sentence,
            )
            for place, names in self._names.items()
        )

    def _chunks(self, progress: Progress) -> Iterator[tuple[list[Cells], float]]:
        import pyarrow.parquet as pq

        done = size = 0
        with _reading(self.path), pq.ParquetFile(self.path, read_dictionary=self._repeating) as file:
            total = max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(batch_size=_CHUNK, use_threads=False):
                size += sum(map(_expanded, batch.columns))
                if (estimate := size * total // (done + len(batch))) > _MOST_BYTES:
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
                _(
                    "Some bytes of “{column}” are not UTF-8: they are shown as “\ufffd”.",
                    column=self.columns[place],
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
        except (pa.ArrowException, UnicodeDecodeError, OverflowError):
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
        chunks = [metadata.row_group(group).column(place) for group in range(metadata.num_row_groups)]
        size = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.has_dictionary_page)
        if 0 < size < _REPEATS * metadata.num_rows:
            found.append(name)
    return found


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
