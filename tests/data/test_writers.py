from __future__ import annotations

import csv
import errno
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import openpyxl
import pandas
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.data import atomic, writers
from sce_desktop.data.csv.excel_safe import PREFIX
from sce_desktop.data.parquet import writing
from sce_desktop.data.writers import write_table
from tests.data.reading import read

KINDS = ["csv", "tsv", "xlsx", "parquet", "jsonl"]
FORMULAS = ["=1+1", "+49 30 123", "-5 stars", "@home", "\t=cmd"]

# --- what is read again is what was written -----------------------------------------------------------------

cells = (
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    | st.text("\",;|\t\r\n '=+-@\ufeff\u2060a\0", max_size=8)
    | st.sampled_from(
        ["", " ", "\r", "\n", '"', '""', "'=1", PREFIX, PREFIX + "=1", "NA", "sep=;", *FORMULAS]
    )
)


@settings(deadline=None)  # of files
@given(
    table=st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1)
    ),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    excel_safe=st.booleans(),
)
def test_a_written_csv_reads_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[str]], delimiter: str, excel_safe: bool
) -> None:
    columns, *rows = table
    assume(any(cell.strip() for row in table for cell in row))  # blank lines alone are no table
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    assert write_table(
        path, columns, [rows[:2], rows[2:]], delimiter=delimiter, excel_safe=excel_safe
    ) == len(rows)
    result = read(path, encoding="utf-8", delimiter=delimiter, header_row=1)
    assert result.columns == tuple(columns)
    assert result.rows == [tuple(row) for row in rows]


@settings(deadline=None, max_examples=50)
@given(rows=st.lists(st.tuples(cells, cells)))
@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_a_written_table_of_another_kind_reads_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], kind: str
) -> None:
    path = tmp_path_factory.mktemp(kind) / f"a.{kind}"
    rows = [("first", "row"), *rows]
    write_table(path, ["a", "b"], [rows])
    assert read(path).rows == rows


no_xml = st.characters(
    exclude_categories=["Cs"], exclude_characters="\ufffe\uffff"
)  # no part of any XML file


@settings(deadline=None, max_examples=30)
@given(
    rows=st.lists(st.tuples(st.text(no_xml, max_size=8) | st.text("\r\n\t _x0D\0=", max_size=12)), max_size=5)
)
def test_a_written_workbook_reads_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str]]
) -> None:
    path = tmp_path_factory.mktemp("xlsx") / "a.xlsx"
    write_table(path, ["id", "b"], [[("x", *row) for row in rows]])
    assert read(path).rows == [("x", row[0] or None) for row in rows]  # an empty text is an empty cell there


def test_b13_rows_with_every_separator_read_back(tmp_path: Path) -> None:
    labels = ["Food, drink", "C# / .NET", "a|b", '50% "off"', "{x}"]
    row = ['Soup, hot; and "fresh"\n2nd line', json.dumps(labels[:2]), "1", "1", "0", "0", "0"]
    for kind in KINDS:
        write_table(tmp_path / f"a.{kind}", ["text", "labels", *labels], [[row]])
        result = read(tmp_path / f"a.{kind}")
        assert result.columns == ("text", "labels", *labels)
        assert result.rows == [tuple(row)]
        assert json.loads(result.rows[0][1] or "") == labels[:2]


def test_other_programs_read_the_same(tmp_path: Path) -> None:
    rows = [["1", 'say "so"', "a\rb"], ["2", "x, y\r\nz", ""], ["3", " é ", "=1+1"]]
    write_table(tmp_path / "a.csv", ["id", "text", "note"], [rows])
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["id", "text", "note"], *rows]
    frame = pandas.read_csv(tmp_path / "a.csv", dtype=str, keep_default_na=False)
    assert frame.to_numpy().tolist() == rows
    write_table(tmp_path / "a.xlsx", ["id", "text", "note"], [rows])
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    assert [cell.value for cell in sheet[4]] == ["3", " é ", "=1+1"]
    assert sheet["C4"].data_type != "f"


