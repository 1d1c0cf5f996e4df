"""JSON: one object a line (JSON Lines), or a document whose rows `json_document` finds.

Columns are the keys of all objects in the order in which they first appear, a new one before those that it
stands before (but for what comes after hundreds of such). Strings stay as they are,
null and a missing key are None, numbers keep the digits of the file, true and false stay so, lists and
objects become JSON text; what each was, the row's `TypedCells` tell. Lines that are no JSON object are left
out and reported by number.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import N_, _, number
from sce_desktop.core.limits import MAX_KEYS, MAX_LINE
from sce_desktop.core.progress import Progress
from sce_desktop.core.quoting import shortened
from sce_desktop.core.tables import Cell, CellType, TableOptions, TypedCells
from sce_desktop.core.text import size_text
from sce_desktop.data.csv.text_source import TextSource, file_size
from sce_desktop.data.exchange.doccano import is_line, read_line
from sce_desktop.data.exchange.recognise import exchanged_rows
from sce_desktop.data.exchange.records import NoTableError
from sce_desktop.data.json.json_document import find_rows, lists_in
from sce_desktop.data.json.json_values import DECODER, JsonText, Number, Repeating, text_of, valid
from sce_desktop.data.reader import Cells, Table

_CHUNK = 1000  # rows
_TRIED = 50  # lines that show whether a file with a broken first line is one object a line
MAX_CELLS = 50_000_000
_FILLED = 1 / 1000  # of the cells; where less are, and they are more than that, the objects are no table
_VALUE_BYTES = 120  # that a value of a document takes at most beside its text
_MOST_BYTES = 1 << 29
_MOVED = 500  # times that new columns are put between known ones: each moves all of them
_UNCHECKED = 1 << 20  # characters that cannot hold as many values
_SPACE = re.compile(r"\s*")


class _TooDeep:
    """Stands for JSON that nests deeper than it can be read."""


_NOT_AN_OBJECT = N_("This is not a JSON object and was skipped.")
_NOT_A_ROW = {
    type(None): N_("This is not JSON and was skipped."),
    _TooDeep: N_("This nests too deeply and was skipped."),
}
_Found = tuple[int, dict[str, Any], bool, float]
"""An object with its line, whether halves of characters may be in it, and the fraction read by then."""


class JsonTable(Table):
    """A file of one JSON object a line, or one document, whose places in the list serve as line numbers."""

    kind = "jsonl"

    def __init__(self, path: Path, options: TableOptions) -> None:
        super().__init__(path)
        size = file_size(path)
        encoding = self._find_encoding(size, options.encoding)
        self.options = TableOptions(encoding=encoding)
        self._source = TextSource(path, size, encoding)
        self._parsed: tuple[Sequence[Any], bool] | None = None  # for the first pass alone
        self._whole = self._is_document(size)
        columns: dict[str, None] = {}
        rows = filled = moved = 0
        for _number, found, halves, _fraction in self._objects():
            keys = dict.fromkeys(map(valid, found)) if halves else found
            if not keys.keys() <= columns.keys():
                if moved < _MOVED:
                    before, columns = columns, _with_keys(columns, list(keys))
                    moved += columns is not before
                else:
                    columns.update(dict.fromkeys(key for key in keys if key not in columns))
            if len(columns) > MAX_KEYS:
                raise _no_table(path, MAX_KEYS, more=True)
            rows += 1
            filled += len(keys)
        if rows * len(columns) > MAX_CELLS and filled < rows * len(columns) * _FILLED:
            raise _no_table(path, len(columns))
        self._forget_problems()  # each pass tells them
        if not columns:
            raise UserError(
                _("{file} has no JSON objects: write one object with keys on each line.", file=path.name)
            )
        self.columns = tuple(columns)
        self.estimated_rows = rows

    def _chunks(self, progress: Progress) -> Iterator[tuple[list[Cells], float]]:
        rows: list[Cells] = []
        number = 1
        for number, found, halves, fraction in self._objects():
            if not found:
                self._problem(number, _("An object without keys, read as an empty row."))
            rows.append(self._row(self._cells(number, found, halves)))
            if len(rows) == _CHUNK:
                yield rows, fraction
                rows = []
        yield rows, 1.0
        if change := self._source.size_change():
            self._problem(number, change)
            progress.warn(change)

    # --- one object a line, or a document

    def _is_document(self, size: int) -> bool:
        """Whether the file is one document; a single object on a single line may be one, or one row."""
        lines = self._filled_lines()
        first = next(lines, "")
        if not first.startswith(("{", "[")):
            return False
        if first.startswith("{") and isinstance(whole := self._decoded(first), dict):
            return next(lines, None) is None and self._is_table(whole)
        try:
            if size > MAX_LINE:
                raise self._too_big()
            self._parsed = self._document()
        except UserError:
            tried = list(itertools.islice(lines, _TRIED))
            if 2 * sum(isinstance(self._decoded(line), dict) for line in tried) <= len(tried):
                raise
            return False  # a broken line among rows
        return True

    def _is_table(self, found: dict[str, Any]) -> bool:
        """Whether the one object of a file is a table and not its only row."""
        document = ".json" in [ending.lower() for ending in self.path.suffixes]
        texts = [value for value in found.values() if type(value) is str]
        try:
            rows = find_rows(found, self.path.name)
        except UserError:
            several = sum(1 for _ in lists_in(found)) > 1
            bare = not texts and any(map(_holds, found.values()))
            if (several and (document or bare)) or (document and bare):
                raise
        else:
            # A sentence beside a list is a text with a list of its own, unless the file says what it is.
            if document or not any(re.search(r"\s", text.strip()) for text in texts):
                return bool(rows.items)
        if any(map(_holds, found.values())):
            self.notes = (_("The only object of {file} was read as one row.", file=self.path.name),)
        return False

    def _filled_lines(self) -> Iterator[str]:
        for block in self._source.blocks(lambda *_: None):
            yield from filter(None, map(str.strip, block.lines))

    def _document(self) -> tuple[Sequence[Any], bool]:
        """Return the rows of the document and whether there may be halves of characters in it."""
        text = "".join(line for block in self._source.blocks(self._problem) for line in block.lines)
        if len(text) > MAX_LINE:
            raise self._too_big()
        self._check_memory(text)
        values: list[Any] = []
        place = _SPACE.match(text).end()  # type: ignore[union-attr]  # it matches nothing, too
        try:
            while place < len(text):
                value, place = DECODER.raw_decode(text, place)
                values.append(value)
                place = _SPACE.match(text, place).end()  # type: ignore[union-attr]
        except RecursionError:
            raise UserError(
                _("{file} nests too deeply: save it as a flat table.", file=self.path.name)
            ) from None
        except ValueError as error:
            raise UserError(
                _("{file} is not valid JSON ({reason}): save it again.", file=self.path.name, reason=error)
            ) from None
        halves = _halves(text)
        if len(values) > 1 and all(isinstance(value, dict) for value in values):
            return values, halves  # objects of several lines each
        if len(values) > 1:
            raise UserError(
                _("{file} holds several JSON values: write one list of objects.", file=self.path.name)
            )
        rows = find_rows(values[0], self.path.name)
        if isinstance(values[0], Repeating):
            self._report_twice(1, values[0].twice)
        self.notes = (rows.note,) if rows.note else ()
        try:
            exchanged = exchanged_rows(rows.items)
        except NoTableError as error:
            more = error.keys > MAX_KEYS
            raise _no_table(self.path, MAX_KEYS if more else error.keys, more=more) from None
        if exchanged:
            self.kind, note, items = exchanged
            self.notes, self.annotated = (*self.notes, note), True
            return items, halves
        return rows.items, halves

    def _too_big(self) -> UserError:
        return UserError(
            _(
                "{file} is too large for one JSON document: save it as JSON Lines (.jsonl).",
                file=self.path.name,
            )
        )

    def _check_memory(self, text: str) -> None:
        """Refuse what would take size_text: brackets and commas count the values, before there are any."""
        needed = 2 * len(text) + _VALUE_BYTES * sum(map(text.count, ",:[{"))
        if len(text) > _UNCHECKED and needed > _MOST_BYTES:
            raise UserError(
                _(
                    "Reading {file} would take {size} of memory at once: save it as JSON Lines (.jsonl) "
                    "with shorter lines.",
                    file=self.path.name,
                    size=size_text(needed),
                )
            )

    # --- objects and their cells

    def _objects(self) -> Iterator[_Found]:
        """Yield every object that is a row."""
        if self._whole:
            (items, halves), self._parsed = self._parsed or self._document(), None
            for number, item in enumerate(items, start=1):
                if isinstance(item, dict):
                    yield number, item, halves, number / len(items)
                else:
                    self._problem(number, _("This item of the list is not a JSON object and was skipped."))
            return
        for first, lines, fraction in self._source.blocks(self._problem):
            for number, line in enumerate(lines, start=first):
                line = line.strip()
                if not line:
                    self._problem(number, _("A blank line, not a row."))
                    continue
                found = self._decoded(line)
                if isinstance(found, dict):
                    if is_line(found):
                        found, self.annotated, self.kind = read_line(found), True, "doccano"
                    yield number, found, _halves(line), fraction
                else:
                    self._problem(number, _(_NOT_A_ROW.get(type(found), _NOT_AN_OBJECT)))

    def _cells(self, number: int, found: dict[str, Any], halves: bool) -> dict[str, Cell]:
        twice = list(found.twice) if isinstance(found, Repeating) else []
        cells: dict[str, Cell] = {}
        changed = False
        for key, value in found.items():
            cell: Cell = value
            if type(value) is not str and value is not None:
                cell = JsonText(value if type(value) is Number else text_of(value, twice))
            if halves:
                whole = cell and type(cell)(valid(cell))
                changed = changed or (key, cell) != (valid(key), whole)
                key, cell = valid(key), whole
            cells[key] = cell
        if changed:
            self._problem(number, _("Half a character (a lone surrogate) is shown as “\ufffd”."))
        self._report_twice(number, twice)
        return cells

    def _report_twice(self, number: int, twice: Sequence[str]) -> None:
        for key in dict.fromkeys(twice):
            self._problem(
                number, _("The key “{key}” occurs twice: its last value was used.", key=shortened(valid(key)))
            )

    def _decoded(self, line: str) -> Any:
        """Return the value of a line; of what cannot be read, something that is no value of JSON."""
        self._check_memory(line)
        try:
            return DECODER.decode(line)
        except ValueError:
            return None
        except RecursionError:
            return _TooDeep()

    def _row(self, cells: dict[str, Cell]) -> Cells:
        row = tuple(map(cells.get, self.columns))
        if len(cells) == len(row) and JsonText not in map(type, row):
            return row
        types = [
            CellType.VALUE
            if type(cell) is JsonText
            else CellType.TEXT
            if cell is not None or key in cells
            else CellType.MISSING
            for key, cell in zip(self.columns, row, strict=True)
        ]
        return TypedCells([cell and str(cell) for cell in row], "".join(types))


def _no_table(path: Path, keys: int, *, more: bool = False) -> UserError:
    message = (
        N_(
            "{file} has more than {keys} different keys, so its objects are not rows of one table: "
            "save objects "
            "with the same keys in a file of their own."
        )
        if more
        else N_(
            "{file} has {keys} different keys, so its objects are not rows of one table: save "
            "objects with the "
            "same keys in a file of their own."
        )
    )
    return UserError(_(message, file=path.name, keys=number(keys)))


def _with_keys(columns: dict[str, None], keys: list[str]) -> dict[str, None]:
    """Return ``columns`` with the new ones of ``keys``: between known ones as in the object, else at the end.

    So the columns of a table whose first rows lack some keys come in the order that they were written in.
    """
    places: dict[str, int] = {}
    before: dict[str, list[str]] = {}  # new ones by the known one that they come before
    run: list[str] = []
    last: list[str] = []
    previous = None
    for key in keys:
        if key not in columns:
            run.append(key)
            continue
        if run and previous is not None:
            places = places or {column: place for place, column in enumerate(columns)}
            if places[previous] < places[key]:
                before[key] = run
                run = []
        last += run
        run = []
        previous = key
    if before:
        columns = dict.fromkeys(one for column in columns for one in (*before.get(column, ()), column))
    columns.update(dict.fromkeys([*last, *run]))
    return columns


def _holds(value: Any) -> bool:
    return isinstance(value, dict | list)


def _halves(source: str) -> bool:
    """Whether there may be half of a character in it, which no text can hold."""
    return "\\ud" in source or "\\uD" in source
