"""What changes a project file behind the program's back."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

Builder = Callable[[Path], None]


def sql(*statements: str | tuple[str, object], writable_schema: bool = False) -> Builder:
    """Return what runs statements, each with its parameter, without SQLite's own checks."""

    def build(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as plain:
            plain.execute("PRAGMA ignore_check_constraints=ON")
            if writable_schema:
                plain.execute("PRAGMA writable_schema=ON")
            for one in statements:
                statement, *values = (one,) if isinstance(one, str) else one
                plain.execute(statement, values)

    return build


def schema_sql(*statements: str | tuple[str, object]) -> Builder:
    """Return what changes the schema behind SQLite's back."""
    return sql(*statements, writable_schema=True)


def patched(offset: int, content: bytes) -> Builder:
    """Return what writes bytes over those of the file; a negative offset counts from its end."""

    def build(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(offset, os.SEEK_END if offset < 0 else os.SEEK_SET)
            file.write(content)

    return build


def rebuilt(*pragmas: str) -> Builder:
    """Return what writes the file again under other settings of SQLite's."""
    return sql(*pragmas, "VACUUM")


def companion(ending: str, content: bytes) -> Builder:
    """Return what puts a file of that content beside the project."""

    def build(path: Path) -> None:
        path.with_name(path.name + ending).write_bytes(content)

    return build
