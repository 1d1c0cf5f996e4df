"""JSON as cells: numbers with the digits of the file, everything that is no text as JSON text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from sce_desktop.core.tables import CellType

_LONE: Final = re.compile("[\ud800-\udfff]")
_SIMPLE: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|true|false")
_encode = json.JSONEncoder(ensure_ascii=False).encode


class Number(str):
    """A JSON number as it is written."""

    __slots__ = ()


class JsonText(str):
    """A cell that a format of its own values writes as the JSON that it is, not as a text."""

    __slots__ = ()


class Missing:
    """Stands for a cell whose key an object does not have."""


MISSING: Final = Missing()


class Repeating(dict[str, Any]):
    """An object that says a key more than once: of each the last value is kept, ``twice`` names them."""

    twice: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    repeating = Repeating(found)
    repeating.twice = tuple(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return repeating


DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=Number, parse_int=Number, parse_constant=Number
)
"""Keeps numbers as they are written and the keys that an object repeats."""


def text_of(value: Any, twice: list[str] | None = None) -> str:
    """Return a value as JSON text, however deep it is; ``twice`` gets the keys that objects in it repeat."""
    parts: list[str] = []
    waiting: list[Any] = [value]  # not by recursion: a file may nest deeper than Python may call
    while waiting:
        value = waiting.pop()
        if isinstance(value, Number | JsonText):
            parts.append(value)
        elif isinstance(value, dict):
            if twice is not None and isinstance(value, Repeating):
                twice += value.twice
            inner: list[Any] = []
            for key, item in value.items():
                inner += (JsonText(f"{_encode(key)}: "), item, JsonText(", "))
            waiting += (JsonText("}"), *inner[-2::-1], JsonText("{"))
        elif isinstance(value, list):
            inner = []
            for item in value:
                inner += (item, JsonText(", "))
            waiting += (JsonText("]"), *inner[-2::-1], JsonText("["))
        else:
            parts.append(_encode(value))
    return "".join(parts)


def valid(text: str) -> str:
    """Return ``text`` with both halves of a character as one, and with U+FFFD for a lone half."""
    if _LONE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def as_read(cells: Iterable[str | None], types: str) -> list[str | Missing | None]:
    """Return the cells of a row as a writer of JSON wants them, by what each was (`core.tables.CellType`)."""
    return [
        cell if kind == CellType.TEXT else MISSING if kind == CellType.MISSING else _value(cell)
        for cell, kind in zip(cells, types, strict=True)
    ]


def _value(cell: str | None) -> str | None:
    """Return a cell as JSON if it is JSON on one line; a project changed outside may hold anything."""
    if cell is None or "\n" in cell or "\r" in cell:
        return cell
    if _SIMPLE.fullmatch(cell):
        return JsonText(cell)
    try:
        DECODER.decode(cell)  # which makes no numbers: those may have thousands of digits
    except (ValueError, RecursionError):
        return cell
    return JsonText(cell)
