from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook

from sce_desktop.core.errors import UserError
from sce_desktop.data.excel.number_formats import number_text
from tests.data.reading import read
from tests.data.workbooks import cells, xlsx


def workbook(folder: Path, *rows: list[object], name: str = "Data") -> tuple[Workbook, Path]:
    book = Workbook()
    sheet = book.active
    sheet.title = name
    for row in rows:
        sheet.append(row)
    return book, folder / "book.xlsx"


def test_b08_a_blank_row_and_a_number_among_the_texts(tmp_path: Path) -> None:
    book, path = workbook(tmp_path, ["id", "text"], [1, "good"], [], [2, 42], [3, None], [4, " x "])
    book.save(path)
    result = read(path)
    assert result.columns == ("id", "text")
    assert result.rows == [("1", "good"), ("2", "42"), ("3", None), ("4", " x ")]
    assert result.problem_lines == [3]


def test_values_become_the_text_that_excel_shows(tmp_path: Path) -> None:
    values: list[tuple[object, str | None, str | None]] = [
        (42, None, "42"),
        (-0.5, None, "-0.5"),
        (0.1 + 0.2, None, "0.3"),
        (1e21, None, "1E+21"),
        (True, None, "TRUE"),
        (dt.date(2024, 5, 1), None, "2024-05-01"),
        (dt.datetime(2024, 5, 1, 13, 30), None, "2024-05-01T13:30:00"),
        (dt.time(13, 30), None, "13:30:00"),
        (dt.timedelta(hours=26, minutes=3, seconds=4), None, "26:03:04"),
        (0.5, "0%", "50%"),
        (0.125, "0.0%", "12.5%"),
        (0.07, "[Red]0.00%", "7%"),
        (3, '0" %"', "3"),  # a percent sign that is just text
        ("50%", None, "50%"),
        ("NA", None, "NA"),
        ("=1+1", None, None),  # a formula that was never calculated
        (None, None, None),
    ]
    book, path = workbook(
        tmp_path, [f"c{place}" for place in range(len(values))], [value for value, _, _ in values]
    )
    for place, (_, number_format, _) in enumerate(values, start=1):
        if number_format:
            book.active.cell(2, place).number_format = number_format
    book.save(path)
    assert read(path).rows == [tuple(expected for _, _, expected in values)]


def test_errors_and_merged_cells_are_text(tmp_path: Path) -> None:
    book, path = workbook(tmp_path, ["a", "b", "c"], ["x", "#N/A", 0.25], ["merged", None, "#DIV/0!"])
    sheet = book.active
    sheet["B2"].data_type = sheet["C3"].data_type = "e"
    sheet["C2"].number_format = "0%"
    sheet.merge_cells("A3:B3")
    book.save(path)
    assert read(path).rows == [("x", "#N/A", "25%"), ("merged", None, "#DIV/0!")]


def test_a_table_that_starts_anywhere(tmp_path: Path) -> None:
    book, path = workbook(tmp_path)
    sheet = book.active
    for cell, value in {"C4": "id", "D4": "text", "C5": 1, "D5": "#REF!", "C9": 2, "D9": "y"}.items():
        sheet[cell] = value
    sheet["D5"].data_type = "e"
    book.save(path)
    result = read(path)
    assert (result.columns, result.rows) == (("id", "text"), [("1", "#REF!"), ("2", "y")])
    assert (result.table.options.header_row, result.problem_lines) == (4, [6, 7, 8])


