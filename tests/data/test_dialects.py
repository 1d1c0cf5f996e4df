"""Quotes and escapes that are not the usual ones: taken where these break records, offered where both fit."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce_desktop.core.errors import UserError
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.csv.csv_grammar import Dialect
from sce_desktop.data.csv.csv_reader import CsvTable
from sce_desktop.data.tables import open_table
from tests.data.reading import Read, read_bytes

QUOTED = 'id,text,label\n1,"She said \\"never again\\", then left",neg\n2,"plain, ok",pos\n'


def doubts(result: Read) -> list[tuple[str, object, str]]:
    return [(doubt.option, doubt.value, doubt.flag) for doubt in result.table.doubts]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (QUOTED, [("1", 'She said "never again", then left', "neg"), ("2", "plain, ok", "pos")]),
        (QUOTED.replace("again", "\nagain"), [("1", 'She said "never \nagain", then left', "neg"), ...]),
        (QUOTED.replace("again", "a\\\ngain"), [("1", 'She said "never a\ngain", then left', "neg"), ...]),
        (
            "id,text,label\n1,Surname\\, Firstname,neg\n2,plain,pos\n",
            [("1", "Surname, Firstname", "neg"), ("2", "plain", "pos")],
        ),
        (
            "id\ttext\tlabel\n1\ttab\\\there\tneg\n2\tline\\\nbreak\tpos\n3\t\\N\t\\N\n",
            [("1", "tab\there", "neg"), ("2", "line\nbreak", "pos"), ("3", "\\N", "\\N")],
        ),
        (
            'id;text\n1;"C:\\\\dir; \\"x\\""\n2;"\\"quoted\\""\n',
            [("1", 'C:\\dir; "x"'), ("2", '"quoted"')],
        ),
        (
            'id,text\n1,"both ""ways"" and \\"ways\\", yes"\n2,\\n stays\n',
            [("1", 'both "ways" and "ways", yes'), ("2", "\\n stays")],
        ),
    ],
)
def test_backslash_escapes_are_found_and_told(tmp_path: Path, content: str, rows: list[object]) -> None:
    result = read_bytes(tmp_path, content)
    for row, wanted in zip(result.rows, rows, strict=True):
        assert wanted in (row, ...)
    assert not result.table.problems
    assert result.table.options.escape == "\\"
    assert doubts(result) == [("escape", "", "--escape none")]
    assert "(backslash escapes)" in result.table.doubts[0].sentence


def test_escapes_far_below_are_reported_by_line(tmp_path: Path) -> None:
    content = "id,text\n" + '1,"plain, as it is"\n' * 50_000 + '2,"She said \\"never again\\", then left"\n'
    result = read_bytes(tmp_path, content)
    assert "backslash before a quote" in result.table.problems[0].message
    assert set(result.problem_lines) == {50_002}
    assert read_bytes(tmp_path, content, escape="\\").rows[-1] == ("2", 'She said "never again", then left')


def test_escapes_can_be_refused_and_demanded(tmp_path: Path) -> None:
    plain = read_bytes(tmp_path, QUOTED, escape="")
    assert plain.rows[0] == ("1", '"She said \\"never again\\"', ' then left",neg')
    assert plain.table.options.escape == ""
    assert not plain.table.doubts
    name = 'id,text\n1,"Surname\\, Firstname"\n2,x\n'
    offered = read_bytes(tmp_path, name)
    assert offered.rows[0] == ("1", "Surname\\, Firstname")
    assert doubts(offered) == [("escape", "\\", "--escape backslash")]
    assert "It could also be “1 | Surname, Firstname” (backslash escapes)" in (
        offered.table.doubts[0].sentence
    )
    demanded = read_bytes(tmp_path, name, escape="\\")
    assert demanded.rows[0] == ("1", "Surname, Firstname")
    assert not demanded.table.doubts


@pytest.mark.parametrize(
    "content",
    [
        'id,path,label\n1,"C:\\dir\\",neg\n2,"D:\\x, y\\",pos\n3,C:\\a\\,z\n',
        'id,re\n1,"\\d+\\.\\d+ ""x"""\n2,^a\\|b$\n',
        'id,js\n1,"{""a"": ""say \\""x\\"", ok""}"\n',
        'id\tjs\n1\t{"a": "say \\"x\\", ok"}\n2\t\\"\n',
        "id,tex\n1,$a\\cdot b$\n2,\\textbf{x} \\\\\n",
        'id,text\n1,"ends with \\"\n2,\\\n3,"\\\\"\n',
    ],
)
def test_other_backslashes_stay_and_nothing_is_said(tmp_path: Path, content: str) -> None:
    delimiter = "\t" if "\t" in content else ","
    expected = list(csv.reader(io.StringIO(content), delimiter=delimiter))
    result = read_bytes(tmp_path, content)
    assert [list(row) for row in result.rows] == expected[1:]
    assert not result.table.problems
    assert not result.table.doubts


signs = st.text(st.sampled_from(list("\\\\\",;'\n\t ab")), max_size=12)


