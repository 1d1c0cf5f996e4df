"""Making and opening project files: is it ours, which version, may we write, does it carry foreign code."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from sce_desktop.core.errors import UserError
from sce_desktop.store import coders, importing, migrations, schema, search
from sce_desktop.store.database import Database, connect, error_code, known_failures, sync_folder
from sce_desktop.store.lock import FileLock
from sce_desktop.store.sql import now

PAGE_BYTES: Final = 8192  # texts are long: a quarter faster to import than with SQLite's 4096
OPEN_ELSEWHERE = "This project is open elsewhere: close it there to make changes here."
_FOLDER_PROTECTED = (
    "The folder of this project is write-protected: copy the project elsewhere to make changes."
)
_FILE_PROTECTED = "The file of this project is write-protected: allow writing or copy it to make changes."
_NO_LOCKS = "The drive of this project cannot lock files: copy the project to a local drive to make changes."
_ASKED = "This project was opened for reading only: open it again to make changes."


def create(path: Path, *, name: str) -> Database:
    """Make a new project at ``path`` and open it.

    It is made under another name and renamed, so that whatever interrupts this leaves no half project.

    Raises:
        UserError: There is such a file already, or the folder is missing or write-protected.
    """
    if path.exists():
        raise UserError(f"{path.name} exists already: choose another name.")
    lock = _lock_of(path)
    try:
        if not lock.acquire():
            raise UserError(f"{path.name} is being made by another window: choose another name.")
    except OSError as error:
        raise UserError(f"No project can be made in {path.parent}: choose another folder.") from error
    try:
        with new_file(path, overwrite=False) as draft:
            write_schema(draft, name=name)
        database = Database(path, lock=lock)
        database.use_wal()
    except BaseException:
        lock.release()
        raise
    return database


def open_existing(path: Path, *, read_only: bool) -> Database:
    """Open the project at ``path``, for reading only where writing is impossible; migrate an older one.

    Raises:
        UserError: Not a project, damaged, of a newer version, or with triggers, views or virtual tables.
    """
    if path.is_dir():
        raise UserError(f"{path.name} is a folder: choose a project file.")
    if not path.exists():
        raise UserError(f"{path.name} does not exist: choose another project file.")
    path = path.resolve()  # SQLite keeps its own files beside the real one, so the lock must lie there too
    with contextlib.ExitStack() as undo:
        lock, reason = (None, _ASKED) if read_only else _writable(path)
        if lock is not None:
            undo.callback(lock.release)
        immutable = lock is None and _needs_immutable(path)
        version = _inspect(path, reason if lock is None else None, immutable=immutable)
        database = Database(path, lock=lock, read_only_reason=reason, immutable=immutable)
        undo.callback(database.close)
        if lock is not None:
            if version < migrations.schema_version():
                with database.write(durable=True, foreign_keys=False) as connection:
                    migrations.migrate(connection, version)
            database.use_wal()
            importing.drop_unfinished(database)
            coders.drop_unfinished(database)
        with database.read() as connection:
            _check_tables(connection, path)
        undo.pop_all()
    return database


@contextlib.contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[Path]:
    """Give a place beside ``path`` for a database; move it to ``path`` at the end, remove it on failure.

    The place has no ending of ours, so that nobody takes what a crash leaves there for a project.
    """
    if not path.parent.is_dir():
        raise UserError(f"The folder {path.parent} does not exist: choose another one.")
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        yield draft
        handle = os.open(draft, os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        if not overwrite and path.exists():
            raise UserError(f"{path.name} exists already: choose another name.")
        draft.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise UserError(f"{path} cannot be written: check the folder and the room on the disk.") from error
    finally:
        for leftover in (draft, *_companions(draft)):
            leftover.unlink(missing_ok=True)


def write_schema(path: Path, *, name: str) -> None:
    """Make an empty project database at ``path``, which must not exist."""
    engine = sa.create_engine("sqlite://", creator=lambda: connect(path, "mode=rwc"), poolclass=sa.NullPool)
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


def _lock_of(path: Path) -> FileLock:
    return FileLock(path.with_name(f".{path.name}.lock"))


def is_free(path: Path) -> bool:
    """Return whether nobody has the project at ``path`` open for changes."""
    lock = _lock_of(path)
    try:
        if not lock.acquire():
            return False
    except OSError:
        return False
    lock.release()
    return True


def _companions(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in ("-wal", "-shm", "-journal")]


def _writable(path: Path) -> tuple[FileLock | None, str]:
    """Return the lock if ``path`` may be written, else the reason why not."""
    effective = os.access in os.supports_effective_ids
    if not os.access(path, os.W_OK, effective_ids=effective):
        return None, _FILE_PROTECTED
    lock = _lock_of(path)
    try:
        return (lock, "") if lock.acquire() else (None, OPEN_ELSEWHERE)
    except PermissionError:
        return None, _FOLDER_PROTECTED
    except OSError as error:  # a read-only file system cannot hold the lock's file, others have no locks
        return None, _FOLDER_PROTECTED if not lock.path.exists() else f"{_NO_LOCKS} ({error.strerror})"


def _needs_immutable(path: Path) -> bool:
    """Whether ``path`` was left in WAL mode in a place where SQLite cannot make its companion files."""
    try:
        with contextlib.closing(connect(path, "mode=ro")) as plain:
            plain.execute("SELECT count(*) FROM sqlite_schema")
    except sqlite3.Error as error:
        if error_code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            return False  # told by whoever reads it in earnest
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise UserError(
                f"{path.name} was not closed properly and lies in a write-protected folder: "
                f"copy it and {log.name} to another folder and open the copy."
            ) from error
        return True
    return False


def _inspect(path: Path, read_only_reason: str | None, *, immutable: bool) -> int:
    """Return the version of the project at ``path``, having refused what must not be opened.

    A file that is to be migrated is copied beside itself before.
    """
    parameters = "mode=rw" if read_only_reason is None else "mode=ro&immutable=1" if immutable else "mode=ro"
    with known_failures(path), contextlib.closing(connect(path, parameters)) as plain:
        version = _identify(plain, path)
        _refuse_foreign_code(plain, path)
        if version < migrations.schema_version():
            if read_only_reason is not None:
                raise UserError(f"{path.name} is of an older version and must be updated. {read_only_reason}")
            _keep_copy(plain, path, version)
    return version


def _identify(plain: sqlite3.Connection, path: Path) -> int:
    """Return the version of the project; refuse what is none and what is newer than we are."""
    (application_id,) = plain.execute("PRAGMA application_id").fetchone()
    (version,) = plain.execute("PRAGMA user_version").fetchone()
    if application_id != schema.APPLICATION_ID or version < 1:
        raise UserError(f"{path.name} is not a project of SCE Desktop: choose a file that it has saved.")
    if version > migrations.schema_version():
        raise UserError(
            f"{path.name} was made by a newer version of SCE Desktop: update the program to open it."
        )
    return int(version)


def _refuse_foreign_code(plain: sqlite3.Connection, path: Path) -> None:
    """Refuse a file with anything that would act by itself: we never write such things, an attacker might."""
    foreign = plain.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('trigger', 'view')"
        " OR (type = 'table' AND sql LIKE 'CREATE VIRTUAL%' AND sql IS NOT ?)",
        (search.TABLE_SQL,),
    ).fetchall()
    if foreign:
        raise UserError(
            f"{path.name} carries a database program ({foreign[0][0]}), which SCE Desktop never writes: "
            f'"sce-desktop project repair {path.name} COPY" takes the data without it.'
        )


def _check_tables(connection: sa.Connection, path: Path) -> None:
    """Refuse a file whose tables are not those that its version has."""
    inspector = sa.inspect(connection)
    present = set(inspector.get_table_names())
    for table in schema.metadata.tables.values():
        columns = {c["name"] for c in inspector.get_columns(table.name)} if table.name in present else set()
        if not columns >= set(table.columns.keys()):
            raise UserError(
                f"{path.name} is damaged (table {table.name}): rescue what can be read with "
                f'"sce-desktop project repair {path.name} COPY".'
            )
    if connection.execute(sa.select(sa.func.count()).select_from(schema.project)).scalar_one() != 1:
        raise UserError(f"{path.name} is damaged (no record of the project): restore it from a backup.")


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
