"""A rollback journal beside a project: whether SQLite may do what it says."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

from sce_desktop.store.file import schema
from sce_desktop.store.file.header import JOURNAL
from sce_desktop.temporary import temporary_folder


def has_strange_journal(path: Path) -> bool:
    """Whether the project ``path`` is sound, and would not be once SQLite has obeyed the journal beside it.

    Such a journal is of another database that had this name, or was made to harm. It is tried on a copy.
    """
    journal = path.with_name(f"{path.name}-journal")
    try:
        with journal.open("rb") as file:
            if file.read(len(JOURNAL)) != JOURNAL:  # SQLite takes no notice of it
                return False
        with temporary_folder() as folder:
            copy = folder / "copy.sce"
            shutil.copyfile(path, copy)
            if not _is_sound(copy):
                return False  # the journal may be what is needed
            shutil.copyfile(journal, copy.with_name(f"{copy.name}-journal"))
            return not _is_sound(copy)
    except OSError:  # no room for a copy: SQLite decides
        return False


def _is_sound(path: Path) -> bool:
    try:
        with contextlib.closing(sqlite3.connect(path)) as plain:
            (made_by,) = plain.execute("PRAGMA application_id").fetchone()
            (found,) = plain.execute("PRAGMA quick_check(1)").fetchone()
    except (sqlite3.Error, UnicodeDecodeError):
        return False
    return bool(made_by == schema.APPLICATION_ID and found == "ok")
