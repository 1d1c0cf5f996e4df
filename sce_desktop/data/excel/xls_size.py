"""How many cells an xls workbook unpacks to: the records of its stream, without their contents."""

from __future__ import annotations

import contextlib
import struct
from array import array
from collections.abc import Iterator

from sce_desktop.data.excel.xlsx_xml import DamagedError

_END = 0xFFFFFFFA  # this and above is no sector
_HEADER = 512
_STREAM = 2  # an entry of the directory
_FOLLOWED = 4  # times that each sector may be part of a stream
_BEGINS = {0x009, 0x209, 0x409, 0x809}
_ENCRYPTED = 0x2F
_CELLS = {
    *(0x002, 0x003, 0x004, 0x005, 0x006, 0x0D6, 0x0FD),
    *(0x203, 0x204, 0x205, 0x206, 0x27E, 0x406),
}
_CELLS_OF_A_ROW = 0x0BD


def xls_cells(data: bytes) -> int:
    """Return the cells of the rectangles around the filled ones of all sheets; 0 where there is no sheet."""
    try:
        stream = _workbook(data)
    except (struct.error, IndexError, ValueError):
        raise DamagedError("no chain of sectors") from None
    total = place = 0
    first_row = first_column = 1 << 16
    last_row = last_column = -1
    while place + 4 <= len(stream):
        kind, length = struct.unpack_from("<HH", stream, place)
        place += 4
        if kind == _ENCRYPTED:
            return 0  # calamine says so
        if kind in _BEGINS:
            total += _area(first_row, last_row, first_column, last_column)
            first_row = first_column = 1 << 16
            last_row = last_column = -1
        elif (kind in _CELLS or kind == _CELLS_OF_A_ROW) and 4 <= length <= len(stream) - place:
            row, column = struct.unpack_from("<HH", stream, place)
            end = column
            if kind == _CELLS_OF_A_ROW:
                (end,) = struct.unpack_from("<H", stream, place + length - 2)
            first_row, last_row = min(first_row, row), max(last_row, row)
            first_column, last_column = min(first_column, column), max(last_column, end)
        place += length
    return total + _area(first_row, last_row, first_column, last_column)


def _area(first_row: int, last_row: int, first_column: int, last_column: int) -> int:
    return max(last_row - first_row + 1, 0) * max(last_column - first_column + 1, 0)


def _workbook(data: bytes) -> bytes:
    """Return the stream of the workbook in a compound file."""
    (shift,) = struct.unpack_from("<H", data, 30)
    directory, _, cutoff, mini_table, _, more, _ = struct.unpack_from("<7I", data, 48)
    size = 1 << shift
    if shift not in (9, 12):
        raise DamagedError("sectors of another size")
    table = array("I")
    for sector in _table_sectors(data, size, more):
        table.frombytes(_sector(data, sector, size))
    entries = b"".join(_sector(data, sector, size) for sector in _chain(table, directory))
    numbers = array("I")
    for sector in _chain(table, mini_table):
        numbers.frombytes(_sector(data, sector, size))
    _refuse_circles(entries, table, numbers, cutoff)
    root: bytes | None = None
    for place in range(0, len(entries), 128):
        entry = entries[place : place + 128]
        root = root or entry
        name = entry[: max(int.from_bytes(entry[64:66], "little") - 2, 0)].decode("utf-16-le", "replace")
        if name.lower() not in ("workbook", "book"):
            continue
        start, length = struct.unpack_from("<II", entry, 116)
        if length >= cutoff:
            return b"".join(_sector(data, sector, size) for sector in _chain(table, start))[:length]
        small = b"".join(
            _sector(data, s, size) for s in _chain(table, struct.unpack_from("<I", root, 116)[0])
        )
        return b"".join(small[s * 64 : s * 64 + 64] for s in _chain(numbers, start))[:length]
    return b""


def _table_sectors(data: bytes, size: int, more: int) -> Iterator[int]:
    """Yield the sectors that say which sector follows which."""
    yield from (sector for sector in struct.unpack_from("<109I", data, 76) if sector < _END)
    for _ in range(len(data) // size):
        if more >= _END:
            return
        *sectors, more = struct.unpack(f"<{size // 4}I", _sector(data, more, size))
        yield from (sector for sector in sectors if sector < _END)


def _refuse_circles(entries: bytes, table: array[int], numbers: array[int], cutoff: int) -> None:
    """Raise `DamagedError` where the sectors of a stream go round in a circle: calamine follows them."""
    steps = 0
    for place in range(0, len(entries) - 127, 128):
        start, length = struct.unpack_from("<II", entries, place + 116)
        if entries[place + 66] == _STREAM and length:
            with contextlib.suppress(IndexError):  # a stream that nobody reads may lie anywhere
                for _sector_number in _chain(numbers if length < cutoff else table, start):
                    steps += 1
                    if steps > _FOLLOWED * (len(table) + len(numbers)):
                        raise DamagedError("streams that share their sectors")


def _chain(table: array[int], sector: int) -> Iterator[int]:
    for _ in range(len(table) + 1):
        if sector >= _END:
            return
        yield sector
        sector = table[sector]
    raise DamagedError("a circle of sectors")


def _sector(data: bytes, number: int, size: int) -> bytes:
    start = max(size, _HEADER) + number * size
    if start >= len(data):
        raise DamagedError("a sector behind the end of the file")
    return data[start : start + size].ljust(size, b"\0")
