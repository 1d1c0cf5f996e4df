"""How many cells an xlsb, xls or ods workbook unpacks to, found without filling memory as calamine would."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.limits import MAX_SHEET_AREA
from sce_desktop.data.excel.xls_size import xls_cells
from sce_desktop.data.excel.xlsb_size import shared_lengths, xlsb_cells
from sce_desktop.data.excel.xlsx import refuse_bomb
from sce_desktop.data.excel.xlsx_xml import DamagedError, new_parser, parsed

CELL_TEXT = 32  # characters that take as much memory as a cell
_ODS_CELLS = ("table-cell", "covered-table-cell")
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # of xls, and of what is encrypted


def refuse_large(path: Path) -> None:
    """Raise UserError where ``path`` holds more cells than fit in memory, filled or not."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            if file.read(len(_COMPOUND)) == _COMPOUND:
                refuse_cells(path, xls_cells(path.read_bytes()))
        return
    with zipfile.ZipFile(path) as archive:
        refuse_bomb(path, sum(info.file_size for info in archive.infolist()))
        if (
            archive.testzip() is not None
        ):  # calamine would unpack whatever a part that lies about its size holds
            raise DamagedError("a part that is not what its checksum says")
        shared = shared_lengths(archive)
        for info in archive.infolist():
            name = info.filename.lower()
            if name == "content.xml":
                with archive.open(info) as stream:
                    refuse_cells(path, _ods_cells(stream))
            elif name.endswith(".bin") and "sheets/" in name:
                with archive.open(info) as stream:
                    refuse_cells(path, xlsb_cells(stream, shared))


def refuse_cells(path: Path, cells: int) -> None:
    """Refuse a sheet of more cells than memory and time have room for."""
    if cells > MAX_SHEET_AREA:
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
            total += times * repeats * (text // CELL_TEXT)

    def data(piece: str) -> None:
        nonlocal text
        text += len(piece)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = data
    for _piece in parsed(parser, stream):
        pass
    return total


def _times(attributes: dict[str, str], name: str) -> int:
    value = next((value for key, value in attributes.items() if key.endswith(f":{name}")), "1")
    if not value.isdecimal() or len(value) > 9:
        raise DamagedError(f"no number of repetitions: {value:.20}")
    return int(value)