def test_quotes_are_only_where_they_are_needed(tmp_path: Path) -> None:
    write_table(tmp_path / "a.csv", ["id", "a b"], [[["1", " x "], ["2", "y;z"], [None, ""]]], delimiter=";")
    assert (tmp_path / "a.csv").read_bytes() == b'id;a b\n1; x \n2;"y;z"\n;\n'
    write_table(tmp_path / "a.tsv", ["id", "b"], [[["1", "y;\tz"]]], delimiter=";")
    assert (tmp_path / "a.tsv").read_bytes() == b'id\tb\n1\t"y;\tz"\n'
    write_table(tmp_path / "b.csv", ["a"], [[[""], [None], ["x"]]], delimiter="")
    assert (tmp_path / "b.csv").read_bytes() == b'a\n""\n""\nx\n'


# --- numbers ------------------------------------------------------------------------------------------------


def test_numbers_have_nine_significant_digits(tmp_path: Path) -> None:
    rows = [["x", 0.12345678912, np.float32(0.5), 1], ["y", None, np.float64(1e-12 / 3), 0]]
    for kind in KINDS:
        write_table(tmp_path / f"a.{kind}", ["text", "p", "q", "n"], [rows])
    assert (tmp_path / "a.csv").read_text() == "text,p,q,n\nx,0.123456789,0.5,1\ny,,3.33333333e-13,0\n"
    table = pq.read_table(tmp_path / "a.parquet")
    assert [str(field.type) for field in table.schema] == ["string", "double", "double", "int64"]
    assert table["p"].to_pylist() == [0.123456789, None]
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"text": "x", "p": 0.123456789, "q": 0.5, "n": 1},
        {"text": "y", "p": None, "q": 3.33333333e-13, "n": 0},
    ]
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    assert [cell.value for cell in sheet[2]] == ["x", 0.123456789, 0.5, 1]
    assert sheet["B3"].value is None


def test_parquet_columns_that_begin_empty_are_numbers_nevertheless(tmp_path: Path) -> None:
    batches: list[list[list[str | float | None]]] = [
        [["", None, None]],
        [["x", None, ""]],
        [["y", 0.5, None]],
    ]
    write_table(tmp_path / "a.parquet", ["text", "p", "never"], batches)
    table = pq.read_table(tmp_path / "a.parquet")
    assert [str(field.type) for field in table.schema] == ["string", "double", "string"]
    assert table["p"].to_pylist() == [None, None, 0.5]


def test_parquet_numbers_that_come_too_late_are_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_TYPED_AFTER", 2)
    write_table(tmp_path / "a.parquet", ["text", "p"], [[["x", None], ["y", None]], [["z", 0.5]]])
    assert read(tmp_path / "a.parquet").rows == [("x", None), ("y", None), ("z", "0.5")]


# --- Excel --------------------------------------------------------------------------------------------------


def test_x1_formulas_stay_texts(tmp_path: Path) -> None:
    rows = [[text] for text in [*FORMULAS, "'=quoted", "plain", "5 - 3"]]
    for kind in KINDS:
        write_table(tmp_path / f"a.{kind}", ["text"], [rows])
        assert read(tmp_path / f"a.{kind}", **({"header_row": 1} if kind == "csv" else {})).rows == [
            tuple(row) for row in rows
        ]
    assert b"\n=1+1\n" in (tmp_path / "a.csv").read_bytes()
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    assert {cell.data_type for (cell,) in sheet.iter_rows()} <= {"s", "inlineStr"}


def test_x1_safe_for_excel(tmp_path: Path) -> None:
    texts = [*FORMULAS, "'=quoted", "plain", "-5", "'"]
    progress = SilentProgress()
    write_table(
        tmp_path / "a.csv",
        ["text", "p"],
        [[[text, -0.5] for text in texts]],
        excel_safe=True,
        progress=progress,
    )
    content = (tmp_path / "a.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbftext,p\n")
    with (tmp_path / "a.csv").open(encoding="utf-8-sig", newline="") as file:
        shown = [row[0] for row in csv.reader(file)][1:]
    assert [text[0] for text in shown] == ["'"] * 6 + ["p", "'", "'"]
    assert shown[5:7] == ["'=quoted", "plain"]  # nothing to protect, nothing added
    assert "6 cells" in progress.warnings[0]
    assert [row[0] for row in read(tmp_path / "a.csv").rows] == texts
    assert {row[1] for row in read(tmp_path / "a.csv").rows} == {"-0.5"}


