"""Making and opening project files: is it ours, which version, may we write, does it carry foreign code."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from sce_desktop.core.errors import DamagedProject, UserError
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.names import LONGEST_NAME, check_name
from sce_desktop.core.private import make_file
from sce_desktop.store.annotations import coders
from sce_desktop.store.content import importing
from sce_desktop.store.file import formats, migrations, schema
from sce_desktop.store.file.connections import connect, raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.file.failures import error_code, known_failures
from sce_desktop.store.file.header import check_companions, check_header
from sce_desktop.store.file.journals import has_strange_journal
from sce_desktop.store.file.lock import FileLock
from sce_desktop.store.file.placing import (
    check_target,
    explaining,
    has_strange_log,
    lacks_its_end,
    lock_of,
    new_file,
)
from sce_desktop.store.repair import contents
from sce_desktop.store.repair.damaged import looks_like_project
from sce_desktop.store.sql import now
from sce_desktop.temporary import make_folder, remove_folder

_LOG = logging.getLogger(__name__)
PAGE_BYTES: Final = 8192  # texts are long: a quarter faster to import than with SQLite's 4096
OPEN_ELSEWHERE = N_("This project is open elsewhere: close it there to make changes here.")
_FOLDER_PROTECTED = N_(
    "The folder of this project is write-protected: copy the project elsewhere to make changes."
)
_FILE_PROTECTED = N_("The file of this project is write-protected: allow writing or copy it to make changes.")
_NO_LOCKS = N_(
    "The drive of this project cannot lock files: copy the project to a local drive to make changes."
)
_ASKED = N_("This project was opened read-only: open it again to make changes.")


def create(path: Path, *, name: str, draft: bool = False) -> Database:
    """Make a new project at ``path`` and open it.

    It is made under another name and renamed, so that whatever interrupts this leaves no half project.

    Raises:
        UserError: There is such a file already, or the folder is missing or write-protected.
    """
    check_target(path, overwrite=False)
    lock = lock_of(path)
    with explaining(path):
        if not lock.acquire():
            raise UserError(
                _("{name} is open, or being made, elsewhere: choose another name.", name=path.name)
            )
    try:
        with new_file(path, overwrite=False, locked=True) as unnamed:
            write_schema(unnamed, name=name)
        database = Database(path, lock=lock, draft=draft)
        database.use_wal()
    except BaseException:
        lock.release()
        raise
    return database


class _UpdatedCopy(Database):
    """A project of an older version that cannot be written: what is read is an updated copy of it."""

    def __init__(self, path: Path, version: int, reason: str, *, immutable: bool) -> None:
        self._folder = make_folder()
        copy = self._folder / path.name
        parameters = "mode=ro&immutable=1" if immutable else "mode=ro"
        try:
            make_file(copy)
            with (
                known_failures(path),
                contextlib.closing(connect(path, parameters)) as plain,
                contextlib.closing(sqlite3.connect(copy)) as target,
            ):
                plain.backup(target)
                target.execute("PRAGMA journal_mode=DELETE")
            with (
                contextlib.closing(Database(copy)) as updated,
                updated.write(foreign_keys=False) as connection,
            ):
                _migrate(connection, version, path)
        except BaseException:
            remove_folder(self._folder)
            raise
        super().__init__(copy, read_only_reason=reason)
        self.path = path

    def close(self) -> None:
        super().close()
        remove_folder(self._folder)


def _migrate(connection: sa.Connection, version: int, path: Path) -> None:
    """Bring the project up to date. `DamagedProject` if a step meets what no program of ours has written."""
    try:
        migrations.migrate(connection, version)
    except sa.exc.DBAPIError as error:
        if error_code(error) not in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT):
            raise
        raise DamagedProject(path, _("is damaged (it cannot be updated from its older format)")) from error
    except sqlite3.OperationalError as error:  # of a statement that goes round SQLAlchemy
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        raise DamagedProject(path, _("is damaged (it cannot be updated from its older format)")) from error


def open_existing(path: Path, *, read_only: bool, older: bool = False) -> Database:
    """Open the project at ``path``, for reading only where writing is impossible; migrate an older one.

    Where that cannot be written, ``older`` reads an updated copy of it.

    Raises:
        UserError: Not a project, damaged, of a newer version, or with anything that we never make.
    """
    check_name(path, most=LONGEST_NAME)
    if path.is_dir():
        raise UserError(_("{name} is a folder: choose a project file.", name=path.name))
    if not path.exists():
        raise UserError(_("{name} does not exist: choose another project file.", name=path.name))
    if not path.is_file():  # a pipe would keep whoever opens it waiting
        raise UserError(_("{name} is not a file: choose a project file.", name=path.name))
    path = path.resolve()  # SQLite keeps its own files beside the real one, so the lock must lie there too
    with contextlib.ExitStack() as undo:
        lock, reason = (None, _(_ASKED)) if read_only else _writable(path)
        if lock is not None:
            undo.callback(lock.release)
        check_companions(path)
        check_header(path)
        strange = has_strange_log(path)
        if strange and lock is not None:
            _set_aside(path, "-wal")
        if lock is not None and has_strange_journal(path):
            _set_aside(path, "-journal")
        if lacks_its_end(path):
            raise DamagedProject(path, _("is damaged (its end is missing)"))
        immutable = lock is None and (strange or _needs_immutable(path))
        try:
            version = _inspect(path, reason if lock is None else None, immutable=immutable, older=older)
        except UserError:
            if looks_like_project(path):
                raise DamagedProject(path, _("is damaged (its first page is lost)")) from None
            raise
        if lock is None and version < migrations.schema_version():
            database: Database = _UpdatedCopy(path, version, reason, immutable=immutable)
        else:
            database = Database(path, lock=lock, read_only_reason=reason, immutable=immutable)
        undo.callback(database.close)
        if lock is not None:
            if version < migrations.schema_version():
                with database.write(durable=True, foreign_keys=False) as connection:
                    _migrate(connection, version, path)
            database.use_wal()
        if version < migrations.schema_version():
            with database.read() as connection:
                contents.check(raw(connection))
        if lock is not None:
            importing.drop_unfinished(database)
            coders.drop_unfinished(database)
        undo.pop_all()
    return database


def write_schema(path: Path, *, name: str) -> None:
    """Make an empty project database at ``path``, which is an empty file."""
    engine = sa.create_engine(
        "sqlite://", creator=lambda: connect(path, "mode=rwc"), poolclass=sa.NullPool, hide_parameters=True
    )
    with known_failures(path), engine.connect() as connection:
        connection.exec_driver_sql(f"PRAGMA page_size={PAGE_BYTES}")
        connection.exec_driver_sql(f"PRAGMA application_id={schema.APPLICATION_ID}")
        connection.exec_driver_sql(f"PRAGMA user_version={migrations.schema_version()}")
        connection.exec_driver_sql("BEGIN")
        schema.metadata.create_all(connection, checkfirst=False)
        connection.execute(
            schema.project.insert().values(id=1, name=name, created_at=now(), columns=[], text_columns=[])
        )
        connection.exec_driver_sql("COMMIT")


def _set_aside(path: Path, ending: str) -> None:
    """Take away a log or journal that SQLite would mix into a project which it is not of."""
    log = path.with_name(f"{path.name}{ending}")
    aside = log.with_name(f"{log.name}.of another file")
    log.replace(aside)
    _LOG.warning("%s was not of %s: it is called %s now", log, path, aside)


def is_free(path: Path) -> bool:
    """Return whether nobody has the project at ``path`` open for changes."""
    lock = lock_of(path)
    try:
        if not lock.acquire():
            return False
    except OSError:
        return False
    lock.release()
    return True


def _writable(path: Path) -> tuple[FileLock | None, str]:
    """Return the lock if ``path`` may be written, else the reason why not."""
    effective = os.access in os.supports_effective_ids
    if not os.access(path, os.W_OK, effective_ids=effective):
        return None, _(_FILE_PROTECTED)
    lock = lock_of(path)
    try:
        return (lock, "") if lock.acquire() else (None, _(OPEN_ELSEWHERE))
    except PermissionError:
        return None, _(_FOLDER_PROTECTED)
    except OSError as error:  # a read-only file system cannot hold the lock's file, others have no locks
        return None, _(_FOLDER_PROTECTED) if not lock.path.exists() else f"{_(_NO_LOCKS)} ({error.strerror})"


def _needs_immutable(path: Path) -> bool:
    """Whether ``path`` was left in WAL mode in a place where SQLite cannot make its companion files."""
    try:
        with contextlib.closing(connect(path, "mode=ro")) as plain:
            plain.execute("SELECT count(*) FROM sqlite_schema")
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if error_code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            return False  # reported by whoever reads it in earnest
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise UserError(
                _(
                    "{name} was not closed properly and is in a write-protected folder: copy it and {log}"
                    " to another folder and open the copy.",
                    name=path.name,
                    log=log.name,
                )
            ) from error
        return True
    return False


def _inspect(path: Path, read_only_reason: str | None, *, immutable: bool, older: bool) -> int:
    """Return the version of the project at ``path``, having refused what must not be opened.

    A file that is to be migrated is copied beside itself before.
    """
    parameters = "mode=rw" if read_only_reason is None else "mode=ro&immutable=1" if immutable else "mode=ro"
    with known_failures(path), contextlib.closing(connect(path, parameters)) as plain:
        version = _identify(plain, path)
        _check_schema(plain, path, version)
        if version == migrations.schema_version():
            contents.check(plain)
        else:
            if read_only_reason is None:
                _keep_copy(plain, path, version)
            elif not older:
                raise UserError(
                    _(
                        "{name} was made by an older version and must be updated. {reason}",
                        name=path.name,
                        reason=read_only_reason,
                    )
                )
    return version


def _identify(plain: sqlite3.Connection, path: Path) -> int:
    """Return the version of the project; refuse what is none and what is newer than we are."""
    (application_id,) = plain.execute("PRAGMA application_id").fetchone()
    (version,) = plain.execute("PRAGMA user_version").fetchone()
    if application_id != schema.APPLICATION_ID:
        raise UserError(
            _("{name} is not a project of SCE Desktop: choose a file that it has saved.", name=path.name)
        )
    if version < 1:
        raise DamagedProject(path, _("is damaged (its format number is lost)"))
    if version > migrations.schema_version():
        raise UserError(
            _(
                "{name} was made by a newer version of SCE Desktop: update the program to open it.",
                name=path.name,
            )
        )
    return int(version)


def _check_schema(plain: sqlite3.Connection, path: Path, version: int) -> None:
    """Refuse a file with anything but what we make: it might act by itself, or lack what we ask for."""
    plain.execute("PRAGMA writable_schema=ON")  # reads a schema that does not make sense, too
    if differs := formats.difference(plain, version):
        raise DamagedProject(path, differs)
    plain.execute("PRAGMA writable_schema=OFF")


def _keep_copy(plain: sqlite3.Connection, path: Path, version: int) -> None:
    """Keep the file as it was before a migration beside it, under a name that says so."""
    base = f"{path.stem} (before update from format {version})"
    copy = path.with_name(f"{base}{path.suffix}")
    number = 2
    while copy.exists():
        copy = path.with_name(f"{base} {number}{path.suffix}")
        number += 1
    with new_file(copy, overwrite=False) as draft, contextlib.closing(sqlite3.connect(draft)) as target:
        plain.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")
