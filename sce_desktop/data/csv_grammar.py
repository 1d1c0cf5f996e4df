"""Which cells a record of delimited text has: the exact rules, for records that need them.

A cell that opens with a quote ends at the next quote that is not doubled, if a delimiter or the end of
the line follows there; the quotes around it are taken off, doubled ones inside stand for one. It may hold
delimiters and line breaks. Every other cell is plain text up to the next delimiter, quotes included: ``5"
pipe``, and ``"Fast" delivery`` too. So is a cell whose opening quote is never closed: it ends on its own
line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sce_desktop.core.errors import UserError

MAX_CELL = 1 << 24  # characters; a closing quote is not looked for beyond

QUOTE = '"'


_NAMED = {"tab": "\t", "\\t": "\t"}


def valid_delimiter(delimiter: str) -> str:
    """Return a delimiter as its character. Raises UserError for what cannot be one."""
    sign = _NAMED.get(delimiter, delimiter)
    if len(sign) != 1 or sign in '"\r\n':
        raise UserError(f"“{delimiter}” cannot be a delimiter: give a single character, such as ; or tab.")
    return sign


class Record(NamedTuple):
    """Cells, the index of the line after the record, and the lines with a quote that is never closed."""

    cells: list[str]
    end: int
    unclosed: tuple[int, ...]


def read_record(
    lines: Sequence[str], index: int, delimiter: str, *, quoting: bool, complete: bool
) -> Record | None:
    """Read the record that begins with ``lines[index]``.

    ``complete`` says that no lines follow ``lines`` (or that no more of them shall be looked at).
    Otherwise None is returned where more lines are needed to decide.
    """
    cells: list[str] = []
    unclosed: list[int] = []
    line = without_end(lines[index])
    position = 0
    while True:
        if quoting and line.startswith(QUOTE, position):
            closing = _closing(lines, index, position + 1, delimiter)
            if closing is None and not complete:
                return None
            if closing is not None and closing[2]:
                end, at, _ = closing
                cells.append(_between(lines, index, position + 1, end, at))
                index, line, position = end, without_end(lines[end]), at + 1
                if position == len(line):
                    return Record(cells, index + 1, tuple(unclosed))
                position += 1
                continue
            if closing is None or closing[0] != index:
                unclosed.append(index)
        at = line.find(delimiter, position)
        if at < 0:
            cells.append(line[position:])
            return Record(cells, index + 1, tuple(unclosed))
        cells.append(line[position:at])
        position = at + 1


def _closing(lines: Sequence[str], index: int, position: int, delimiter: str) -> tuple[int, int, bool] | None:
    """Find the first quote that is not doubled: its line, its place, and whether it may close a cell."""
    for number in range(index, len(lines)):
        line = lines[number]
        while (at := line.find(QUOTE, position)) >= 0:
            if not line.startswith(QUOTE, at + 1):
                rest = line[at + 1 : at + 2]
                ends = rest in ("", "\n") or (rest == "\r" and not line[at + 1 :].strip("\r\n"))
                return number, at, ends or rest == delimiter
            position = at + 2
        position = 0
    return None


def _between(lines: Sequence[str], start: int, first: int, end: int, last: int) -> str:
    if start == end:
        text = lines[start][first:last]
    else:
        text = "".join((lines[start][first:], *lines[start + 1 : end], lines[end][:last]))
    return text.replace(QUOTE * 2, QUOTE)


def without_end(line: str) -> str:
    """Take off the line end: any of LF, CR, CR LF, and the CR CR LF of files that were translated twice."""
    return line.rstrip("\r\n") if line.endswith(("\n", "\r")) else line
