"""Spans of a CSV file have the rows that the reader finds, wherever they are cut."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from sce_desktop.core.tables import TableOptions
from sce_desktop.data.csv import csv_spans
from sce_desktop.data.csv.csv_reader import CsvTable
from sce_desktop.data.tables import open_table

PLAIN = [f"{n},text {n}" for n in range(40)]
CELLS = [
    *('"a, b"', '"two\nlines"', '"say ""hi"" now"', 'size 5" pipe', "", '"', '""', '"open', 'a"b"', '"x" y'),
    *("naïve", "\rcarriage", "tab\there", "' protected", "'=formula", "=1+1", '"\r\n"', "\0"),
]


def table_of(path: Path, text: str | bytes, **options: object) -> CsvTable:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    table = open_table(path, TableOptions(**options))  # type: ignore[arg-type]
    assert isinstance(table, CsvTable)
    return table


def rows_and_problems(table: CsvTable, size: int) -> tuple[list[list[tuple[object, ...]]], list[object], int]:
    """Return the batches that spans give, and what is not right in them."""
    spans = table.spans(size)
    assert spans is not None
    table.take_problems()
    batches: list[list[tuple[object, ...]]] = []
    found, count, ended = [], 0, False
    for span in spans:
        assert not ended
        if span.sound:
            batches.append(list(table.rows_of(span)))
        else:
            batches += map(list, table.rest(span, size))
            ended = True
        problems, more = table.take_problems()
        found += problems
        count += more
    return batches, sorted(found, key=lambda one: one.line), count


def assert_read_alike(path: Path, text: str | bytes, size: int, **options: object) -> None:
    table = table_of(path, text, **options)
    batches, found, count = rows_and_problems(table, size)
    right = [row for batch in table.batches(size) for row in batch]
    assert [row for batch in batches for row in batch] == right
    assert (found, count) == (table.problems, table.problem_count)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_are_those_of_the_reader(tmp_path: Path, size: int) -> None:
    text = "id,text\r\n\r\n" + "\n".join([*PLAIN, "", *PLAIN[:3], '40,"a\n\nb"', "41,last"]) + "\n\n"
    table = table_of(tmp_path / "t.csv", text)
    batches, found, count = rows_and_problems(table, size)
    assert batches == list(table.batches(size))
    assert (found, count) == (table.problems, table.problem_count)
    assert count > 1  # the blank lines
    spans = list(table.spans(size) or ())
    assert len(spans) == -(-45 // size)
    assert all(span.sound for span in spans)


@pytest.mark.parametrize("seed", range(60))
def test_odd_cells_are_read_alike(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_spans, "_LEAST_BYTES", 16)  # rows lie across what is read at once
    draw = random.Random(seed)
    few = draw.sample(CELLS, draw.randint(1, 4))
    lines = [
        ",".join(
            draw.choice(few) if draw.random() < 0.1 else f"cell {n}"
            for _ in range(draw.choice([2] * 9 + [3]))
        )
        for n in range(80)
    ]
    end = draw.choice(["\n", "\r\n"])
    text = end.join(["id,text", *lines]) + draw.choice(["", end])
    assert_read_alike(tmp_path / "t.csv", text, draw.choice([1, 5, 30]), delimiter=",")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("\ufeffid,text\n1,a\n2,b\n".encode(), {}),
        ('\ufeff"1,5";a\n2;b\n3;c\n'.encode(), {"header_row": 0, "delimiter": ";"}),
        ('"id\nnumber",text\n1,a\n2,"b"\n', {}),
        ("a line\nid,text\n1,é\n2,b\n".encode("cp1252"), {"encoding": "cp1252", "header_row": 2}),
        (b"id,text\n1,\xff\xfe\n2,b\n3,c\n", {"encoding": "utf-8"}),
        ('id\ttext\n1\t"a\n2\tb"\n', {"quoting": False, "delimiter": "\t"}),
    ],
)
def test_headers_marks_and_encodings(tmp_path: Path, text: str | bytes, options: dict[str, object]) -> None:
    assert_read_alike(tmp_path / "t.csv", text, 1, **options)


def test_spans_end_where_their_bytes_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_spans, "MOST_BYTES", 200)
    monkeypatch.setattr(csv_spans, "_LEAST_BYTES", 64)
    text = "id,text\n" + "".join(f"{n},{'x' * 90}\n" for n in range(20)) + f"21,{'y' * 900}\n22,z\n"
    table = table_of(tmp_path / "t.csv", text)
    spans = list(table.spans(1000) or ())
    assert spans[0].sound
    assert len(spans) > 5
    assert max(span.stop - span.start for span in spans if span.sound) < 600
    assert_read_alike(tmp_path / "t.csv", text, 1000)


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("t.csv", "id,text\n1,a\n".encode("utf-16"), {}),
        ("t.csv", "id,text\r1,a\r2,b\r", {}),
        ("t.txt", "text\n\na\n\n\nb\n", {"delimiter": ""}),
        ("t.csv", "id,text\n1,a\\,b\n", {"escape": "\\", "delimiter": ","}),
        ("t.csv", "id,text\n1,'a'\n2,'b'\n", {"quote": "'", "delimiter": ","}),
    ],
)
def test_files_that_cannot_be_cut(
    tmp_path: Path, name: str, text: str | bytes, options: dict[str, object]
) -> None:
    assert table_of(tmp_path / name, text, **options).spans(10) is None
