"""What pyarrow reads of a csv file is, row by row, what the reader of all files makes of it."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest

from sce_desktop.core.column_rows import ColumnRows
from sce_desktop.data.csv.csv_grammar import Dialect
from sce_desktop.data.csv.plain_blocks import PlainBlocks
from sce_desktop.data.tables import open_table

CELLS = (
    *("plain", "", " ", "NA", "null", "007", "1e5", "TRUE", "a, b", "a;b\tc|d", 'said "no"', '"', '""', "''"),
    *("Zoë – 5 €", "日本語", "مرحبا", "👩‍👩‍👧", "Cafe\u0301", "\u2028", "\u2060"),
    *("'=1+1", "back\\slash", "word " * 400),
)  # fmt: skip
ODD = (
    *("x\ny", "x\r\ny", "x\ry", "nul\0", "'\u2060=1", "\ufefffirst"),
    *('mid"dle', 'a"b"c'),
)  # fmt: skip


def written(rows: list[list[str]], delimiter: str = ",", end: str = "\n", quoting: int = 0) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_well_formed_blocks_are_read_alike(delimiter: str, end: str, quoting: int) -> None:
    drawn = random.Random(7)
    for _ in range(20):
        rows = [[drawn.choice(CELLS) for _ in range(3)] for _ in range(drawn.randint(1, 60))]
        text = written(rows, delimiter, end, quoting)
        found = PlainBlocks(Dialect(delimiter, '"'), 3).read(text, len(rows))
        assert found is not None
        assert list(found) == [tuple(row) for row in rows]
        assert [found[place] for place in range(len(rows))] == list(found)
        assert list(found[2:5]) == list(found)[2:5]


@pytest.mark.parametrize(
    "text",
    [
        'a,b"b,c\nd,e,f\n',
        'a,"b"b,c\nd,e,f\n',
        'a,"b" ,c\nd,e,f\n',
        'a, "b",c\nd,e,f\n',
        'a,"b,c\nd,e",f\n',
        'a,"b\nb",c\nd,e,f\n',
        "a,b\nd,e,f\n",
        "a,b,c,d\nd,e,f\n",
        "a,b,c\n\nd,e,f\n",
        "a,b\rb,c\nd,e,f\n",
        "a,b\0,c\nd,e,f\n",
        "\ufeffa,b,c\nd,e,f\n",
        "a,b\udcff,c\nd,e,f\n",
        "a,'\u2060=b,c\nd,e,f\n",
        'a,b,"c\nd,e,f\n',
    ],
)
def test_what_is_unusual_is_left_to_the_other_reader(text: str) -> None:
    lines = text.count("\n")
    assert PlainBlocks(Dialect(",", '"'), 3).read(text, lines) is None


def test_a_block_that_mixes_all_is_never_read_otherwise() -> None:
    """Whatever stands in cells: where pyarrow's rows are taken they are those of Python's csv module."""
    drawn, taken = random.Random(11), 0
    signs = "ab\",\n\r 'é"
    for _ in range(4000):
        text = "".join(drawn.choice(signs) for _ in range(drawn.randint(1, 24)))
        width = drawn.randint(2, 3)
        lines = text.count("\n") + (not text.endswith("\n"))
        found = PlainBlocks(Dialect(",", '"'), width).read(text, lines)
        if found is not None:
            taken += 1
            assert list(found) == list(map(tuple, csv.reader(io.StringIO(text, newline="\n"), strict=True)))
    assert taken > 20


@pytest.mark.parametrize("odd", ODD)
def test_rows_in_bulk_are_the_rows(tmp_path: Path, odd: str) -> None:
    drawn = random.Random(3)
    rows = [[str(place), drawn.choice(CELLS), drawn.choice(CELLS)] for place in range(9000)]
    rows[4000][1] = odd
    path = tmp_path / "table.csv"
    path.write_text("id,text,more\n" + written(rows), encoding="utf-8", newline="")
    table = open_table(path)
    expected = [row for batch in table.batches() for row in batch]
    problems = [(problem.line, problem.message) for problem in table.problems]
    batches = list(table.bulk_batches())
    assert [row for batch in batches for row in batch] == expected
    assert [(problem.line, problem.message) for problem in table.problems] == problems
    assert any(isinstance(batch, ColumnRows) for batch in batches)
    assert len(expected) >= 9000


def test_rows_in_bulk_come_in_batches_alike(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id,text\n" + "".join(f"{n},text {n}\n" for n in range(60_000)), encoding="utf-8")
    batches = list(open_table(path).bulk_batches(7000))
    assert sum(map(len, batches)) == 60_000
    sizes = [len(batch) for batch in batches if isinstance(batch, ColumnRows)]
    assert sizes[:-1] == [7000] * 6
    assert 0 < sizes[-1] <= 7000
