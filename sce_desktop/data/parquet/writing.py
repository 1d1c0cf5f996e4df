"""Writing parquet by pyarrow, in groups of rows that are written in some hundredths of a second."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from sce_desktop.core import text_arrays
from sce_desktop.core.background_writer import BackgroundWriter
from sce_desktop.core.giving_way import give_way
from sce_desktop.core.progress import Progress
from sce_desktop.data.columns import Column, Columns, Numbers, as_cells, is_held_by_arrow
from sce_desktop.data.csv.csv_text import OutCell
from sce_desktop.data.number_text import number, rounded
from sce_desktop.data.synced import SyncedFile

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from sce_desktop.data.column_types import ColumnTypes

_TYPED_AFTER: Final = 100_000  # rows at most are held back until it is known which columns are numbers
_GROUP_ROWS: Final = 16_000
_GROUP_CELLS: Final = 1_000_000
_GROUP_BYTES: Final = 16_000_000  # of texts; a cancel waits until a group is written
_WHOLE: Final = frozenset((int, type(None)))
_FEW: Final = 0.5  # distinct ones of the texts of a column, for which a dictionary is worth its time

Batch: TypeAlias = "list[Column]"


def write_parquet(
    target: Path,
    columns: Sequence[str],
    batches: Iterator[Sequence[Sequence[OutCell]] | Columns],
    *,
    about: Sequence[str],
    types: ColumnTypes | None,
    numbers: Collection[str],
    progress: Progress,
) -> None:
    """Write a table with what `writers.write_table` says of ``about``, ``types`` and ``numbers``."""
    import pyarrow as pa

    typed = types.fields if types is not None else ()
    pending = filter(None, map(_by_column, batches))
    held: deque[Batch] = deque()
    rows = 0
    kinds: list[type | None] = [str if field is not None else None for field in typed]
    kinds += [float if name in numbers else None for name in columns[len(kinds) :]]
    while not all(kinds) and rows < _TYPED_AFTER and (batch := next(pending, None)) is not None:
        held.append(batch)
        rows += len(batch[0])
        kinds = [kind or _kind_of(column) for kind, column in zip(kinds, batch, strict=True)]
    fields = [
        pa.field(name, pa.float64() if kind is float else pa.int64() if kind is int else pa.string())
        for name, kind in zip(columns, kinds, strict=True)
    ]
    for place, field in enumerate(typed):
        if field is not None:
            fields[place] = field.with_name(columns[place])
    metadata = {**(types.metadata if types is not None else {})}
    if about:
        metadata[b"about"] = "\n".join(about).encode()
    schema = pa.schema(fields, metadata=metadata or None)
    makers = [
        types.maker(place) if types is not None and place < len(typed) and typed[place] is not None else None
        for place in range(len(columns))
    ]
    with (
        target.open("rb+") as opened,
        SyncedFile(opened) as synced,
        _File(target, schema, makers, synced) as file,
        BackgroundWriter("export") as writer,
    ):
        for group in _groups(chain(_popped(held), pending)):
            writer.wait()
            progress.check()
            writer.write(file.write, group)
        writer.wait()
        progress.check()


def _by_column(batch: Sequence[Sequence[OutCell]] | Columns) -> Batch:
    if not len(batch):
        return []
    return list(batch.columns) if isinstance(batch, Columns) else list(zip(*batch, strict=True))


def _popped(held: deque[Batch]) -> Iterator[Batch]:
    while held:
        yield held.popleft()


def _groups(batches: Iterator[Batch]) -> Iterator[list[Batch]]:
    """Yield batches, some of them at a time."""
    some: list[Batch] = []
    rows = size = 0
    for batch in batches:
        some.append(batch)
        rows += len(batch[0])
        size += sum(column.nbytes for column in batch if is_held_by_arrow(column))
        if rows >= min(_GROUP_ROWS, _GROUP_CELLS // len(batch)) or size >= _GROUP_BYTES:
            yield some
            some, rows, size = [], 0, 0
    if some:
        yield some


class _File:
    """A context manager that writes batches to a file, each call a group of rows."""

    def __init__(
        self,
        target: Path,
        schema: pa.Schema,
        makers: Sequence[Callable[[Sequence[Any]], pa.Array] | None],
        synced: SyncedFile,
    ) -> None:
        self._target = target
        self._synced = synced
        self._size = 0
        self._schema = schema
        self._makers = makers
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> _File:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._writer is None and kind is None:
            self._writer = self._opened(None)
        if self._writer is not None:
            self._writer.close()

    def write(self, batches: Sequence[Batch]) -> None:
        """Write the rows of ``batches`` as one group."""
        import pyarrow as pa

        arrays = []
        for parts, field, maker in zip(zip(*batches, strict=True), self._schema, self._makers, strict=True):
            give_way()
            arrays.append(_array(parts, field) if maker is None else maker(_cells(parts)))
        group = pa.Table.from_batches([pa.record_batch(arrays, schema=self._schema)])
        if self._writer is None:
            self._writer = self._opened(group)
        give_way()
        self._writer.write_table(group, row_group_size=max(_GROUP_ROWS, group.num_rows))
        before, self._size = self._size, self._target.stat().st_size
        self._synced.wrote(self._size - before)

    def _opened(self, first: pa.Table | None) -> pq.ParquetWriter:
        """Return the writer; by the ``first`` rows it is judged what a dictionary is worth.

        Numbers with nine digits have no two alike, and little is gained by compressing them: a fast codec is
        there for columns of zeros.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        codecs: dict[str, str] | str = "zstd"
        with_dictionary: list[str] | bool = True
        if not any(pa.types.is_nested(field.type) for field in self._schema):
            are_numbers = [pa.types.is_float64(field.type) for field in self._schema]
            codecs = {
                field.name: "snappy" if is_number else "zstd"
                for field, is_number in zip(self._schema, are_numbers, strict=True)
            }
            with_dictionary = [
                field.name
                for place, field in enumerate(self._schema)
                if not are_numbers[place] and (first is None or _are_few(first.column(place)))
            ]
        return pq.ParquetWriter(
            self._target, self._schema, compression=codecs, use_dictionary=with_dictionary
        )


