"""What JSON and Parquet values were outlives that their cells are texts."""

from __future__ import annotations

import json
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce_desktop.core.tables import TypedCells
from sce_desktop.data.json.json_values import as_read
from sce_desktop.data.tables import open_table
from sce_desktop.data.writers import write_table

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab é", max_size=2), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(deadline=None, max_examples=40)
@given(
    objects=st.lists(
        st.dictionaries(st.sampled_from(["a", "b", "text", "c d"]), VALUES), min_size=1, max_size=6
    )
)
def test_jsonl_becomes_jsonl_with_every_value_and_missing_key(objects: list[dict[str, object]]) -> None:
    if not any(objects):
        return
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "a.jsonl", Path(folder) / "b.jsonl"
        source.write_text("".join(json.dumps(one) + "\n" for one in [*objects, {"a": 1}, {"a": 2}]))
        table = open_table(source)
        rows = [row for batch in table.batches(2) for row in batch]
        written = [as_read(row, row.types) if isinstance(row, TypedCells) else row for row in rows]
        write_table(target, table.columns, [written])
        found = [json.loads(line) for line in target.read_text(encoding="utf-8").split("\n") if line]
    assert repr(found[:-2]) == repr(
        [{key: one[key] for key in table.columns if key in one} for one in objects]
    )


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    line = '{"a": 1.10, "b": 1e5, "c": 12345678901234567890123, "d": [0.10, -0], "e": {"f": 1E-7}}'
    (tmp_path / "a.jsonl").write_text(f"{line}\n{line}\n")
    table = open_table(tmp_path / "a.jsonl")
    (rows,) = table.batches()
    write_table(tmp_path / "b.jsonl", table.columns, [[as_read(row, row.types) for row in rows]])  # type: ignore[attr-defined]
    assert (tmp_path / "b.jsonl").read_text() == f"{line}\n{line}\n"


def test_numbers_of_any_length_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(f'{{"a": {"7" * 10_000}}}\n{{"a": 1}}\n')
    table = open_table(tmp_path / "a.jsonl")
    (rows,) = table.batches()
    write_table(tmp_path / "b.jsonl", table.columns, [[as_read(row, row.types) for row in rows]])  # type: ignore[attr-defined]
    assert (tmp_path / "b.jsonl").read_text() == (tmp_path / "a.jsonl").read_text()


@pytest.mark.parametrize("cell", ["[1", "1\n2", "abc", "", "[" * 5000, None])
def test_what_is_no_json_is_written_as_text(tmp_path: Path, cell: str | None) -> None:
    write_table(tmp_path / "a.jsonl", ["a"], [[as_read([cell], "j")]])
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {"a": cell}


def test_parquet_becomes_parquet_with_every_type(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            pa.field("id", pa.int32(), nullable=False),
            pa.field("text", pa.large_string()),
            pa.field("when", pa.timestamp("us", "Europe/Berlin"), metadata={"unit": "moment"}),
            pa.field("day", pa.date32()),
            pa.field("price", pa.decimal128(8, 2)),
            pa.field("tags", pa.list_(pa.string())),
            pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
            pa.field("spans", pa.list_(pa.struct([("start", pa.int64()), ("raw", pa.binary())]))),
        ],
        metadata={"source": "a survey"},
    )
    rows: list[dict[str, Any]] = [
        {
            "id": 1,
            "text": "a",
            "when": 0,
            "day": 3_652_060,
            "price": Decimal("1.10"),
            "tags": ["x"],
            "kind": "u",
        },
        {"id": 2, "text": "", "when": None, "day": None, "price": None, "tags": [], "kind": None},
        {"id": 3, "text": None, "when": -1, "day": 0, "price": Decimal(-5), "tags": [None, ""], "kind": "v"},
    ]
    for row in rows:
        row["spans"] = [{"start": 1, "raw": b"\xff"}, None] if row["id"] == 1 else None
    original = pa.Table.from_pylist(rows, schema)
    pq.write_table(original, tmp_path / "a.parquet")
    table = open_table(tmp_path / "a.parquet")
    batches = ([(*row, 0.5, "new") for row in batch] for batch in table.batches(2))
    write_table(
        tmp_path / "b.parquet", [*table.columns, "p", "label"], batches, about=["ours"], types=table.types
    )
    found = pq.read_table(tmp_path / "b.parquet")
    assert found.schema.names == [*original.schema.names, "p", "label"]
    for name, column in zip(original.schema.names, original.columns, strict=True):
        assert found.schema.field(name).equals(original.schema.field(name))
        texts = pa.string() if name == "kind" else column.type  # each part has a dictionary of its own
        assert found[name].cast(texts).equals(column.cast(texts)), name
    assert found.schema.field("when").metadata == {b"unit": b"moment"}
    assert found.schema.metadata == {b"source": b"a survey", b"about": b"ours"}
    assert found.select(["p", "label"]).to_pylist() == [{"p": 0.5, "label": "new"}] * 3


def test_a_frame_of_pandas_is_still_one(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["a", "b"], "n": [1, 2]}, index=pd.Index(["r1", "r2"], name="key"))
    frame.to_parquet(tmp_path / "a.parquet")
    table = open_table(tmp_path / "a.parquet")
    write_table(
        tmp_path / "b.parquet",
        [*table.columns, "p"],
        [[(*row, 0.5) for row in rows] for rows in table.batches()],
        types=table.types,
    )
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "b.parquet"), frame.assign(p=0.5))
