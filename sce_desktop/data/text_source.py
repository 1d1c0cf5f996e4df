"""A text file as decoded lines, in blocks: encodings, gzip, files that grow, bytes that do not decode."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from sce_desktop.core.errors import UserError

BLOCK = 1 << 18  # bytes; larger blocks are slower, since they leave the processor's cache
MAX_LINE = 1 << 26  # characters
GZIP_MAGIC = b"\x1f\x8b"

_MARK = "\udcff"  # stands for bytes that do not decode: no codec gives a lone surrogate for valid bytes
_ERRORS = "sce_desktop.mark"


def _mark(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError):
        return _MARK, error.end
    raise error


codecs.register_error(_ERRORS, _mark)


class Block(NamedTuple):
    """Whole lines with their ends; ``first`` is the 1-based number of the first, ``fraction`` is read."""

    first: int
    lines: list[str]
    fraction: float


class _UpTo(io.RawIOBase):
    """The first ``size`` bytes of a file that may be growing."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self.position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = self._file.read(min(len(view), self._size - self.position))
        view[: len(data)] = data
        self.position += len(data)
        return len(data)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into sentences about ``path``."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"There is no file {path}: check the name and the folder.") from None
    except PermissionError:
        raise UserError(
            f"{path} may not be read: change its permissions, or copy it to a folder of yours."
        ) from None
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise UserError(f"{path.name} is a damaged or incomplete gzip file: fetch it again.") from None
    except OSError as error:
        raise UserError(
            f"{path} could not be read ({error.strerror or error}): copy it to another place."
        ) from None


def file_size(path: Path) -> int:
    """Return the size of a regular file in bytes. Raises UserError for anything else, or an empty one."""
    with reading(path):
        status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise UserError(f"{path} is a folder: choose a table inside it.")
    if not stat.S_ISREG(status.st_mode):
        raise UserError(f"{path} is a device or a pipe: save the table as a file first.")
    if not status.st_size:
        raise UserError(f"{path.name} is empty: choose a table with at least a header line.")
    return status.st_size


def byte_chunks(path: Path, size: int, chunk: int = BLOCK) -> Iterator[tuple[bytes, float]]:
    """Yield the bytes of the first ``size`` bytes of ``path``, unpacked if gzipped, and the fraction read."""
    with reading(path), path.open("rb") as file:
        raw = _UpTo(file, size)
        stream = cast(BinaryIO, raw)
        if file.read(2) == GZIP_MAGIC:
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=io.BufferedReader(raw, BLOCK)))
        file.seek(0)
        while data := stream.read(chunk):
            yield data, raw.position / size


def codec_name(encoding: str) -> str:
    """Return ``encoding`` if Python knows it as an encoding of text. Raises UserError."""
    try:
        info = codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, UnicodeError):
        raise UserError(f"There is no encoding “{encoding}”: try utf-8, cp1252 or utf-16.") from None
    if info.incrementaldecoder is None:
        raise UserError(f"The encoding “{encoding}” cannot be read piece by piece: save the file as utf-8.")
    return encoding


class TextSource:
    """The lines of the text file ``path``, of which the first ``size`` bytes (those at opening) are read.

    Lines end at a line feed (a carriage return before it belongs to the end; elsewhere it is text), or at
    carriage returns where the file's beginning has no line feed at all.
    """

    def __init__(self, path: Path, size: int, encoding: str) -> None:
        self.path = path
        self.size = size
        self.encoding = codec_name(encoding)
        head = next(byte_chunks(path, size), (b"", 1.0))[0].decode(encoding, "ignore")
        self._newline = "" if "\r" in head and "\n" not in head else "\n"

    def blocks(self, problem: Callable[[int, str], None]) -> Iterator[Block]:
        """Yield all lines; tell ``problem`` (line, message) of what does not decode and of NUL characters."""
        decoder = codecs.getincrementaldecoder(self.encoding)(_ERRORS)
        carry: list[str] = []  # of a line that has not ended yet
        carried = 0
        line = 1
        start = True
        for data, fraction in byte_chunks(self.path, self.size):
            text = decoder.decode(data)
            if start and text:
                text = text.removeprefix("\ufeff")
                start = False
            cut = self._last_end(text)
            if not cut:
                carry.append(text)
                carried += len(text)
                if carried > MAX_LINE:
                    raise UserError(f"{self.path.name} is no table: line {line} does not end.")
                continue
            lines = self._lines("".join((*carry, text[:cut])), line, problem)
            carry, carried = [text[cut:]], len(text) - cut
            yield Block(line, lines, fraction)
            line += len(lines)
        rest = "".join((*carry, decoder.decode(b"", final=True)))
        if rest:
            lines = self._lines(rest, line, problem)
            yield Block(line, lines, 1.0)

    def size_change(self) -> str:
        """Say how the file differs from what it was at opening, or nothing."""
        with reading(self.path):
            size = os.stat(self.path).st_size  # noqa: PTH116 - pairs with the size at opening
        if size > self.size:
            return f"{self.path.name} grew while it was read: only what was there at opening was taken."
        if size < self.size:
            return f"{self.path.name} became shorter while it was read: read it again once it is finished."
        return ""

    def _last_end(self, text: str) -> int:
        """Return the index behind the last line end, 0 if there is none."""
        if self._newline:
            return text.rfind("\n") + 1
        # A carriage return at the very end may be the first half of a pair.
        return max(text.rfind("\r", 0, -1), text.rfind("\n", 0, -1)) + 1

    def _lines(self, text: str, first: int, problem: Callable[[int, str], None]) -> list[str]:
        lines = list(io.StringIO(text, newline=self._newline))
        if _MARK in text:
            for index, line in enumerate(lines):
                if _MARK in line:
                    lines[index] = line.replace(_MARK, "\ufffd")
                    problem(first + index, f"Not all bytes are {self.encoding}: those are shown as “\ufffd”.")
        if "\0" in text:
            for index, line in enumerate(lines):
                if "\0" in line:
                    problem(first + index, "A NUL character, which is no text, was kept.")
        return lines
