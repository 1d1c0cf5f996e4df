"""What a power loss leaves of files: what was synced, and anything of what was not.

A process under ``power.c`` records what it does to the files of a folder. From the record, cut off anywhere,
come states that a disk may then have:

- Of a file everything that was written before its last fsync or fdatasync; of each later write nothing, all,
  or some of its blocks of 512 bytes. What lies between is zeros.
- Names as they were when their folder was last synced, and some of the later creations, renames and removals:
  the first so many, for file systems keep their order. A second kind of disk ("journal") commits all of them
  with every fsync of any file, as ext4 and XFS do; the first ("strict") keeps to what POSIX promises.

The "-shm" file of SQLite is left out: it is a memory map, which SQLite makes again.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).with_name("power.c")
BLOCK: Final = 512
_HEAD: Final = struct.Struct("<cQQI")


def compiler() -> str | None:
    """Return the C compiler of this machine, if it has one."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def build(folder: Path) -> Path:
    """Compile the library and return where it is."""
    library = folder / "power.so"
    command = [compiler() or "cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(SOURCE), "-lpthread"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return library


@dataclass(frozen=True, slots=True)
class Event:
    """One operation: see the enumeration in ``power.c``."""

    kind: str
    file: int
    place: int
    data: bytes

    @property
    def names(self) -> list[str]:
        """The names that it is about."""
        return [os.fsdecode(name) for name in self.data.split(b"\0")[:-1]]


def read(log: Path) -> list[Event]:
    """Return what was recorded."""
    return list(_events(log.read_bytes()))


def _events(content: bytes) -> Iterator[Event]:
    at = 0
    while at < len(content):
        kind, file, place, length = _HEAD.unpack_from(content, at)
        at += _HEAD.size
        yield Event(kind.decode(), file, place, content[at : at + length])
        at += length


@dataclass
class _File:
    synced: bytes = b""
    later: list[Event] = field(default_factory=list)


class Disk:
    """What is safe and what is not, as events come."""

    def __init__(self, base: Path, folder: Path) -> None:
        """Begin with the files of ``base``, which ``folder`` had when the recording began."""
        self._folder = str(folder)
        self._files: dict[int, _File] = {}
        self._names: dict[str, int] = {}  # that are safe
        self._changes: list[tuple[str, tuple[str, ...], int]] = []  # that are not
        self._now: dict[str, int] = {}
        for number, path in enumerate(sorted(base.rglob("*")), 1):
            if path.is_file():
                self._files[-number] = _File(path.read_bytes())
                self._names[str(folder / path.relative_to(base))] = -number
        self._now = dict(self._names)
        self._numbers: dict[int, int] = {}  # of the system's inodes; one may come again for another file

    def take(self, event: Event, *, journal: bool) -> None:
        """Follow one event."""
        match event.kind:
            case "c" | "o":
                (name,) = event.names
                if event.kind == "c":
                    number = self._numbers[event.file] = len(self._files) + 1_000_000
                    self._files[number] = _File()
                    self._change("c", (name,), number)
                elif name in self._now:
                    self._numbers[event.file] = self._now[name]
            case "w" | "t":
                self._files[self._numbers[event.file]].later.append(event)
            case "s":
                file = self._files[self._numbers[event.file]]
                file.synced, file.later = _after(file.synced, file.later), []
                if journal:
                    self._commit(len(self._changes))
            case "d":
                self._commit(len(self._changes))  # of one folder or all: ours are in one
            case "r" | "u":
                self._change(event.kind, tuple(event.names), 0)

    def _change(self, kind: str, names: tuple[str, ...], number: int) -> None:
        self._changes.append((kind, names, number))
        _rename(self._now, *self._changes[-1])

    def _commit(self, count: int) -> None:
        for change in self._changes[:count]:
            _rename(self._names, *change)
        del self._changes[:count]

    def lose_power(self, target: Path, draw: random.Random) -> None:
        """Write into ``target`` what may be left; this disk is of no use afterwards."""
        self._commit(draw.choice((0, len(self._changes), draw.randint(0, len(self._changes)))))
        way = draw.choice(("nothing", "everything", "some", "blocks"))
        for name, number in self._names.items():
            path = target / Path(name).relative_to(self._folder)
            if name.endswith("-shm"):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            file = self._files[number]
            path.write_bytes(_after(file.synced, _kept(file.later, way, draw)))


def _rename(names: dict[str, int], kind: str, about: tuple[str, ...], number: int) -> None:
    if kind == "c":
        names[about[0]] = number
    elif kind == "u":
        names.pop(about[0], None)
    elif about[0] in names:
        names[about[1]] = names.pop(about[0])


def _after(content: bytes, events: Sequence[Event]) -> bytes:
    state = bytearray(content)
    for event in events:
        if event.kind == "t":
            del state[event.place :]
            state.extend(bytes(event.place - len(state)))
        else:
            state.extend(bytes(max(0, event.place - len(state))))
            state[event.place : event.place + len(event.data)] = event.data
    return bytes(state)


def _kept(events: Sequence[Event], way: str, draw: random.Random) -> list[Event]:
    if way in ("nothing", "everything"):
        return list(events) if way == "everything" else []
    kept = []
    for event in events:
        if way == "some" or event.kind == "t":
            if draw.random() < 0.5:
                kept.append(event)
            continue
        begin, end = event.place, event.place + len(event.data)
        while begin < end:
            block = min(end, (begin // BLOCK + 1) * BLOCK)
            if draw.random() < 0.5:
                data = event.data[begin - event.place : block - event.place]
                kept.append(Event("w", event.file, begin, data))
            begin = block
    return kept
