"""Functions of ours that SQL statements call."""

from __future__ import annotations

import sqlite3

from sce_desktop.core import folding


def register(plain: sqlite3.Connection) -> None:
    """Make the comparisons known to a connection, for texts that LIKE does not know how to compare."""
    plain.create_function("contains_bare", 2, folding.contains_bare, deterministic=True)
    plain.create_function("contains_folded", 2, _contains_folded, deterministic=True)


def _contains_folded(text: str, accented: str) -> bool:
    return accented in folding.folded(text)
