"""How many parts a zip file has, before a library makes an object of each."""

from __future__ import annotations

import struct
from pathlib import Path

from sce_desktop.core.limits import MAX_PARTS

_END = b"PK\x05\x06"
_END_SIZE = 22
_COMMENT = 1 << 16
_LOCATOR, _LOCATOR_SIZE = b"PK\x06\x07", 20
_WIDE_END, _WIDE_SIZE = b"PK\x06\x06", 56


def has_many_parts(path: Path) -> bool:
    """Whether the directory of the zip file ``path`` takes more than `MAX_PARTS` bytes.

    It is found as zipfile finds it, which reads as many bytes as are said here, whatever the number of parts
    is said to be.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        start = max(size - _COMMENT - _END_SIZE, 0)
        file.seek(start)
        tail = file.read()
        place = tail.rfind(_END)
        if place < 0 or len(tail) - place < _END_SIZE:
            return False
        (directory,) = struct.unpack_from("<I", tail, place + 12)
        wide_at = start + place - _LOCATOR_SIZE - _WIDE_SIZE
        if wide_at >= 0:
            file.seek(wide_at)
            wide = file.read(_WIDE_SIZE + _LOCATOR_SIZE)
            if wide.startswith(_WIDE_END) and wide[_WIDE_SIZE:].startswith(_LOCATOR):
                (directory,) = struct.unpack_from("<Q", wide, 40)
    return int(directory) > MAX_PARTS
