"""How many cells an xlsb workbook unpacks to: the records of its parts, without their contents.

[MS-XLSB] 2.1.4: a record is its kind (one or two bytes), its length (up to four) and its content.
"""

from __future__ import annotations

import io
import zipfile
from array import array
from collections.abc import Iterator
from typing import IO, BinaryIO, cast

from sce_desktop.data.excel.xlsx_xml import CHUNK

_ROW = 0
_CELLS = range(2, 12)  # 1 is a blank one
_SHARED_CELL = 7  # names a shared text
_SHARED_TEXT = 19
_CELL_TEXT = 32  # characters that take as much memory as a cell


def shared_lengths(archive: zipfile.ZipFile) -> array[int]:
    """Return how many characters each of the shared texts has."""
    found: array[int] = array("Q")
    for info in archive.infolist():
        if info.filename.lower().endswith("sharedstrings.bin"):
            with archive.open(info) as stream:
                for kind, record in _records(stream):
                    if kind == _SHARED_TEXT:
                        found.append(int.from_bytes(record[1:5], "little"))
    return found


def xlsb_cells(stream: IO[bytes], shared: array[int]) -> int:
    """Return the cells of the rectangle around the filled ones of a sheet, long shared texts as several."""
    row = text = 0
    first_row, last_row, first_column, last_column = 1 << 32, -1, 1 << 32, -1
    for kind, record in _records(stream):
        if kind == _ROW and len(record) >= 4:
            row = int.from_bytes(record[:4], "little")
        elif kind in _CELLS and len(record) >= 4:
            column = int.from_bytes(record[:4], "little")
            first_row, last_row = min(first_row, row), max(last_row, row)
            first_column, last_column = min(first_column, column), max(last_column, column)
            if kind == _SHARED_CELL:
                place = int.from_bytes(record[8:12], "little")
                text += shared[place] if place < len(shared) else 0
    area = max(last_row - first_row + 1, 0) * max(last_column - first_column + 1, 0)
    return area + text // _CELL_TEXT


def _records(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the kind and the content of each record."""
    file = io.BufferedReader(cast(io.RawIOBase, stream), CHUNK)
    while (kind := _varint(file, 2)) is not None and (length := _varint(file, 4)) is not None:
        yield kind, file.read(length)


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
