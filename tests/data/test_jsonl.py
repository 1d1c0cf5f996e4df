from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sce_desktop.core.errors import UserError
from tests.data.reading import read, read_bytes


def test_columns_are_all_keys_in_the_order_of_appearance(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, '{"b":"1","a":"x"}\n{"a":"y","c":"z"}\n', "a.jsonl")
    assert result.columns == ("b", "a", "c")
    assert result.rows == [("1", "x", None), (None, "y", "z")]
    assert result.table.estimated_rows == 2


def test_new_keys_between_known_ones_stay_between_them(tmp_path: Path) -> None:
    result = read_bytes(
        tmp_path, '{"a":1,"d":1}\n{"a":2,"b":2,"c":2,"d":2,"e":2}\n{"f":3,"a":3}\n', "a.jsonl"
    )
    assert result.columns == ("a", "b", "c", "d", "e", "f")
    assert result.rows[1] == ("2", "2", "2", "2", "2", None)


def test_values_keep_what_the_file_says(tmp_path: Path) -> None:
    line = (
        '{"s":" NA ","n":1.10,"e":1e5,"i":12345678901234567890123,'
        '"t":true,"f":false,"z":null,"x":NaN,"":"empty"}\n'
    )
    result = read_bytes(tmp_path, line, "a.jsonl")
    assert result.rows == [
        (" NA ", "1.10", "1e5", "12345678901234567890123", "true", "false", None, "NaN", "empty")
    ]


def test_lists_and_objects_are_json_text(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, '{"a":[1.10,"é\\n",null],"b":{"k":true}}\n', "a.jsonl")
    assert result.rows == [('[1.10, "é\\n", null]', '{"k": true}')]


def test_bad_lines_are_reported_and_left_out(tmp_path: Path) -> None:
    result = read_bytes(
        tmp_path, '{"a":"x"}\n\n{"a":\n[1]\n{}\n{"a":"y"}\n' + "[" * 100_000 + "\n", "a.ndjson"
    )
    assert result.rows == [("x",), (None,), ("y",)]
    assert result.problem_lines == [2, 3, 4, 5, 7]


def test_half_a_character_cannot_be_kept(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, '{"a":"\\ud83d x"}\n{"a":"\\ud83d\\ude00"}\n{"a":"\\\\ud83d"}\n', "a.jsonl")
    assert result.rows == [("� x",), ("😀",), ("\\ud83d",)]
    assert result.problem_lines == [1]


def test_a_json_list_of_objects(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, '\ufeff [\n {"a": "x", "n": 1.10},\n 5,\n {"a": "y\\u00e9"}\n]\n', "a.json")
    assert result.columns == ("a", "n")
    assert result.rows == [("x", "1.10"), ("yé", None)]
    assert result.problem_lines == [2]


def test_json_lines_called_json(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, '{"a":"x"}\n{"a":"y"}\n', "a.json").rows == [("x",), ("y",)]


def test_gzipped(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write('{"a":"é"}\n' * 5000)
    assert read(tmp_path / "a.jsonl.gz").rows == [("é",)] * 5000


@pytest.mark.parametrize("content", ['{\n"a": 1\n}\n', "[1, 2]", "[", '{"a": ', "text", "{}\n"])
def test_no_objects(tmp_path: Path, content: str) -> None:
    with pytest.raises(UserError):
        read_bytes(tmp_path, content, "a.json")


def test_utf16(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, '{"a":"é"}\n'.encode("utf-16"), "a.jsonl").rows == [("é",)]
