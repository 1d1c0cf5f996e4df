"""The XML parts of a workbook as streams: elements and the cells of a sheet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple
from xml.parsers import expat

from sce_desktop.core.limits import (
    ELEMENTS_A_CELL,
    MAX_ELEMENTS,
    MAX_SHEET_CELL,
    MAX_TOKEN,
)

CHUNK = 1 << 18  # bytes
MAX_COLUMN = 16_384  # XFD
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")


class DamagedError(ValueError):
    """What stands in a part is not what a workbook holds."""


class HugeError(Exception):
    """A part of a workbook asks for more time or memory than its size lets expect."""


class Extent(NamedTuple):
    """Where the filled cells of a sheet are (1-based, all 0 if there are none), and how many."""

    first_row: int = 0
    last_row: int = 0
    first_column: int = 0
    last_column: int = 0
    rows: int = 0  # that hold a filled cell
    cells: int = 0

    @property
    def width(self) -> int:
        """The columns from the first to the last filled one."""
        return self.last_column - self.first_column + 1 if self.cells else 0


class RawCell(NamedTuple):
    """A filled cell as it is stored. ``value`` is None where a formula has no saved result."""

    kind: str  # the attribute t
    style: str
    value: str | None


def elements(stream: IO[bytes]) -> Iterator[tuple[str, dict[str, str], bool]]:
    """Yield (local name, attributes by local name, whether it begins) where elements begin and end."""
    found: list[tuple[str, dict[str, str], bool]] = []
    parser = new_parser()

    def start(name: str, attributes: dict[str, str]) -> None:
        found.append((_local(name), {_local(key): value for key, value in attributes.items()}, True))

    def end(name: str) -> None:
        found.append((_local(name), {}, False))

    parser.StartElementHandler, parser.EndElementHandler = start, end
    count = 0
    for _piece in parsed(parser, stream):
        count += len(found)
        if count > MAX_ELEMENTS:
            raise HugeError
        yield from found
        found.clear()


def parsed(parser: Any, stream: IO[bytes]) -> Iterator[None]:
    """Parse ``stream`` piece by piece, yielding after each.

    Raises:
        DamagedError: A tag or a comment goes on and on: the parser would look through it with each piece.
    """
    read = 0
    while chunk := stream.read(CHUNK):
        parser.Parse(chunk)
        read += len(chunk)
        if read - parser.CurrentByteIndex > MAX_TOKEN:
            raise DamagedError("a tag without end")
        yield
    parser.Parse(b"", True)
    yield


class _Text:
    """The text of runs (``t``), without the readings (``rPh``) that stand above them."""

    def __init__(self, parser: Any) -> None:
        self.pieces: list[str] = []
        self._held: list[str] = []
        self._size = 0
        self._reading = False
        self._parser = parser

    def start(self, name: str) -> None:
        if name == "t" and not self._reading:
            self._held, self._size = [], 0
            self._parser.CharacterDataHandler = self._add
        elif name == "rPh":
            self._reading = True

    def end(self, name: str) -> None:
        if name == "t" and not self._reading:
            self._parser.CharacterDataHandler = None
            self.pieces.append("".join(self._held))
        elif name == "rPh":
            self._reading = False

    def _add(self, piece: str) -> None:
        self._held.append(piece)
        self._size += len(piece)
        if self._size > MAX_SHEET_CELL:
            raise DamagedError("a cell without end")


def extent(stream: IO[bytes], packed: int) -> Extent:
    """Return where the filled cells of a sheet are, whatever its ``dimension`` says.

    Raises:
        HugeError: It has more elements beside its filled cells than a file of ``packed`` bytes lets expect.
    """
    parser = new_parser()
    parser.buffer_size = CHUNK
    first_row = last_row = last_column = rows = cells = 0
    first_column = MAX_COLUMN
    row = column = counted_row = begun = 0
    row_text = ""
    open_value = False  # the text that comes next is a cell's value
    c = v = ""

    def root(name: str, _: dict[str, str]) -> None:
        nonlocal c, v
        prefix = name[: len(name) - len(_local(name))]
        c, v = f"{prefix}c", f"{prefix}v"
        others.update({f"{prefix}f": count, f"{prefix}is": count})
        others[f"{prefix}row"] = new_row
        parser.StartElementHandler = start

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal row, row_text, column, open_value, begun
        begun += 1
        if name == c:
            reference = attributes.get("r", "")
            found = _columns.get(reference[: -len(row_text)]) if row_text else None
            if found is not None and reference.endswith(row_text):
                column = found
            else:
                row, column = _place(reference, row, column)
                row_text = str(row)
            open_value = False
        elif name == v:
            open_value = True
        elif name in others:
            others[name](attributes)

    def text(value: str) -> None:
        if open_value and not value.isspace():
            count({})

    def new_row(attributes: dict[str, str]) -> None:
        nonlocal row, column, row_text
        row, column = _row(attributes.get("r"), row), 0
        row_text = str(row)

    def count(_: dict[str, str]) -> None:
        nonlocal first_row, last_row, first_column, last_column, rows, cells, counted_row, open_value
        open_value = False
        cells += 1
        if column < first_column:
            first_column = column
        if column > last_column:
            last_column = column
        if row != counted_row:
            rows += 1
            counted_row = row
            first_row, last_row = min(first_row or row, row), max(last_row, row)

    others: dict[str, Callable[[dict[str, str]], None]] = {}
    parser.StartElementHandler, parser.CharacterDataHandler = root, text
    for _piece in parsed(parser, stream):
        if begun - ELEMENTS_A_CELL * cells > MAX_ELEMENTS + packed:
            raise HugeError
    return Extent(first_row, last_row, first_column, last_column, rows, cells) if cells else Extent()


def sheet_rows(stream: IO[bytes]) -> Iterator[tuple[int, dict[int, RawCell]]]:
    """Yield (number, filled cells by column) of the rows of a sheet that hold a filled cell."""
    reader = _Rows()
    for _piece in parsed(reader.parser, stream):
        yield from reader.done
        reader.done.clear()
        if reader.finished:
            return


class _Rows:
    """Collects the cells of a sheet while it is parsed."""

    def __init__(self) -> None:
        self.parser = new_parser()
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.done: list[tuple[int, dict[int, RawCell]]] = []
        self.finished = False
        self._prefix: str | None = None
        self._row = self._column = 0
        self._row_text = ""
        self._cells: dict[int, RawCell] = {}
        self._cell: dict[str, str] | None = None
        self._value: list[str] | None = None
        self._formula = False
        self._text = _Text(self.parser)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._prefix is None:
            self._prefix = name[: len(name) - len(_local(name))]
        if self._prefix:
            name = name.removeprefix(self._prefix)
        if name == "c":
            reference = attributes.get("r", "")
            # Most references end in the number of the row that they stand in: A12 in row 12.
            column = _columns.get(reference[: -len(self._row_text)]) if self._row_text else None
            if column is None or not reference.endswith(self._row_text):
                row, column = _place(reference, self._row, self._column)
                if row != self._row:
                    self._finish_row()
                    self._row, self._row_text = row, str(row)
            self._column = column
            self._cell, self._value, self._formula = attributes, None, False
            self._text.pieces = []
        elif self._cell is None:
            if name == "row":
                self._row, self._column = _row(attributes.get("r"), self._row), 0
                self._row_text = str(self._row)
        elif name == "v":
            self._value = []
            self.parser.CharacterDataHandler = self._value.append
        elif name == "f":
            self._formula = True
        elif name == "is":
            self._value = self._text.pieces
        else:
            self._text.start(name)

    def _end(self, name: str) -> None:
        if self._prefix:
            name = name.removeprefix(self._prefix)
        if name == "v":
            self.parser.CharacterDataHandler = None
        elif name == "c":
            self._finish_cell()
        elif name == "row":
            self._finish_row()
        elif name == "sheetData":
            self.finished = True
        elif self._cell is not None:
            self._text.end(name)

    def _finish_cell(self) -> None:
        cell, value = self._cell, self._value
        self._cell = None
        if cell is None or (value is None and not self._formula):
            return
        kind = cell.get("t", "n")
        text = "".join(value) if value is not None else None
        if text is not None and len(text) > MAX_SHEET_CELL:
            raise DamagedError("a cell without end")
        if text == "" and kind not in ("str", "inlineStr"):
            text = None
            if not self._formula:
                return
        self._cells[self._column] = RawCell(kind, cell.get("s", "0"), text)

    def _finish_row(self) -> None:
        if self._cells:
            self.done.append((self._row, self._cells))
            self._cells = {}


def unescape(text: str) -> str:
    """Return ``text`` with the characters that XML cannot hold: _x000D_ stands for a carriage return."""
    if "_x" not in text:
        return text
    return _ESCAPE.sub(lambda m: m[0] if 0xD800 <= int(m[1], 16) < 0xE000 else chr(int(m[1], 16)), text)


def new_parser() -> Any:
    """Return a parser that refuses document types: the entities of one can unpack to anything."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _no_doctype
    return parser


