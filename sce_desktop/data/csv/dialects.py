"""Guesses about quotes and escapes. The user's choice overrides them.

The usual way to read a table wins wherever it gives whole records. Another way is taken where the usual one
breaks records that it does not; it is offered where both give whole records, but other cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sce_desktop.core.tables import Doubt, TableOptions
from sce_desktop.data.csv.csv_grammar import ESCAPE, QUOTE, Record, Style, valid_delimiter, without_end
from sce_desktop.data.csv.sniff import DELIMITERS, detect_delimiter, usual
from sce_desktop.data.doubts import style_doubt

SINGLE = "'"
_SIGNS = re.escape("".join(DELIMITERS))


class Found(NamedTuple):
    """How a table may be read: the delimiter is "" where every line is one cell."""

    style: Style
    delimiter: str
    doubt: Doubt | None = None


class _Judged(NamedTuple):
    """How well a style fits. ``broken`` records have another length than the header, or quotes in vain."""

    style: Style
    delimiter: str
    records: int
    width: int
    broken: int
    quoted: int


def find_style(
    lines: Sequence[str], first: int, options: TableOptions, *, header: bool, complete: bool
) -> Found:
    """Find out the delimiter, quotes and escapes of a table as far as ``options`` leave them open.

    Args:
        lines: The beginning of the table, from the header on.
        first: The number of its first line in the file.
        options: What is known.
        header: Whether the first of them is a header.
        complete: Whether no lines follow.
    """

    def judged(style: Style) -> _Judged:
        delimiter = options.delimiter
        if delimiter is None:
            delimiter = detect_delimiter(lines, style=style, header=header, complete=complete)
        return _judge(lines, style, delimiter, header=header, complete=complete)

    known = known_style(options)
    others = list(_others(lines, known, options))
    if not others:
        delimiter = options.delimiter
        if delimiter is None:
            delimiter = detect_delimiter(lines, style=known, header=header, complete=complete)
        return Found(known, delimiter)
    plain = best = judged(known)
    offered: _Judged | None = None
    for style in others:
        other = judged(style)
        if _is_better(other, best):
            best = other
        elif offered is None and _is_as_good(other, plain):
            offered = other
    rival = plain if best is not plain else offered
    doubt = _doubt(lines, first, best, rival, complete=complete) if rival is not None else None
    return Found(best.style, best.delimiter, doubt)


def known_style(options: TableOptions) -> Style:
    """Return the style that ``options`` say, as usual where they say nothing."""
    quote = "" if options.quoting is False else options.quote or QUOTE
    return Style(quote, options.escape == ESCAPE, bool(options.spaces))


def _others(lines: Sequence[str], known: Style, options: TableOptions) -> Iterator[Style]:
    """Yield styles that the lines show signs of."""
    text = "".join(lines)
    signs = _SIGNS + re.escape(options.delimiter or "")
    escapes = options.escape is None and re.search(rf"\\[\"'\r\n{signs}]", text)
    may_be_single = options.quote is None and options.quoting is not False
    single = may_be_single and any(_has_single(line, signs) for line in lines)
    spaces = (
        options.spaces is None
        and known.quote
        and _has_spaces(text, known.quote, f"{''.join(DELIMITERS)}{options.delimiter or ''}")
    )
    if escapes:
        yield known._replace(escapes=True)
    if single:
        yield known._replace(quote=SINGLE)
    if single and escapes:
        yield known._replace(quote=SINGLE, escapes=True)
    if spaces:
        yield known._replace(spaces=True)
    if spaces and escapes:
        yield known._replace(spaces=True, escapes=True)


def _has_single(line: str, signs: str) -> bool:
    """Whether a single quote opens a cell of ``line`` and another closes it or a later one.

    One pattern for both ends would look through the rest of the line at each opening quote.
    """
    for part in line.replace("\n", "").split("\r"):
        opening = re.search(rf"(?:\A|[{signs}])'", part)
        if opening and re.compile(rf"'(?:[{signs}]|\Z)").search(part, opening.end()):
            return True
    return False


def _has_spaces(text: str, quote: str, signs: str) -> bool:
    """Whether spaces or tabs stand between one of ``signs`` and a quote; a tab may be such a sign, too."""
    for found in re.finditer(rf"(?<![ \t])[ \t]+{re.escape(quote)}", text):
        before, spaces = text[found.start() - 1 : found.start()], found[0][: -len(quote)]
        if (before and before in signs) or any(sign in spaces[:-1] for sign in signs):
            return True
    return False


def _records(
    lines: Sequence[str], style: Style, delimiter: str, *, complete: bool
) -> Iterator[tuple[int, Record]]:
    """Yield (index of the line, record); blank lines are none."""
    dialect = style.cut_at(valid_delimiter(delimiter))
    index = 0
    while index < len(lines):
        if not without_end(lines[index]):
            index += 1
            continue
        record = dialect.read(lines, index, complete=complete)
        if record is None:
            return
        yield index, record
        index = record.end


def _judge(lines: Sequence[str], style: Style, delimiter: str, *, header: bool, complete: bool) -> _Judged:
    if not delimiter:
        return _Judged(style, "", len(lines), 1, 0, 0)
    found = [record for _, record in _records(lines, style, delimiter, complete=complete)]
    counts = [len(record.cells) for record in found]
    width = (counts[0] if header else usual(counts)) if counts else 1
    broken = sum(len(record.cells) != width or record.plain > 0 for record in found)
    return _Judged(style, delimiter, len(found), width, broken, sum(record.quoted for record in found))


def _is_better(other: _Judged, best: _Judged) -> bool:
    """Whether another way breaks fewer records, or gives a table where there was none."""
    if other.width == 1:
        return False
    if best.width == 1:
        return other.records > 1 and not other.broken
    return other.broken < best.broken


def _is_as_good(other: _Judged, plain: _Judged) -> bool:
    """Whether another way gives whole records too, from signs that are hardly an accident."""
    if other.broken or plain.broken or other.delimiter != plain.delimiter or not other.delimiter:
        return False
    if other.style.quote != plain.style.quote:
        return other.quoted >= max(2, other.records // 2) and not plain.quoted
    if other.style.spaces != plain.style.spaces:
        return other.quoted > plain.quoted
    return True


def _doubt(
    lines: Sequence[str], first: int, taken: _Judged, other: _Judged, *, complete: bool
) -> Doubt | None:
    """Return the doubt with the first record that is read differently, if there is one."""
    ours = _by_line(lines, taken, complete=complete)
    theirs = _by_line(lines, other, complete=complete)
    for (index, cells), (their_index, their_cells) in zip(ours, theirs, strict=False):
        if index != their_index:
            return None
        if cells != their_cells and _distinguishes(taken, other, cells, their_cells):
            return style_doubt(cells, their_cells, first + index, taken.style, other.style)
    return None


def _by_line(lines: Sequence[str], judged: _Judged, *, complete: bool) -> Iterator[tuple[int, Sequence[str]]]:
    if not judged.delimiter:
        yield from ((index, [without_end(line)]) for index, line in enumerate(lines) if without_end(line))
        return
    for index, record in _records(lines, judged.style, judged.delimiter, complete=complete):
        yield index, record.cells


def _distinguishes(taken: _Judged, other: _Judged, cells: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a record is worth showing: a backslash before any other sign than these is likely text."""
    if other.style.escapes <= taken.style.escapes or len(cells) != len(others):
        return True
    return any(f"{ESCAPE}{other.delimiter}" in cell for cell in cells)
