"""Delimited text (csv, tsv, txt), cell by cell as it stands in the file.

Python's csv module reads what is well formed, strictly; where it objects, `csv_grammar` says what the
rest of the block holds. Records of another length than the header are kept: see `reader.fit`. Blank lines
are no rows. All that, and quotes that are never closed, is reported by line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sce_desktop.core.column_rows import ColumnRows
from sce_desktop.core.errors import UserError
from sce_desktop.core.giving_way import giving_way
from sce_desktop.core.i18n import N_, _, number
from sce_desktop.core.limits import MAX_CELL
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.tables import Doubt, TableOptions
from sce_desktop.data.csv.csv_grammar import (
    ESCAPE,
    QUOTE,
    Style,
    valid_delimiter,
    valid_quote,
    without_end,
)
from sce_desktop.data.csv.csv_spans import Span, can_be_cut, spans
from sce_desktop.data.csv.dialects import Found, find_style, known_style
from sce_desktop.data.csv.excel_safe import PREFIX, unprotect
from sce_desktop.data.csv.headers import (
    PlainText,
    Sample,
    doubt_of_delimiter,
    doubt_of_header,
    excels_hint,
    plain_text,
)
from sce_desktop.data.csv.plain_blocks import PlainBlocks
from sce_desktop.data.csv.sniff import cell_counts, usual
from sce_desktop.data.csv.text_source import Block, TextSource, file_size
from sce_desktop.data.reader import Cells, Table, fit

_NO_DELIMITER = "\U0010ffff"  # is assigned to no character: every line is one cell
_SAMPLE_BLOCKS = 3
_LONG_LINE = 4096  # characters: where a line has more, less of the sample is looked at for guesses
_MOST_LINES = 1 << 15
_LEAST_GUESSED, _MOST_GUESSED = 1 << 18, 1 << 20  # characters
_MOST_WHOLE = 1 << 22  # of a first row that is looked at whole, so that no cell of it is missed
_ESCAPED_QUOTE = '\\"'
_MAYBE_ESCAPE = N_("A backslash before a quote was read as plain text: it may be an escape.")

csv.field_size_limit(2**31 - 1)  # the default of 131,072 characters is less than a long text


class CsvTable(Table):
    """A file of delimited text. ``options.delimiter`` is "" where every line is one cell."""

    kind = "csv"

    def __init__(self, path: Path, options: TableOptions, progress: Progress | None = None) -> None:
        super().__init__(path)
        size = file_size(path)
        encoding = self._find_encoding(size, options.encoding, progress)
        self._source = TextSource(path, size, encoding)
        blocks = list(islice(self._source.blocks(self._problem), _SAMPLE_BLOCKS))
        complete = len(blocks) < _SAMPLE_BLOCKS
        sample = [line for block in blocks for line in block.lines]
        if not any(map(str.strip, sample)):
            raise UserError(
                _("{file} has only blank lines: choose a table with a header line.", file=path.name)
            )
        guessed_from = _beginning(sample)
        found, header_row = self._find_out(
            guessed_from, options, complete=complete and guessed_from is sample
        )
        self._dialect = found.style.cut_at(valid_delimiter(found.delimiter or _NO_DELIMITER))
        if found.style.quote:
            valid_quote(found.style.quote, self._dialect.delimiter)
        self.options = replace(
            options,
            encoding=encoding,
            delimiter="" if self._dialect.delimiter == _NO_DELIMITER else self._dialect.delimiter,
            quoting=bool(found.style.quote),
            header_row=header_row,
            sheet=None,
            quote=found.style.quote if found.style.quote not in ("", QUOTE) else options.quote,
            escape=ESCAPE if found.style.escapes else options.escape,
            spaces=found.style.spaces or options.spaces,
        )
        self._data_line = 1  # the first that is no header, 1-based
        self.columns = self._read_header(sample, header_row, complete=complete)
        self._estimate(sample, blocks[-1].fraction, complete=complete)
        self._forget_problems()  # those of the sample: each pass tells all

    def _find_out(self, lines: Sequence[str], options: TableOptions, *, complete: bool) -> tuple[Found, int]:
        """Return how the lines are cut into cells, and the line of the header; tell what is doubtful."""
        first = header_row = options.header_row
        hinted = False
        if header_row is None:
            first = header_row = next(number for number, line in enumerate(lines, start=1) if line.strip())
            hint = excels_hint(lines[first - 1])
            below = next((n for n, line in enumerate(lines[first:], start=first + 1) if line.strip()), None)
            if hint and below is not None and options.delimiter in (None, hint):
                hinted = True
                first = header_row = below
                options = replace(options, delimiter=hint)
        first = max(first or 1, 1)
        found = find_style(lines[first - 1 :], first, options, header=header_row > 0, complete=complete)
        sample = Sample(lines, found.style, found.delimiter, complete)
        if _is_plain_text(self.path) and not hinted and not options.delimiter:
            text = plain_text(sample, first) if options.delimiter is None else PlainText("", 0)
            if options.header_row is None:
                header_row = text.header_row
            if not text.delimiter:
                quoting = options.quoting is True  # it was chosen: else a quote would swallow lines
                found = Found(Style(known_style(options).quote if quoting else ""), "")
            self._doubt(text.doubt)
        elif options.header_row is None and not hinted:
            self._doubt(doubt_of_header(sample, first, any_delimiter=options.delimiter is None))
        if options.delimiter is None and header_row and found.delimiter:
            self._doubt(doubt_of_delimiter(sample, first))
        self._doubt(found.doubt)
        return found, header_row

    def _doubt(self, doubt: Doubt | None) -> None:
        if doubt is not None:
            self.doubts += (doubt,)

    def _read_header(self, sample: Sequence[str], header_row: int, *, complete: bool) -> tuple[str, ...]:
        if header_row == 0:
            width = usual(cell_counts(sample, self._dialect, complete=complete))
            return tuple(f"Column {number}" for number in range(1, width + 1))
        if not 0 < header_row <= len(sample) or not without_end(sample[header_row - 1]):
            raise UserError(
                _(
                    "{file} has no header on line {line}: choose another line.",
                    file=self.path.name,
                    line=header_row,
                )
            )
        record = self._dialect.read(sample, header_row - 1, complete=True)
        assert record is not None  # complete
        self._data_line = record.end + 1
        return tuple(unprotect(cell) for cell in record.cells)

    def _estimate(self, sample: list[str], fraction: float, *, complete: bool) -> None:
        """Count the rows of the sample and scale them up; exact where the sample is the whole file."""
        data = sample[self._data_line - 1 :]
        rows, _ = self._parse(data, self._data_line, certain=len(data))
        share = 1.0 if complete or not data else len(data) / len(sample) * fraction
        self.estimated_rows = round(len(rows) / share)

    def spans(self, rows: int) -> Iterator[Span] | None:
        """Yield spans of ``rows`` rows for `rows_of`, at last one that is not sound, for `rest`, or none.

        None: this file cannot be cut.
        """
        source, dialect = self._source, self._dialect
        if not dialect.usual or not can_be_cut(
            self.path, source.codec, dialect.delimiter, dialect.quote, source.newline
        ):
            return None
        return spans(
            self.path,
            source.size,
            rows,
            delimiter=dialect.delimiter,
            quoting=bool(dialect.quote),
            lines=self._data_line - 1,
            row_bytes=source.size // max(self.estimated_rows or 1, 1),
        )

    def rows_of(self, span: Span) -> list[Cells]:
        """Return the rows of ``span``; `problems` are those of all spans that were read so."""
        blocks = self._source.blocks(self._problem, at=span.start, stop=span.stop, line=span.line)
        lines = [line for block in blocks for line in block.lines]
        return self._parse(lines, span.line, certain=len(lines))[0]

    def rest(self, span: Span, size: int) -> Iterator[list[Cells]]:
        """Yield the rows of ``span``, the last one, as `batches` does; `problems` are added."""
        self._by_column = False
        for batch in self._batches(size, SilentProgress(), self._chunks(SilentProgress(), span)):
            assert isinstance(batch, list)
            yield batch

    def _chunks(
        self, progress: Progress, span: Span | None = None
    ) -> Iterator[tuple[list[Cells] | ColumnRows, float]]:
        pending: list[str] = []  # lines of a record that has not ended yet
        # the numbers of the first pending line and of the one after the last
        first = line = 1 if span is None else span.line
        wanted = 0  # characters of pending lines before trying again: doubled, so that all work stays linear
        plain = PlainBlocks(self._dialect, len(self.columns)) if self._by_column else None
        for piece in self._source.pieces(at=0 if span is None else span.start, line=line):
            if plain is not None and not pending and piece.first >= self._data_line:
                found = plain.read(piece.text, piece.lines)
                if found is not None:
                    line = piece.first + piece.lines
                    yield found, piece.fraction
                    continue
            block = self._source.block(piece, self._problem)
            lines = self._skip_header(block)
            line = block.first + len(block.lines)
            first = first if pending else line - len(lines)
            pending += lines
            held = sum(map(len, pending)) if wanted else 0
            if held >= wanted:
                rows, used = self._parse(pending, first, certain=1 if held > MAX_CELL else 0)
                pending = pending[used:]
                first += used
                wanted = min(2 * sum(map(len, pending)), MAX_CELL + 1)
                yield rows, block.fraction
        rows, _ = self._parse(pending, first, certain=len(pending))
        yield rows, 1.0
        if change := self._source.size_change():
            self._problem(max(line - 1, 1), change)
            progress.warn(change)

    def _skip_header(self, block: Block) -> list[str]:
        return block.lines[max(self._data_line - block.first, 0) :]

    def _parse(self, lines: list[str], first: int, *, certain: int) -> tuple[list[Cells], int]:
        """Return the rows of ``lines``, the first of which is line ``first``, and how many lines they took.

        Records that begin in the first ``certain`` lines are decided by these lines alone. A later one whose
        quote is still open is left for when more lines are there.
        """
        rows: list[Cells] = []
        index = self._parse_well_formed(lines, first, rows)
        while index < len(lines):
            if not without_end(lines[index]):
                self._add([], lines, index, index + 1, first, rows)
                index += 1
                continue
            complete = index < certain
            record = self._dialect.read(lines, index, complete=complete)
            if record is None:
                break
            for at in record.unclosed:
                self._problem(first + at, partial(_never_closed, first + at), "quoting")
            if record.plain and _ESCAPED_QUOTE in lines[index] and not self._dialect.escapes:
                self._problem(first + index, _(_MAYBE_ESCAPE), "escape")
            self._add(record.cells, lines, index, record.end, first, rows)
            index = record.end
        if PREFIX in "".join(lines):
            rows = [tuple(cell and unprotect(cell) for cell in row) for row in rows]
        return rows, index

    def _parse_well_formed(self, lines: list[str], first: int, rows: list[Cells]) -> int:
        """Append rows up to the first record that breaks the rules and return the index of its line."""
        if not self._dialect.usual:
            return 0
        width = len(self.columns)
        reader = self._reader(lines)
        with suppress(csv.Error):
            found = list(reader)
            if len(found) == reader.line_num == len(lines) and {width}.issuperset(map(len, found)):
                rows += map(tuple, found)  # a line each, and nothing to be said about any
                return len(lines)
        reader = self._reader(lines)
        start = 0
        try:
            for cells in giving_way(reader):
                end = reader.line_num
                if len(cells) == width and end - start == 1:
                    rows.append(tuple(cells))
                else:
                    self._add(cells, lines, start, end, first, rows)
                start = end
        except csv.Error:
            pass
        return start

    def _reader(self, lines: list[str]) -> Any:
        return csv.reader(
            lines,
            delimiter=self._dialect.delimiter,
            quotechar=self._dialect.quote or QUOTE,
            quoting=csv.QUOTE_MINIMAL if self._dialect.quote else csv.QUOTE_NONE,
            strict=True,
        )

    def _add(
        self, cells: list[str], lines: list[str], start: int, end: int, first: int, rows: list[Cells]
    ) -> None:
        """Append the record of ``lines[start:end]``, and tell what is wrong with it."""
        width = len(self.columns)
        if not cells:
            self._problem(first + start, lambda: _("A blank line, not a row."))
            return
        if end - start > 1 and self._looks_swallowed(cells, lines[start + 1 : end]):
            self._problem(
                first + start,
                lambda: _(
                    "A quote is closed only on line {line}: the lines between may be separate rows.",
                    line=number(first + end - 1),
                ),
                "quoting",
            )
        if len(cells) == width:
            rows.append(tuple(cells))
            return
        if end - start == 1 and (several := self._at_returns(lines[start])):
            rows += several
            return
        row, message = fit(list(cells), width, self._dialect.delimiter)
        self._problem(first + start, message)
        rows.append(row)

    def _at_returns(self, line: str) -> list[Cells]:
        """Return the rows of a line whose lone carriage returns prove to be line ends, else nothing."""
        if "\r" not in without_end(line):
            return []
        rows: list[Cells] = []
        for part in io.StringIO(line, newline=""):
            record = self._dialect.read([part], 0, complete=True)
            if record is None or len(record.cells) != len(self.columns) or len(record.cells) == 1:
                return []
            rows.append(tuple(record.cells))
        return rows

    def _looks_swallowed(self, cells: list[str], following: list[str]) -> bool:
        """Whether each of a record's further lines looks like a row: as many cells, a similar first."""
        delimiters, kind = len(self.columns) - 1, _kind(cells[0])
        return delimiters > 0 and all(
            line.count(self._dialect.delimiter) == delimiters
            and _kind(line.split(self._dialect.delimiter, 1)[0]) == kind
            for line in following
        )


