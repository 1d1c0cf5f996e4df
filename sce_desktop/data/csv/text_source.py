"""A text file as decoded lines, in blocks: encodings, gzip, files that grow, bytes that do not decode."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.limits import FREE_UNPACKED, MAX_LINE, MAX_RATIO
from sce_desktop.core.text import size_text
from sce_desktop.data.csv.byte_marks import by_marks

BLOCK = 1 << 18  # bytes; larger blocks are slower, since they leave the processor's cache
GZIP_MAGIC = b"\x1f\x8b"

_MARK = "\udcff"  # stands for bytes that do not decode: no codec gives a lone surrogate for valid bytes
_ERRORS = "sce_desktop.mark"
_HALVES = re.compile("[\ud800-\udfff]")  # of characters: no valid text
# Write text into something else than a file: names of hosts, string literals.
_NOT_FILES = ("idna", "punycode", "unicode-escape", "raw-unicode-escape")


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


class Piece(NamedTuple):
    """Whole lines as one text; ``first`` is the 1-based number of the first, ``fraction`` is read."""

    first: int
    text: str
    lines: int
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
        raise UserError(_("{path} does not exist: check the name and the folder.", path=path)) from None
    except PermissionError:
        raise UserError(
            _(
                "{path} cannot be read (permission denied): change its permissions, or copy it to "
                "your own folder.",
                path=path,
            )
        ) from None
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise UserError(
            _("{file} is a damaged or incomplete gzip file: download it again.", file=path.name)
        ) from None
    except OSError as error:
        raise UserError(
            _(
                "{path} cannot be read ({reason}): copy it to another place.",
                path=path,
                reason=error.strerror or error,
            )
        ) from None


def file_size(path: Path) -> int:
    """Return the size of a regular file in bytes. Raises UserError for anything else, or an empty one."""
    with reading(path):
        status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise UserError(_("{path} is a folder: choose a table inside it.", path=path))
    if not stat.S_ISREG(status.st_mode):
        raise UserError(_("{path} is a device or a pipe: save the table as a file first.", path=path))
    if not status.st_size:
        raise UserError(_("{file} is empty: choose a table with at least a header line.", file=path.name))
    return status.st_size


def byte_chunks(
    path: Path, size: int, chunk: int = BLOCK, *, start: int = 0
) -> Iterator[tuple[bytes, float]]:
    """Yield the bytes of the first ``size`` bytes of ``path``, unpacked if gzipped, and the fraction read.

    ``start``: how many are passed over, of a file that is not gzipped.
    """
    with reading(path), path.open("rb") as file:
        packed = not start and file.read(2) == GZIP_MAGIC
        file.seek(start)
        if not packed:
            done = start
            while data := file.read(min(chunk, size - done)):
                done += len(data)
                yield data, done / size
            return
        raw = _UpTo(file, size)
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=io.BufferedReader(raw, BLOCK)))
        unpacked = 0
        while data := stream.read(chunk):
            unpacked += len(data)
            if unpacked > FREE_UNPACKED and unpacked > MAX_RATIO * raw.position:
                raise _bomb(path, unpacked, raw.position)
            yield data, raw.position / size


def _bomb(path: Path, unpacked: int, packed: int) -> UserError:
    return UserError(
        _(
            "{file} unpacks to more than {size}, {times} times what it takes on disk: no table does, so "
            "it was not read.",
            file=path.name,
            size=size_text(unpacked),
            times=number(unpacked // max(packed, 1)),
        )
    )


def codec_name(encoding: str) -> str:
    """Return ``encoding`` if Python knows it as an encoding of files of text. Raises UserError."""
    try:
        info = codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, ValueError):  # the name itself may hold what no name can
        raise UserError(
            _("“{encoding}” is not an encoding: try utf-8, cp1252 or utf-16.", encoding=encoding)
        ) from None
    if info.incrementaldecoder is None or info.name.replace("_", "-") in _NOT_FILES:
        raise UserError(
            _("“{encoding}” is not an encoding for files: try utf-8, cp1252 or utf-16.", encoding=encoding)
        )
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
        head = next(byte_chunks(path, size), (b"", 1.0))[0]
        self._codec = self._with_byte_order(head)
        self._lets_halves_through = codecs.lookup(self._codec).name == "utf-7"
        text = self._decoded(codecs.getincrementaldecoder(self._codec)("ignore"), head)
        self._newline = "" if "\r" in text and "\n" not in text else "\n"

    @property
    def codec(self) -> str:
        """What the text is decoded by, as Python names it."""
        return codecs.lookup(self._codec).name

    @property
    def newline(self) -> str:
        """What ends a line: a line feed, or nothing else than a carriage return ("")."""
        return self._newline

    def _with_byte_order(self, head: bytes) -> str:
        """Return the codec to read with: UTF-16 and UTF-32 without a mark need to know which byte is first.

        Raises:
            UserError: The file cannot be so: it has another mark, or no zero byte, and any line end has one.
        """
        codec = codecs.lookup(self.encoding).name.replace("_", "-")
        wide = codec[:6]
        if wide not in ("utf-16", "utf-32"):
            return self.encoding
        found = by_marks(head)
        other_mark = found in ("utf-8", "utf-16", "utf-32") and found != wide
        if other_mark or (found is None and b"\0" not in head):
            raise UserError(
                _(
                    "{file} is not {encoding} text: choose another encoding.",
                    file=self.path.name,
                    encoding=self.encoding.upper(),
                )
            )
        if codec != wide or found == codec:  # the user said which byte is first, or a mark does
            return self.encoding
        return found if found is not None and found.startswith(wide) else f"{wide}-le"

    def _decoded(self, decoder: codecs.IncrementalDecoder, data: bytes, *, final: bool = False) -> str:
        try:
            text = decoder.decode(data, final)
        except ValueError:  # of what an encoding can do, not all is for texts of others
            raise UserError(
                _(
                    "{file} cannot be read as {encoding}: choose another encoding.",
                    file=self.path.name,
                    encoding=self.encoding,
                )
            ) from None
        return _HALVES.sub(_MARK, text) if self._lets_halves_through else text

    def blocks(
        self,
        problem: Callable[[int, str | Callable[[], str]], None],
        *,
        at: int = 0,
        stop: int | None = None,
        line: int = 1,
    ) -> Iterator[Block]:
        """Yield all lines; tell ``problem`` (line, message) of what does not decode and of NUL characters.

        ``at``, ``stop``, ``line``: as for `pieces`.
        """
        for piece in self.pieces(at=at, stop=stop, line=line):
            yield self.block(piece, problem)

    def block(self, piece: Piece, problem: Callable[[int, str | Callable[[], str]], None]) -> Block:
        """Return the lines of ``piece``; ``problem`` as for `blocks`."""
        return Block(piece.first, self._lines(piece.text, piece.first, problem), piece.fraction)

    def pieces(self, *, at: int = 0, stop: int | None = None, line: int = 1) -> Iterator[Piece]:
        """Yield the text, cut where lines end. What does not decode stands as a lone surrogate in it.

        ``at``, ``stop``: bytes between which it is, whole lines; ``line``: number of the first.
        """
        decoder = codecs.getincrementaldecoder(self._codec)(_ERRORS)
        carry: list[str] = []  # of a line that has not ended yet
        carried = 0
        start = at == 0
        for data, fraction in byte_chunks(self.path, stop or self.size, start=at):
            text = self._decoded(decoder, data)
            if start and text:
                text = text.removeprefix("\ufeff")
                start = False
            cut = self._last_end(text)
            if not cut:
                carry.append(text)
                carried += len(text)
                if carried > MAX_LINE:
                    raise UserError(
                        _("{file} is not a table: line {line} does not end.", file=self.path.name, line=line)
                    )
                continue
            whole = "".join((*carry, text[:cut]))
            carry, carried = [text[cut:]], len(text) - cut
            lines = self._count(whole)
            yield Piece(line, whole, lines, fraction)
            line += lines
        rest = "".join((*carry, self._decoded(decoder, b"", final=True)))
        if rest:
            yield Piece(line, rest, self._count(rest), 1.0)

    def _count(self, text: str) -> int:
        if self._newline:
            return text.count("\n") + (not text.endswith("\n"))
        return sum(1 for _ in io.StringIO(text, newline=self._newline))

    def size_change(self) -> str:
        """Say how the file differs from what it was at opening, or nothing."""
        with reading(self.path):
            size = os.stat(self.path).st_size  # noqa: PTH116 - pairs with the size at opening
        if size > self.size:
            return _(
                "{file} grew while it was read: only what it held at the start was read.", file=self.path.name
            )
        if size < self.size:
            return _(
                "{file} became shorter while it was read: read it again once it is complete.",
                file=self.path.name,
            )
        return ""

    def _undecoded(self) -> str:
        return _("Some bytes are not {encoding}: they are shown as “\ufffd”.", encoding=self.encoding)

    def _last_end(self, text: str) -> int:
        """Return the index behind the last line end, 0 if there is none."""
        if self._newline:
            return text.rfind("\n") + 1
        # A carriage return at the very end may be the first half of a pair.
        return max(text.rfind("\r", 0, -1), text.rfind("\n", 0, -1)) + 1

    def _lines(
        self, text: str, first: int, problem: Callable[[int, str | Callable[[], str]], None]
    ) -> list[str]:
        lines = list(io.StringIO(text, newline=self._newline))
        if _MARK in text:
            for index, line in enumerate(lines):
                if _MARK in line:
                    lines[index] = line.replace(_MARK, "\ufffd")
                    problem(first + index, self._undecoded)
        if "\0" in text:
            for index, line in enumerate(lines):
                if "\0" in line:
                    problem(first + index, _nul_kept)
        return lines


def _nul_kept() -> str:
    return _("A NUL character, which is not text, was kept.")
