"""Keeping a project safe: copies of it, and a check of everything that must be true of it."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sce_desktop import paths
from sce_desktop.core import private
from sce_desktop.core.errors import RescuedProject, UserError
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.names import check_name
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.store.content import rows
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.file.failures import known_failures
from sce_desktop.store.file.placing import new_file
from sce_desktop.store.file.watched import OVERWRITTEN
from sce_desktop.store.repair import contents

_BACKUP_PAGES: Final = 2_000  # 8 MB between two looks at cancel
_MAX_PROBLEMS: Final = 20


def backup(database: Database, copy: Path, progress: Progress, *, overwrite: bool = False) -> None:
    """Write a complete copy of the project to ``copy``, as it is at this moment, while others go on writing.

    UserError if ``copy`` exists, or, with ``overwrite``, is open or the project itself; it is replaced only
    when the copy is complete and was read again.
    """
    check_name(copy)
    with contextlib.suppress(FileNotFoundError):  # the project may be gone: then there is all the more reason
        if copy.samefile(database.path):
            raise UserError(_("A backup must be another file than the project: choose another name."))

    def report(_status: int, remaining: int, total: int) -> None:
        progress.report(total - remaining, total, stage=_("Copying the project"))
        progress.check()

    with (
        new_file(copy, overwrite=overwrite) as draft,
        _source(database) as source,
        known_failures(copy),
        contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as target,
    ):
        source.backup(target, pages=_BACKUP_PAGES, progress=report)
        target.execute("PRAGMA journal_mode=DELETE")


@contextlib.contextmanager
def _source(database: Database) -> Iterator[sqlite3.Connection]:
    """Give a connection that sees one state of the project, also when its file is lost."""
    if database.lost() and not database.read_only:
        with database.last_read() as plain:
            yield plain
    else:
        with database.read() as connection:
            rows.shape(connection)  # begins the snapshot: without one, each write would start the copy again
            yield raw(connection)


def lost_in_part(database: Database) -> bool:
    """Whether another program wrote over the file of a project: a copy of it may miss what was there."""
    return database.lost() == _(OVERWRITTEN)


def rescue(database: Database) -> UserError:
    """Save what a project holds whose file is `Database.lost`, and say in a sentence where that is."""
    path, lost = database.path, database.lost()
    if database.moved_to is not None:
        return UserError(
            _(
                "{name} {problem} while it was open: everything saved in it is there.",
                name=path.name,
                problem=lost,
            )
        )
    why = ""
    for folder in (path.parent, paths.projects_dir()):
        copy, number = folder / f"{path.stem} (rescued){path.suffix}", 1
        while copy.exists():
            number += 1
            copy = copy.with_name(f"{path.stem} (rescued {number}){path.suffix}")
        try:
            if folder != path.parent:
                private.make_folder(folder)
            backup(database, copy, SilentProgress())
        except (UserError, OSError, sqlite3.Error) as error:
            why = why or str(error)
        else:
            if lost == _(OVERWRITTEN):  # some of what was read came from whoever wrote over it
                template = N_(
                    "{name} {problem} while it was open: what could still be read is now in {copy}. "
                    "Compare it with a backup."
                )
            else:
                template = N_("{name} {problem} while it was open: everything saved in it is now in {copy}.")
            return RescuedProject(path, copy, _(template, name=path.name, problem=lost, copy=copy))
    log, kept = (path.with_name(f"{path.name}-wal{ending}") for ending in ("", ".rescued"))
    with contextlib.suppress(OSError):
        private.make_file(kept)
        shutil.copyfile(log, kept)
        why = " ".join((why, _("The latest changes are in {file}.", file=kept))).strip()
    failed = _(
        "{name} {problem} while it was open, and no copy could be made: restore it from a backup.",
        name=path.name,
        problem=lost,
    )
    return UserError(f"{failed} {why}".rstrip())


def verify(database: Database, progress: Progress) -> list[str]:
    """Return what is wrong with the project, a sentence each; nothing if all is well."""
    with database.read() as connection:
        problems = _broken_pages(raw(connection))
        if problems:  # what such a file says of itself means nothing
            return problems
        return contents.check_all(raw(connection), progress) or _broken_references(raw(connection))


def _broken_pages(plain: sqlite3.Connection) -> list[str]:
    try:
        found = [str(line) for (line,) in plain.execute(f"PRAGMA integrity_check({_MAX_PROBLEMS})")]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    if found == ["ok"]:
        return []
    lines = [line.strip(" *.") for text in found for line in text.splitlines()]
    lines = [line for line in lines if line and line != "in database main"]
    return [_("The file is damaged: {problem}.", problem=line) for line in lines[:_MAX_PROBLEMS]]


def _broken_references(plain: sqlite3.Connection) -> list[str]:
    broken = plain.execute("PRAGMA foreign_key_check").fetchall()
    return [
        _(
            "Record {record} of {table} refers to a missing record of {parent}.",
            record=row_id,
            table=table,
            parent=parent,
        )
        for table, row_id, parent, _key in broken[:_MAX_PROBLEMS]
    ]