def test_what_excel_cannot_hold_is_refused_before_anything_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.xlsx"
    write_table(path, ["a"], [[["x" * 32_767]]])
    assert read(path).rows == [("x" * 32_767,)]
    with pytest.raises(UserError, match=r"Row 3 .* 32,767"):
        write_table(path, ["a"], [[["ok"], ["x" * 32_768]]])
    with pytest.raises(UserError, match="32,767"):
        write_table(path, ["a"], [[["😀" * 16_384]]])
    with pytest.raises(UserError, match="16,384 columns"):
        write_table(path, ["a"] * 16_385, [])
    monkeypatch.setattr(writers, "EXCEL_ROWS", 10)
    assert write_table(path, ["a"], [[["x"]] * 9]) == 9
    with pytest.raises(UserError, match="9 rows"):
        write_table(path, ["a"], [[["y"]] * 10])
    assert read(path).rows == [("x",)] * 9  # the last one that fitted
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.xlsx"]


# --- columns, rows, kinds -----------------------------------------------------------------------------------


def test_an_emoji_counts_two_in_excel_and_the_message_says_so(tmp_path: Path) -> None:
    write_table(tmp_path / "a.xlsx", ["text"], [[["👍" * 16_383 + "x"]]])
    assert read(tmp_path / "a.xlsx").rows == [("👍" * 16_383 + "x",)]
    with pytest.raises(UserError, match="16,384 characters, which Excel counts as 32,768"):
        write_table(tmp_path / "b.xlsx", ["text"], [[["👍" * 16_384]]])
    with pytest.raises(UserError, match="a cell of 32,768 characters, and Excel holds at most 32,767"):
        write_table(tmp_path / "b.xlsx", ["text"], [[["x" * 32_768]]])


def test_one_cell_is_reported_as_one(tmp_path: Path) -> None:
    progress = SilentProgress()
    write_table(tmp_path / "a.csv", ["text"], [[["=1+1"]]], excel_safe=True, progress=progress)
    assert "before 1 cell " in progress.warnings[0]


def test_columns_of_the_same_name(tmp_path: Path) -> None:
    for kind in KINDS:
        progress = SilentProgress()
        write_table(
            tmp_path / f"a.{kind}", ["a", "a", "a_2", "a"], [[["1", "2", "3", "4"]]], progress=progress
        )
        result = read(tmp_path / f"a.{kind}")
        assert result.rows == [("1", "2", "3", "4")]
        if kind in ("parquet", "jsonl"):
            assert result.columns == ("a", "a_3", "a_2", "a_4")
            assert "a_3" in progress.warnings[0]
        else:
            assert result.columns == ("a", "a", "a_2", "a")


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows(tmp_path: Path, kind: str) -> None:
    assert write_table(tmp_path / f"a.{kind}", ["a", "b"], []) == 0
    if kind == "jsonl":  # has no header of its own
        assert (tmp_path / "a.jsonl").read_bytes() == b""
    else:
        result = read(tmp_path / f"a.{kind}")
        assert (result.columns, result.rows) == (("a", "b"), [])


