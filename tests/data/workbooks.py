"""Workbooks byte by byte: what no library writes."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_CELL = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'


def xlsx(
    path: Path,
    rows: str,
    *,
    shared: str | None = None,
    styles: str | None = None,
    book: str = "",
    before: str = "",
    sheets: int = 1,
) -> Path:
    """Write an xlsx file whose first sheet has the XML ``rows`` in its sheetData; the others are empty."""
    numbers = range(1, sheets + 1)
    named = "".join(f'<sheet name="Sheet{n}" sheetId="{n}" r:id="rId{n}"/>' for n in numbers)
    targets = [(f"rId{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in numbers]
    parts = {
        "_rels/.rels": _relations([("rId1", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'<workbook xmlns:r="{_OFFICE}">{book}<sheets>{named}</sheets></workbook>',
        **{f"xl/worksheets/sheet{n}.xml": "<worksheet><sheetData/></worksheet>" for n in numbers},
        f"xl/worksheets/sheet{sheets}.xml": f"<worksheet>{before}<sheetData>{rows}</sheetData></worksheet>",
    }
    for name, content in (("sharedStrings", shared), ("styles", styles)):
        if content is not None:
            targets.append((name, name, f"{name}.xml"))
            parts[f"xl/{name}.xml"] = content
    parts["xl/_rels/workbook.xml.rels"] = _relations(targets)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def cells(**texts: str) -> str:
    """Return rows with inline texts by reference, in the order given."""
    rows: dict[str, list[str]] = {}
    for reference, text in texts.items():
        rows.setdefault(reference.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), []).append(
            _CELL.format(reference, text)
        )
    return "".join(f'<row r="{row}">{"".join(found)}</row>' for row, found in rows.items())


def _relations(targets: list[tuple[str, str, str]]) -> str:
    found = (f'<Relationship Id="{i}" Type="{_OFFICE}/{kind}" Target="{t}"/>' for i, kind, t in targets)
    return f"<Relationships>{''.join(found)}</Relationships>"


def ods(path: Path, *rows: str) -> Path:
    """Write an OpenDocument sheet of ``rows``: see `ods_row`."""
    kind = "urn:oasis:names:tc:opendocument:xmlns"
    names = " ".join(f'xmlns:{name}="{kind}:{name}:1.0"' for name in ("office", "table", "text"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{kind}:manifest:1.0"/>')
        archive.writestr(
            "content.xml",
            f"<office:document-content {names}><office:body><office:spreadsheet>"
            f'<table:table table:name="Sheet">{"".join(rows)}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


def ods_row(*texts: tuple[str, int], times: int = 1) -> str:
    """Return a row of (text, how often); an empty text is an empty cell."""
    cell = "<table:table-cell table:number-columns-repeated"
    found = (
        f'{cell}="{n}" office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
        if text
        else f'{cell}="{n}"/>'
        for text, n in texts
    )
    return f'<table:table-row table:number-rows-repeated="{times}">{"".join(found)}</table:table-row>'


def xls(path: Path, found: list[tuple[int, int, str]]) -> Path:
    """Write an xls file (BIFF8 in a compound file) with the texts at 0-based (row, column)."""

    def record(kind: int, content: bytes) -> bytes:
        return struct.pack("<HH", kind, len(content)) + content

    def begin(kind: int) -> bytes:
        return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0, 0, 0, 0))

    def book(sheet_at: int) -> bytes:
        sheet = struct.pack("<IBBBB", sheet_at, 0, 0, 1, 0) + b"S"
        return begin(5) + record(0x42, struct.pack("<H", 1200)) + record(0x85, sheet) + record(0xA, b"")

    sheet = begin(0x10)
    for row, column, text in found:
        sheet += record(0x204, struct.pack("<HHHHB", row, column, 0, len(text), 0) + text.encode("latin1"))
    path.write_bytes(_compound(book(len(book(0))) + sheet + record(0xA, b"")))
    return path


def _compound(stream: bytes) -> bytes:
    """Return a compound file of three kinds of sectors: the table, the directory and the stream."""
    end, free = 0xFFFFFFFE, 0xFFFFFFFF
    stream = stream.ljust(max(4096, -(-len(stream) // 512) * 512), b"\0")
    sectors = len(stream) // 512
    table = [0xFFFFFFFD, end, *range(3, sectors + 2), end]
    table += [free] * (128 - len(table))

    def entry(name: str, kind: int, start: int, size: int, child: int) -> bytes:
        encoded = name.encode("utf-16-le") + b"\0\0"
        return (
            encoded.ljust(64, b"\0")
            + struct.pack("<HBBIII", len(encoded), kind, 1, free, free, child)
            + struct.pack("<36xIQ", start, size)
        )

    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + struct.pack("<16xHHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<109I", 0, *[free] * 108)
    directory = entry("Root Entry", 5, end, 0, 1) + entry("Workbook", 2, 2, len(stream), free)
    return header + struct.pack("<128I", *table) + directory.ljust(512, b"\0") + stream
