from __future__ import annotations

import gzip
import os
import sqlite3
import zipfile
from pathlib import Path

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.reader import MAX_COLUMNS
from sce_desktop.data.tables import open_table, preview_table
from tests.data.reading import read, read_bytes


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(100)),
        ("photo.csv", b"\x89PNG\r\n\x1a\n" + bytes(100)),
        ("photo.jpg", b"\xff\xd8\xff\xe0" + bytes(100)),
        ("paper.pdf", b"%PDF-1.7\n%..."),
        ("noise.csv", bytes(range(256)) * 20),
        ("zeros.csv", bytes(5000)),
        ("noise.jsonl", bytes(range(256)) * 20),
        ("empty.csv", b""),
        ("empty.csv.gz", gzip.compress(b"")),
        ("cut.csv.gz", gzip.compress(b"a,b\n" * 100_000)[:-50]),
        ("broken.csv.gz", b"\x1f\x8b\x08\x00 broken"),
        ("empty.xlsx", b""),
        ("empty.parquet", b""),
        ("packed.xlsx.gz", gzip.compress(b"PK\x03\x04")),
    ],
)
def test_what_is_no_table_is_said_in_one_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(UserError) as caught:
        read_bytes(tmp_path, content, name)
    message = str(caught.value)
    assert name in message
    assert message.endswith(".")
    assert "\n" not in message


def test_an_archive_is_no_table(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", "id,text\n1,x\n")
    with pytest.raises(UserError, match="not an Excel workbook"):
        open_table(tmp_path / "a.zip")


def test_a_database_is_no_table(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.sce")
    connection.execute("create table t (a)")
    connection.close()
    with pytest.raises(UserError, match="database or a project"):
        open_table(tmp_path / "a.sce")


def test_a_folder_a_missing_file_and_a_pipe(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="folder"):
        open_table(tmp_path)
    with pytest.raises(UserError, match="does not exist"):
        open_table(tmp_path / "missing.csv")
    with pytest.raises(UserError, match="cannot be read"):
        open_table(tmp_path / ("x" * 300 + ".csv"))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.csv")
        with pytest.raises(UserError, match="pipe"):
            open_table(tmp_path / "pipe.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n")
    (tmp_path / "a.csv").chmod(0)
    with pytest.raises(UserError, match="permissions"):
        open_table(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.csv", "csv"),
        ("a.TSV", "csv"),
        ("a.txt", "csv"),
        ("a", "csv"),
        ("a.jsonl", "jsonl"),
        ("a.JSON", "jsonl"),
    ],
)
def test_the_ending_tells_text_from_json(tmp_path: Path, name: str, kind: str) -> None:
    content = '{"text":"x"}\n' if kind == "jsonl" else "text\nx\n"
    result = read_bytes(tmp_path, content, name)
    assert (result.table.kind, result.columns, result.rows) == (kind, ("text",), [("x",)])


def test_the_content_tells_workbooks_and_parquet(tmp_path: Path) -> None:
    from sce_desktop.data.writers import write_table

    for ending in ("xlsx", "parquet"):
        write_table(tmp_path / f"a.{ending}", ["a"], [[["x"]]])
        (tmp_path / f"{ending}.csv").write_bytes((tmp_path / f"a.{ending}").read_bytes())
        assert read(tmp_path / f"{ending}.csv").table.kind == ending


def test_a_gzipped_csv(tmp_path: Path) -> None:
    content = "id;text\n" + '1;"Grüße, so"\n' * 30_000
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content.encode("cp1252")))
    result = read(tmp_path / "a.csv.gz", size=7000)
    assert (result.columns, result.rows) == (("id", "text"), [("1", "Grüße, so")] * 30_000)


def test_a_preview_shows_how_a_table_is_read(tmp_path: Path) -> None:
    lines = "".join(f"{n};Some longer text, number {n};{'AB'[n % 2]}illing\n" for n in range(300))
    (tmp_path / "a.csv").write_bytes(f"\ufeffid;comment;category\n{lines}\n300;ragged\n".encode())
    preview = preview_table(tmp_path / "a.csv", rows=5)
    assert (preview.kind, preview.columns) == ("csv", ("id", "comment", "category"))
    assert len(preview.rows) == 5
    assert preview.rows[1] == ("1", "Some longer text, number 1", "Billing")
    assert preview.options == TableOptions("utf-8", ";", True, 1)
    assert [problem.line for problem in preview.problems] == [302, 303]
    assert (preview.problem_count, preview.estimated_rows) == (2, 301)
    assert preview.encodings[0] == "utf-8"
    assert (preview.text_column, preview.label_column) == (1, 2)


def test_a_preview_with_a_chosen_encoding_keeps_the_others_on_offer(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("text\nfür\n".encode("cp1252"))
    preview = preview_table(tmp_path / "a.csv", TableOptions(encoding="mac_roman"))
    assert preview.options.encoding == "mac_roman"
    assert preview.encodings[0] == "cp1252"
    assert {"mac_roman", "utf-8"} <= set(preview.encodings)
    assert preview.rows == (("f¸r",),)


def test_a_preview_of_sheets(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(["text"])
    book.active.append(["a text"])
    book.create_sheet("Other")
    book.save(tmp_path / "a.xlsx")
    preview = preview_table(tmp_path / "a.xlsx")
    assert (preview.sheets, preview.options.sheet, preview.encodings) == (("Sheet", "Other"), "Sheet", ())
    assert preview.estimated_rows == 1


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_header_without_end_is_refused(tmp_path: Path, name: str) -> None:
    from sce_desktop.data.writers import write_table

    columns = [f"c{place}" for place in range(MAX_COLUMNS + 1)]
    write_table(tmp_path / name, columns, [[["x"] * len(columns)]])
    with pytest.raises(UserError, match=r"(32,769 columns, and the limit is|more than) 32,768"):
        open_table(tmp_path / name)


def test_twenty_thousand_columns_are_read_in_small_batches(tmp_path: Path) -> None:
    line = ",".join(["x"] * 20_000)
    (tmp_path / "a.csv").write_text(f"{line}\n" * 151)
    batches = list(open_table(tmp_path / "a.csv", TableOptions(delimiter=",")).batches(5000))
    assert [len(batch) for batch in batches] == [100, 50]
    assert len(batches[0][0]) == 20_000


@pytest.mark.parametrize("name", ["a.txt", "a.csv"])
def test_a_header_below_the_end(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="no header on line 5"):
        read_bytes(tmp_path, "a\nb\n", name, header_row=5)
