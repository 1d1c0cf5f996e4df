"""Takes what only debuggers read out of shared libraries, and makes sure that they load as before.

`strip` removes the symbols that no program links to: 89 MB of torch's kernels. It has damaged libraries that
another tool had edited, so every copy is compared with its original: all that is mapped into memory, byte for
byte, and the headers that say where. What differs is used as it was.
"""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

_LOAD = 1
_LEAST_SAVED = 0.02  # of a file; less is not worth a copy
_SECTIONS = slice(40, 48), slice(58, 64)  # of the ELF header: where the sections are, which nobody loads


class Segment(NamedTuple):
    """A part of a file that is mapped into memory."""

    kind: int
    flags: int
    offset: int
    address: int
    size: int
    memory: int
    align: int


def segments(data: bytes) -> list[Segment]:
    """Return the program headers of a 64-bit little-endian ELF file; none for anything else."""
    if data[:6] != b"\x7fELF\x02\x01":
        return []
    start, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    found = []
    for place in range(count):
        kind, flags, offset, address, _, length, memory, align = struct.unpack_from(
            "<IIQQQQQQ", data, start + place * size
        )
        found.append(Segment(kind, flags, offset, address, length, memory, align))
    return found


def mapped(path: Path) -> list[tuple[int, int, int, int, str]]:
    """Return what of ``path`` is mapped into memory: flags, address, sizes and a hash of each part."""
    data = path.read_bytes()
    header = bytearray(data[:64])
    for part in _SECTIONS:
        header[part] = bytes(part.stop - part.start)
    found = []
    for one in segments(data):
        if one.kind != _LOAD:
            continue
        if one.offset % one.align != one.address % one.align:
            return []  # it would not load
        content = data[one.offset : one.offset + one.size]
        if one.offset == 0:
            content = bytes(header) + content[64:]
            programs = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<HH", data, 54)
            begin, end = programs[0], programs[0] + programs[1][0] * programs[1][1]
            content = content[:begin] + bytes(end - begin) + content[end:]  # offsets in the file may move
        found.append((one.flags, one.address, one.size, one.memory, hashlib.sha256(content).hexdigest()))
    return found


def strip(source: Path, target: Path) -> Path:
    """Write a stripped copy of ``source`` to ``target`` and return it; ``source`` where that gains nothing.

    The libraries of other systems are returned as they are.
    """
    tool = shutil.which("strip")
    with source.open("rb") as file:
        is_elf = file.read(6) == b"\x7fELF\x02\x01"
    if tool is None or not is_elf:
        return source
    target.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([tool, "--strip-unneeded", "-o", target, source], capture_output=True, text=True)
    if done.returncode or not target.is_file():
        return source
    saved = source.stat().st_size - target.stat().st_size
    if saved < _LEAST_SAVED * source.stat().st_size or not mapped(source) or mapped(source) != mapped(target):
        target.unlink()
        return source
    shutil.copymode(source, target)
    return target
