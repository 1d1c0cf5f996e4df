"""Blocks of csv in which nothing is unusual, by pyarrow: a quarter of the time of Python's csv module.

pyarrow's reader forgives what breaks the rules, and says nothing of it. So it is asked only where all readers
agree: each line is a row with as many cells as the header, and each quote opens or closes a cell, or is one
of a pair inside. Everything else is left to `csv_reader`, which says what it makes of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.column_rows import ColumnRows
from sce_desktop.data.csv.csv_grammar import QUOTE, Dialect
from sce_desktop.data.csv.excel_safe import PREFIX

if TYPE_CHECKING:
    from pyarrow import csv as pa_csv

_MOST_COLUMNS: Final = 200  # each costs something in every block
_QUOTE, _LINE_FEED, _RETURN = (ord(sign) for sign in '"\n\r')


class PlainBlocks:
    """Reads blocks of a table of ``width`` columns in ``dialect``, where they can be read so."""

    def __init__(self, dialect: Dialect, width: int) -> None:
        delimiter, quote = dialect.delimiter, dialect.quote
        self._delimiter = delimiter
        self._quoted = bool(quote)
        self._width = width
        self._possible = (
            (dialect.usual and quote in ("", QUOTE) and 1 < width <= _MOST_COLUMNS)
            and (len(delimiter) == 1 and delimiter.isascii() and delimiter not in '"\n\r\0')
        )  # fmt: skip
        self._options: tuple[pa_csv.ReadOptions, pa_csv.ParseOptions, pa_csv.ConvertOptions] | None = None

    def read(self, text: str, lines: int) -> ColumnRows | None:
        """Return the rows of ``text``, which has ``lines`` whole lines; None where something is unusual."""
        if not self._possible or not lines or "\0" in text or text.startswith("\ufeff"):
            return None
        if "\r" in text and text.count("\r") != text.count("\r\n"):
            return None
        if not text.isascii() and PREFIX in text:
            return None
        try:
            data = text.encode()
        except UnicodeEncodeError:  # what stands for bytes that do not decode
            return None
        if self._quoted and not self._well_quoted(np.frombuffer(data, np.uint8)):
            return None
        return self._parsed(data, lines)

    def _well_quoted(self, data: NDArray[np.uint8]) -> bool:
        """Return whether each quote opens a cell, closes one, or is one of a pair inside."""
        quotes = np.flatnonzero(data == _QUOTE)
        if len(quotes) % 2:
            return False
        opening, closing = quotes[::2], quotes[1::2]
        before = np.where(opening > 0, data[opening - 1], _LINE_FEED)
        after = data[np.minimum(closing + 1, len(data) - 1)]
        after[closing == len(data) - 1] = _LINE_FEED
        delimiter = ord(self._delimiter)
        opens = (before == delimiter) | (before == _LINE_FEED)
        closes = (after == delimiter) | (after == _LINE_FEED) | (after == _RETURN)
        pairs = closing[:-1] + 1 == opening[1:]
        opens[1:] |= pairs
        closes[:-1] |= pairs
        return bool(opens.all() and closes.all())

    def _parsed(self, data: bytes, lines: int) -> ColumnRows | None:
        import pyarrow as pa
        from pyarrow import csv as pa_csv

        if self._options is None:
            names = [str(place) for place in range(self._width)]
            self._options = (
                pa_csv.ReadOptions(use_threads=False, column_names=names, block_size=1 << 30),
                pa_csv.ParseOptions(
                    delimiter=self._delimiter, quote_char=QUOTE if self._quoted else False, double_quote=True
                ),
                pa_csv.ConvertOptions(
                    check_utf8=False,
                    column_types=dict.fromkeys(names, pa.string()),
                    strings_can_be_null=False,
                ),
            )
        read, parse, convert = self._options
        try:
            table = pa_csv.read_csv(pa.py_buffer(data), read, parse, convert)
        except pa.ArrowInvalid:  # a row of another length
            return None
        if table.num_rows != lines or table.num_columns != self._width:  # blank lines, or one inside a cell
            return None
        chunks = [column.chunks for column in table.columns]
        return ColumnRows([chunk for (chunk,) in chunks]) if {1}.issuperset(map(len, chunks)) else None
