"""Which cells a record of delimited text has: the exact rules, for records that need them.

A cell that opens with a quote ends at the next quote that is not doubled, if a delimiter or the end of
the line follows there; the quotes around it are taken off, doubled ones inside stand for one. It may hold
delimiters and line breaks. Every other cell is plain text up to the next delimiter, quotes included: ``5"
pipe``, and ``"Fast" delivery`` too. So is a cell whose opening quote is never closed: it ends on its own
line.

Where a dialect has escapes, a backslash before a quote, a delimiter, a line end or another backslash makes
that plain text and is taken off; before anything else it is text itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.limits import MAX_CELL as MAX_CELL

QUOTE = '"'
ESCAPE = "\\"


_LINE_END = re.compile(r"[\r\n]*")
_NAMED = {"tab": "\t", "\\t": "\t"}


def valid_delimiter(delimiter: str) -> str:
    """Return a delimiter as its character. Raises UserError for what cannot be one."""
    sign = _NAMED.get(delimiter, delimiter)
    if len(sign) != 1 or sign in '"\r\n':
        raise UserError(
            _(
                "“{delimiter}” cannot be a delimiter: give a single character, such as ; or tab.",
                delimiter=delimiter,
            )
        )
    return sign


def valid_quote(quote: str, delimiter: str) -> str:
    """Return the character that encloses cells. Raises UserError for what cannot be one."""
    if len(quote) != 1 or quote in f"{delimiter}{ESCAPE}\r\n" or quote.isalnum() or quote.isspace():
        raise UserError(
            _("“{quote}” cannot enclose cells: give a single character, such as ' or \".", quote=quote)
        )
    return quote


class Record(NamedTuple):
    """Cells, the index of the line after the record, and the lines with a quote that is never closed.

    ``plain`` counts the cells that begin with a quote and were read as plain text nevertheless,
    ``quoted`` those whose quotes were taken off.
    """

    cells: list[str]
    end: int
    unclosed: tuple[int, ...]
    plain: int = 0
    quoted: int = 0


class Style(NamedTuple):
    """What a dialect is beside its delimiter: see `Dialect`."""

    quote: str = QUOTE
    escapes: bool = False
    spaces: bool = False

    def cut_at(self, delimiter: str) -> Dialect:
        """Return the dialect with ``delimiter``."""
        return Dialect(delimiter, self.quote, escapes=self.escapes, spaces=self.spaces)


class Dialect:
    """How records are cut into cells.

    Args:
        delimiter: A single character.
        quote: What encloses cells; empty: quotes are plain text.
        escapes: A backslash takes away the meaning of the next character.
        spaces: Spaces before an opening quote and after the closing one are no part of the cell.
    """

    def __init__(
        self, delimiter: str, quote: str = QUOTE, *, escapes: bool = False, spaces: bool = False
    ) -> None:
        self.delimiter = delimiter
        self.quote = quote
        self.escapes = escapes
        self.spaces = spaces
        self.usual = not escapes and not spaces  # so that Python's csv module reads it alike
        signs = "".join(re.escape(sign) for sign in dict.fromkeys(f"\"'{delimiter}{quote}{ESCAPE}"))
        self._escaped = re.compile(rf"\\(\r\n|[{signs}\r\n])")
        doubled = f"|{re.escape(quote * 2)}" if quote else ""
        self._in_quotes = re.compile(rf"\\(\r\n|[{signs}\r\n]){doubled}") if escapes else None
        self._ends = re.compile(rf"\\.|{re.escape(delimiter)}", re.DOTALL)

    @cached_property
    def _quotes(self) -> re.Pattern[str]:
        run = f"(?:{re.escape(self.quote)})+"
        return re.compile(rf"\\.|{run}" if self.escapes else run, re.DOTALL)

    def read(self, lines: Sequence[str], index: int, *, complete: bool) -> Record | None:
        """Read the record that begins with ``lines[index]``.

        ``complete`` says that no lines follow ``lines`` (or that no more of them shall be looked at).
        Otherwise None is returned where more lines are needed to decide.
        """
        cells: list[str] = []
        unclosed: list[int] = []
        plain = quoted = position = 0
        line = without_end(lines[index])
        delimiter, quote = self.delimiter, self.quote
        while True:
            opening = position if quote and line.startswith(quote, position) else -1
            if self.spaces and opening < 0:
                opening = self._opening(line, position)
            if opening >= 0:
                closing = self._closing(lines, index, opening + 1)
                if closing is None and not complete:
                    return None
                if closing is not None and closing[2] >= 0:
                    end, at, after = closing
                    cells.append(self._between(lines, index, opening + 1, end, at))
                    quoted += 1
                    line = line if end == index else without_end(lines[end])  # it may be long: once a line
                    index, position = end, after
                    if position == len(line):
                        return Record(cells, index + 1, tuple(unclosed), plain, quoted)
                    position += 1
                    continue
                plain += 1
                if closing is None or closing[0] != index:
                    unclosed.append(index)
            if not self.escapes:
                at = line.find(delimiter, position)
                if at < 0:
                    cells.append(line[position:])
                    return Record(cells, index + 1, tuple(unclosed), plain, quoted)
                cells.append(line[position:at])
                position = at + 1
                continue
            found = self._plain(lines, index, line, position, complete=complete)
            if found is None:
                return None
            cell, at, position = found
            cells.append(cell)
            if position < 0:
                return Record(cells, at + 1, tuple(unclosed), plain, quoted)
            if at != index:
                index, line = at, without_end(lines[at])

    def _opening(self, line: str, position: int) -> int:
        """Return where the quote of a cell is that begins at ``position`` with spaces, -1 if it has none."""
        while line.startswith((" ", "\t"), position) and not line.startswith(self.delimiter, position):
            position += 1
        return position if self.quote and line.startswith(self.quote, position) else -1

    def _closing(self, lines: Sequence[str], index: int, position: int) -> tuple[int, int, int] | None:
        """Find the first quote that is not doubled: its line, its place, and where its cell ends (or -1)."""
        for number in range(index, len(lines)):
            line = lines[number]
            if not self.escapes:  # the quick way, which most cells allow
                at = line.find(self.quote, position)
                if at >= 0 and not line.startswith(self.quote, at + 1):
                    return number, at, self._cell_end(line, at + 1)
                if at < 0:
                    position = 0
                    continue
            for found in self._quotes.finditer(line, position):
                if found.group()[0] == self.quote and (found.end() - found.start()) % 2:
                    return number, found.end() - 1, self._cell_end(line, found.end())
            position = 0
        return None

    def _cell_end(self, line: str, position: int) -> int:
        """Return where a cell ends whose closing quote is before ``position``; -1 if text follows there."""
        if self.spaces:
            while line.startswith((" ", "\t"), position) and not line.startswith(self.delimiter, position):
                position += 1
        rest = line[position : position + 1]
        if rest == self.delimiter:
            return position
        ends = rest in ("", "\n") or (rest == "\r" and _LINE_END.fullmatch(line, position) is not None)
        return position if ends else -1

    def _plain(
        self, lines: Sequence[str], index: int, line: str, position: int, *, complete: bool
    ) -> tuple[str, int, int] | None:
        """Return (cell, line, where the next cell begins or -1) with escapes; None: more lines are needed.

        ``line`` is ``lines[index]`` without its end.
        """
        parts: list[str] = []
        while True:
            for found in self._ends.finditer(line, position):
                if found.group() == self.delimiter:
                    parts.append(line[position : found.start()])
                    return self._unescaped("".join(parts)), index, found.end()
            rest = line[position:]
            open_end = (len(rest) - len(rest.rstrip(ESCAPE))) % 2 == 1 and len(lines[index]) > len(line)
            if open_end and index + 1 == len(lines) and not complete:
                return None
            if not open_end or index + 1 == len(lines):
                return self._unescaped("".join((*parts, rest))), index, -1
            parts.append(lines[index][position:])
            index, position = index + 1, 0
            line = without_end(lines[index])

    def _unescaped(self, text: str) -> str:
        return self._escaped.sub(r"\1", text) if ESCAPE in text else text

    def _between(self, lines: Sequence[str], start: int, first: int, end: int, last: int) -> str:
        if start == end:
            text = lines[start][first:last]
        else:
            text = "".join((lines[start][first:], *lines[start + 1 : end], lines[end][:last]))
        if self._in_quotes is not None and ESCAPE in text:
            return self._in_quotes.sub(lambda found: found[1] or self.quote, text)
        return text.replace(self.quote * 2, self.quote)


def read_record(
    lines: Sequence[str], index: int, delimiter: str, *, quoting: bool, complete: bool
) -> Record | None:
    """Read a record in the usual dialect: see `Dialect.read`."""
    return Dialect(delimiter, QUOTE if quoting else "").read(lines, index, complete=complete)


def without_end(line: str) -> str:
    """Take off the line end: any of LF, CR, CR LF, and the CR CR LF of files that were translated twice."""
    return line.rstrip("\r\n") if line.endswith(("\n", "\r")) else line
