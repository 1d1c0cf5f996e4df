"""Functions of ours that SQL statements call."""

from __future__ import annotations

import json
import sqlite3

from sce_desktop.core import folding


def register(plain: sqlite3.Connection) -> None:
    """Make known to a connection what LIKE does not know how to compare, and cells that JSON escapes."""
    plain.create_function("contains_bare", 2, folding.contains_bare, deterministic=True)
    plain.create_function("contains_folded", 2, _contains_folded, deterministic=True)
    plain.create_function("json_cell", 2, _json_cell, deterministic=True)


def whole_characters(text: str) -> str:
    """Return ``text`` as SQLite can take it: halves of a character, which JSON can hold, are replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _json_cell(cells: str, place: int) -> str | None:
    """Return one text of a JSON list; unlike SQLite's own function with all that follows a NUL."""
    try:
        found = json.loads(cells)[place]
    except (ValueError, IndexError, TypeError, RecursionError):  # a damaged row, which reading it will report
        return None
    return whole_characters(found) if isinstance(found, str) else None


def _contains_folded(text: str, accented: str) -> bool:
    return accented in folding.folded(text)