def _no_doctype(*_: object) -> None:
    raise DamagedError("a document type: workbooks have none")


def _local(name: str) -> str:
    return name.rpartition(":")[2]


_columns: dict[str, int] = {}


def _place(reference: str | None, row: int, column: int) -> tuple[int, int]:
    """Return the 1-based row and column of a cell: after the last one unless its ``reference`` says where."""
    if not reference:
        column += 1
        if column > MAX_COLUMN:
            raise DamagedError("more columns than a sheet has")
        return row, column
    letters = reference.rstrip("0123456789")
    found = _columns.get(letters)
    if found is None:
        found = _columns[letters] = _column(letters)
    return _row(reference[len(letters) :], row - 1), found


def _row(number: str | None, last: int) -> int:
    if not number:
        return last + 1
    if len(number) > 9 or not number.isascii() or not number.isdigit() or number == "0":
        raise DamagedError(f"no number of a row: {number:.20}")
    return int(number)


def _column(letters: str) -> int:
    """Return the 1-based number of a column, such as 28 for AB."""
    column = 0
    if not re.fullmatch(r"[A-Za-z]{1,3}", letters):
        raise DamagedError(f"no name of a column: {letters:.20}")
    for letter in letters.upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    if column > MAX_COLUMN:
        raise DamagedError("more columns than a sheet has")
    return column


def column_letters(column: int) -> str:
    """Return the name of a 1-based column, such as AB for 28."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
