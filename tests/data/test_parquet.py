from __future__ import annotations

import datetime as dt
import decimal
import json
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
    with pytest.raises(UserError, match="not a Parquet file"):
        read(tmp_path / "a.parquet")


def test_a_cut_parquet_file(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x" * 1000]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-100])
    with pytest.raises(UserError):
        read(tmp_path / "b.parquet")


def test_bytes_that_are_no_utf8_are_shown_and_told_by_row(tmp_path: Path) -> None:
    raw = pa.array([b"ok", b"caf\xe9", None], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    pq.write_table(pa.table({"text": broken, "n": [1, 2, 3]}), tmp_path / "a.parquet", use_dictionary=False)
    result = read(tmp_path / "a.parquet")
    assert result.rows == [("ok", "1"), ("caf\ufffd", "2"), (None, "3")]
    assert [(p.line, "“text”" in p.message) for p in result.table.problems] == [(2, True)]


def with_features(table: pa.Table, features: object) -> pa.Table:
    info = json.dumps({"info": {"features": features}})
    return table.replace_schema_metadata({"huggingface": info})


LABEL = {"names": ["neg", "pos"], "_type": "ClassLabel"}


@pytest.mark.parametrize(
    ("array", "feature", "texts"),
    [
        (pa.array([1, 0, None]), LABEL, ["pos", "neg", None]),
        (pa.array([-1, 1, 7], pa.int8()), LABEL, ["", "pos", "7"]),
        (pa.array([[1, 0], [], None]), {"feature": LABEL, "_type": "List"}, ['["pos", "neg"]', "[]", None]),
        (pa.array([[1, -1]]), {"feature": LABEL, "length": -1, "_type": "Sequence"}, ['["pos", -1]']),
        (pa.array([[0]]), [LABEL], ['["neg"]']),
    ],
)
def test_numbers_of_hugging_face_labels_are_shown_by_name(
    tmp_path: Path, array: pa.Array, feature: object, texts: list[str | None]
) -> None:
    table = with_features(pa.table({"text": ["t"] * len(array), "label": array}), {"label": feature})
    pq.write_table(table, tmp_path / "a.parquet")
    result = read(tmp_path / "a.parquet")
    assert [row[1] for row in result.rows] == texts
    assert ["0 = neg, 1 = pos" in note for note in result.table.notes] == [True]
    assert result.table.types is not None
    assert result.table.types.maker(1)(texts).equals(array)


@pytest.mark.parametrize(
    "features",
    [
        None,
        [],
        {"label": {"dtype": "int64", "_type": "Value"}},
        {"label": {"_type": "ClassLabel", "num_classes": 2}},
        {"label": {"_type": "ClassLabel", "names": ["a", "a"]}},
        {"label": {"_type": "ClassLabel", "names": [1, 2]}},
        {"label": {"_type": "ClassLabel", "names": "ab"}},
        {"other": LABEL},
        {"label": [[LABEL]]},
    ],
)
def test_numbers_without_names_stay(tmp_path: Path, features: object) -> None:
    pq.write_table(with_features(pa.table({"label": [1, 0]}), features), tmp_path / "a.parquet")
    result = read(tmp_path / "a.parquet")
    assert (result.rows, result.table.notes) == ([("1",), ("0",)], ())


@pytest.mark.parametrize("metadata", [b"{", b'{"info": 5}', b"\xff", b"[" * 10_000])
def test_metadata_that_is_no_json_is_passed_over(tmp_path: Path, metadata: bytes) -> None:
    table = pa.table({"label": [1]}).replace_schema_metadata({b"huggingface": metadata})
    pq.write_table(table, tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").rows == [("1",)]


def test_a_few_texts_named_a_million_times_are_refused_before_they_are_written(tmp_path: Path) -> None:
    texts = pa.array(["x" * 1_000_000, "y" * 1_000_000])
    rows = pa.array([0, 1] * 500_000, pa.int32())
    pq.write_table(pa.table({"a": pa.DictionaryArray.from_arrays(rows, texts)}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 200_000
    with pytest.raises(UserError, match=r"unpacks to 1,000\.0 GB"):
        read(tmp_path / "a.parquet", size=1000)


def test_a_column_of_few_values_is_read_as_it_stands(tmp_path: Path) -> None:
    labels = ["positive", None, "negative"] * 2000
    pq.write_table(pa.table({"a": labels, "b.c": labels}), tmp_path / "a.parquet", row_group_size=1500)
    assert read(tmp_path / "a.parquet", size=900).rows == [(label, label) for label in labels]
