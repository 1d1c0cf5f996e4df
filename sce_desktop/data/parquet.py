"""Parquet, by pyarrow, one row group's batch after the other.

Texts stay as they are and nulls are None. Other values become text: integers and floats in the shortest
form that reads back to the same value, truth values as true and false, dates and timestamps in ISO 8601
(with +00:00 where they have a time zone), lists and structures as JSON, bytes as text if they are UTF-8
and as hexadecimal digits if not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import Cell, TableOptions
from sce_desktop.data.reader import Cells, Table
from sce_desktop.data.text_source import file_size, reading

if TYPE_CHECKING:
    import pyarrow as pa

_CHUNK = 1000  # rows


class ParquetTable(Table):
    """A parquet file. It has no options; line numbers do not exist."""

    kind = "parquet"

    def __init__(self, path: Path, options: TableOptions) -> None:
        import pyarrow.parquet as pq

        super().__init__(path)
        file_size(path)
        with _reading(path), pq.ParquetFile(path) as file:
            self.columns = tuple(file.schema_arrow.names)
            self.estimated_rows = file.metadata.num_rows
        if not self.columns:
            raise UserError(f"{path.name} has no columns: choose another table.")

    def _chunks(self, progress: Progress) -> Iterator[tuple[list[Cells], float]]:
        import pyarrow.parquet as pq

        done = 0
        with _reading(self.path), pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(batch_size=_CHUNK, use_threads=False):
                done += len(batch)
                rows = list(zip(*(_texts(column) for column in batch.columns), strict=True))
                yield rows, done / max(file.metadata.num_rows, 1)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        with reading(path):
            yield
    except pa.ArrowException:
        raise UserError(
            f"{path.name} is no parquet file, or a damaged one: fetch or write it again."
        ) from None


def _texts(column: pa.Array) -> list[Cell]:
    """Return a column of one batch as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _texts(column.dictionary_decode())
    if isinstance(kind, pa.BaseExtensionType):
        return _texts(column.storage)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.to_pylist()
    if pa.types.is_timestamp(kind):
        if kind.tz is not None:  # an instant, kept in UTC
            plain = _texts(column.cast(pa.timestamp(kind.unit, "UTC")).cast(pa.timestamp(kind.unit)))
            return [text and f"{text}+00:00" for text in plain]
        return [_short_time(text) for text in pc.strftime(column, "%Y-%m-%dT%H:%M:%S").to_pylist()]
    if pa.types.is_time(kind):
        return [_short_time(text) for text in column.cast(pa.string()).to_pylist()]
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        # Not by way of Python's float, in which the 0.1 of a float32 reads 0.10000000149011612.
        return column.cast(pa.float32()).cast(pa.string()).to_pylist()
    return [_text(value) for value in column.to_pylist()]


def _short_time(text: str | None) -> str | None:
    """Take off zeros of the fraction of a second, which the column's unit brings."""
    return text.rstrip("0").removesuffix(".") if text is not None and "." in text else text


def _text(value: Any) -> Cell:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=_text)
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return value.hex()
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return format(value, "f") if hasattr(value, "as_tuple") else str(value)  # a Decimal without an exponent
