"""Workbooks that are small on disk and endless in memory, and tables with a stray cell far away."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.limits import FREE_WORKBOOK
from sce_desktop.data.excel.xls_size import xls_cells
from tests.data.reading import read
from tests.data.workbooks import cells, ods, ods_row, xls, xlsx

TABLE = {"A1": "id", "B1": "text", "A2": "1", "B2": "good"}


def test_one_value_in_the_last_cell_of_a_sheet(tmp_path: Path) -> None:
    path = xlsx(tmp_path / "a.xlsx", cells(XFD1048576="text"))
    result = read(path)
    assert (result.columns, result.rows, result.problem_lines) == (("text",), [], [])
    assert result.table.options.header_row == 1_048_576


@pytest.mark.parametrize("far", ["XFD1048576", "XFD1", "XFD2"])
def test_a_stray_cell_in_the_last_column_is_named(tmp_path: Path, far: str) -> None:
    path = xlsx(tmp_path / "a.xlsx", cells(**{**TABLE, far: "stray"}))
    with pytest.raises(UserError, match=r"column XFD, row .* nearly empty"):
        read(path)


def test_a_stray_cell_in_the_last_row_is_a_row(tmp_path: Path) -> None:
    result = read(xlsx(tmp_path / "a.xlsx", cells(**TABLE, A1048576="9")))
    assert result.rows == [("1", "good"), ("9", None)]
    assert [(p.line, p.message) for p in result.table.problems] == [
        (3, "1,048,573 blank rows in the sheet, skipped.")
    ]


def test_a_wide_table_with_names_and_few_values_is_read(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active.append([f"c{place}" for place in range(16_384)])
    book.active.append(["x"])
    book.active.append([None] * 16_383 + ["y"])
    book.save(tmp_path / "a.xlsx")
    result = read(tmp_path / "a.xlsx")
    assert (result.columns[0], result.columns[-1]) == ("c0", "c16383")
    assert [(row[0], row[1], row[-1]) for row in result.rows] == [("x", None, None), (None, None, "y")]


@pytest.mark.parametrize("dimension", ["A1:XFD1048576", "A1", "Z9:A1", "nonsense"])
def test_the_dimension_that_a_sheet_claims_is_not_believed(tmp_path: Path, dimension: str) -> None:
    path = xlsx(tmp_path / "a.xlsx", cells(**TABLE), before=f'<dimension ref="{dimension}"/>')
    assert read(path).rows == [("1", "good")]


@pytest.mark.parametrize("reference", ["XFE2", "A99999999999", "A0", "A-1", "2", "ÄA2", "A²"])
def test_a_cell_outside_of_every_sheet(tmp_path: Path, reference: str) -> None:
    with pytest.raises(UserError, match="damaged"):
        read(xlsx(tmp_path / "a.xlsx", cells(A1="text", A2="x") + cells(**{reference: "y"})))


def test_three_hundred_sheets_and_the_last_one_is_filled(tmp_path: Path) -> None:
    path = xlsx(tmp_path / "a.xlsx", cells(**TABLE), sheets=300)
    result = read(path)
    assert (result.table.options.sheet, result.rows) == ("Sheet300", [("1", "good")])
    with pytest.raises(UserError, match=r"“Sheet1”.* and 280 more") as caught:
        read(path, sheet="None")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"])
def test_a_part_that_unpacks_to_a_thousand_times_its_size(tmp_path: Path, part: str) -> None:
    plain = xlsx(tmp_path / "plain.xlsx", cells(**TABLE), shared="<sst/>", styles="<styleSheet/>")
    with (
        zipfile.ZipFile(plain) as old,
        zipfile.ZipFile(tmp_path / "a.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for name in old.namelist():
            if name != part:
                new.writestr(name, old.read(name))
                continue
            with new.open(name, "w") as stream:
                stream.write(old.read(name))
                for _ in range(FREE_WORKBOOK // (1 << 24) + 1):
                    stream.write(bytes(1 << 24))
    with pytest.raises(UserError, match=r"unpacks to \d\d MB, \d+ times its size"):
        read(tmp_path / "a.xlsx")


def test_one_long_text_that_a_million_cells_show(tmp_path: Path) -> None:
    path = xlsx(
        tmp_path / "a.xlsx",
        '<row><c t="s"><v>0</v></c></row>' * (FREE_WORKBOOK // 30_000),
        shared=f"<sst><si><t>{'A' * 32_000}</t></si></sst>",
    )
    with pytest.raises(UserError, match="repeats its texts"):
        read(path, size=100)


@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;">]><worksheet><sheetData>&c;</sheetData></worksheet>',
        '<!DOCTYPE worksheet SYSTEM "file:///etc/hostname"><worksheet><sheetData/></worksheet>',
        "<worksheet><sheetData><row><c><v>1</v></c>",
        "",
    ],
)
def test_xml_that_is_not_a_sheet(tmp_path: Path, content: str) -> None:
    plain = xlsx(tmp_path / "plain.xlsx", "")
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as new:
        for name in old.namelist():
            new.writestr(name, content if name.endswith("sheet1.xml") else old.read(name))
    with pytest.raises(UserError, match="damaged"):
        read(tmp_path / "a.xlsx")


def test_ods_with_empty_space_behind_the_table(tmp_path: Path) -> None:
    path = ods(
        tmp_path / "a.ods",
        ods_row(("text", 1), ("", 16_383)),
        ods_row(("good", 1), ("", 16_383)),
        ods_row(("", 16_384), times=1_048_574),
    )
    assert read(path).rows == [("good",)]


@pytest.mark.parametrize(
    "row",
    [
        ods_row(("x", 16_384), times=1_000_000),
        ods_row(("", 16_384), times=1_000_000) + ods_row(("", 16_383), ("x", 1)),
        ods_row(("x" * 32_000, 16_384), times=100),
    ],
)
def test_ods_that_repeats_without_end(tmp_path: Path, row: str) -> None:
    with pytest.raises(UserError, match="cells, including empty ones"):
        read(ods(tmp_path / "a.ods", ods_row(("text", 1)), row))


def test_a_part_that_lies_about_its_size(tmp_path: Path) -> None:
    plain = ods(tmp_path / "plain.ods", ods_row(("text", 1)), ods_row(("good", 1)))
    assert read(plain).rows == [("good",)]
    with zipfile.ZipFile(plain, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("styles.xml", b"x" * 5_000_000)
    content = plain.read_bytes()
    size = (5_000_000).to_bytes(4, "little")
    assert content.count(size) == 2
    (tmp_path / "a.ods").write_bytes(content.replace(size, (500).to_bytes(4, "little")))
    with pytest.raises(UserError, match="damaged"):
        read(tmp_path / "a.ods")


def test_xls_with_a_cell_where_no_sheet_has_one(tmp_path: Path) -> None:
    table = [(0, 0, "text"), (1, 0, "good")]
    assert read(xls(tmp_path / "a.xls", table)).rows == [("good",)]
    path = xls(tmp_path / "b.xls", [*table, (65_535, 65_535, "x")])
    assert xls_cells(path.read_bytes()) == 65_536**2
    with pytest.raises(UserError, match="4,294,967,296 cells"):
        read(path)


def test_xlsb_with_a_cell_far_away(tmp_path: Path) -> None:
    def record(kind: int, content: bytes) -> bytes:
        return bytes([kind, len(content)]) + content

    def number(row: int, column: int) -> bytes:
        place = column.to_bytes(4, "little") + bytes(4)
        return record(0, row.to_bytes(4, "little") + bytes(13)) + record(5, place + bytes(8))

    with zipfile.ZipFile(tmp_path / "a.xlsb", "w") as archive:
        archive.writestr("xl/workbook.bin", b"")
        archive.writestr("xl/worksheets/sheet1.bin", number(0, 0) + number(1_048_575, 16_383))
    with pytest.raises(UserError, match="17,179,869,184 cells"):
        read(tmp_path / "a.xlsb")


def test_rows_above_a_wide_last_row_of_an_old_workbook_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """calamine gives all the empty rows above the first filled one, each as wide as that."""
    path = xls(tmp_path / "a.xls", [(0, 0, "text"), (1, 0, "good")])
    monkeypatch.setattr("sce_desktop.data.excel.workbook_size.xls_cells", lambda _: 0)
    monkeypatch.setattr("sce_desktop.data.excel.workbook_size.MAX_SHEET_AREA", 1)
    with pytest.raises(UserError, match="a sheet of 2 cells"):
        read(path)
