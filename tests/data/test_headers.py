"""Where the header is: titles above it, none at all, Excel's hint, and files of plain text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.data.reading import Read, read, read_bytes


def doubts(result: Read) -> list[tuple[str, object, str]]:
    return [(doubt.option, doubt.value, doubt.flag) for doubt in result.table.doubts]


@pytest.mark.parametrize("hint", ["sep=;", '"sep=;"', "SEP=;", "sep=; ", "Sep=;\t", "'sep=;'", '"Sep=;" '])
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_excels_hint_of_the_delimiter(tmp_path: Path, hint: str, end: str) -> None:
    result = read_bytes(tmp_path, end.join([hint, "id;text", "1;a, b", ""]))
    assert (result.columns, result.rows) == (("id", "text"), [("1", "a, b")])
    assert (result.table.options.delimiter, result.table.options.header_row) == (";", 2)
    assert not result.table.doubts


def test_a_hint_of_a_tab_and_what_is_no_hint(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, "sep=\t\nid\ttext\n1\ta b\n").rows == [("1", "a b")]
    assert read_bytes(tmp_path, "sep=x\nb\n").columns == ("sep=x",)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("Report of May\n\nid,text\n1,x\n2,hello\n", 3),
        ("Report of May, June, all\n# made by x\nid;text\n1;x\n2;hello, you\n", 3),
        ("# exported 2024\n# by me, you\nid,text,label\n1,x,a\n2,y,b\n", 3),
        ('Title\nid,"text\nof two lines"\n1,x\n2,y\n', 2),
        ("Report of May, all regions\n\nid,text\n1,x\n2,hello\n", 3),
    ],
)
def test_a_header_below_titles_is_offered(tmp_path: Path, content: str, line: int) -> None:
    result = read_bytes(tmp_path, content)
    assert result.table.options.header_row == 1
    assert doubts(result) == [("header_row", line, f"--header-row {line}")]
    assert f"Line {line} (“" in result.table.doubts[0].sentence
    assert "looks like the header" in result.table.doubts[0].sentence
    chosen = read_bytes(tmp_path, content, header_row=line)
    assert chosen.columns[0] == "id"
    assert len(chosen.rows) == 2
    assert not chosen.table.doubts


@pytest.mark.parametrize(
    "content",
    [
        "1,The parcel came late and broken.,neg\n2,Fine.,pos\n3,The box was wet and cold.,neg\n4,ok,neg\n",
        "The parcel came late and broken.\nFine service but the box was wet.\nNobody has answered me yet.\n",
        "Where is my order?,On its way\nIt came late.,Sorry\nCan I return it?,Yes\nIt is torn.,Send it\n",
        "It is broken.,Sorry\nThe box was wet when it came to me.,Please send us a picture of it\n"
        "It came late.,We give you back what you paid\n",
        "包裹晚到了。,抱歉\n盒子坏了。,请退回\n很好。,谢谢\n",
        "I have waited for my parcel since last Monday now,no\n"
        "the box was wet and the cup in it was broken,yes\nnobody has answered the letters that I wrote,no\n",
        "2024-05-01;late again\n2024-05-02;fine\n2024-05-03;broken\n",
        "A-17,wet\nA-18,late\nA-19,late\n",
    ],
)
def test_a_table_without_a_header_is_noticed(tmp_path: Path, content: str) -> None:
    result = read_bytes(tmp_path, content)
    assert result.table.options.header_row == 1  # nothing is assumed
    assert doubts(result) == [("header_row", 0, "--header-row 0")]
    chosen = read_bytes(tmp_path, content, header_row=0)
    assert len(chosen.rows) == content.count("\n")
    assert not chosen.table.doubts


@pytest.mark.parametrize(
    "content",
    [
        "name,age\nBob,4\nAnn,5\n",
        "text\nThe parcel came late and broken.\nFine service but the box was wet.\n",
        "id,text\n",
        "ref;What did you like?;mood\n1;The kind people at the desk;x\n2;The food was really good;y\n",
        "a,b\n1,x\n",
        "Comment text,Customer category\nIt came late.,Delivery\nThe box was wet and torn.,Parcel\n",
        "message,answer\nWhere is my order?,On its way.\nCan I return it?,Yes.\n",
        "Message,Reply of staff\nWhere is my order?,On its way\nIt is torn.,Send it back\n",
        "No.,Bem.\n1,Es kam zu spät.\n2,Alles gut.\n",
        "What did you like most?,Mood\n" + "The friendly people at the desk.,good\n" * 6 + "Food.,sad\n" * 6,
        "country,2019,2020\nDE,1,2\nFR,3,4\n",
        ",text,label\n0,Good stuff here,pos\n1,Bad stuff there,neg\n",
    ],
)
def test_a_header_is_not_doubted(tmp_path: Path, content: str) -> None:
    assert not read_bytes(tmp_path, content).table.doubts


# --- .txt ---------------------------------------------------------------------------------------------------

MESSAGES = 'Hello, the parcel is late\nNo reply, no refund, nothing\n"Great" she said\n"unclosed; so\nok\n'


def test_in_a_text_file_a_line_is_a_cell(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, MESSAGES, "a.txt")
    assert result.columns == ("Column 1",)
    assert [row[0] for row in result.rows] == MESSAGES.splitlines()
    assert (result.table.options.header_row, result.table.options.delimiter) == (0, "")
    assert not result.table.problems
    assert not result.table.doubts


def test_blank_lines_and_the_other_spellings_of_a_text_file(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "one\n\ntwo, three\n", "A.TXT")
    assert [row[0] for row in result.rows] == ["one", "two, three"]
    assert result.problem_lines == [2]
    packed = read_bytes(tmp_path, gzip.compress(MESSAGES.encode()), "a.txt.gz")
    assert len(packed.rows) == 5


@pytest.mark.parametrize(
    "content",
    [
        "id\ttext\n1\tHello, you\n2\tx\n",
        "id,text\n1,Hello\n2,x\n",
        'id;text\n1;"a; b"\n2;x\n',
        "sep=|\nid|text\n1|x\n",
    ],
)
def test_a_text_file_that_surely_is_a_table_is_read_as_one(tmp_path: Path, content: str) -> None:
    result = read_bytes(tmp_path, content, "a.txt")
    assert result.columns == ("id", "text")
    assert len(result.rows[0]) == 2


def test_a_text_file_that_may_be_a_table_is_reported(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "Hello, you\nBye, now\n", "a.txt")
    assert [row[0] for row in result.rows] == ["Hello, you", "Bye, now"]
    assert doubts(result) == [("delimiter", ",", "--delimiter ,")]


def test_a_text_file_may_name_its_column(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "Comment\nBye, now\n", "a.txt")
    assert (result.columns, result.rows) == (("Comment",), [("Bye, now",)])
    assert doubts(result) == [("header_row", 0, "--header-row 0")]


def test_what_is_chosen_for_a_text_file_holds(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, MESSAGES, "a.txt", header_row=1).columns == ("Hello, the parcel is late",)
    assert read_bytes(tmp_path, "a note\nid|text\n1|x\n", "a.txt", delimiter="|", header_row=2).rows == [
        ("1", "x")
    ]
    assert len(read_bytes(tmp_path, "id;text\n1;x\n", "a.txt", delimiter="").rows) == 2


# --- sheets -------------------------------------------------------------------------------------------------


def sheet(folder: Path, rows: list[list[str | int | None]], **options: int) -> Read:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "a.xlsx")
    return read(folder / "a.xlsx", **options)


def test_a_header_below_the_title_of_a_sheet_is_offered(tmp_path: Path) -> None:
    rows: list[list[str | int | None]] = [
        ["Report of May"],
        [],
        ["id", "text", "label"],
        [1, "x", "a"],
        [2, "y", "b"],
    ]
    result = sheet(tmp_path, rows)
    assert result.columns == ("Report of May", "", "")
    assert doubts(result) == [("header_row", 3, "--header-row 3")]
    assert "Row 3 (“id | text | label”) looks like the header" in result.table.doubts[0].sentence
    chosen = sheet(tmp_path, rows, header_row=3)
    assert (chosen.columns, len(chosen.rows)) == (("id", "text", "label"), 2)
    assert not chosen.table.doubts


def test_a_sheet_without_a_header_is_noticed(tmp_path: Path) -> None:
    result = sheet(
        tmp_path, [[1, "It came late, and it was broken."], [2, "Fine."], [3, "Nobody has answered."]]
    )
    assert doubts(result) == [("header_row", 0, "--header-row 0")]


@pytest.mark.parametrize(
    "rows",
    [
        [["id", "text"], [1, "The parcel came late."], [2, "Fine."]],
        [["text"], ["x"]],
        [["name", None, "mood"], ["x", "y", "z"], ["a", "b", "c"], ["a", "b", "c"]],
    ],
)
def test_the_header_of_a_sheet_is_not_doubted(tmp_path: Path, rows: list[list[str | int | None]]) -> None:
    assert not sheet(tmp_path, rows).table.doubts
