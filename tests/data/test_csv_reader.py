from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.csv import csv_grammar, csv_reader, text_source
from sce_desktop.data.csv.csv_reader import CsvTable
from sce_desktop.data.tables import open_table
from tests.data.reading import read, read_bytes
from tests.data.test_csv_bug_cases import B01, B04


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_every_line_end(tmp_path: Path, end: str, last: bool) -> None:
    lines = ["a,b", '1,"x y"', "2,z", ""]
    result = read_bytes(tmp_path, end.join(lines if last else lines[:-1]))
    assert result.rows == [("1", "x y"), ("2", "z")]
    assert not result.table.problems


def test_blank_lines_between_doubled_carriage_returns_are_not_invented(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, 'a,b\r\r\n1,"two\r\r\nlines"\r\r\n\r\r\n2,x\r\r\n')
    assert result.rows == [("1", "two\r\r\nlines"), ("2", "x")]
    assert result.problem_lines == [4]


def test_a_lone_carriage_return_is_text_unless_the_columns_prove_it_a_line_end(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "a,b\n1,x\ry\n2,z\r3,w\n4,v\n")
    assert result.rows == [("1", "x\ry"), ("2", "z"), ("3", "w"), ("4", "v")]
    assert not result.table.problems


def test_ragged_records_lose_nothing(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, 'id,text,n\n1\n2,a,b,c\n3,x,"y, ""z""",w\n4,a,b,,\n5,a,b\n')
    assert result.rows == [
        ("1", "", ""),
        ("2", "a", "b,c"),
        ("3", "x", 'y, "z",w'),
        ("4", "a", "b"),
        ("5", "a", "b"),
    ]
    assert result.problem_lines == [2, 3, 4, 5]


def test_a_header_stays_as_it_is(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "text, label ,text,\n1,2,3,4\n")
    assert result.columns == ("text", " label ", "text", "")


def test_no_header(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "1,x\n2,y\n", header_row=0)
    assert result.columns == ("Column 1", "Column 2")
    assert result.rows == [("1", "x"), ("2", "y")]


def test_the_header_may_stand_on_a_later_line(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "Report of May\n\nid,text\n1,x\n", header_row=3)
    assert (result.columns, result.rows) == (("id", "text"), [("1", "x")])
    assert not result.table.problems


def test_blank_lines_before_the_header(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "\n\nid,text\n1,x\n\n")
    assert (result.columns, result.rows) == (("id", "text"), [("1", "x")])
    assert (result.table.options.header_row, result.problem_lines) == (3, [5])


def test_a_header_of_two_lines(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, 'id,"text\n(free)"\n1,x\n')
    assert (result.columns, result.rows) == (("id", "text\n(free)"), [("1", "x")])


def test_a_first_cell_longer_than_the_sample(tmp_path: Path) -> None:
    long = "a line; of many, many lines\n" * 50_000
    result = read_bytes(tmp_path, f'id,text\n1,"{long}"\n2,x\n')
    assert (result.columns, result.rows) == (("id", "text"), [("1", long), ("2", "x")])
    assert not result.table.problems


def test_excels_hint_of_the_delimiter(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "sep=;\r\nid;text\r\n1;a, b\r\n")
    assert (result.columns, result.rows) == (("id", "text"), [("1", "a, b")])
    assert (result.table.options.delimiter, result.table.options.header_row) == (";", 2)


@pytest.mark.parametrize(
    "content",
    [B01, B04, "text\nhello, world\nx\n", "sep=;\na;b\n1;2\n", "\n\na\tb\n1\t2\n", "a^b\n1^2 x\n3^4, y\n"],
)
def test_the_options_found_read_the_same_again(tmp_path: Path, content: str) -> None:
    first = read_bytes(tmp_path, content)
    again = read(
        first.table.path, **{name: getattr(first.table.options, name) for name in TableOptions.__slots__}
    )
    assert (again.columns, again.rows, again.table.options) == (
        first.columns,
        first.rows,
        first.table.options,
    )


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "id,text\n")
    assert (result.columns, result.rows, result.table.estimated_rows) == (("id", "text"), [], 0)


