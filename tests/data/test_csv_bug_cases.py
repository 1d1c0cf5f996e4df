"""The bug cases B01 to B13, which other programs got wrong in public."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import SilentProgress
from sce_desktop.data.tables import open_table
from tests.data.reading import read_bytes

B01 = "id,text\n1,Müsli für Zoë – 5 €\n"


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("cp1252", "cp1252"),
        ("utf-16", "utf-16"),
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16-le", "utf-16-le"),
    ],
)
def test_b01_an_encoding_other_than_utf8_gives_the_same_text(
    tmp_path: Path, encoding: str, found: str
) -> None:
    result = read_bytes(tmp_path, B01.encode(encoding))
    assert result.columns == ("id", "text")
    assert result.rows == [("1", "Müsli für Zoë – 5 €")]
    assert result.table.options.encoding == found
    assert not result.table.problems


def test_b01_another_encoding_can_be_chosen(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, B01.encode("cp1252"), encoding="cp1250")
    assert result.rows == [("1", "Müsli für Zoë – 5 €")]
    assert result.table.options.encoding == "cp1250"


def test_b01_bytes_that_do_not_decode_are_reported_by_line(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "id,text\n1,für\n2,groß\n3,Zoë\n".encode("cp1252"), encoding="utf-8")
    assert result.rows == [("1", "f�r"), ("2", "gro�"), ("3", "Zo�")]
    assert result.problem_lines == [2, 3, 4]
    assert "utf-8" in result.table.problems[0].message


def test_one_damaged_line_leaves_a_file_utf8(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, b"id,text\n1,\xc3\xa4\n2,\xff\n3,\xc3\xb6\n4,\xc3\xbc\n")
    assert result.table.options.encoding == "utf-8"
    assert result.rows == [("1", "ä"), ("2", "�"), ("3", "ö"), ("4", "ü")]
    assert result.problem_lines == [3]


@pytest.mark.parametrize("header", [b"text", b'"text"'])
def test_b02_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path, header: bytes) -> None:
    result = read_bytes(tmp_path, b"\xef\xbb\xbf" + header + b",label\nroof \xef\xbb\xbfleaks,damage\n")
    assert result.columns == ("text", "label")
    assert result.rows == [("roof \ufeffleaks", "damage")]


@pytest.mark.parametrize(
    ("content", "delimiter", "columns", "rows"),
    [
        (
            "id;text;price\n1;red, green, blue and grey;3,50\n2;one, two;4,00\n",
            ";",
            ("id", "text", "price"),
            [("1", "red, green, blue and grey", "3,50"), ("2", "one, two", "4,00")],
        ),
        ("id\ttext\n1\ta, b; c | d\n", "\t", ("id", "text"), [("1", "a, b; c | d")]),
        ("text\nhello, world\nplain line\n", "", ("text",), [("hello, world",), ("plain line",)]),
    ],
)
def test_b03_the_delimiter_is_consistent_with_the_header(
    tmp_path: Path, content: str, delimiter: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]
) -> None:
    result = read_bytes(tmp_path, content)
    assert (result.table.options.delimiter, result.columns, result.rows) == (delimiter, columns, rows)
    assert not result.table.problems


def test_b03_the_choice_of_the_user_goes_before_the_guess(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "text\nhello, world\nplain line\n", delimiter=",")
    assert result.columns == ("text",)
    assert result.rows == [("hello, world",), ("plain line",)]
    assert result.problem_lines == [2]


B04 = (
    'id;text\n1;"Fast" delivery, slow refund\n2;"she said ""never again"""\n'
    '3;5" pipe\n4;"unclosed starts here\n5;fine\n'
)


def test_b04_bare_doubled_and_unclosed_quotes(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, B04)
    assert result.rows == [
        ("1", '"Fast" delivery, slow refund'),
        ("2", 'she said "never again"'),
        ("3", '5" pipe'),
        ("4", '"unclosed starts here'),
        ("5", "fine"),
    ]
    assert result.problem_lines == [5]
    assert "quote opened on line 5 is never closed" in result.table.problems[0].message
    assert result.table.estimated_rows == 5