def _never_closed(line: int) -> str:
    return _("A quote opened on line {line} is never closed: it was read as plain text.", line=number(line))


def _beginning(lines: list[str]) -> list[str]:
    """Return the lines that are looked at for guesses: fewer where some are very long, but the header whole.

    Guessing goes through them dozens of times, and a line may be longer than all of a usual sample.
    """
    first = next(place for place, line in enumerate(lines) if line.strip())
    if max(map(len, lines)) <= _LONG_LINE:
        return lines if len(lines) <= first + _MOST_LINES else lines[: first + _MOST_LINES]
    left = min(max(_LEAST_GUESSED, 4 * len(lines[first])), _MOST_GUESSED)
    found: list[str] = []
    for line in lines[: first + _MOST_LINES]:
        if not line.strip():
            found.append("\n")
            continue
        if len(line) > left and len(found) > first + 1:
            break
        found.append(line if len(line) <= _MOST_WHOLE else line[:left])
        left -= len(line)
        if left <= 0:
            break
    return found


def _is_plain_text(path: Path) -> bool:
    """Whether a file is more likely prose than a table, by its name; it may be gzipped."""
    ending = path.suffix.lower()
    return (Path(path.stem).suffix.lower() if ending == ".gz" else ending) == ".txt"


def _kind(cell: str) -> str:
    """Return the pattern of a cell: digits as 0, other word characters as a."""
    return re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "0", cell.strip(QUOTE)))
