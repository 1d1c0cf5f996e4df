"""Tables as they are read: cells, options, what a preview shows. Nothing here reads or writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self

Cell = str | None
"""A cell as it was read. None only where the format itself has a null (parquet, jsonl, xlsx)."""


class TypedCells(tuple[Cell, ...]):
    """The cells of a row of JSON, with a letter a cell in ``types`` for what each was (see `CellType`)."""

    types: str

    def __new__(cls, cells: Sequence[Cell], types: str) -> Self:
        """Make the row; plain tuples are rows of texts and nulls alone."""
        row = super().__new__(cls, cells)
        row.types = types
        return row

    def __getnewargs__(self) -> tuple[tuple[Cell, ...], str]:
        """What another process makes the row of."""
        return tuple(self), self.types


class CellType(StrEnum):
    """What a cell was where its format has more than texts."""

    TEXT = "t"  # a text or a null, as the cell says
    VALUE = "j"  # the cell is the JSON of a number, a truth value, a list or an object
    MISSING = "-"  # nothing: the object had no such key


def first_cells(cells: Sequence[Cell], count: int | None) -> tuple[Cell, ...]:
    """Return the first ``count`` cells of a row with their types."""
    if isinstance(cells, TypedCells):
        return TypedCells(cells[:count], cells.types[:count])
    return tuple(cells[:count])


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How to read a table. None means: find out."""

    encoding: str | None = None
    delimiter: str | None = None  # "": every line is one cell
    quoting: bool | None = None  # False: quotes are plain text
    header_row: int | None = None  # 1-based line of the header; 0: there is none
    sheet: str | None = None
    quote: str | None = None  # the sign that encloses cells, unless quotes are plain text
    escape: str | None = None  # "\\": a backslash makes the next sign plain text; "": it is text itself
    spaces: bool | None = None  # True: those around a cell's quotes are no part of it

    @property
    def settled(self) -> TableOptions:
        """The same with what is usual for quotes, where nothing else was found: it is not guessed again."""
        return replace(self, quote=self.quote or '"', escape=self.escape or "", spaces=bool(self.spaces))


@dataclass(frozen=True, slots=True)
class TableProblem:
    """Something in a file that is not as it should be, by its 1-based line (or sheet row)."""

    line: int
    message: str
    option: str = ""  # the field of `TableOptions` that may help


@dataclass(frozen=True, slots=True)
class Doubt:
    """A guess about how to read a table that may as well be otherwise."""

    sentence: str  # what was guessed, and the line that shows the difference
    offer: str  # what reading it the other way is called
    option: str  # the field of `TableOptions` that decides
    value: str | int | bool  # of that field, for the other way
    flag: str  # the same on the command line


@dataclass(frozen=True, slots=True)
class TablePreview:
    """What the import dialog shows before anything is imported."""

    path: str
    kind: str  # csv, xlsx, parquet, jsonl
    options: TableOptions  # as found or chosen
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    problems: tuple[TableProblem, ...]
    problem_count: int
    estimated_rows: int | None
    sheets: tuple[str, ...] = ()
    encodings: tuple[str, ...] = ()  # plausible ones, best first
    text_column: int | None = None  # our guess
    label_column: int | None = None  # our guess, None if nothing looks like one
    doubts: tuple[Doubt, ...] = ()  # about the options that were not chosen
    notes: tuple[str, ...] = ()  # how it was read, where that is not plain
    annotated: bool = False  # of another annotation tool: its labels are restored
    extra: dict[str, str] = field(default_factory=dict)
