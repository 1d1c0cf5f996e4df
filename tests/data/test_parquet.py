from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sce_desktop.core.errors import UserError
from tests.data.reading import read


def column(folder: Path, array: pa.Array) -> list[str | None]:
    pq.write_table(pa.table({"a": array}), folder / "a.parquet")
    return [row[0] for row in read(folder / "a.parquet").rows]


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array(["a", None, "", " NA "]), ["a", None, "", " NA "]),
        (pa.array(["a", None], pa.large_string()), ["a", None]),
        (pa.array(["a", "b", None]).dictionary_encode(), ["a", "b", None]),
        (pa.array([1, None, -(2**60)]), ["1", None, "-1152921504606846976"]),
        (pa.array([0.1, None, 1e300]), ["0.1", None, "1e+300"]),
        (pa.array([0.1, None, 0.3], pa.float32()), ["0.1", None, "0.3"]),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([dt.date(2024, 5, 1), None]), ["2024-05-01", None]),
        (pa.array([dt.time(13, 30)], pa.time64("us")), ["13:30:00"]),
        (
            pa.array([dt.datetime(2024, 5, 1, 13, 30), None], pa.timestamp("ns")),
            ["2024-05-01T13:30:00", None],
        ),
        (
            pa.array([dt.datetime(2024, 5, 1, 13, 30, 0, 250_000)], pa.timestamp("us")),
            ["2024-05-01T13:30:00.25"],
        ),
        (pa.array([0], pa.timestamp("ms", "Europe/Berlin")), ["1970-01-01T00:00:00+00:00"]),
        (pa.array([decimal.Decimal("1.10")], pa.decimal128(10, 2)), ["1.10"]),
        (pa.array([["a", "é"], None, []]), ['["a", "é"]', None, "[]"]),
        (pa.array([{"x": 1, "d": dt.date(2024, 5, 1)}]), ['{"x": 1, "d": "2024-05-01"}']),
        (pa.array([b"text", b"\xff\x00"]), ["text", "ff00"]),
        (pa.nulls(2), [None, None]),
    ],
)
def test_values_become_text(tmp_path: Path, array: pa.Array, texts: list[str | None]) -> None:
    assert column(tmp_path, array) == texts


def test_row_groups_are_read_one_after_the_other(tmp_path: Path) -> None:
    table = pa.table({"id": list(range(5000)), "text": [f"text {number}" for number in range(5000)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=700)
    result = read(tmp_path / "a.parquet", size=900)
    assert result.rows == [(str(number), f"text {number}") for number in range(5000)]
    assert result.table.estimated_rows == 5000


def test_columns_of_the_same_name(tmp_path: Path) -> None:
    pq.write_table(pa.table([pa.array(["x"]), pa.array(["y"])], names=["a", "a"]), tmp_path / "a.parquet")
    result = read(tmp_path / "a.parquet")
    assert (result.columns, result.rows) == (("a", "a"), [("x", "y")])


@pytest.mark.parametrize("content", [b"id,text\n1,x\n", b"PAR1 and then nothing PAR1"])
def test_no_parquet_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(UserError, match="no parquet file"):
        read(tmp_path / "a.parquet")


def test_a_cut_parquet_file(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x" * 1000]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-100])
    with pytest.raises(UserError):
        read(tmp_path / "b.parquet")
