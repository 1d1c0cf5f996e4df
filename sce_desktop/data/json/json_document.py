"""Where the rows of a JSON document are: a list of objects in it, or a table as pandas writes it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.limits import MAX_KEYS
from sce_desktop.core.names import numbered
from sce_desktop.core.quoting import quoted_names, shortened
from sce_desktop.data.json.json_values import text_of

_INDEX = "index"
_KEYS_SHOWN = 5
_PLACE_SHOWN = 200  # characters


class Rows(NamedTuple):
    """The rows of a document (what is no object is reported), and in a sentence where they were found."""

    items: Sequence[Any]
    note: str = ""


class _Columns(Sequence[Any]):
    """Rows of values that are kept column by column, each made when it is asked for."""

    def __init__(self, columns: Mapping[str, Sequence[Any] | Mapping[str, Any]], keys: Sequence[Any]) -> None:
        self._columns = columns
        self._keys = keys

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, place: Any) -> Any:
        key = self._keys[place]
        return {
            name: cells[key]
            for name, cells in self._columns.items()
            if not isinstance(cells, Mapping) or key in cells
        }


def find_rows(document: Any, name: str) -> Rows:
    """Return the rows of ``document``, the content of the file ``name``.

    Raises:
        UserError: It has none, or several lists of objects may be them.
    """
    found = _of_list(document) if isinstance(document, list) else None
    if isinstance(document, dict):
        found = _of_object(document, "") or _searched(document, name)
    if found is None:
        raise UserError(_("{name} has no JSON objects: write one object with keys on each line.", name=name))
    return found


def _of_list(document: list[Any]) -> Rows | None:
    if any(isinstance(item, dict) for item in document):
        return Rows(document)
    if document and all(isinstance(item, list) and item for item in document):
        return Rows(_named(document, []), _("Each list in the file is a row. Its columns have no names."))
    return None


def _of_object(document: dict[str, Any], place: str) -> Rows | None:
    """Return the rows of a table written as one object, None if it is none."""
    data = document.get("data")
    schema = document.get("schema")
    if isinstance(schema, dict) and "fields" in schema and isinstance(data, list):
        return Rows(
            _without_counter(data, schema.get("primaryKey")), _as(N_("a table with its schema"), place)
        )
    names = document.get("columns")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return Rows(_split(document, names, data), _as(N_("a table of columns, index and data"), place))
    values = list(document.values())
    if values and all(isinstance(value, list) and value for value in values):
        plain = any(not any(isinstance(item, dict) for item in value) for value in values)
        if plain and len({len(value) for value in values}) == 1:
            return Rows(_Columns(document, range(len(values[0]))), _as(N_("one list for each column"), place))
    if values and all(isinstance(value, dict) and value for value in values):
        if found := _of_objects(document, place):
            return found
        (key, inner), *more = document.items()
        if not more:
            return _of_object(inner, f"{place[-_PLACE_SHOWN:]}{shortened(key)}.")
    return None


def _of_objects(document: dict[str, dict[str, Any]], place: str) -> Rows | None:
    """Return the rows of an object of objects, which are columns or rows; None if nothing tells which."""
    keys = dict.fromkeys(key for inner in document.values() for key in inner)
    same = all(inner.keys() == keys.keys() for inner in document.values())
    numbered, inner_numbered = _numbered(document), _numbered(keys)
    if not numbered and not inner_numbered:
        cells = [cell for inner in document.values() for cell in inner.values()]
        if not same or any(isinstance(cell, list | dict) for cell in cells):
            return None
        by_columns, by_rows = (
            all(len({type(cell) for cell in line if cell is not None}) < 2 for line in lines)
            for lines in (
                [inner.values() for inner in document.values()],
                [[inner[key] for inner in document.values()] for key in keys],
            )
        )
        if by_columns == by_rows:
            by_columns = len(keys) > len(document)
            by_rows = len(keys) < len(document)
        if by_columns == by_rows:
            return None
        inner_numbered = by_columns
    if inner_numbered:
        columns: dict[str, Any] = dict(document)
        if not _counts(list(keys)):
            columns = {_free(_INDEX, document): {key: key for key in keys}, **document}
        return Rows(_Columns(columns, list(keys)), _as(N_("one object for each column"), place))
    rows = list(document.values())
    if not _counts(list(document)):
        index = _free(_INDEX, keys)
        rows = [{index: key, **row} for key, row in document.items()]
    return Rows(rows, _as(N_("one object for each row"), place))


class Place(NamedTuple):
    """Where a value lies in a document: its key, and where the object with that key lies."""

    key: str
    inside: Place | None

    def __str__(self) -> str:
        """Write the keys that lead to it, long ones in part: they are spelled out only for a sentence."""
        keys: list[str] = []
        place: Place | None = self
        while place is not None and len(keys) < _KEYS_SHOWN:
            keys.append(shortened(place.key))
            place = place.inside
        found = ".".join(reversed(keys))
        if place is not None:
            found = f"…{found}"
        return "".join(character if character.isprintable() else "\ufffd" for character in found)


def _searched(document: dict[str, Any], name: str) -> Rows | None:
    """Return the one list of objects that lies anywhere in ``document``."""
    found = list(lists_in(document))
    if len(found) > 1:
        places = quoted_names((str(place) for place, _items in found), 5)
        raise UserError(
            _(
                "{name} has several lists of objects ({places}): save the list with the rows in a "
                "file of its own.",
                name=name,
                places=places,
            )
        )
    for place, items in found:
        return Rows(
            items, _("The rows are the list “{place}” in the file. The rest was ignored.", place=str(place))
        )
    return None


def lists_in(document: dict[str, Any]) -> Iterator[tuple[Place, list[Any]]]:
    """Yield every list of objects within objects of ``document``, with the keys that lead to it."""
    waiting: deque[tuple[Place, Any]] = deque((Place(key, None), value) for key, value in document.items())
    while waiting:
        place, value = waiting.popleft()
        if isinstance(value, dict):
            waiting += [(Place(key, place), inner) for key, inner in value.items()]
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            yield place, value


def _split(document: dict[str, Any], names: list[Any], data: list[list[Any]]) -> Sequence[Any]:
    titles = [name if isinstance(name, str) else text_of(name) for name in names]
    index = document.get(_INDEX)
    if isinstance(index, list) and len(index) == len(data) and not _counts(index):
        return _named([[label, *row] for label, row in zip(index, data, strict=True)], [_INDEX, *titles])
    return _named(data, titles)


def _named(rows: Sequence[Sequence[Any]], titles: Sequence[str]) -> list[dict[str, Any]]:
    """Return rows as objects; what has no title is called by its number, a title that recurs gets one."""
    width = min(max((len(row) for row in rows), default=0), MAX_KEYS + 1)  # more are refused later
    names = numbered(
        titles[place] if place < len(titles) else f"Column {place + 1}" for place in range(width)
    )
    return [dict(zip(names, row, strict=False)) for row in rows]


def _without_counter(rows: list[Any], key: Any) -> list[Any]:
    """Return rows without the index that only counts them."""
    if key != [_INDEX] or not all(isinstance(row, dict) for row in rows):
        return rows
    if not _counts([row.get(_INDEX) for row in rows]):
        return rows
    return [{name: cell for name, cell in row.items() if name != _INDEX} for row in rows]


def _free(name: str, taken: Any) -> str:
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _numbered(keys: Any) -> bool:
    return all(key.isascii() and key.removeprefix("-").isdigit() for key in keys)


def _counts(index: Sequence[Any]) -> bool:
    """Whether an index says no more than the place of each row."""
    return all(label == str(place) for place, label in enumerate(index))


def _as(layout: str, place: str) -> str:
    if not place:
        return _("The file was read as {layout}.", layout=_(layout))
    return _("The file was read as {layout} in “{place}”.", layout=_(layout), place=place.rstrip("."))
