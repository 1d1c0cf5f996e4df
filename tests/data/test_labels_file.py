from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.data.labels_file import read_labels, write_labels

SEPARATORS = ["Food, drink", "C# / .NET", "a|b", '50% "off"', "{x}"]


def labels(folder: Path, content: str | bytes, name: str) -> tuple[Label, ...]:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return read_labels(folder / name)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_b13_one_name_a_line_as_it_stands(tmp_path: Path, encoding: str, end: str) -> None:
    content = end.join([*SEPARATORS, "", " Größe ", " ", "last"]).encode(encoding)
    assert labels(tmp_path, content, "labels.txt") == tuple(map(Label, [*SEPARATORS, " Größe ", "last"]))


def test_a_table_with_every_field(tmp_path: Path) -> None:
    content = (
        "Name ;description;synonyms;color;shortcut;n\n"
        '"Food; drink";To eat, to drink;"meals; beverages ";#1a2B3c;F;5\n'
        'Billing;;"[""pay; pal"", ""money""]";;;\n'
        ";;;;;\n"
    )
    assert labels(tmp_path, content, "labels.csv") == (
        Label("Food; drink", "To eat, to drink", ("meals", "beverages"), "#1a2B3c", "F"),
        Label("Billing", "", ("pay; pal", "money")),
    )


@pytest.mark.parametrize(
    "content", ["name\nFood, drink\nArt\n", "label\nFood, drink\nArt\n", "Food, drink\nArt\n"]
)
def test_a_single_column_is_all_names(tmp_path: Path, content: str) -> None:
    assert labels(tmp_path, content, "labels.csv") == (Label("Food, drink"), Label("Art"))


def test_json(tmp_path: Path) -> None:
    content = (
        '["a|b", {"name": "B", "synonyms": ["b1"], "colour": "#000000"}, {"label": "C", "description": null}]'
    )
    assert labels(tmp_path, content, "labels.json") == (
        Label("a|b"),
        Label("B", "", ("b1",), "#000000"),
        Label("C"),
    )
    assert labels(tmp_path, '{"A": "about a", "B": ""}', "labels.json") == (Label("A", "about a"), Label("B"))


@pytest.mark.parametrize("name", ["labels.csv", "labels.tsv", "labels.xlsx", "labels.json"])
def test_labels_are_read_back_as_written(tmp_path: Path, name: str) -> None:
    written = (
        *map(Label, SEPARATORS),
        Label("=1+1", "a\nb; c", ("x; y", '"z"'), "#ff0000", "Ctrl+1", id=7),
        Label(" spaced ", "", ("s",)),
    )
    write_labels(tmp_path / name, written)
    assert read_labels(tmp_path / name) == tuple(
        Label(label.name, label.description, label.synonyms, label.colour, label.shortcut)
        for label in written
    )


def test_a_text_file_holds_names_only(tmp_path: Path) -> None:
    write_labels(tmp_path / "a.txt", [Label(name, id=3, colour="#3b6fd8") for name in SEPARATORS])
    assert read_labels(tmp_path / "a.txt") == tuple(map(Label, SEPARATORS))
    for label in (Label("a", "described"), Label("two\nlines")):
        with pytest.raises(UserError, match="names"):
            write_labels(tmp_path / "a.txt", [label])
    assert read_labels(tmp_path / "a.txt") == tuple(map(Label, SEPARATORS))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", ""),
        ("a.txt", "\n \n"),
        ("b14.txt", "Billing\nRefund\nBilling\n"),
        ("a.csv", "title,description\na,b\n"),
        ("a.csv", "name,colour\na,red\nb,\n"),
        ("a.csv", "name,description\n,b\n"),
        ("a.json", "5"),
        ("a.json", "[5]"),
        ("a.json", "{"),
        ("a.json", '[{"name": 5}]'),
        ("a.json", '[{"name": "a", "synonyms": "b"}]'),
        ("a.json", '[{"description": "nameless"}]'),
        ("a.json", "[]"),
    ],
)
def test_what_will_not_do_is_said(tmp_path: Path, name: str, content: str) -> None:
    with pytest.raises(UserError) as caught:
        labels(tmp_path, content, name)
    assert "\n" not in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        read_labels(tmp_path / "missing.txt")
    with pytest.raises(UserError):
        read_labels(tmp_path)


def test_lines_of_json(tmp_path: Path) -> None:
    content = '"a, b"\n\n{"name": "b", "description": "about b", "synonyms": ["c"]}\n{"label": "d"}\n'
    for name in ("a.jsonl", "a.ndjson"):
        assert labels(tmp_path, content, name) == (
            Label("a, b"),
            Label("b", "about b", ("c",)),
            Label("d"),
        )


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_labels_that_doccano_exported(tmp_path: Path, name: str) -> None:
    exported = [
        {"id": 1, "text": "Late", "prefix_key": None, "suffix_key": "l", "background_color": "#209cee"},
        {"id": 2, "text": "Rude", "prefix_key": "ctrl", "suffix_key": "r", "text_color": "#ffffff"},
    ]
    content = json.dumps(exported) if name == "a.json" else "\n".join(map(json.dumps, exported))
    assert labels(tmp_path, content, name) == (
        Label("Late", colour="#209cee", shortcut="l"),
        Label("Rude", shortcut="Ctrl+R"),
    )


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", r'["half \ud83d"]', "not valid UTF-8"),
        ("a.json", r'[{"name": "a", "description": "\udc00"}]', "not valid UTF-8"),
        ("a.jsonl", r'{"name": "a", "synonyms": ["\ud83d"]}', "not valid UTF-8"),
        ("a.json", r'{"a \ud83d": "b"}', "not valid UTF-8"),
        ("a.json", '["a", ' + "[" * 600 + "]" * 600 + "]", "among its labels"),
        ("a.json", "[" * 100_000 + "]" * 100_000, "too deeply"),
        ("a.json", '{"a":' * 100_000 + "1" + "}" * 100_000, "too deeply"),
        ("a.jsonl", "[" * 100_000 + "]" * 100_000, "too deeply"),
        ("a.json", '{"a": "x", "a": "y"}', "“a” occurs twice"),
        ("a.json", '[{"name": "x", "name": "y"}]', "“name” occurs twice"),
        ("a.jsonl", '"a"\n5\n', "not a list of labels"),
        ("a.jsonl", '"a"\nb\n', "not valid JSON"),
        ("a.txt", "\u200b\n\ufeff\n", "no label"),
        ("a.csv", "name,description\n\u200b,b\n", "no name"),
    ],
)
def test_odd_files_are_refused_with_a_sentence(tmp_path: Path, name: str, content: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        labels(tmp_path, content, name)
    str(caught.value).encode()
    assert len(str(caught.value)) < 250


def test_synonyms_nested_too_deeply_are_one_text(tmp_path: Path) -> None:
    (found,) = labels(tmp_path, "name,synonyms\na," + "[" * 6000 + "\n", "a.csv")
    assert found.synonyms == ("[" * 6000,)


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.json", "a.jsonl"])
def test_an_empty_gzip_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b""))
    with pytest.raises(UserError):
        read_labels(tmp_path / name)
