"""The write-ahead log beside a file, as far as it was finished: https://www.sqlite.org/walformat.html."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO, Final

_FRAME: Final = 24  # bytes before each page
_SIZES: Final = frozenset(1 << power for power in range(9, 17))


class Log:
    """The newest finished state of each page that a log holds."""

    def __init__(self, stream: BinaryIO, page_size: int, pages: dict[int, int], count: int) -> None:
        self._stream = stream
        self.page_size = page_size
        self.pages = pages  # number to where it lies
        self.count = count  # how many pages the file has with them

    def page(self, number: int) -> bytes:
        """Return a page that is in ``pages``."""
        self._stream.seek(self.pages[number])
        return self._stream.read(self.page_size)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def open_log(path: Path) -> Log | None:
    """Return what the log at ``path`` holds, None if there is none or nothing in it was finished."""
    try:
        if not path.is_file():  # a pipe would keep whoever opens it waiting
            return None
        stream = path.open("rb")
    except OSError:
        return None
    log = _read(stream)
    if log is None:
        stream.close()
    return log


def _read(stream: BinaryIO) -> Log | None:
    header = stream.read(32)
    if len(header) < 32:
        return None
    magic, _, size, _, *salts_and_sums = struct.unpack(">8I", header)
    salts, sums = salts_and_sums[:2], tuple(salts_and_sums[2:])
    if magic not in (0x377F0682, 0x377F0683) or size not in _SIZES:
        return None
    words = ">" if magic & 1 else "<"
    running = _checksum(header[:24], words, (0, 0))
    if running != sums:
        return None
    pages: dict[int, int] = {}
    unfinished: dict[int, int] = {}
    at, count = 32, 0
    while len(frame := stream.read(_FRAME + size)) == _FRAME + size:
        number, finished, *rest = struct.unpack(">6I", frame[:_FRAME])
        running = _checksum(frame[_FRAME:], words, _checksum(frame[:8], words, running))
        if rest[:2] != salts or tuple(rest[2:]) != running:
            break
        unfinished[number] = at + _FRAME
        at += len(frame)
        if finished:  # the size of the file once this was written
            pages.update(unfinished)
            unfinished, count = {}, finished
    pages = {number: place for number, place in pages.items() if number <= count}
    return Log(stream, size, pages, count) if pages else None


def _checksum(data: bytes, words: str, start: tuple[int, int]) -> tuple[int, int]:
    first, second = start
    values = iter(struct.unpack(f"{words}{len(data) // 4}I", data))
    for one, other in zip(values, values, strict=True):
        first = first + one + second & 0xFFFFFFFF
        second = second + other + first & 0xFFFFFFFF
    return first, second