def test_the_sheet_and_the_header_row_can_be_chosen(tmp_path: Path) -> None:
    book, path = workbook(tmp_path, name="Empty")
    second = book.create_sheet("Über uns")
    for row in (["Report"], ["id", "text"], [1, "x"]):
        second.append(row)
    book.create_sheet("Third").append(["only"])
    book.save(path)
    result = read(path, header_row=2)
    assert result.table.sheets == ("Empty", "Über uns", "Third")
    assert result.table.options.sheet == "Über uns"  # the first with anything in it
    assert (result.columns, result.rows) == (("id", "text"), [("1", "x")])
    assert read(path, sheet="Third").columns == ("only",)
    assert read(path, sheet="Über uns", header_row=0).rows == [("Report", None), ("id", "text"), ("1", "x")]
    for options, said in (
        ({"sheet": "Missing"}, "no sheet “Missing”. Choose from: “Empty”, “Über uns” and “Third”"),
        ({"sheet": "Empty"}, "The sheet “Empty” of book.xlsx has no filled cell"),
        ({"header_row": 9}, "no header in row 9"),
    ):
        with pytest.raises(UserError, match=said):
            read(path, **options)  # type: ignore[arg-type]


def test_a_header_with_gaps_keeps_its_columns(tmp_path: Path) -> None:
    book, path = workbook(tmp_path, ["id", None, "text", "text"], [1, "x", "y", "z"])
    book.save(path)
    result = read(path)
    assert (result.columns, result.rows) == (("id", "", "text", "text"), [("1", "x", "y", "z")])


def test_rows_are_counted(tmp_path: Path) -> None:
    book, path = workbook(tmp_path, ["id"], *[[number] for number in range(2500)])
    book.save(path)
    result = read(path, size=700)
    assert result.table.estimated_rows == len(result.rows) == 2500
    assert result.rows[-1] == ("2499",)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("book.xlsx", b"id,text\n1,x\n"),
        ("book.xlsx", b"PK\x03\x04 and then nothing"),
        ("book.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512)),
    ],
)
def test_no_workbook(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match="not an Excel workbook"):
        read(tmp_path / name)


