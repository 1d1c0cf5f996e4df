"""The file that a project was opened from: is it still there, is it still the same?

SQLite goes on writing to a file that was deleted or replaced, and nobody sees again what it writes.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from sce_desktop.core.i18n import N_, _

OVERWRITTEN: Final = N_("was overwritten by another program")
_HEADER_BYTES: Final = 100


def lost_sentence(path: Path, what: str) -> str:
    """Say that the project ``path`` is lost; ``what``: see `WatchedFile.problem`."""
    if what == _(OVERWRITTEN):
        return _(
            "{name} {problem} while it is open here, so it can no longer be saved. Save the project under"
            " another name to keep what can still be read.",
            name=path.name,
            problem=what,
        )
    return _(
        "{name} {problem} while it is open here, so it can no longer be saved. Save the project under"
        " another name to keep everything.",
        name=path.name,
        problem=what,
    )


class WatchedFile:
    """One open project file. `problem` is asked before every write, hence cheap: one look at the name.

    A second look is at what the file holds, where it has changed without us: it may have been overwritten in
    place. That needs a handle of our own, which must stay open while SQLite has one in this process: closing
    any would drop SQLite's locks (https://www.sqlite.org/howtocorrupt.html, section 2.2).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = _Handle.open(path)
        self._header = self._read_header()
        self._state = self._look()

    def close(self) -> None:
        """Let go of the file, after every connection to it is closed."""
        self._handle.release()

    def problem(self, *, ours: bool = False) -> str:
        """Return what happened to the file, as the end of a sentence; empty if all is well.

        ``ours``: who may write to it does so just now, so that its content says nothing.
        """
        try:
            now = self.path.stat()
        except OSError:
            return (
                _("was moved to {path}", path=self.moved_to) if self.moved_to else _("was deleted or moved")
            )
        if (now.st_dev, now.st_ino) != self._handle.identity and not self._is_open(now):
            return _("was replaced by another file")
        if not ours and (now.st_size, now.st_mtime_ns) != self._state:
            if now.st_size < self._state[0] or self._read_header() != self._header:
                return _(OVERWRITTEN)
            self._state = now.st_size, now.st_mtime_ns
        return ""

    def remember(self) -> None:
        """Take the file as it is now for what we wrote."""
        state = self._look()
        if state != self._state:
            self._header = self._read_header()
            self._state = state

    @property
    def moved_to(self) -> Path | None:
        """Where the file is now under another name, if the system tells: what is in it is not lost."""
        with suppress(OSError):
            if self._is_open(self.path.stat()):
                return None
        with suppress(OSError):
            place = Path(f"/proc/self/fd/{self._handle.descriptor}").readlink()
            if os.path.samestat(place.stat(), os.fstat(self._handle.descriptor)):
                return place
        return None

    def _is_open(self, found: os.stat_result) -> bool:
        """Whether that is the open file: some network drives renumber files."""
        return os.path.samestat(found, os.fstat(self._handle.descriptor))

    def _look(self) -> tuple[int, int]:
        found = os.fstat(self._handle.descriptor)
        return found.st_size, found.st_mtime_ns

    def _read_header(self) -> bytes:
        with suppress(OSError, AttributeError):  # there is no pread on Windows, where nobody can overwrite it
            return os.pread(self._handle.descriptor, _HEADER_BYTES, 0)
        return b""


class _Handle:
    """A handle on a file, one for everybody in this process who has the file open."""

    _open: Final[dict[tuple[int, int], _Handle]] = {}
    _changing: Final = threading.Lock()

    def __init__(self, descriptor: int, identity: tuple[int, int]) -> None:
        self.descriptor = descriptor
        self.identity = identity
        self._users = 0

    @classmethod
    def open(cls, path: Path) -> _Handle:
        with cls._changing:
            found = path.stat()
            handle = cls._open.get((found.st_dev, found.st_ino))
            if handle is None:
                descriptor = os.open(path, os.O_RDONLY)
                found = os.fstat(descriptor)
                handle = cls(descriptor, (found.st_dev, found.st_ino))
                cls._open[handle.identity] = handle
            handle._users += 1
            return handle

    def release(self) -> None:
        with self._changing:
            self._users -= 1
            if not self._users:
                del self._open[self.identity]
                os.close(self.descriptor)
