"""Which failures of SQLite and of the disk we know, and the message for each."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from sce_desktop.core.errors import DamagedProject, UserError, let_go
from sce_desktop.core.i18n import _
from sce_desktop.store.repair.stored import Malformed

_LEAST_ROOM: Final = 1_000_000  # bytes; with less a disk counts as full


@contextlib.contextmanager
def known_failures(path: Path) -> Iterator[None]:
    """Turn the failures of SQLite that we know into a `UserError`; let the others through as bugs."""
    try:
        yield
    except Malformed as error:
        let_go(error)
        raise DamagedProject(path, _("is damaged ({error})", error=error)) from None
    except UnicodeDecodeError as error:  # of a message that quotes the file; no text of it is passed on
        let_go(error)
        raise DamagedProject(path, _("is damaged (invalid characters in its schema)")) from None
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        if "Could not decode to UTF-8" in str(error):
            let_go(error)
            raise DamagedProject(path, _("is damaged (invalid characters in a text)")) from None
        explained = _explained(error_code(error), path)
        if explained is None:
            raise
        let_go(error)
        raise explained from error


def error_code(error: Exception) -> int:
    """Return SQLite's primary result code behind ``error``, 0 if there is none."""
    cause: Any = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    return int(getattr(cause, "sqlite_errorcode", 0)) & 0xFF


def _explained(code: int, path: Path) -> UserError | None:
    name = path.name
    if code == sqlite3.SQLITE_IOERR and _is_full(path.parent):  # that is how a failed write may be called
        code = sqlite3.SQLITE_FULL
    match code:
        case sqlite3.SQLITE_FULL:
            return UserError(
                _("The disk is full: free some space, then try again. Everything saved so far is safe.")
            )
        case sqlite3.SQLITE_BUSY:
            return UserError(
                _("Another program is writing to {name}: close it there, then try again.", name=name)
            )
        case sqlite3.SQLITE_READONLY:
            return UserError(
                _("{name} has become write-protected: copy the project to another folder.", name=name)
            )
        case sqlite3.SQLITE_IOERR:
            return UserError(
                _(
                    "The disk failed to read or write {name}: check that it is connected and has free space,"
                    " then open the project again.",
                    name=name,
                )
            )
        case sqlite3.SQLITE_CORRUPT:
            return DamagedProject(path, _("is damaged"))
        case sqlite3.SQLITE_NOTADB:
            return UserError(
                _("{name} is not a project of SCE Desktop: choose a file that it has saved.", name=name)
            )
        case sqlite3.SQLITE_CANTOPEN:
            return UserError(
                _(
                    "{name} could not be opened: check that it exists and that you have permission to "
                    "read it.",
                    name=name,
                )
            )
    return None


def _is_full(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return shutil.disk_usage(folder).free < _LEAST_ROOM
    return False