def test_a_damaged_sheet(tmp_path: Path) -> None:
    book, path = workbook(tmp_path, ["id", "text"], [1, "x"])
    book.save(path)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "cut.xlsx", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content[: len(content) // 2] if "sheet1" in name else content)
    with pytest.raises(UserError, match="damaged"):
        read(tmp_path / "cut.xlsx")


def test_ids_keep_their_zeros_and_all_their_digits(tmp_path: Path) -> None:
    """The raw number and its format in the file, and what becomes of it."""
    codes = ["General", "0000000", "000-00-0000", "0", "yyyy\\-mm\\-dd", "0.00%"]
    formats = "".join(f'<numFmt numFmtId="{200 + n}" formatCode="{code}"/>' for n, code in enumerate(codes))
    styles = "".join(f'<xf numFmtId="{200 + n}"/>' for n in range(len(codes)))
    found = [
        (1, "123", "0000123"),
        (2, "123456789", "123-45-6789"),
        (0, "123456789012345678", "123456789012345678"),
        (1, "123456789012345678", "123456789012345678"),
        (3, "1.2345678901234501E+17", "123456789012345000"),
        (0, "0.1", "0.1"),
        (0, "42.0", "42"),
        (4, "45413", "2024-05-01"),
        (5, "0.125", "12.5%"),
        (99, "7", "7"),  # a style that is not there
    ]
    row = "".join(f'<c s="{style}"><v>{raw}</v></c>' for style, raw, _ in found)
    path = xlsx(
        tmp_path / "a.xlsx",
        f"<row>{'<c><v>1</v></c>' * len(found)}</row><row>{row}</row>",
        styles=f"<styleSheet><numFmts>{formats}</numFmts><cellStyleXfs><xf/></cellStyleXfs>"
        f"<cellXfs>{styles}</cellXfs></styleSheet>",
    )
    assert read(path).rows == [tuple(text for _, _, text in found)]


def test_formulas_without_a_saved_result_are_reported_and_their_rows_kept(tmp_path: Path) -> None:
    path = xlsx(
        tmp_path / "a.xlsx",
        cells(A1="id", B1="text")
        + '<row><c t="str"><f>A1</f><v>saved</v></c><c t="str"><f>B1</f><v></v></c></row>'
        "<row><c><f>1+1</f><v></v></c><c><f>2+2</f></c></row>"
        "<row><c><v>3</v></c><c><f>3+3</f><v/></c></row>",
    )
    result = read(path)
    assert result.rows == [("saved", None), (None, None), ("3", None)]
    assert [(p.line, p.message.partition(":")[0]) for p in result.table.problems] == [
        (3, "A3 and B3"),
        (4, "B4"),
    ]
    assert "a formula without a saved result was read as empty" in result.table.problems[1].message


def test_a_formula_without_a_result_is_no_header(tmp_path: Path) -> None:
    path = xlsx(tmp_path / "a.xlsx", "<row><c><f>TODAY()</f></c></row>" + cells(A2="text", A3="x"))
    result = read(path)
    assert (result.table.options.header_row, result.columns, result.rows) == (2, ("text",), [("x",)])
    assert [(p.line, p.message.partition(":")[0]) for p in result.table.problems] == [(1, "A1")]


def test_texts_in_every_form_that_a_file_may_have(tmp_path: Path) -> None:
    forms = {
        '<c t="s"><v>0</v></c>': "two runs",
        '<c t="s"><v>1</v></c>': " kept ",
        '<c t="inlineStr"><is><t>東京</t><rPh><t>トウキョウ</t></rPh></is></c>': "東京",
        '<c t="inlineStr"><is><t>a_x000D_b_x005F_x0041__xD83D_</t></is></c>': "a\rb_x0041__xD83D_",
        '<c t="str"><f>A1</f><v> as it is </v></c>': " as it is ",
        '<c t="b"><v>1</v></c>': "TRUE",
        '<c t="e"><v>#REF!</v></c>': "#REF!",
        '<c t="d"><v>2024-05-01T00:00:00</v></c>': "2024-05-01T00:00:00",
        "<c><v>not a number</v></c>": "not a number",
        '<c t="s"><v></v></c>': None,
    }
    path = xlsx(
        tmp_path / "a.xlsx",
        f"<row>{'<c><v>1</v></c>' * len(forms)}</row><row>{''.join(forms)}</row>",
        shared="<sst><si><r><t>two </t></r><r><t>runs</t></r></si><si><t> kept </t></si></sst>",
    )
    assert read(path).rows == [tuple(forms.values())]


@pytest.mark.parametrize("number", ["5", "-1", "x", "99999999999"])
def test_a_shared_text_that_is_not_there(tmp_path: Path, number: str) -> None:
    path = xlsx(tmp_path / "a.xlsx", f'<row><c t="s"><v>{number}</v></c></row>', shared="<sst/>")
    with pytest.raises(UserError, match="damaged"):
        read(path)


def test_prefixed_names_strict_parts_and_1904(tmp_path: Path) -> None:
    sheet = (
        '<x:worksheet xmlns:x="http://purl.oclc.org/ooxml/spreadsheetml/main"><x:sheetData>'
        '<x:row><x:c t="inlineStr"><x:is><x:t>text</x:t></x:is></x:c></x:row>'
        '<x:row><x:c s="0"><x:v>0.5</x:v></x:c></x:row><x:row><x:c s="0"><x:v>1</x:v></x:c></x:row>'
        "</x:sheetData></x:worksheet>"
    )
    plain = xlsx(
        tmp_path / "plain.xlsx",
        "",
        styles='<styleSheet><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>',
        book='<workbookPr date1904="1"/>',
    )
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as new:
        for name in old.namelist():
            new.writestr(name, sheet.encode("utf-16") if name.endswith("sheet1.xml") else old.read(name))
    assert read(tmp_path / "a.xlsx").rows == [("1904-01-01T12:00:00",), ("1904-01-02",)]


def test_numbers_have_the_digits_of_excel() -> None:
    assert [number_text(value) for value in (0.0, -0.0, 1e14, 123456789012345678.0, 1 / 3, 1e-7)] == [
        "0",
        "0",
        "100000000000000",
        "1.23456789012346E+17",
        "0.333333333333333",
        "1E-07",
    ]
