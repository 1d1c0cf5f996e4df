"""How many cells an xlsb, xls or ods workbook unpacks to, found without filling memory as calamine would."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import IO, BinaryIO, cast

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.data.excel.xls_size import xls_cells
from sce_desktop.data.excel.xlsx import refuse_bomb
from sce_desktop.data.excel.xlsx_xml import CHUNK, DamagedError, new_parser

MOST_CELLS = 20_000_000  # of some 60 bytes each
_TEXT = 32  # characters that take as much memory as a cell
_ODS_CELLS = ("table-cell", "covered-table-cell")
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # of xls, and of what is encrypted
_ROW = 0
_XLSB_CELLS = range(2, 12)  # 1 is a blank one


def refuse_large(path: Path) -> None:
    """Raise UserError where ``path`` holds more cells than fit in memory, filled or not."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            if file.read(len(_COMPOUND)) == _COMPOUND:
                refuse_cells(path, xls_cells(path.read_bytes()))
        return
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            refuse_bomb(path, info.file_size)
        if (
            archive.testzip() is not None
        ):  # calamine would unpack whatever a part that lies about its size holds
            raise DamagedError("a part that is not what its checksum says")
        for info in archive.infolist():
            name = info.filename.lower()
            if name == "content.xml":
                with archive.open(info) as stream:
                    refuse_cells(path, _ods_cells(stream))
            elif name.endswith(".bin") and "sheets/" in name:
                with archive.open(info) as stream:
                    refuse_cells(path, _xlsb_cells(stream))


def refuse_cells(path: Path, cells: int) -> None:
    """Refuse a sheet of more cells than memory and time have room for."""
    if cells > MOST_CELLS:
        raise UserError(
            _(
                "{file} has a sheet of {cells} cells, including empty ones: delete the cells far "
                "from the table, or save it as XLSX or CSV.",
                file=path.name,
                cells=number(cells),
            )
        )


def _ods_cells(stream: IO[bytes]) -> int:
    """Return the cells of the rectangles that hold the filled ones of all sheets, and of repeated texts."""
    total = rows = height = widest = 0  # of a sheet: rows so far, up to the last filled one, its columns
    times = width = filled = repeats = text = 0  # of a row and a cell
    parser = new_parser()

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal rows, height, widest, times, width, filled, repeats, text
        local = name.rpartition(":")[2]
        if local == "table":
            rows = height = widest = 0
        elif local == "table-row":
            times, width, filled = _times(attributes, "number-rows-repeated"), 0, 0
            rows += times
        elif local in _ODS_CELLS:
            repeats, text = _times(attributes, "number-columns-repeated"), 0
            width += repeats
            if any(key.endswith((":value-type", ":formula")) for key in attributes):
                filled = width
        elif local == "p":
            filled = width

    def end(name: str) -> None:
        nonlocal total, height, widest
        local = name.rpartition(":")[2]
        if local == "table":
            total += height * widest
        elif local == "table-row" and filled:
            height, widest = rows, max(widest, filled)
        elif local in _ODS_CELLS:
            total += times * repeats * (text // _TEXT)

    def data(piece: str) -> None:
        nonlocal text
        text += len(piece)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = data
    while chunk := stream.read(CHUNK):
        parser.Parse(chunk)
    parser.Parse(b"", True)
    return total


def _times(attributes: dict[str, str], name: str) -> int:
    value = next((value for key, value in attributes.items() if key.endswith(f":{name}")), "1")
    if not value.isdecimal() or len(value) > 9:
        raise DamagedError(f"no number of repetitions: {value:.20}")
    return int(value)


def _xlsb_cells(stream: IO[bytes]) -> int:
    """Return the cells of the rectangle around the filled ones of a sheet."""
    file = io.BufferedReader(cast(io.RawIOBase, stream), CHUNK)
    row = 0
    first_row, last_row, first_column, last_column = 1 << 32, -1, 1 << 32, -1
    while (kind := _varint(file, 2)) is not None:
        length = _varint(file, 4)
        if length is None:
            break
        record = file.read(length)
        if kind == _ROW and len(record) >= 4:
            row = int.from_bytes(record[:4], "little")
        elif kind in _XLSB_CELLS and len(record) >= 4:
            column = int.from_bytes(record[:4], "little")
            first_row, last_row = min(first_row, row), max(last_row, row)
            first_column, last_column = min(first_column, column), max(last_column, column)
    return max(last_row - first_row + 1, 0) * max(last_column - first_column + 1, 0)


def _varint(file: BinaryIO, most: int) -> int | None:
    """Return a number of up to ``most`` bytes of 7 bits, the lowest first; None at the end of the file."""
    value = 0
    for place in range(most):
        byte = file.read(1)
        if not byte:
            return None
        value |= (byte[0] & 0x7F) << (7 * place)
        if byte[0] < 0x80:
            break
    return value
