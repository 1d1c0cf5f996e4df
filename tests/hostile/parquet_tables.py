"""Parquet files that mean ill: see `tests.hostile.tables`."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

BUILDERS: list[Callable[[Path], Path]] = []

_MB = 1_000_000
_PACKED: dict[str, Any] = {"compression": "zstd", "write_statistics": False}


def _builder(build: Callable[[Path], Path]) -> Callable[[Path], Path]:
    BUILDERS.append(build)
    return build


@_builder
def parquet_dictionary(folder: Path) -> Path:
    """A text of 1 MB that two million rows name: 43 KB on disk, 2 TB as rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "a.parquet"
    names = pa.array(["a" * _MB])
    schema = pa.schema([("text", pa.dictionary(pa.int32(), pa.string()))])
    with pq.ParquetWriter(path, schema, compression="zstd", write_statistics=False) as writer:
        rows = pa.array([0] * 500_000, pa.int32())
        for _ in range(4):
            column = pa.DictionaryArray.from_arrays(rows, names)
            writer.write_table(pa.table([column], schema=schema), row_group_size=500_000)
    return path


@_builder
def parquet_dictionary_20_gb(folder: Path) -> Path:
    """A text of 1 MB that 20,000 rows name: below what is refused for its size alone."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array(["a" * _MB]))
    path = folder / "a.parquet"
    pq.write_table(pa.table({"text": column}), path, compression="zstd", write_statistics=False)
    return path


@_builder
def parquet_zeros(folder: Path) -> Path:
    """One text of 400 MB in one page of one row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "a.parquet"
    size = 400 * _MB
    table = pa.table({"text": pa.array([b"a" * 10, bytes(size)], pa.large_binary())})
    pq.write_table(table, path, compression="zstd", use_dictionary=False, write_statistics=False)
    return path


@_builder
def parquet_long_texts(folder: Path) -> Path:
    """600 texts of 1 MB each, all packed to nothing, in pages of their own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "a.parquet"
    schema = pa.schema([("text", pa.string())])
    with pq.ParquetWriter(
        path, schema, compression="zstd", use_dictionary=False, write_statistics=False
    ) as writer:
        writer.write_table(pa.table({"text": ["a" * _MB] * 600}, schema=schema), row_group_size=1000)
    return path


@_builder
def parquet_long_list(folder: Path) -> Path:
    """A list of 60 million zeros in one row."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    items = pa.array(np.zeros(60 * _MB, np.int8))
    column = pa.ListArray.from_arrays(pa.array([0, 0, len(items)], pa.int32()), items)
    path = folder / "a.parquet"
    pq.write_table(
        pa.table({"text": ["a", "b"], "list": column}), path, compression="zstd", write_statistics=False
    )
    return path


@_builder
def parquet_deep(folder: Path) -> Path:
    """Lists in lists, 60 deep."""
    return _nested(folder, 60)


@_builder
def parquet_deeper(folder: Path) -> Path:
    """Lists in lists, 500 deep."""
    return _nested(folder, 500)


def _nested(folder: Path, depth: int) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    array = pa.array([1], pa.int32())
    for _ in range(depth):
        array = pa.ListArray.from_arrays(pa.array([0, len(array)], pa.int32()), array)
    path = folder / "a.parquet"
    pq.write_table(pa.table({"text": ["a"], "deep": array}), path)
    return path


@_builder
def parquet_wide(folder: Path) -> Path:
    """Forty thousand columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "a.parquet"
    column = pa.nulls(1, pa.string())
    table = pa.table([column] * 40_000, names=[f"c{n}" for n in range(40_000)])
    pq.write_table(table, path, write_statistics=False, use_dictionary=False, store_schema=False)
    return path


@_builder
def parquet_nulls(folder: Path) -> Path:
    """300 columns of nothing and three million rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "a.parquet"
    rows = 3_000_000
    column = pa.nulls(rows, pa.null())
    names = ["text", *(f"c{n}" for n in range(300))]
    table = pa.table([pa.array(["a"] * rows).dictionary_encode(), *[column] * 300], names=names)
    pq.write_table(table, path, write_statistics=False, row_group_size=rows, store_schema=False)
    return path


@_builder
def parquet_row_groups(folder: Path) -> Path:
    """Row groups of one row each, 8,000 of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "a.parquet"
    schema = pa.schema([("text", pa.string()), ("id", pa.int64())])
    with pq.ParquetWriter(path, schema, write_statistics=False, compression="none") as writer:
        table = pa.table({"text": ["a"] * 8_000, "id": [1] * 8_000}, schema=schema)
        writer.write_table(table, row_group_size=1)
    return path


def _small(path: Path) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"text": ["a", "b", "c"], "id": [1, 2, 3]})
    pq.write_table(table, path, compression="none", store_schema=False, write_statistics=False)
    return path.read_bytes()


@_builder
def parquet_lying_rows(folder: Path) -> Path:
    """The metadata say that there are a quintillion rows."""
    path = folder / "a.parquet"
    content = _small(path)
    (length,) = struct.unpack("<I", content[-8:-4])
    footer = content[-8 - length : -8]
    many = _varint(10**18 * 2)
    changed = footer.replace(b"\x16\x06", b"\x16" + many)  # an i64 of 3, in zigzag
    path.write_bytes(content[: -8 - length] + changed + struct.pack("<I", len(changed)) + b"PAR1")
    return path


@_builder
def parquet_lying_footer(folder: Path) -> Path:
    """The footer says that it is 2 GB long."""
    path = folder / "a.parquet"
    content = _small(path)
    path.write_bytes(content[:-8] + struct.pack("<I", (1 << 31) - 10) + b"PAR1")
    return path


@_builder
def parquet_lying_page(folder: Path) -> Path:
    """A page says that it unpacks to 2 GB."""
    path = folder / "a.parquet"
    content = _small(path)
    # The header of the first page: a struct whose second field is the unpacked size, an i32.
    at = content.index(b"\x15", 4) + 2
    assert content[at] == 0x15
    end = at + 1
    while content[end] & 0x80:
        end += 1
    size = _varint((2**31 - 1) * 2)
    path.write_bytes(content[: at + 1] + size + content[end + 1 :])
    return path


@_builder
def parquet_broken_texts(folder: Path) -> Path:
    """A million texts that are no UTF-8, in the dictionary of one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = pa.array([b"\xff\xfe"], pa.binary()).view(pa.string())
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 300_000, pa.int32()), names)
    path = folder / "a.parquet"
    pq.write_table(pa.table({"text": column}), path, write_statistics=False)
    return path


@_builder
def parquet_magic(folder: Path) -> Path:
    """Nothing but the first four bytes."""
    path = folder / "a.parquet"
    path.write_bytes(b"PAR1" * 1000)
    return path


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


@_builder
def parquet_dictionary_long(folder: Path) -> Path:
    """A text of 1 MB that 100,000 rows name, which is too few for its column to look repetitive."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["a" * _MB]))
    path = folder / "a.parquet"
    pq.write_table(pa.table({"text": column}), path, **_PACKED)
    return path
