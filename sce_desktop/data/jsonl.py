"""JSON Lines, and .json files that hold one list of objects.

Columns are the keys of all objects in the order in which they first appear. Strings stay as they are,
null and a missing key are None, numbers keep the digits of the file, true and false stay so, lists and
objects become JSON text. Lines that are no JSON object are left out and told by number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import Cell, TableOptions
from sce_desktop.data.reader import Cells, Table
from sce_desktop.data.sniff import detect_encodings
from sce_desktop.data.text_source import MAX_LINE, TextSource, file_size

_CHUNK = 1000  # rows


class _Number(str):
    """A JSON number as it is written."""


_decoder = json.JSONDecoder(parse_float=_Number, parse_int=_Number, parse_constant=_Number)


class JsonTable(Table):
    """A file of one JSON object a line, or of one list of them, whose places then serve as line numbers."""

    kind = "jsonl"

    def __init__(self, path: Path, options: TableOptions) -> None:
        super().__init__(path)
        size = file_size(path)
        self.encodings = detect_encodings(path, size) if options.encoding is None else ()
        encoding = options.encoding or self.encodings[0]
        self.options = TableOptions(encoding=encoding)
        self._source = TextSource(path, size, encoding)
        self._whole = self._is_list(size)
        columns: dict[str, None] = {}
        rows = 0
        for _, cells, _ in self._objects():
            columns.update(dict.fromkeys(cells))
            rows += 1
        self._forget_problems()  # each pass tells them
        if not columns:
            raise UserError(f"{path.name} holds no JSON objects: write one object with keys on each line.")
        self.columns = tuple(columns)
        self.estimated_rows = rows

    def _chunks(self, progress: Progress) -> Iterator[tuple[list[Cells], float]]:
        rows: list[Cells] = []
        number = 1
        for number, cells, fraction in self._objects():
            if not cells:
                self._problem(number, "An object without keys: its row is empty.")
            rows.append(tuple(map(cells.get, self.columns)))
            if len(rows) == _CHUNK:
                yield rows, fraction
                rows = []
        yield rows, 1.0
        if change := self._source.size_change():
            self._problem(number, change)
            progress.warn(change)

    def _is_list(self, size: int) -> bool:
        for _, lines, _ in self._source.blocks(self._problem):
            start = "".join(lines).lstrip()
            if start.startswith("[") and size > MAX_LINE:
                raise UserError(
                    f"{self.path.name} is too big for a JSON list: save it as JSON Lines (.jsonl)."
                )
            if start:
                return start.startswith("[")
        return False

    def _objects(self) -> Iterator[tuple[int, dict[str, Cell], float]]:
        """Yield the cells of every object with its line and the fraction of the file that is read by then."""
        if self._whole:
            yield from self._objects_of_list()
            return
        for first, lines, fraction in self._source.blocks(self._problem):
            for number, line in enumerate(lines, start=first):
                line = line.strip()
                if not line:
                    self._problem(number, "A blank line: it is no row.")
                    continue
                try:
                    found = _decoder.decode(line)
                except (ValueError, RecursionError):
                    self._problem(number, "This is no JSON and was left out.")
                    continue
                if isinstance(found, dict):
                    yield number, self._cells(number, found, line), fraction
                else:
                    self._problem(number, "This is no JSON object and was left out.")

    def _objects_of_list(self) -> Iterator[tuple[int, dict[str, Cell], float]]:
        text = "".join(line for block in self._source.blocks(self._problem) for line in block.lines)
        try:
            items = _decoder.decode(text.strip())
        except (ValueError, RecursionError) as error:
            raise UserError(f"{self.path.name} is no valid JSON ({error}): write it again.") from None
        for number, item in enumerate(items, start=1):
            if isinstance(item, dict):
                yield number, self._cells(number, item, text), number / len(items)
            else:
                self._problem(number, "This item of the list is no JSON object and was left out.")

    def _cells(self, number: int, found: dict[str, Any], source: str) -> dict[str, Cell]:
        cells = {
            key: value if isinstance(value, str) or value is None else _text(value)
            for key, value in found.items()
        }
        if "\\ud" in source or "\\uD" in source:  # may be half of a character, which no text can hold
            valid = {_valid(key): value and _valid(value) for key, value in cells.items()}
            if valid != cells:
                self._problem(number, "Half a character (a lone surrogate) is shown as “\ufffd”.")
            return valid
        return cells


def _text(value: Any) -> str:
    """Return a value as JSON text with its numbers as they were written."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _valid(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