def test_b04_quotes_can_be_plain_text(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, B04, quoting=False)
    assert [row[1] for row in result.rows] == [
        '"Fast" delivery, slow refund',
        '"she said ""never again"""',
        '5" pipe',
        '"unclosed starts here',
        "fine",
    ]
    assert not result.table.problems


@pytest.mark.parametrize("later", ['5;"fine, too"\n', '5;"fine" again\n', '5;""\n', '5;a "word" more\n'])
def test_b04_an_unclosed_quote_is_reported_whatever_quotes_follow(tmp_path: Path, later: str) -> None:
    result = read_bytes(tmp_path, f'id;text\n4;"unclosed starts here\n{later}6;x\n')
    assert [row[0] for row in result.rows] == ["4", "5", "6"]
    assert result.rows[0][1] == '"unclosed starts here'
    assert result.problem_lines == [2]


def test_b04_rows_that_a_quote_may_have_swallowed_are_reported(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, 'id;text\n1;a\n4;"unclosed\n5;fine"\n6;x\n')
    assert result.rows == [("1", "a"), ("4", "unclosed\n5;fine"), ("6", "x")]
    assert result.problem_lines == [3]
    assert "line 4" in result.table.problems[0].message


def test_b06_a_cell_of_any_length(tmp_path: Path) -> None:
    long = "word " * 60_000
    for content in (f"id,text\n1,{long}\n2,ok\n", f'id,text\n1,"{long}, ""x"""\n2,ok\n'):
        result = read_bytes(tmp_path, content)
        assert [len(row[1] or "") for row in result.rows] in ([300_000, 2], [300_005, 2])
        assert not result.table.problems


@pytest.mark.parametrize("copies", [1, 20_000])
def test_b07_nothing_that_looks_missing_is(tmp_path: Path, copies: int) -> None:
    result = read_bytes(tmp_path, "id,text,country\n" + "1,NA,NA\n2,null,NaN\n3,None,nan\n4,,\n" * copies)
    assert (
        result.rows == [("1", "NA", "NA"), ("2", "null", "NaN"), ("3", "None", "nan"), ("4", "", "")] * copies
    )


def test_b08_blank_texts_are_rows_and_blank_lines_are_none(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, 'id,text\n1,good\n2,\n3,"   "\n\n5,bad\n')
    assert result.rows == [("1", "good"), ("2", ""), ("3", "   "), ("5", "bad")]
    assert result.problem_lines == [5]


def test_b10_ids_stay_as_they_are(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "ref,text\nA_1/é,one\na_1/é,two\nA_1/é,three\n007,four\n")
    assert [row[0] for row in result.rows] == ["A_1/é", "a_1/é", "A_1/é", "007"]
    assert not result.table.problems


def test_b12_one_bad_line_in_a_big_file_is_reported_by_number(tmp_path: Path) -> None:
    bad = 17_777
    with (tmp_path / "big.csv").open("w", encoding="utf-8") as file:
        file.write("id,text,city\n")
        for number in range(2, 25_001):
            file.write(f'{number},"text, of {number}",x\n' if number != bad else f'{number},"open,x\n')
    tracemalloc.start()
    table = open_table(tmp_path / "big.csv")
    count = 0
    for batch in table.batches():
        assert [row[0] for row in batch] == [str(count + 2 + place) for place in range(len(batch))]
        count += len(batch)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 24_999
    assert table.problems[0].line == bad
    assert peak < 20_000_000


def test_b12_a_cancelled_import_stops_within_a_batch(tmp_path: Path) -> None:
    class Stop(SilentProgress):
        checks = 0

        def check(self) -> None:
            self.checks += 1
            if self.checks > 5:
                raise Cancelled

    (tmp_path / "a.csv").write_text("id,text\n" + "1,x\n" * 100_000)
    batches = open_table(tmp_path / "a.csv").batches(1000, Stop())
    with pytest.raises(Cancelled):
        assert sum(map(len, batches)) < 10_000


def test_b13_texts_with_every_separator(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, 'id,text\n1,"Soup, hot; and ""fresh""\n2nd line"\n2,"Food, drink"\n')
    assert result.rows == [("1", 'Soup, hot; and "fresh"\n2nd line'), ("2", "Food, drink")]
    assert not result.table.problems
