"""What the pages of a parquet file unpack to, by their headers: a reader allocates what these say.

The metadata at the end of the file say it, too, but nothing holds them to it. A page header is a structure in
Thrift's compact protocol (github.com/apache/parquet-format, `parquet.thrift`: PageHeader).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from sce_desktop.core.limits import MAX_PAGE, MAX_RATIO

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_HEADER = 1 << 16  # bytes of a header at most: it may hold statistics
_DEPTH = 8
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 12
_DICTIONARY_PAGE = 2
_UNPACKED, _PACKED = 2, 3  # fields of a header
_VALUES_OF = (5, 8)  # fields of data pages, the first field of which is the number of values
_MANY, _SMALL = 100_000, 1000  # pages, and bytes of the file for each of them

_Field = int | dict[int, "_Field"] | None


class HugePageError(Exception):
    """A page unpacks to more than its size lets expect."""


class BrokenPageError(ValueError):
    """There is no page where the metadata say that there is one."""


class Pages(NamedTuple):
    """What the pages of a file hold together."""

    unpacked: int  # bytes
    longest_dictionary: int  # bytes
    values: dict[int, int]  # by column


def look_at_pages(path: Path, file: pq.ParquetFile) -> Pages:
    """Read the headers of all pages.

    Raises:
        HugePageError: One unpacks to more than `MAX_PAGE` and `MAX_RATIO` times what it takes, or there are
            hundreds of thousands of next to nothing.
        BrokenPageError: One is not there.
    """
    metadata = file.metadata
    size = path.stat().st_size
    unpacked = longest = count = 0
    values: dict[int, int] = {}
    with path.open("rb") as stream:
        for group in range(metadata.num_row_groups):
            row_group = metadata.row_group(group)
            for column in range(metadata.num_columns):
                chunk = row_group.column(column)
                start = chunk.data_page_offset
                if chunk.has_dictionary_page and 0 < (at := chunk.dictionary_page_offset or 0) < start:
                    start = at
                end = min(start + chunk.total_compressed_size, size)
                for header in _headers(stream, start, end):
                    count += 1
                    page, packed = _number(header, _UNPACKED), _number(header, _PACKED)
                    if page > MAX_PAGE and page > MAX_RATIO * packed:
                        raise HugePageError
                    if count > _MANY and count * _SMALL > size:
                        raise HugePageError
                    unpacked += page
                    if header.get(1) == _DICTIONARY_PAGE:
                        longest = max(longest, page)
                    for place in _VALUES_OF:
                        if isinstance(inner := header.get(place), dict):
                            values[column] = values.get(column, 0) + _number(inner, 1)
    return Pages(unpacked, longest, values)


def _number(header: dict[int, _Field], place: int) -> int:
    found = header.get(place)
    if not isinstance(found, int) or found < 0:
        raise BrokenPageError
    return found


def _headers(stream: BinaryIO, start: int, end: int) -> Iterator[dict[int, _Field]]:
    while 0 <= start < end:
        stream.seek(start)
        reader = _Compact(stream.read(min(512, end - start)))
        try:
            header = reader.structure()
        except IndexError:  # it is longer: it holds statistics
            stream.seek(start)
            reader = _Compact(stream.read(min(_HEADER, end - start)))
            try:
                header = reader.structure()
            except IndexError:
                raise BrokenPageError from None
        yield header
        start += reader.place + _number(header, _PACKED)


class _Compact:
    """A structure in Thrift's compact protocol. IndexError: the bytes end before it does."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def structure(self, depth: int = 0) -> dict[int, _Field]:
        """Return its numbers and structures by the ids of their fields; None for all else."""
        if depth > _DEPTH:
            raise BrokenPageError
        found: dict[int, _Field] = {}
        last = 0
        while (head := self._byte()) & 0x0F != _STOP:
            kind, step = head & 0x0F, head >> 4
            last = last + step if step else self._signed()
            found[last] = self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> _Field:
        if kind in (_TRUE, _FALSE):
            return None
        if kind == _BYTE:
            self._byte()
            return None
        if kind < _DOUBLE:
            return self._signed()
        if kind == _STRUCT:
            return self.structure(depth + 1)
        if kind == _DOUBLE:
            self._skip(8)
        elif kind == _BINARY:
            self._skip(self._varint())
        elif kind in (_LIST, _SET):
            head = self._byte()
            length = head >> 4 if head >> 4 < 15 else self._varint()
            for _ in range(length):
                self._value(head & 0x0F, depth + 1)
        else:
            raise BrokenPageError
        return None

    def _byte(self) -> int:
        byte = self._data[self.place]
        self.place += 1
        return byte

    def _skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self._data):
            raise IndexError

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise BrokenPageError
        return value | byte << shift

    def _signed(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
