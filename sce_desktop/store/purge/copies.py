"""Copies of a project that lie where the program puts them, or beside it: they hold what it held."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sce_desktop import paths
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.store.file import formats, migrations, schema
from sce_desktop.store.file.connections import connect
from sce_desktop.store.repair.stored import Malformed

_MAGIC: Final = b"SQLite format 3\0"
_HEAD: Final = 72  # bytes: the application id is at their end
_MOST_FILES: Final = 5_000  # in a folder
_LEFT_LOGS: Final = ("-wal.rescued", "-wal.of another file", "-journal.of another file")
"""See `upkeep.rescue` and `opening`."""


def created_at(plain: sqlite3.Connection) -> str:
    """Return when a project was made: all its copies say the same."""
    found = plain.execute("SELECT created_at FROM project").fetchone()
    return str(found[0]) if found else ""


def find(project: Path, made: str) -> tuple[Path, ...]:
    """Return the other files beside ``project``, and in the folder of projects, that are copies of it.

    Among them are those made before an update and by a rescue, saved copies, and logs that were set aside.
    """
    found = [project.with_name(project.name + ending) for ending in _LEFT_LOGS]
    copies = [log for log in found if log.is_file()]
    for file in _candidates(project):
        with (
            contextlib.suppress(OSError, sqlite3.Error, UnicodeDecodeError),
            contextlib.closing(connect(file, "mode=ro")) as plain,
        ):
            if created_at(plain) == made:
                copies.append(file)
    return tuple(copies)


def is_log(copy: Path) -> bool:
    """Whether a copy is a log that was set aside: it is removed as a whole."""
    return copy.name.endswith(_LEFT_LOGS)


def check(plain: sqlite3.Connection, path: Path) -> None:
    """Refuse to write to what is not a project as some version of the program makes it."""
    plain.execute("PRAGMA writable_schema=ON")  # reads a schema that does not make sense, too
    (application_id,) = plain.execute("PRAGMA application_id").fetchone()
    (version,) = plain.execute("PRAGMA user_version").fetchone()
    sound = application_id == schema.APPLICATION_ID and 1 <= version <= migrations.schema_version()
    if not sound or formats.difference(plain, version):
        raise Malformed(_("it is damaged or of another version"))
    plain.execute("PRAGMA writable_schema=OFF")


def _candidates(project: Path) -> Iterator[Path]:
    seen = {project.resolve()}
    for folder in dict.fromkeys((project.parent.resolve(), paths.projects_dir())):
        try:
            files = [file for file, _place in zip(folder.iterdir(), range(_MOST_FILES), strict=False)]
        except OSError:
            continue
        for file in sorted(files):
            if file.suffix == project.suffix and file.resolve() not in seen and _is_project(file):
                seen.add(file.resolve())
                yield file


def _is_project(file: Path) -> bool:
    try:
        if not file.is_file():
            return False
        with file.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return False
    return head.startswith(_MAGIC) and head[68:] == schema.APPLICATION_ID.to_bytes(4, "big")


def sentence(error: Exception) -> str:
    """Return why a copy was left as it is."""
    return str(error) if isinstance(error, UserError) else _("it is damaged.")
