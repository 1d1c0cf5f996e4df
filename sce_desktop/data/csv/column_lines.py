"""Lines of csv of columns, put together by Arrow: what `csv_text.CSVLines` writes of the same cells.

No object is made for a cell, and Python's lock is free while columns are looked at and joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from sce_desktop.core import text_arrays
from sce_desktop.core.giving_way import give_way
from sce_desktop.data.columns import Column, Numbers, is_held_by_arrow
from sce_desktop.data.csv.csv_text import CSVLines
from sce_desktop.data.csv.excel_safe import FORMULAS, PREFIX
from sce_desktop.data.number_text import joined

if TYPE_CHECKING:
    import pyarrow as pa

Piece: TypeAlias = "pa.StringArray | str"
"""A text for each row, or one that is the same for all."""

_MOST_BYTES: Final = 500_000_000  # of lines; Arrow holds 2 GB in one piece, and quotes may double a text


def lines_of(columns: Sequence[Column], rows: int, lines: CSVLines) -> memoryview | None:
    """Return the lines of ``rows`` rows in UTF-8; None where `CSVLines` has to make them, row by row.

    That is so where there is one column, whose empty cells are quoted, and where texts are very long.
    """
    if len(columns) < 2 or not rows or len(lines.delimiter) != 1 or not lines.delimiter.isascii():
        return None
    protected = lines.protected
    try:
        pieces = list(_pieces(columns, rows, lines))
    except OverflowError:
        lines.protected = protected
        return None
    give_way()
    return _joined(pieces)


def _joined(pieces: Sequence[Piece]) -> memoryview:
    import pyarrow.compute as pc

    parts: list[pa.StringArray | pa.StringScalar] = []
    same = ""
    for piece in pieces:
        if isinstance(piece, str):
            same += piece
            continue
        parts += [text_arrays.scalar(same), piece] if same else [piece]
        same = ""
    parts.append(text_arrays.scalar(same))
    found = pc.binary_join_element_wise(*parts, text_arrays.scalar(""))
    data, ends = text_arrays.buffers(found)
    return memoryview(data[ends[0] : ends[-1]])


def _pieces(columns: Sequence[Column], rows: int, lines: CSVLines) -> Iterator[Piece]:
    """Yield what follows one another in each line. `OverflowError` if it is too long."""
    length, between = 0, ""
    for presence, group in groupby(columns, _presence):
        some = list(group)
        fields = [_numbers(some, rows, lines)] if presence else [_field(one, lines) for one in some]
        for field in fields:
            give_way()
            yield between
            for piece in field:
                length += 0 if isinstance(piece, str) else piece.nbytes
                if length > _MOST_BYTES:
                    raise OverflowError("too long for one array of texts")
                yield piece
            between = lines.delimiter
    yield "\n"


def _presence(column: Column) -> int | None:
    """Return what is equal for columns of numbers that are empty in the same rows; None for other ones."""
    return id(column.present) if isinstance(column, Numbers) else None


def _numbers(columns: Sequence[Column], rows: int, lines: CSVLines) -> list[Piece]:
    """Return the texts of columns of numbers that stand side by side, as one."""
    numbers = [column for column in columns if isinstance(column, Numbers)]
    present = numbers[0].present
    whole = bool(present.all())
    matrix = np.stack([one.values if whole else one.values[present] for one in numbers], axis=1)
    texts = joined(matrix, lines.delimiter)
    if not whole:
        places = np.where(present, np.cumsum(present) - 1, len(texts)).astype(np.int32)
        absent = text_arrays.of_texts([lines.delimiter * (len(numbers) - 1)])
        texts = text_arrays.taken(text_arrays.concatenated([texts, absent]), places)
    return [texts]


def _field(column: Column, lines: CSVLines) -> list[Piece]:
    """Return the cells of a column as they stand between delimiters."""
    import pyarrow as pa
    import pyarrow.compute as pc

    assert not isinstance(column, Numbers)
    texts = column
    if not is_held_by_arrow(column):
        try:
            texts = text_arrays.of_texts(column)
        except TypeError:  # numbers among them
            return [text_arrays.of_texts(lines.fields(column))]
    if pa.types.is_integer(texts.type):
        return [_filled(pc.cast(texts, pa.string()))]
    return _quoted(_protected(_filled(texts), lines), lines.delimiter)


def _filled(texts: pa.StringArray) -> pa.StringArray:
    import pyarrow.compute as pc

    return pc.fill_null(texts, text_arrays.scalar("")) if texts.null_count else texts


def _protected(texts: pa.StringArray, lines: CSVLines) -> pa.StringArray:
    """Return ``texts`` with the prefix before those that begin with it, and those that are formulas."""
    import pyarrow.compute as pc

    def begin(signs: str) -> pa.BooleanArray:
        return pc.starts_with(texts, pattern=signs)

    found = begin(PREFIX)
    if lines.excel_safe:
        formulas = begin(FORMULAS[0])
        for signs in FORMULAS[1:]:
            formulas = pc.or_(formulas, begin(signs))
        lines.protected += formulas.true_count
        found = pc.or_(found, formulas)
    if not found.true_count:
        return texts
    prefixes = pc.if_else(found, text_arrays.scalar(PREFIX), text_arrays.scalar(""))
    return pc.binary_join_element_wise(prefixes, texts, text_arrays.scalar(""))


def _quoted(texts: pa.StringArray, delimiter: str) -> list[Piece]:
    """Return ``texts`` with quotes around those that have a quote, a delimiter or an end of a line."""
    import pyarrow.compute as pc

    data, ends = text_arrays.buffers(texts)
    used = data[ends[0] : ends[-1]]
    signs = [found for sign in f'"{delimiter}\n\r' if len(found := np.flatnonzero(used == ord(sign)))]
    if not signs:
        return [texts]
    quoted = np.zeros(len(texts), np.bool_)
    for places in signs:
        quoted[np.searchsorted(ends[1:] - ends[0], places, "right")] = True
    if (used == ord('"')).any():
        texts = pc.replace_substring(texts, pattern='"', replacement='""')
    if quoted.all():
        return ['"', texts, '"']
    quotes = text_arrays.taken(text_arrays.of_texts(["", '"']), quoted.astype(np.int32))
    return [quotes, texts, quotes]
