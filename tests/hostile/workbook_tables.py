"""Workbooks that mean ill: see `tests.hostile.tables`."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

from tests.data import workbooks

BUILDERS: list[Callable[[Path], Path]] = []

_HEAD = workbooks.cells(A1="id", B1="text", A2="1", B2="late")
_MB = 1_000_000


def _builder(build: Callable[[Path], Path]) -> Callable[[Path], Path]:
    BUILDERS.append(build)
    return build


def _with_part(path: Path, part: str, pieces: Iterable[bytes]) -> Path:
    """Replace ``part`` of the workbook by ``pieces``, which are never in memory at once."""
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist() if name != part}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in kept.items():
            archive.writestr(name, content)
        with archive.open(part, "w", force_zip64=True) as file:
            for piece in pieces:
                file.write(piece)
    return path


def _sheet(path: Path, before: bytes, piece: bytes, times: int, after: bytes = b"") -> Path:
    head = f"<worksheet><sheetData>{_HEAD}".encode()
    block = piece * max(_MB // len(piece), 1)
    blocks, rest = divmod(times, max(_MB // len(piece), 1))
    parts = (head, before, *[block] * blocks, piece * rest, after)
    return _with_part(path, "xl/worksheets/sheet1.xml", parts)


@_builder
def zip_bomb(folder: Path) -> Path:
    """1.5 MB that unpack to a sheet of 300 MB."""
    path = workbooks.xlsx(folder / "a.xlsx", _HEAD)
    return _sheet(
        path, b"", b"<row><c t='inlineStr'><is><t>aaaaaaaaaaaaaaaaaaaaa</t></is></c></row>", 4_600_000
    )


@_builder
def shared_bomb(folder: Path) -> Path:
    """Two million shared texts of a few letters, most of which no cell names."""
    path = workbooks.xlsx(folder / "a.xlsx", _HEAD + '<row><c t="s"><v>1</v></c></row>', shared="<sst/>")
    block = b"".join(b"<si><t>t%07d</t></si>" % n for n in range(40_000))
    return _with_part(path, "xl/sharedStrings.xml", (b"<sst>", *[block] * 50, b"</sst>"))


@_builder
def shared_bomb_to_the_end(folder: Path) -> Path:
    """The same, and a cell of the head names the last of them."""
    row = '<row><c t="s"><v>1999999</v></c></row>'
    path = workbooks.xlsx(folder / "a.xlsx", _HEAD + row, shared="<sst/>")
    block = b"".join(b"<si><t>t%07d</t></si>" % n for n in range(40_000))
    return _with_part(path, "xl/sharedStrings.xml", (b"<sst>", *[block] * 50, b"</sst>"))


@_builder
def shared_far_out(folder: Path) -> Path:
    """A cell names a shared text that is not there, by a number of a thousand digits."""
    row = f'<row><c t="s"><v>{"9" * 1000}</v></c><c t="s"><v>123456789</v></c></row>'
    return workbooks.xlsx(folder / "a.xlsx", _HEAD + row, shared="<sst><si><t>a</t></si></sst>")


@_builder
def shared_repeated(folder: Path) -> Path:
    """A shared text of a megabyte in a thousand cells."""
    rows = '<row><c t="s"><v>0</v></c></row>' * 1000
    return workbooks.xlsx(folder / "a.xlsx", _HEAD + rows, shared=f"<sst><si><t>{'a' * _MB}</t></si></sst>")


@_builder
def blank_cells(folder: Path) -> Path:
    """A sheet of 60 million cells with nothing in them."""
    row = b"<row>" + b"<c/>" * 4000 + b"</row>"
    return _sheet(workbooks.xlsx(folder / "a.xlsx", _HEAD), b"", row, 15_000)


@_builder
def long_comment(folder: Path) -> Path:
    """A comment of 100 MB in a sheet, which a parser looks through again with every piece that comes."""
    return _sheet(
        workbooks.xlsx(folder / "a.xlsx", _HEAD), b"<!--", b"a", 100 * _MB, b"--></sheetData></worksheet>"
    )


@_builder
def long_attribute(folder: Path) -> Path:
    """A reference of 100 MB."""
    return _sheet(
        workbooks.xlsx(folder / "a.xlsx", _HEAD),
        b'<row><c r="',
        b"A",
        100 * _MB,
        b'"/></row></sheetData></worksheet>',
    )


@_builder
def long_cell(folder: Path) -> Path:
    """A cell of 100 MB."""
    return _sheet(
        workbooks.xlsx(folder / "a.xlsx", _HEAD),
        b'<row><c t="inlineStr"><is><t>',
        b"a",
        100 * _MB,
        b"</t></is></c></row></sheetData></worksheet>",
    )


@_builder
def deep_elements(folder: Path) -> Path:
    """Elements in elements, 20 million deep."""
    return _sheet(workbooks.xlsx(folder / "a.xlsx", _HEAD), b"<row>", b"<is>", 20 * _MB)


@_builder
def merged_cells(folder: Path) -> Path:
    """Three million merged areas behind the cells."""
    return _sheet(
        workbooks.xlsx(folder / "a.xlsx", _HEAD),
        b"</sheetData><mergeCells>",
        b'<mergeCell ref="A1:XFD1048576"/>',
        3 * _MB,
        b"</mergeCells></worksheet>",
    )


@_builder
def many_sheets(folder: Path) -> Path:
    """200,000 sheets without a cell, all of which are the same part."""
    path = workbooks.xlsx(folder / "a.xlsx", "")
    return _with_part(
        path,
        "xl/workbook.xml",
        (
            b'<workbook xmlns:r="x"><sheets>',
            *(b'<sheet name="S%d" r:id="rId1"/>' % n for n in range(200_000)),
            b"</sheets></workbook>",
        ),
    )


@_builder
def many_styles(folder: Path) -> Path:
    """Five million cell formats."""
    path = workbooks.xlsx(folder / "a.xlsx", _HEAD + '<row><c s="4999999"><v>1</v></c></row>', styles="<s/>")
    block = b'<xf numFmtId="14"/>' * 50_000
    return _with_part(
        path, "xl/styles.xml", (b"<styleSheet><cellXfs>", *[block] * 100, b"</cellXfs></styleSheet>")
    )


@_builder
def long_format(folder: Path) -> Path:
    """A number format of three million signs, and a cell that has it."""
    code = "[" * _MB + "0?#" * _MB
    styles = (
        f'<styleSheet><numFmts><numFmt numFmtId="170" formatCode="{code}"/></numFmts>'
        '<cellXfs><xf numFmtId="170"/></cellXfs></styleSheet>'
    )
    return workbooks.xlsx(folder / "a.xlsx", _HEAD + '<row><c s="0"><v>1.5</v></c></row>' * 50, styles=styles)


@_builder
def long_number(folder: Path) -> Path:
    """A number of four million digits and one with an exponent of a billion."""
    row = f"<row><c><v>{'9' * 4 * _MB}</v></c><c><v>1E+999999999</v></c></row>"
    return workbooks.xlsx(folder / "a.xlsx", _HEAD + row)


@_builder
def entities(folder: Path) -> Path:
    """Entities of entities, which unpack to gigabytes."""
    names = "abcdefghij"
    declared = "<!ENTITY a 'lol'>" + "".join(
        f"<!ENTITY {new} '{f'&{old};' * 10}'>" for old, new in pairwise(names)
    )
    path = workbooks.xlsx(folder / "a.xlsx", _HEAD, shared="<sst/>")
    text = f"<!DOCTYPE sst [{declared}]><sst><si><t>&j;</t></si></sst>"
    return _with_part(path, "xl/sharedStrings.xml", (text.encode(),))


@_builder
def far_corner(folder: Path) -> Path:
    """One value in the last cell that a sheet has, and a dimension of all of it."""
    return workbooks.xlsx(
        folder / "a.xlsx", _HEAD + workbooks.cells(XFD1048576="x"), before='<dimension ref="A1:XFD1048576"/>'
    )


@_builder
def lying_sizes(folder: Path) -> Path:
    """A sheet that says it unpacks to 100 bytes, and unpacks to 50 MB."""
    path = _sheet(workbooks.xlsx(folder / "a.xlsx", _HEAD), b"", b"<row><c><v>1</v></c></row>", 2 * _MB)
    with zipfile.ZipFile(path) as archive:
        sizes = {info.file_size for info in archive.infolist() if info.filename.endswith("sheet1.xml")}
    content = path.read_bytes()
    for size in sizes:
        content = content.replace(struct.pack("<Q", size), struct.pack("<Q", 100))
        content = content.replace(struct.pack("<I", size), struct.pack("<I", 100))
    path.write_bytes(content)
    return path


@_builder
def ods_repeated(folder: Path) -> Path:
    """An OpenDocument sheet of one cell, repeated to the end of the sheet in both directions."""
    return workbooks.ods(folder / "a.ods", workbooks.ods_row(("x", 16_384), times=1_048_576))


@_builder
def ods_just_below(folder: Path) -> Path:
    """An OpenDocument sheet of 19 million cells of a few letters in a kilobyte."""
    return workbooks.ods(
        folder / "a.ods", workbooks.ods_row(("id", 19)), workbooks.ods_row(("text", 19), times=_MB)
    )


@_builder
def ods_bomb(folder: Path) -> Path:
    """An OpenDocument file that unpacks to 300 MB."""
    path = workbooks.ods(folder / "a.ods", workbooks.ods_row(("x", 1)))
    return _with_part(path, "content.xml", [b"<!--", *[b"a" * _MB] * 300, b"-->"])


@_builder
def xls_chain(folder: Path) -> Path:
    """A compound file whose directory is a circle of sectors."""
    path = workbooks.xls(folder / "a.xls", [(0, 0, "id"), (1, 0, "x")])
    content = bytearray(path.read_bytes())
    content[512 + 4 : 512 + 8] = struct.pack("<I", 1)
    path.write_bytes(bytes(content))
    return path


@_builder
def xls_far_corner(folder: Path) -> Path:
    """An xls sheet with texts in the first and the last cell that it may name."""
    return workbooks.xls(folder / "a.xls", [(0, 0, "id"), (65_535, 65_535, "x")])


@_builder
def xlsb_repeated(folder: Path) -> Path:
    """An xlsb sheet of 50,000 cells that all name one shared text of 1 MB."""
    path = folder / "a.xlsb"
    return workbooks_xlsb(path, "a" * _MB, rows=50_000)


def workbooks_xlsb(path: Path, text: str, *, rows: int) -> Path:
    """Write an xlsb file with ``rows`` cells in its first column that name the shared ``text``."""

    def varint(value: int) -> bytes:
        found = bytearray()
        while True:
            found.append(value & 0x7F | (0x80 if value > 0x7F else 0))
            value >>= 7
            if not value:
                return bytes(found)

    def record(kind: int, content: bytes = b"") -> bytes:
        head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
        return head + varint(len(content)) + content

    def wide(value: str) -> bytes:
        return struct.pack("<I", len(value)) + value.encode("utf-16-le")

    cell = b"".join(
        record(0, struct.pack("<IIHHBI", row, 0, 300, 0, 0, 0)) + record(7, struct.pack("<III", 0, 0, 0))
        for row in range(rows)
    )
    sheet = record(129) + record(148, struct.pack("<IIII", 0, rows - 1, 0, 0)) + record(145) + cell
    sheet += record(146) + record(130)
    book = record(131) + record(143) + record(156, struct.pack("<II", 0, 1) + wide("rId1") + wide("S"))
    book += record(144) + record(132)
    shared = record(159, struct.pack("<II", rows, 1)) + record(19, b"\0" + wide(text)) + record(160)
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    head = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    relations = [
        ("_rels/.rels", [("rId1", "officeDocument", "xl/workbook.bin")]),
        (
            "xl/_rels/workbook.bin.rels",
            [("rId1", "worksheet", "worksheets/sheet1.bin"), ("rId2", "sharedStrings", "sharedStrings.bin")],
        ),
    ]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, targets in relations:
            found = "".join(
                f'<Relationship Id="{i}" Type="{office}/{k}" Target="{t}"/>' for i, k, t in targets
            )
            archive.writestr(name, f"{head}{found}</Relationships>")
        archive.writestr("xl/workbook.bin", book)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
        archive.writestr("xl/sharedStrings.bin", shared)
    return path