@settings(deadline=None)
@given(rows=st.lists(st.tuples(signs, signs), min_size=1, max_size=8), all_quoted=st.booleans())
def test_what_the_csv_module_writes_has_no_escapes(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], all_quoted: bool
) -> None:
    """Whatever backslashes and single quotes are in the cells, a well-formed table is read as it stands."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(
        buffer, lineterminator="\n", quoting=csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    )
    writer.writerows([("id", "text"), *rows])
    path = tmp_path_factory.mktemp("module") / "a.csv"
    path.write_bytes(buffer.getvalue().encode())
    table = open_table(path, TableOptions(encoding="utf-8", delimiter=",", header_row=1))
    assert [row for batch in table.batches() for row in batch] == rows


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(signs, signs), max_size=8),
    quote=st.sampled_from(["", '"', "'"]),
    block=st.sampled_from([3, 7, 1 << 18]),
)
def test_escaped_cells_come_back_whatever_the_block(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], quote: str, block: int
) -> None:
    def escaped(cell: str) -> str:
        special = {quote, "\\", ",", "\n"} - {""}
        return quote + "".join(f"\\{sign}" if sign in special else sign for sign in cell) + quote

    text = "id,text\n" + "".join(f"x,{escaped(a)},{escaped(b)}\n" for a, b in rows)
    path = tmp_path_factory.mktemp("escaped") / "a.csv"
    path.write_bytes(text.replace("id,text", "n,id,text").encode())
    options = TableOptions("utf-8", ",", quoting=bool(quote), header_row=1, quote=quote or None, escape="\\")
    with pytest.MonkeyPatch.context() as patch:
        from sce_desktop.data.csv import text_source

        patch.setattr(text_source.byte_chunks, "__defaults__", (block,))
        table = CsvTable(path, options)
        found = [row for batch in table.batches() for row in batch]
    assert found == [("x", a, b) for a, b in rows]


def test_single_quotes_are_read_where_double_ones_break_the_rows(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "'id','text'\n'1','It''s late, really'\n'2','say \"so\"'\n")
    assert (result.columns, result.rows) == (("id", "text"), [("1", "It's late, really"), ("2", 'say "so"')])
    assert doubts(result) == [("quote", '"', "--quote double")]
    escaped = read_bytes(tmp_path, "'id','text'\n'1','It\\'s late, really'\n'2','ok'\n")
    assert escaped.rows == [("1", "It's late, really"), ("2", "ok")]
    assert "(single quotes around cells and backslash escapes)" in escaped.table.doubts[0].sentence


def test_single_quotes_are_offered_where_both_fit(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "'id','text'\n'1','Its late'\n'2','ok'\n")
    assert result.columns == ("'id'", "'text'")
    assert doubts(result) == [("quote", "'", "--quote single")]
    chosen = read_bytes(tmp_path, "'id','text'\n'1','Its late'\n'2','ok'\n", quote="'")
    assert (chosen.columns, chosen.rows[0]) == (("id", "text"), ("1", "Its late"))
    assert not chosen.table.doubts


@pytest.mark.parametrize("text", ["'tis the season", "rock 'n' roll", "'quoted' and more", "'so', she said"])
def test_an_apostrophe_is_no_quote(tmp_path: Path, text: str) -> None:
    result = read_bytes(tmp_path, f"id;text\n1;{text}\n2;plain\n3;fine\n")
    assert result.rows[0] == ("1", text)
    assert not result.table.doubts


def test_any_sign_can_enclose_cells_if_it_is_said(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "id,text\n1,|a, b||c|\n", quote="|", delimiter=",")
    assert result.rows == [("1", "a, b|c")]


@pytest.mark.parametrize("quote", ["ab", "a", ",", "\\", " ", "\n"])
def test_what_cannot_enclose_cells(tmp_path: Path, quote: str) -> None:
    with pytest.raises(UserError, match="cannot enclose cells"):
        read_bytes(tmp_path, "id,text\n1,x\n", quote=quote, delimiter=",")


def test_spaces_before_quotes(tmp_path: Path) -> None:
    broken = read_bytes(tmp_path, 'id, text, n\n1, "hello, world" , 5\n2, b, 6\n')
    assert broken.rows == [("1", "hello, world", " 5"), ("2", " b", " 6")]
    assert doubts(broken) == [("spaces", False, "--no-skip-spaces")]
    whole = read_bytes(tmp_path, 'id, text\n1, "hello world"\n')
    assert whole.rows == [("1", ' "hello world"')]
    assert doubts(whole) == [("spaces", True, "--skip-spaces")]
    chosen = read_bytes(tmp_path, 'id, text\n1, "hello world"\n', spaces=True)
    assert chosen.rows == [("1", "hello world")]


def test_two_delimiters_that_fit_are_told(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "a;b,c\n1;2,3\n4;5,6\n")
    assert doubts(result) == [("delimiter", ",", "--delimiter ,")]
    assert not read_bytes(tmp_path, "name;price\nx;3,50\ny;4,00\n").table.doubts


def test_the_options_found_are_not_doubted_again(tmp_path: Path) -> None:
    for content in (QUOTED, 'id, text\n1, "hello world"\n', "'a','b'\n'1','2'\n'3','4'\n"):
        first = read_bytes(tmp_path, content)
        again = open_table(first.table.path, first.table.options.settled)
        assert [row for batch in again.batches() for row in batch] == first.rows
        assert not again.doubts


def test_a_long_run_of_quotes_is_read_in_one_go() -> None:
    record = Dialect(",").read(['"' * 3_000_001 + "\n"], 0, complete=True)
    assert record is not None
    assert record.cells == ['"' * 3_000_001]