@pytest.mark.parametrize("name", ["a.doc", "a", "a.csv.gz", "xlsx"])
def test_an_unknown_kind(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="must end in"):
        write_table(tmp_path / name, ["a"], [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_another_width_is_a_bug(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ValueError, match="2 cells"):
        write_table(tmp_path / f"a.{kind}", ["a", "b"], [[["1"]]])


def test_progress_counts_the_rows(tmp_path: Path) -> None:
    class Watch(SilentProgress):
        def __init__(self) -> None:
            super().__init__()
            self.told: list[int] = []

        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            self.told.append(done)

    watch = Watch()
    write_table(tmp_path / "a.csv", ["a"], [[["x"]] * 3, [["y"]] * 2], progress=watch)
    assert watch.told == [3, 5]


# --- whole or not at all ------------------------------------------------------------------------------------


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "failure", [RuntimeError("bug"), Cancelled(), KeyboardInterrupt(), OSError(errno.ENOSPC, "x")]
)
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, kind: str, failure: BaseException
) -> None:
    def batches() -> Iterator[Sequence[Sequence[str]]]:
        yield [["new"]] * 10
        raise failure

    path = tmp_path / f"a.{kind}"
    write_table(path, ["a"], [[["old"]]])
    before = files(tmp_path)
    with pytest.raises(UserError if isinstance(failure, OSError) else type(failure)):
        write_table(path, ["a"], batches())
    assert files(tmp_path) == before


def test_the_user_may_stop(tmp_path: Path) -> None:
    class Stop(SilentProgress):
        def check(self) -> None:
            raise Cancelled

    with pytest.raises(Cancelled):
        write_table(tmp_path / "a.csv", ["a"], [[["x"]]], progress=Stop())
    assert not files(tmp_path)


FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.data.writers import write_table
batches = ([[f"{hash((n, m))} text", "more"] for m in range(1000)] for n in range(100))
try:
    write_table(sys.argv[1], ["a", "b"], batches)
except UserError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of file sizes")
@pytest.mark.parametrize("kind", KINDS)
def test_a_disk_that_cannot_take_the_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=False
    )
    assert "There is no room" in done.stdout, done.stderr
    assert files(tmp_path) == {path.name: b"old"}


def test_a_disk_that_is_full_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(UserError, match="no room"):
        write_table(tmp_path / "a.csv", ["a"], [[["x"]]])
    assert not files(tmp_path)


def test_an_existing_file_is_only_replaced_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write_table(path, ["a"], [[["old"]]])
    path.chmod(0o640)
    with pytest.raises(UserError, match="exists"):
        write_table(path, ["a"], [[["new"]]], overwrite=False)
    assert read(path).rows == [("old",)]
    write_table(path, ["a"], [[["new"]]])
    assert read(path).rows == [("new",)]
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_table_can_be_written_over_the_file_it_is_read_from(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write_table(path, ["a"], [[[f"{n}"] for n in range(50_000)]])
    table = read(path).table
    write_table(path, ["a", "b"], ([[*row, "x"] for row in batch] for batch in table.batches(1000)))
    assert read(path).rows == [(f"{n}", "x") for n in range(50_000)]


def test_places_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(UserError, match="is a folder"):
        write_table(tmp_path / "folder.csv", ["a"], [])
    with pytest.raises(UserError, match="does not exist"):
        write_table(tmp_path / "missing" / "a.csv", ["a"], [])
    with pytest.raises(UserError, match="too long: choose a shorter one"):
        write_table(tmp_path / ("x" * 300 + ".csv"), ["a"], [])


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_table(tmp_path / "link.csv", ["a"], [[["new"]]])
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "a\nnew\n"


def test_a_workbook_is_stopped_while_it_is_closed(tmp_path: Path) -> None:
    """Rows are copied and compressed when all are there; whenever that is stopped nothing is left.

    Nor does Python say that an object could not be closed, which would fail this test.
    """
    rows = [[f"text {number}", number / 7] for number in range(1000)]
    path = tmp_path / "table.xlsx"

    class Stops(SilentProgress):
        def __init__(self, at: int) -> None:
            super().__init__()
            self.at, self.looks = at, 0

        def check(self) -> None:
            self.looks += 1
            if self.looks == self.at:
                raise Cancelled

    whole = Stops(-1)
    write_table(path, ["a", "b"], [rows], legend=[("a", "b")], about=["about"], progress=whole)
    path.unlink()
    assert whole.looks > 3 + len(rows) // 100
    for at in range(1, whole.looks + 1):
        with pytest.raises(Cancelled):
            write_table(path, ["a", "b"], [rows], legend=[("a", "b")], about=["about"], progress=Stops(at))
        assert not list(tmp_path.iterdir())
