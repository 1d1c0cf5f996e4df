"""Plain connections to a project file, with the settings that each of them needs."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final
from urllib.parse import quote

import sqlalchemy as sa

from sce_desktop.store.file import functions
from sce_desktop.store.file.hardening import harden

_BUSY_S: Final = 10.0


def raw(connection: sa.Connection) -> sqlite3.Connection:
    """Return the plain SQLite connection behind ``connection``, for hot paths."""
    plain = connection.connection.driver_connection
    assert isinstance(plain, sqlite3.Connection)
    return plain


def file_uri(path: Path, parameters: str) -> str:
    """Return ``path`` as SQLite wants it in a URI, drive letters and network shares included."""
    place = path.as_posix()
    return f"file://{'' if place.startswith('/') else '/'}{quote(place)}?{parameters}"


def connect(path: Path, parameters: str) -> sqlite3.Connection:
    """Open ``path`` with the settings that every connection to a project needs.

    ``parameters`` are those of a SQLite URI, such as ``mode=ro``. Nothing in the file is trusted; see
    `hardening`. Deleted texts are overwritten.
    """
    plain = sqlite3.connect(
        file_uri(path, parameters), uri=True, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
    )
    harden(plain)
    plain.execute("PRAGMA foreign_keys=ON")
    overwrite_deleted(plain)
    functions.register(plain)
    return plain


def overwrite_deleted(plain: sqlite3.Connection) -> None:
    """Let SQLite overwrite with zeros whatever is deleted; how it was built decides otherwise."""
    plain.execute("PRAGMA secure_delete=ON").fetchall()