def test_nul_characters_are_kept_and_told(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, 'id,text\n1,a\0b\n2,"c\0"\n3,d\n')
    assert result.rows == [("1", "a\0b"), ("2", "c\0"), ("3", "d")]
    assert result.problem_lines == [2, 3]


def test_quoting_off_with_lone_carriage_returns(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, 'a\tb\n1\tx"\ry\n2\t"z\n', quoting=False)
    assert result.rows == [("1", 'x"\ry'), ("2", '"z')]


def test_named_delimiters(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, "a\tb\n1\t2\n", delimiter="tab").rows == [("1", "2")]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {}, "empty"),
        ("\n \n\n", {}, "blank lines"),
        ("\ufeff", {}, "blank lines"),
        ("\ufeff\n", {"header_row": 0}, "blank lines"),
        ("a,b\n1,2\n", {"header_row": 9}, "line 9"),
        ("a,b\n\n1,2\n", {"header_row": 2}, "line 2"),
        ("a,b\n1,2\n", {"delimiter": "ab"}, "delimiter"),
        ("a,b\n1,2\n", {"delimiter": '"'}, "delimiter"),
        ("a,b\n1,2\n", {"encoding": "latin-17"}, "encoding"),
        ("a,b\n1,2\n", {"encoding": "hex"}, "encoding"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(
    tmp_path: Path, content: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError, match=message) as caught:
        read_bytes(tmp_path, content, **options)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_only_the_first_thousand_problems_are_kept_but_all_counted(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, "a,b\n" + "1,2\n\n" * 1500)
    assert (len(result.table.problems), result.table.problem_count) == (1000, 1500)


def test_reading_twice_tells_problems_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1\n2,3\n")
    table = open_table(tmp_path / "a.csv")
    assert not table.problems
    for _ in range(2):
        assert len([row for batch in table.batches() for row in batch]) == 2
        assert table.problem_count == 1


def test_a_file_that_grows_is_read_up_to_its_size_at_opening(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,text\n" + "1,x\n" * 50_000)
    table = open_table(path)
    with path.open("a") as file:
        file.write("2,later\n" * 10)
    progress = SilentProgress()
    rows = [row for batch in table.batches(progress=progress) for row in batch]
    assert rows == [("1", "x")] * 50_000
    assert [problem.message for problem in table.problems] == progress.warnings
    assert "grew" in progress.warnings[0]


def test_a_file_that_shrinks_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,text\n" + "1,x\n" * 50)
    table = open_table(path)
    path.write_text("id,text\n1,x\n")
    progress = SilentProgress()
    assert [row for batch in table.batches(progress=progress) for row in batch] == [("1", "x")]
    assert "shorter" in progress.warnings[0]


def test_rows_are_estimated_from_the_beginning(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n" + '1,"some, text of a row"\n' * 200_000)
    estimated = open_table(tmp_path / "a.csv").estimated_rows
    assert estimated is not None
    assert abs(estimated - 200_000) < 4000


def test_progress_counts_rows(tmp_path: Path) -> None:
    class Watch(SilentProgress):
        told: list[tuple[int, int | None, str]] = []  # noqa: RUF012 - one test

        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            self.told.append((done, total, stage))

    (tmp_path / "a.csv").write_text("id,text\n" + "1,x\n" * 200_000)
    watch = Watch()
    assert sum(map(len, open_table(tmp_path / "a.csv").batches(10_000, watch))) == 200_000
    assert [done for done, _, _ in watch.told][:3] == [10_000, 20_000, 30_000]
    assert all(total is not None and abs(total - 200_000) < 8000 for _, total, _ in watch.told)
    assert watch.told[-1] == (200_000, 200_000, "reading")


def test_a_long_unclosed_quote_is_looked_for_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_reader, "MAX_CELL", 1 << 19)
    rows = [(str(number), f"text {number}") for number in range(100_000)]
    lines = [f"{number},{text}" for number, text in rows]
    lines[10] = '10,"text 10'
    result = read_bytes(tmp_path, "id,text\n" + "\n".join(lines) + "\n", encoding="utf-8", delimiter=",")
    assert result.rows == [*rows[:10], ("10", '"text 10'), *rows[11:]]
    assert result.problem_lines == [12]


# --- the fast way and the exact way agree -------------------------------------------------------------------

# Few characters, so that everything that matters meets everything else.
messy = st.text(st.sampled_from(['"', ",", "\n", "\r", "a", "1", " ", "é", "\0"]), max_size=40)


def _exact_rows(text: str) -> list[tuple[str, ...]]:
    """Read records one by one by the grammar alone."""
    lines = list(io.StringIO(text, newline="\n" if "\n" in text else ""))[1:]
    index, records = 0, []
    while index < len(lines):
        if not csv_grammar.without_end(lines[index]):
            index += 1
            continue
        record = csv_grammar.read_record(lines, index, ",", quoting=True, complete=True)
        assert record is not None
        records.append(tuple(record.cells))
        index = record.end
    return records


@settings(deadline=None)  # of files
@example(body=',\r,"\n1"', block=1 << 18)
@given(body=messy, block=st.sampled_from([3, 7, 1 << 18]))
def test_the_module_and_the_grammar_agree(
    tmp_path_factory: pytest.TempPathFactory, body: str, block: int
) -> None:
    """Whatever the block size, cells are what the grammar says; only records of another width are changed."""
    text = f"x,y\n{body}"
    path = tmp_path_factory.mktemp("agree") / "a.csv"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_source.byte_chunks, "__defaults__", (block,))
        table = CsvTable(path, TableOptions(encoding="utf-8", delimiter=",", header_row=1))
        rows = [row for batch in table.batches(3) for row in batch]
    expected = _exact_rows(text)
    if all(len(cells) == 2 for cells in expected):
        assert rows == expected
    letters = [character for character in body if character not in '",\r\n']
    assert [
        character for row in rows for cell in row for character in cell or "" if character in letters
    ] == letters


cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.text(
    "\",;\r\n \t\ufeff'a", max_size=8
)


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(cells, cells), max_size=6),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_the_csv_module_writes_is_read_exactly(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], delimiter: str, end: str
) -> None:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([("id", "text"), *rows])
    path = tmp_path_factory.mktemp("module") / "a.csv"
    path.write_bytes(buffer.getvalue().encode())
    result = read(path, encoding="utf-8", delimiter=delimiter, header_row=1)
    assert result.rows == rows


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1", "1 cell, expected 3. Missing cells were left empty."),
        ("1,2", "2 cells, expected 3. Missing cells were left empty."),
        ("1,2,3,4", "4 cells, expected 3. Extra cells were joined to the last column."),
        ("1,2,3,,", "5 cells, expected 3. Extra cells were empty and were dropped."),
    ],
)
def test_ragged_records_are_reported_in_numbers(tmp_path: Path, line: str, message: str) -> None:
    result = read_bytes(tmp_path, f"a,b,c\n1,2,3\n{line}\n", delimiter=",")
    assert [(problem.line, problem.message) for problem in result.table.problems] == [(3, message)]


@pytest.mark.parametrize("cell", ['"quoted"', "plain"])
def test_the_end_of_a_long_line_is_taken_off_once(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once a cell: that takes a minute where thousands of cells stand on a line."""
    copied = []
    monkeypatch.setattr(csv_grammar, "without_end", lambda line: copied.append(line) or line.rstrip("\n"))
    record = csv_grammar.read_record([",".join([cell] * 1000) + "\n"], 0, ",", quoting=True, complete=True)
    assert record is not None
    assert (len(record.cells), len(copied)) == (1000, 1)
