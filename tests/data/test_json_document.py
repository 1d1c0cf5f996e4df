"""Rows in JSON documents: in a list anywhere, or in one of the ways in which pandas writes a table."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.data.json import json_document, jsonl
from sce_desktop.data.tables import preview_table
from tests.data.reading import read, read_bytes

RECORDS: list[dict[str, Any]] = [{"text": "late box", "n": 1}, {"text": "good job", "n": 2}]
ROWS = [("late box", "1"), ("good job", "2")]
NAMES = ["a.json", "a.jsonl"]
ORIENTS = ["records", "columns", "index", "split", "table"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"data": RECORDS}, "data"),
        ({"results": {"items": RECORDS}}, "results.items"),
        ({"count": 2, "next": None, "status": "ok", "results": RECORDS}, "results"),
        ({"a": {"b": {"c": [], "d": RECORDS}}, "e": [1, 2]}, "a.b.d"),
        ({"data": [RECORDS[0], {**RECORDS[1], "tags": [{"x": 1}]}]}, "data"),
    ],
)
def test_the_one_list_of_objects_is_found_and_told(
    tmp_path: Path, document: Any, place: str, indent: int | None, name: str
) -> None:
    result = read_bytes(tmp_path, json.dumps(document, indent=indent), name)
    assert result.columns[:2] == ("text", "n")
    assert [row[:2] for row in result.rows] == ROWS
    assert result.table.problem_count == 0
    assert [f"“{place}”" in note for note in result.table.notes] == [True]
    preview = preview_table(tmp_path / name)
    assert ([row[:2] for row in preview.rows], preview.notes) == (ROWS, result.table.notes)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("orient", ORIENTS)
def test_what_pandas_writes_is_read(tmp_path: Path, orient: str, indent: int | None, name: str) -> None:
    frame = pd.DataFrame(RECORDS)
    frame.to_json(tmp_path / name, orient=orient, indent=indent)  # type: ignore[call-overload]
    result = read(tmp_path / name)
    assert (result.columns, result.rows) == (("text", "n"), ROWS)
    assert len(result.table.notes) == (orient != "records")
    frame.set_index(pd.Index(["r1", "r2"])).iloc[:2].to_json(tmp_path / name, orient=orient, indent=indent)  # type: ignore[call-overload]
    result = read(tmp_path / name)
    if orient == "records":  # pandas leaves the index out
        assert result.rows == ROWS
    else:
        assert result.columns == ("index", "text", "n")
        assert result.rows == [("r1", *ROWS[0]), ("r2", *ROWS[1])]


def test_rows_of_a_filtered_frame_keep_their_numbers(tmp_path: Path) -> None:
    pd.DataFrame(RECORDS * 2).iloc[1::2].to_json(tmp_path / "a.json")
    result = read(tmp_path / "a.json")
    assert (result.columns, result.rows) == (("index", "text", "n"), [("1", *ROWS[1]), ("3", *ROWS[1])])


@pytest.mark.parametrize(
    ("document", "columns", "rows"),
    [
        ({"text": {"0": "a"}, "n": {"0": None}}, ("text", "n"), [("a", None)]),
        ({"text": ["a", "b"], "n": [1, None]}, ("text", "n"), [("a", "1"), ("b", None)]),
        ([["a", 1], ["b", None]], ("Column 1", "Column 2"), [("a", "1"), ("b", None)]),
        ([["a"], ["b", 2]], ("Column 1", "Column 2"), [("a", None), ("b", "2")]),
        ({"columns": ["a", "a"], "data": [["x", "y", "z"]]}, ("a", "a_2", "Column 3"), [("x", "y", "z")]),
        (pd.DataFrame(RECORDS).to_dict(orient="tight"), ("text", "n"), ROWS),
        (
            {"data": {"k1": RECORDS[0], "k2": RECORDS[1]}},
            ("index", "text", "n"),
            [("k1", *ROWS[0]), ("k2", *ROWS[1])],
        ),
        (
            {"r1": {"t": "a", "n": 1}, "r2": {"t": "b", "n": 2}},
            ("index", "t", "n"),
            [("r1", "a", "1"), ("r2", "b", "2")],
        ),
        (
            {"t": {"r1": "a", "r2": "b"}, "n": {"r1": 1, "r2": 2}},
            ("index", "t", "n"),
            [("r1", "a", "1"), ("r2", "b", "2")],
        ),
        ({"index": {"5": "i"}, "t": {"5": "a"}}, ("index_2", "index", "t"), [("5", "i", "a")]),
    ],
)
def test_other_ways_to_write_a_table(
    tmp_path: Path, document: Any, columns: tuple[str, ...], rows: list[tuple[str | None, ...]]
) -> None:
    for indent in (None, 1):
        result = read_bytes(tmp_path, json.dumps(document, indent=indent), "a.json")
        assert (result.columns, result.rows) == (columns, rows)
        assert len(result.table.notes) == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"a": RECORDS, "b": RECORDS}),
        json.dumps({"a": RECORDS, "b": RECORDS}, indent=1),
        json.dumps({"data": RECORDS}, indent=1)[:-4],
        '{"data": [\n{"text":"a"},\n{"text":"b"},\n',
        json.dumps(RECORDS)[:-1],
        '["a", "b"]',
        '{"a": {"x": 1, "y": 2},\n "b": {"z": 3}}',
        '{"a": ["x", "y"],\n "b": ["z"]}',
        "[1, 2]\n[3, 4]\n",
        "var rows = [];\n",
        '[{"a": 1},\n {"a": 2},\n]',
        "[" * 100_000,
        '{"a":\n' + "[" * 100_000,
    ],
)
def test_anything_else_is_refused_with_one_sentence(tmp_path: Path, content: str, name: str) -> None:
    with pytest.raises(UserError) as caught:
        read_bytes(tmp_path, content, name)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_objects_of_several_lines_each(tmp_path: Path) -> None:
    content = "\n".join(json.dumps(record, indent=2) for record in RECORDS)
    assert read_bytes(tmp_path, content, "a.jsonl").rows == ROWS


def test_a_broken_first_line_of_many_is_left_out_and_told(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, '{"a": oops\n{"a":"x"}\n\n{"a":"y"}\n', "a.jsonl")
    assert (result.rows, result.problem_lines) == ([("x",), ("y",)], [1, 3])


@pytest.mark.parametrize(
    ("content", "row"),
    [
        ('{"text": "it came late", "spans": [{"s": 1}, {"s": 2}]}', ("it came late", '[{"s": 1}, {"s": 2}]')),
        ('{"id": 1, "ok": true, "tags": ["x"]}\n', ("1", "true", '["x"]')),
    ],
)
def test_a_single_line_with_a_text_is_a_row_and_no_document(
    tmp_path: Path, content: str, row: tuple[str, ...]
) -> None:
    result = read_bytes(tmp_path, content, "a.jsonl")
    assert result.rows == [row]
    assert "one row" in result.table.notes[0]


def test_a_gzipped_document(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.json.gz", "wt", encoding="utf-8") as file:
        json.dump({"data": RECORDS}, file)
    assert read(tmp_path / "a.json.gz").rows == ROWS


def test_keys_that_are_there_twice_are_reported(tmp_path: Path) -> None:
    lines = '{"a":"x","a":"y"}\n{"a":"z","b":{"c":1,"d":[{"c":2,"c":3}]}}\n'
    result = read_bytes(tmp_path, lines, "a.jsonl")
    assert result.rows == [("y", None), ("z", '{"c": 1, "d": [{"c": 3}]}')]
    assert [(p.line, "“" + "ac"[p.line - 1] + "”" in p.message) for p in result.table.problems] == [
        (1, True),
        (2, True),
    ]
    document = '{"data": [{"a":"x"},\n{"a":"y","a":"z"}], "data": [{"a":"last"},\n{"a":"y","a":"z"}]}'
    result = read_bytes(tmp_path, document, "a.json")
    assert (result.rows, result.problem_lines) == ([("last",), ("z",)], [1, 2])


@pytest.mark.parametrize("depth", [100, 600, 900])
def test_deep_values_are_kept(tmp_path: Path, depth: int) -> None:
    deep = "[" * depth + "1" + "]" * depth
    result = read_bytes(tmp_path, f'{{"a":{deep}}}\n{{"a":"x"}}\n', "a.jsonl")
    assert result.rows == [(deep,), ("x",)]
    assert read_bytes(tmp_path, f'{{"data": [{{"a":\n{deep}}}]}}', "a.json").rows == [(deep,)]


def test_values_too_deep_to_read_are_reported(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, '{"a":' + "[" * 100_000 + "]" * 100_000 + '}\n{"a":"x"}\n', "a.jsonl")
    assert (result.rows, [p.message for p in result.table.problems]) == (
        [("x",)],
        ["This nests too deeply and was skipped."],
    )


def test_a_new_key_in_every_row_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_KEYS", 10)
    lines = "".join(f'{{"text":"x","k{number}":1}}\n' for number in range(10))
    with pytest.raises(UserError, match="different keys"):
        read_bytes(tmp_path, lines, "a.jsonl")
    monkeypatch.setattr(jsonl, "MAX_CELLS", 5)
    monkeypatch.setattr(jsonl, "_FILLED", 0.2)
    monkeypatch.setattr(jsonl, "MAX_KEYS", 11)
    with pytest.raises(UserError, match="has 11 different keys"):  # most of the cells would be empty
        read_bytes(tmp_path, lines, "a.jsonl")
    monkeypatch.undo()
    lines = lines.rpartition('{"text"')[0]
    assert len(read_bytes(tmp_path, lines, "a.jsonl").columns) == 10


@pytest.mark.parametrize(
    "content", ['{"data":[{"a":[' + "1," * 1000 + "1]}]}", '{"a":[' + "1," * 1000 + "1]}\n" * 2]
)
def test_what_would_take_gigabytes_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    assert read_bytes(tmp_path, content, "a.json").rows
    monkeypatch.setattr(jsonl, "_MOST_BYTES", 100_000)
    monkeypatch.setattr(jsonl, "_UNCHECKED", 1000)
    with pytest.raises(UserError, match="memory"):
        read_bytes(tmp_path, content, "a.json")


def test_a_document_that_is_too_big(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE", 50)
    for content in (json.dumps({"data": RECORDS}, indent=1), json.dumps(RECORDS)):
        with pytest.raises(UserError, match="too large"):
            read_bytes(tmp_path, content, "a.json")
    assert len(read_bytes(tmp_path, '{"a":"x"}\n' * 20, "a.json").rows) == 20


def test_a_wide_search_takes_no_time(tmp_path: Path) -> None:
    document = {f"k{number}": {"x": number} for number in range(20_000)} | {"data": RECORDS}
    assert json_document.find_rows(document, "a.json").items == RECORDS


def test_names_of_places_stay_on_one_line(tmp_path: Path) -> None:
    document = '{"a\\nb": [{"t": 1}, {"t": 2}], "c": [{"t": 1}, {"t": 2}]}'
    with pytest.raises(UserError, match="has several lists of objects") as refusal:
        read_bytes(tmp_path, document, "a.json")
    assert "\n" not in str(refusal.value)
