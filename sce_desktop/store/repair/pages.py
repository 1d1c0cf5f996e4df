"""Reading the pages of a SQLite file without SQLite, which gives up a table at the first page that is broken.

Only what our files need of https://www.sqlite.org/fileformat2.html: no pointer map.
Nothing here trusts what it reads: whatever makes no sense is left out, and no loop is longer than the file.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from sce_desktop.store.file import wal

MAGIC: Final = b"SQLite format 3\0"
TABLE_LEAF: Final = 13
TABLE_INNER: Final = 5
INDEX_LEAF: Final = 10
INDEX_INNER: Final = 2
_KINDS: Final = (TABLE_LEAF, TABLE_INNER, INDEX_LEAF, INDEX_INNER)
_SIZES: Final = (8192, 4096, 1024, 2048, 16384, 32768, 65536, 512)  # ours first, then SQLite's
_ENCODINGS: Final = {2: "utf-16-le", 3: "utf-16-be"}
_MOST_RESERVED: Final = 64
_SAMPLED: Final = 2_000  # places looked at for the size of a page
_INTEGERS: Final = (0, 1, 2, 3, 4, 6, 8)  # bytes of an integer by its serial type

Value = int | float | str | bytes | None


class Cell(NamedTuple):
    """A record where it lies: ``serials`` are the types of its columns, ``start`` where their bytes begin."""

    rowid: int  # 0 in an index
    serials: tuple[int, ...]
    kinds: str  # a letter a column: n(ull), i(nteger), r(eal), t(ext), b(lob)
    start: int
    local: bytes  # what the page has of the record
    size: int
    overflow: int  # the page with the rest, 0 if there is none


class PageFile:
    """The pages of one file, numbered from 1, those in its write-ahead log first."""

    def __init__(self, path: Path, log: wal.Log | None = None) -> None:
        self._stream: BinaryIO = path.open("rb")
        self._log = log
        self._bytes = self._stream.seek(0, 2)
        self.header = self._read(0, 100)
        if log is not None and 1 in log.pages:
            self.header = log.page(1)[:100]
        self.page_size = log.page_size if log else self._find_size()
        # What the header says, where it can be: such files are not ours, but hold the same.
        says = self.header[56:60] if self.has_header else b""
        self._encoding = _ENCODINGS.get(int.from_bytes(says, "big"), "utf-8")
        reserved = self.header[20] if self.has_header else 0
        self._usable = self.page_size - (reserved if reserved <= _MOST_RESERVED else 0)
        self.count = max(-(-self._bytes // self.page_size), log.count if log else 0)
        self._used = bytearray()
        self.begin()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    @property
    def has_header(self) -> bool:
        """Whether the first bytes are those of any SQLite file."""
        return self.header[:16] == MAGIC and len(self.header) == 100

    def number(self, offset: int) -> int:
        """Return a number of the file's header."""
        return int.from_bytes(self.header[offset : offset + 4], "big")

    def page(self, number: int) -> bytes:
        """Return a page, with zeros where there is none or the disk cannot read it."""
        if self._log is not None and number in self._log.pages:
            return self._log.page(number)
        return self._read((number - 1) * self.page_size, self.page_size).ljust(self.page_size, b"\0")

    def kind(self, number: int) -> int:
        """Return what a page is by its first bytes, 0 if they make no sense."""
        return _kind_of(self.page(number), 100 if number == 1 else 0, self.page_size)

    def cells(self, number: int) -> Iterator[Cell | None]:
        """Give the records of a page in their order, None for each that makes no sense."""
        page = self.page(number)
        first = 100 if number == 1 else 0
        kind = _kind_of(page, first, self.page_size)
        if kind in (TABLE_LEAF, INDEX_LEAF, INDEX_INNER):
            for at in self._pointers(page, first, kind):
                yield self.cell(page, at + 4 if kind == INDEX_INNER else at, kind == TABLE_LEAF)

    def children(self, number: int) -> Iterator[int]:
        """Give the pages below an inner page, in their order."""
        page = self.page(number)
        first = 100 if number == 1 else 0
        kind = _kind_of(page, first, self.page_size)
        if kind in (TABLE_INNER, INDEX_INNER):
            for at in self._pointers(page, first, kind):
                yield int.from_bytes(page[at : at + 4], "big")
            yield int.from_bytes(page[first + 8 : first + 12], "big")

    def cell(self, page: bytes, at: int, in_table: bool) -> Cell | None:
        """Return the record that begins at ``at``, None if that cannot be one."""
        try:
            size, at = _varint(page, at)
            rowid = 0
            if in_table:
                rowid, at = _varint(page, at)
            local = self._local(size, in_table)
            overflow = 0
            if local < size:
                overflow = int.from_bytes(page[at + local : at + local + 4], "big")
                if not 1 < overflow <= self.count:
                    return None
            held = page[at : at + local]
            end, place = _varint(held, 0)
            serials, kinds, length = _columns(held[place:end])
        except IndexError:
            return None
        if len(held) < local or end + length != size:
            return None
        return Cell(rowid - (1 << 64) if rowid >> 63 else rowid, serials, kinds, end, held, size, overflow)

    def values(self, cell: Cell) -> list[Value] | None:
        """Return the columns of a record, None if the pages with the rest of it are not to be had."""
        data = cell.local
        if cell.overflow:
            parts, number, missing = [data], cell.overflow, cell.size - len(data)
            if missing > self.count * self.page_size:
                return None
            while missing > 0:
                # A page belongs to one record: who goes round in circles reads no file twice.
                if not 1 < number <= self.count or self._used[number]:
                    return None
                self._used[number] = 1
                page = self.page(number)
                number = int.from_bytes(page[:4], "big")
                parts.append(page[4 : min(4 + missing, self._usable)])
                missing -= self._usable - 4
            data = b"".join(parts)
        values: list[Value] = []
        at = cell.start
        for serial in cell.serials:
            if serial >= 12:
                end = at + (serial - 12 >> 1)
                values.append(data[at:end].decode(self._encoding, "replace") if serial & 1 else data[at:end])
                at = end
            elif serial == 7:
                values.append(struct.unpack_from(">d", data, at)[0])
                at += 8
            elif serial in (8, 9):
                values.append(serial - 8)
            elif serial:
                end = at + _INTEGERS[serial]
                values.append(int.from_bytes(data[at:end], "big", signed=True))
                at = end
            else:
                values.append(None)
        return values

    def begin(self) -> None:
        """Forget which pages belong to records that were read: they are read again."""
        self._used = bytearray(self.count + 1)

    def free_pages(self) -> tuple[set[int], bool]:
        """Return the pages that hold nothing, though what they held is still there, and if that is all."""
        free: set[int] = set()
        trunk = self.number(32) if self.has_header else 0
        while 1 < trunk <= self.count and trunk not in free:
            free.add(trunk)
            page = self.page(trunk)
            listed = min(int.from_bytes(page[4:8], "big"), self.page_size // 4 - 2)
            free.update(struct.unpack_from(f">{listed}I", page, 8))
            trunk = int.from_bytes(page[:4], "big")
        return free, self.has_header and len(free) == self.number(36)

    def _pointers(self, page: bytes, first: int, kind: int) -> tuple[int, ...]:
        header = first + (12 if kind in (TABLE_INNER, INDEX_INNER) else 8)
        count = int.from_bytes(page[first + 3 : first + 5], "big")
        return struct.unpack_from(f">{count}H", page, header)

    def _local(self, size: int, in_table: bool) -> int:
        """Return how much of a record of ``size`` its page has."""
        room = self._usable
        most = room - 35 if in_table else (room - 12) * 64 // 255 - 23
        if size <= most:
            return size
        least = (room - 12) * 32 // 255 - 23
        kept = least + (size - least) % (room - 4)
        return kept if kept <= most else least

    def _find_size(self) -> int:
        """Return the size of pages by which most of the file makes sense: its own word may be damaged."""
        stated = int.from_bytes(self.header[16:18], "big")
        stated = 65536 if stated == 1 else stated
        best, most = _SIZES[0], 0.0
        for size in sorted(_SIZES, key=lambda size: size != stated):
            pages = max(1, self._bytes // size)
            step = max(1, pages // _SAMPLED)
            places = range(1, pages, step)
            fit = sum(_kind_of(self._read(n * size, size), 0, size) > 0 for n in places) * step
            weight = fit * fit / pages
            if weight > most:
                best, most = size, weight
        return best if most or stated not in _SIZES else stated

    def _read(self, offset: int, size: int) -> bytes:
        try:
            self._stream.seek(offset)
            return self._stream.read(size)
        except OSError:  # a sector that the disk cannot read
            return b""


def _kind_of(page: bytes, first: int, size: int) -> int:
    if len(page) < first + 12 or page[first] not in _KINDS:
        return 0
    inner = page[first] in (TABLE_INNER, INDEX_INNER)
    cells = int.from_bytes(page[first + 3 : first + 5], "big")
    content = int.from_bytes(page[first + 5 : first + 7], "big") or 65536
    fits = first + (12 if inner else 8) + 2 * cells <= content <= size and page[first + 7] <= 60
    return page[first] if fits else 0


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = data[at]
    at += 1
    if value < 0x80:
        return value, at
    value &= 0x7F
    for _ in range(7):
        byte = data[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at
    return value << 8 | data[at], at + 1


@functools.lru_cache(maxsize=1 << 14)
def _columns(header: bytes) -> tuple[tuple[int, ...], str, int]:
    """Return the types of a record's columns, their letters, and how many bytes they take."""
    serials = []
    at = 0
    while at < len(header):
        serial, at = _varint(header, at)
        serials.append(serial)
    return tuple(serials), "".join(map(_kind, serials)), sum(map(_length, serials))


def _length(serial: int) -> int:
    if serial >= 12:
        return serial - 12 >> 1
    return _INTEGERS[serial] if serial < 7 else 8 if serial == 7 else 0 if serial < 10 else 1 << 62


def _kind(serial: int) -> str:
    if serial >= 12:
        return "t" if serial & 1 else "b"
    return "n" if serial == 0 else "r" if serial == 7 else "i"
