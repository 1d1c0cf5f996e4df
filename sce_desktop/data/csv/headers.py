"""Guesses about the line of the header, and whether there is one. The user's choice overrides them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from sce_desktop.core.tables import Cell, Doubt
from sce_desktop.data.csv.csv_grammar import Style, without_end
from sce_desktop.data.csv.sniff import DELIMITERS, cell_counts, consistent_delimiters, detect_delimiter
from sce_desktop.data.doubts import delimiter_doubt, header_doubt, line_doubt, no_header_doubt
from sce_desktop.data.guess import names_a_column

_HINT = re.compile(r"""(["']?)sep=([^\w"'])\1[ \t]*""", re.IGNORECASE)
_ABOVE = 20  # lines that may stand above a header
_SAMPLE_ROWS = 100
_PROSE = 25  # characters of cells that are texts rather than names
_WORDS = 4  # of a header at most
_QUESTION = ("?", "？")
_SENTENCE_END = (".", "!", "。", "！", *_QUESTION)
_FEW = 10  # texts, of which none need be a question


class Sample(NamedTuple):
    """The beginning of a file, and how it is cut into cells. ``delimiter``: "" where a line is one cell."""

    lines: Sequence[str]
    style: Style
    delimiter: str
    complete: bool  # no lines follow

    def rows(self, first: int) -> list[list[str]]:
        """Return the first records from line ``first`` on (1-based); blank lines are none."""
        if not self.delimiter:
            filled = (without_end(line) for line in self.lines[first - 1 :])
            return [[line] for line in filled if line][: _SAMPLE_ROWS + 1]
        dialect = self.style.cut_at(self.delimiter)
        rows: list[list[str]] = []
        index = first - 1
        while index < len(self.lines) and len(rows) <= _SAMPLE_ROWS:
            if not without_end(self.lines[index]):
                index += 1
                continue
            record = dialect.read(self.lines, index, complete=self.complete)
            if record is None:
                break
            rows.append(record.cells)
            index = record.end
        return rows


def excels_hint(line: str) -> str:
    """Return the delimiter that a line such as ``sep=;`` names, as Excel understands it; "" if it is none."""
    found = _HINT.fullmatch(without_end(line))
    return found[2] if found else ""


def doubt_of_header(sample: Sample, first: int, *, any_delimiter: bool) -> Doubt | None:
    """Return the doubt about the header on line ``first``, if there is one.

    ``any_delimiter``: that of the sample was found for this header, and may be another for another.
    """
    if found := _header_below(sample, first, any_delimiter=any_delimiter):
        line, width = found
        return header_doubt(line, sample.lines[line - 1], first, width)
    rows = sample.rows(first)
    if len(rows) > 1 and looks_like_a_row(rows[0], rows[1:]):
        return no_header_doubt(first, sample.lines[first - 1])
    return None


def _header_below(sample: Sample, first: int, *, any_delimiter: bool) -> tuple[int, int] | None:
    """Return (line, columns) of a header below titles or comments: cells that all later records have, too."""
    lines = sample.lines
    if sample.delimiter:
        counts = cell_counts(lines[first - 1 :], sample.style.cut_at(sample.delimiter), complete=True)
        if 2 * counts.count(counts[0]) > len(counts):
            return _header_after(sample, first)
        here = counts[0]
    else:
        here = 1
    for number in range(first + 1, min(first + _ABOVE, len(lines)) + 1):
        below = lines[number - 1 :]
        if not without_end(below[0]):
            continue
        delimiter = sample.delimiter
        if any_delimiter:
            delimiter = detect_delimiter(below, style=sample.style, complete=sample.complete)
        if not delimiter:
            continue
        counts = cell_counts(below, sample.style.cut_at(delimiter), complete=sample.complete)
        rest = counts[1:]
        if counts and counts[0] > here and rest and 10 * rest.count(counts[0]) >= 9 * len(rest):
            rows = sample._replace(delimiter=delimiter).rows(number)
            if not looks_like_a_row(rows[0], rows[1:]) and all(cell.strip() for cell in rows[0]):
                return number, counts[0]
    return None


def doubt_of_sheet(rows: Sequence[tuple[int, Sequence[Cell]]]) -> Doubt | None:
    """Return the doubt about the header of a sheet, if there is one: ``rows`` are its first, with numbers."""
    filled = [(number, [cell or "" for cell in cells]) for number, cells in rows]
    if len(filled) < 2:
        return None
    (first, header), *below = filled
    named = sum(map(bool, header))
    for place, (number, cells) in enumerate(below[:-1]):
        later = [row for _, row in below[place + 1 :]]
        if sum(map(bool, cells)) > max(1, 2 * named) and _is_header(cells):
            if not looks_like_a_row(cells, later):
                return header_doubt(number, " | ".join(cells), first, len(cells), sheet=True)
            break
    if looks_like_a_row(header, [cells for _, cells in below]):
        return no_header_doubt(first, " | ".join(header), sheet=True)
    return None


def _header_after(sample: Sample, first: int) -> tuple[int, int] | None:
    """Return (line, columns) of a header after one title that happens to be cut into as many cells."""
    filled = (number for number, line in enumerate(sample.lines, start=1) if without_end(line))
    below = next((number for number in filled if number > first), None)
    if below is None:
        return None
    title, rows = sample.rows(first)[:1], sample.rows(below)
    if len(rows) < 2 or not title or len(title[0]) != len(rows[0]) or _is_header(title[0]):
        return None
    named = _is_header(rows[0]) and any(names_a_column(cell) for cell in rows[0])
    return (below, len(rows[0])) if named else None


def looks_like_a_row(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the cells of a header are such as those below them, rather than names."""
    for_row = for_header = 0
    for place, name in enumerate(header):
        cells = [row[place].strip() for row in rows if place < len(row) and row[place].strip()]
        name = name.strip()
        if not cells or not name or re.fullmatch(r"(19|20)\d\d", name):  # years are names of columns
            continue
        if names_a_column(name) and name not in cells:  # "no" may be an answer
            for_header += 3
        shapes = {_shape(cell) for cell in set(cells)}
        if all(_is_number(cell) for cell in cells) or (len(shapes) == 1 and re.search("0", min(shapes))):
            like = _is_number(name) if _is_number(cells[0]) else _shape(name) in shapes
            for_row += 2 * like
            for_header += 2 * (not like)
        elif (cells.count(name) > 1 and 3 * len(set(cells)) <= len(cells)) or _reads_like(name, cells):
            for_row += 2
        elif sum(map(len, cells)) >= _PROSE * len(cells):
            prose = len(name.split()) > _WORDS or name.endswith(_SENTENCE_END)
            if name.endswith(_QUESTION) and len(cells) >= _FEW and not _count(cells, _QUESTION):
                prose = False  # what a survey asked, and people answered
            for_row += prose
            for_header += not prose
    return for_row > for_header


def _reads_like(name: str, cells: Sequence[str]) -> bool:
    """Whether a name is a sentence where the cells below it are: one of them rather than what they are of.

    A question is a name in surveys, unless questions are what the cells are, too.
    """
    if name.endswith(_QUESTION):
        return 3 * _count(cells, _QUESTION) >= len(cells)
    words = len(name.split())
    if name.endswith(_SENTENCE_END):  # a word may be short for another: "No."
        return (words > 1 or not name.isascii()) and 2 * _count(cells, _SENTENCE_END) >= len(cells)
    return words > 2 * _WORDS and 2 * sum(len(cell.split()) > _WORDS for cell in cells) >= len(cells)


def _count(cells: Sequence[str], ends: tuple[str, ...]) -> int:
    return sum(cell.endswith(ends) for cell in cells)


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[+-]?[\d.,\s%]*", cell) is not None and re.search(r"\d", cell) is not None


def _shape(cell: str) -> str:
    """Return the pattern of a cell: digits as 0, other word characters as a."""
    return re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "0", cell))


def doubt_of_delimiter(sample: Sample, first: int) -> Doubt | None:
    """Return the doubt about the delimiter, where another sign cuts all lines as evenly."""
    header = without_end(sample.lines[first - 1])
    if not any(sign in header for sign in DELIMITERS if sign != sample.delimiter):
        return None
    lines = sample.lines[first - 1 :]
    even = consistent_delimiters(lines, sample.style, header=True, complete=sample.complete)
    rival = next((sign for sign in even if sign != sample.delimiter), None)
    return delimiter_doubt(sample.delimiter, rival, first, header) if rival is not None else None


class PlainText(NamedTuple):
    """How a .txt file is read: with ``delimiter`` "" every line is one cell."""

    delimiter: str
    header_row: int
    doubt: Doubt | None = None


def plain_text(sample: Sample, first: int) -> PlainText:
    """Say how to read a .txt file from line ``first`` on: a line is a cell, unless it surely is a table.

    It is one if a sign other than that of prose cuts all lines alike, and the first names columns.
    """
    if first > len(sample.lines):  # a header was chosen where there is none
        return PlainText("", 0)
    rows = sample.rows(first)
    even = consistent_delimiters(sample.lines, sample.style, header=True, complete=sample.complete)
    if sample.delimiter in even and _is_header(rows[0]):
        return PlainText(sample.delimiter, first)
    text = without_end(sample.lines[first - 1])
    doubt = None
    if sample.delimiter in even:
        doubt = delimiter_doubt("", sample.delimiter, first, text)
    elif names_a_column(text.strip()):
        return PlainText("", first, line_doubt(first, text))
    return PlainText("", 0, doubt)


def _is_header(cells: Sequence[str]) -> bool:
    """Whether all cells are names: short, and not such as commas within a sentence leave."""
    return all(
        cell.strip() == cell != ""
        and not cell.endswith(_SENTENCE_END)
        and len(cell.split()) <= _WORDS
        and not _is_number(cell)
        for cell in cells
    )
