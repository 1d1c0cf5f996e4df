"""A lock between processes that vanishes with the process that holds it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sce_desktop.core.private import FILE
from sce_desktop.temporary import forget_lock, note_lock

if sys.platform == "win32":
    import msvcrt

    def _take(stream: IO[bytes]) -> bool:
        stream.seek(0)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _drop(stream: IO[bytes]) -> None:
        stream.seek(0)
        with contextlib.suppress(OSError):
            msvcrt.locking(stream.fileno(), msvcrt.LK_UNLCK, 1)

    def _share(stream: IO[bytes]) -> None:
        """Do nothing: a file that anybody has open cannot be removed there anyway."""
else:
    import fcntl

    def _take(stream: IO[bytes]) -> bool:
        try:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _drop(stream: IO[bytes]) -> None:
        fcntl.flock(stream.fileno(), fcntl.LOCK_UN)

    def _share(stream: IO[bytes]) -> None:
        fcntl.flock(stream.fileno(), fcntl.LOCK_SH)


def _open(path: Path, mode: int) -> IO[bytes]:
    """Open the file of a lock; a new one has ``mode``, whatever the umask is."""
    made = not path.exists()
    stream = open(path, "ab", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115
    if made and os.name == "posix":
        with contextlib.suppress(OSError):
            os.fchmod(stream.fileno(), mode)
    return stream


class FileLock:
    """An exclusive lock held by keeping a small file locked; the system frees it when the process dies.

    The database itself must not be locked like this: closing any handle on it would drop the locks that
    SQLite holds on it in this process (https://www.sqlite.org/howtocorrupt.html, section 2.2).
    """

    def __init__(self, path: Path, *, mode: int = FILE) -> None:
        self.path = path
        self._mode = mode  # of the file: whoever may write what it guards must be able to take the lock
        self._stream: IO[bytes] | None = None

    def acquire(self) -> bool:
        """Take the lock and say whether that worked; False if anybody, this process included, has it.

        Raises OSError where the file cannot be made or the file system knows no locks.
        """
        new = note_lock(self.path)  # else its file would stay for ever where we are killed
        try:
            self._stream = self._taken()
        finally:
            if new and self._stream is None:
                forget_lock(self.path)
        return self._stream is not None

    def _taken(self) -> IO[bytes] | None:
        while True:
            stream = _open(self.path, self._mode)
            try:
                taken = _take(stream)
            except OSError:
                stream.close()
                raise
            if not taken:
                stream.close()
                return None
            if self._is_current(stream):
                return stream
            stream.close()  # the holder removed this file between our open and our lock: a newer one counts

    def release(self) -> None:
        """Give the lock back and remove its file; harmless when it is not held."""
        stream, self._stream = self._stream, None
        if stream is None:
            return
        if sys.platform != "win32":  # while it is still ours, so that nobody else's file goes
            with contextlib.suppress(OSError):  # the folder may have become write-protected
                self.path.unlink(missing_ok=True)
        _drop(stream)
        stream.close()
        forget_lock(self.path)
        if sys.platform == "win32":  # an open file cannot be removed there; whoever opened it meanwhile wins
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)

    def _is_current(self, stream: IO[bytes]) -> bool:
        try:
            return os.path.samestat(os.fstat(stream.fileno()), self.path.stat())
        except FileNotFoundError:
            return False


class SharedLock:
    """A lock that everybody holds who has a file open, to find out who is the only one."""

    def __init__(self, path: Path) -> None:
        """Take the lock; waits while somebody is `alone`. OSError where the file cannot be made."""
        self._stream = _open(path, FILE)
        try:
            _share(self._stream)
        except OSError:
            self._stream.close()
            raise

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Say whether nobody else holds the lock, and keep it so until the end."""
        alone = sys.platform == "win32" or _take(self._stream)
        try:
            yield alone
        finally:
            _share(self._stream)

    def release(self) -> None:
        """Give the lock back. Its file stays: removing it would part those who hold it from newcomers."""
        self._stream.close()