def _are_few(column: pa.ChunkedArray) -> bool:
    import pyarrow.compute as pc

    return bool(pc.count_distinct(column).as_py() <= _FEW * len(column))


def _kind_of(column: Column) -> type | None:
    """Return what a column holds, None where that is not known yet: it has no cell that is not empty."""
    import pyarrow as pa

    if isinstance(column, Numbers):
        return float if column.present.any() else None
    if is_held_by_arrow(column):
        if pa.types.is_string(column.type):
            return str
        return int if column.null_count < len(column) else None
    return next((_kind(cell) for cell in column if cell is not None), None)


def _kind(cell: OutCell) -> type:
    if isinstance(cell, str):
        return str
    return int if isinstance(cell, int) else float


def _cells(parts: Sequence[Column]) -> Sequence[OutCell]:
    cells = list(map(as_cells, parts))
    return cells[0] if len(cells) == 1 else list(chain.from_iterable(cells))


def _array(parts: Sequence[Column], field: pa.Field) -> pa.Array:
    """Return the parts of a column as one array."""
    import pyarrow as pa

    if all(is_held_by_arrow(part) and part.type == field.type for part in parts):
        return pa.concat_arrays(parts)
    if field.type == pa.float64() and all(isinstance(part, Numbers) for part in parts):
        found = [part for part in parts if isinstance(part, Numbers)]
        present = np.concatenate([part.present for part in found])
        values = rounded(np.concatenate([part.values for part in found]))
        return text_arrays.floats(values, None if present.all() else present)
    cells = _cells(parts)
    if not pa.types.is_string(field.type):
        if _WHOLE.issuperset(map(type, cells)):
            return pa.array(cells, field.type)
        return pa.array([None if cell is None or cell == "" else number(cell) for cell in cells], field.type)
    try:
        return pa.array(cells, field.type)
    except pa.ArrowTypeError:  # a number that came after a hundred thousand empty cells
        return pa.array([cell if cell is None else str(cell) for cell in cells], field.type)
