"""Lists of label names in one cell: the one parser of what programs write there."""

from __future__ import annotations

import ast
import json
import re
from typing import Final

from sce_desktop.core.blank import is_blank

_TEXT: Final = r"""u?(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""
_ITEM: Final = re.compile(_TEXT, re.DOTALL)
# ['a', "b"] as Python writes it, and ['a' "b"] as NumPy does.
_PYTHON: Final = re.compile(rf"\s*+\[\s*+(?:{_TEXT}\s*+(?:,\s*+)?+)*+\]\s*+", re.DOTALL)


def from_list(cell: str) -> tuple[str, ...] | None:
    """Return the names in a list of texts, as JSON or Python writes one; None where the cell is none.

    A name counts once, and blank ones not at all: a list of nothing else names nothing, but does not say that
    nothing fits, as an empty one does.
    """
    found = _parsed(cell)
    if found is None:
        return None
    names = tuple(dict.fromkeys(name for name in found if not is_blank(name)))
    return None if found and not names else names


def is_list(cell: str) -> bool:
    """Return whether a cell is a list of texts, blank ones among them."""
    return _parsed(cell) is not None


def begins_as_list(cell: str) -> bool:
    """Return whether a cell begins as JSON does: where others are lists it was meant to be one, too."""
    return cell.lstrip().startswith(("[", "{"))


def _parsed(cell: str) -> list[str] | None:
    if not cell.lstrip().startswith("["):
        return None
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        found = _from_python(cell)
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        return None
    return found


def _from_python(cell: str) -> list[str] | None:
    if _PYTHON.fullmatch(cell) is None:
        return None
    try:
        return [ast.literal_eval(text.removeprefix("u")) for text in _ITEM.findall(cell)]
    except (ValueError, SyntaxError):  # a line break in quotes, an escape that is none
        return None
