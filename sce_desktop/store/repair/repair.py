"""Making a new project of what can still be read of a damaged one, and of nothing that acts by itself."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.private import make_file
from sce_desktop.core.progress import Progress
from sce_desktop.store.file import opening, placing, schema, wal
from sce_desktop.store.file.connections import connect
from sce_desktop.store.file.failures import known_failures
from sce_desktop.store.repair.damaged import DamagedFile
from sce_desktop.store.repair.pages import PageFile
from sce_desktop.store.repair.rebuilding import Rebuilding
from sce_desktop.store.repair.salvage import TABLES, Salvage

_BACKUP_PAGES: Final = 2_000


@dataclass(frozen=True, slots=True)
class TableReport:
    """What came of one table. ``lost``: records that were seen and cannot be read; there may have been more
    where the table is not ``complete``."""

    table: str
    kept: int
    lost: int
    complete: bool


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was brought over, and a sentence for everything that was not."""

    rows: int
    annotations: int
    scores: int
    problems: tuple[str, ...]
    tables: tuple[TableReport, ...] = ()


def repair_project(path: Path, copy: Path, progress: Progress) -> RepairReport:
    """Make a new project at ``copy`` of what can be read of the one at ``path``, which is left as it is.

    Rows keep their ids, so that annotations stay with their rows where others are lost.

    Raises:
        UserError: ``path`` is not a project or nothing of it can be read, or ``copy`` exists.
    """
    if not path.is_file():
        raise UserError(_("{name} is not a file: choose a project file.", name=path.name))
    path = path.resolve()
    with (
        placing.new_file(copy, overwrite=False) as draft,
        _undisturbed(path, draft) as still,
        _found(still, path, progress) as (source, problems),
    ):
        opening.write_schema(draft, name=path.stem)
        with known_failures(copy), contextlib.closing(connect(draft, "mode=rw")) as target:
            target.execute("PRAGMA foreign_keys=OFF")  # parents may be lost; orphans are removed at the end
            target.execute("PRAGMA synchronous=OFF")  # new_file makes it durable as a whole
            target.execute("PRAGMA cache_size=-65536")
            target.execute("BEGIN")
            indexes = _drop_indexes(target)  # made at once they take a fraction of the time
            Salvage(source, target, problems).run()
            Rebuilding(source, target, problems, progress).run()
            for statement in indexes:
                progress.check()
                target.execute(statement)
            report = _report(source, target, problems)
            if not report.rows and not report.annotations and source.lacks("rows"):
                raise UserError(_("Nothing in {name} can be read: restore it from a backup.", name=path.name))
            target.execute("COMMIT")
    return report


@contextlib.contextmanager
def _undisturbed(path: Path, draft: Path) -> Iterator[Path]:
    """Give a file that nobody writes to: ``path`` itself or, where it is open elsewhere, a copy."""
    lock = placing.lock_of(path)
    copy = draft.with_name(f"{draft.name}-source")
    try:
        with contextlib.suppress(OSError):  # a folder that cannot be written to
            if not lock.acquire():
                _copy_open(path, copy)
        yield copy if copy.exists() else path
    finally:
        lock.release()
        copy.unlink(missing_ok=True)


def _copy_open(path: Path, copy: Path) -> None:
    """Copy a project that others write to, as it is at this moment; where SQLite can no more, do nothing."""
    try:
        make_file(copy)
        with (
            contextlib.closing(connect(path, "mode=ro")) as plain,
            contextlib.closing(sqlite3.connect(copy)) as target,
        ):
            plain.execute("PRAGMA writable_schema=ON")
            plain.backup(target, pages=_BACKUP_PAGES)
    except (sqlite3.Error, UnicodeDecodeError):
        copy.unlink(missing_ok=True)


@contextlib.contextmanager
def _found(still: Path, path: Path, progress: Progress) -> Iterator[tuple[DamagedFile, list[str]]]:
    """Give the tables of a file, with what a log beside it has written later if that belongs to it."""
    with contextlib.ExitStack() as stack:
        log = wal.open_log(still.with_name(f"{still.name}-wal"))
        problems = []
        pages = stack.enter_context(contextlib.closing(PageFile(still)))
        source = DamagedFile(pages, progress)
        if log is not None:
            stack.callback(log.close)
            with_log = stack.enter_context(contextlib.closing(PageFile(still, log)))
            later = DamagedFile(with_log, progress)
            same = not later.created or not source.created or later.created == source.created
            if later.is_project and same and later.broken.total() <= source.broken.total():
                source = later
            else:
                problems.append(
                    _("The log {name}-wal does not belong to this project and was not used.", name=path.name)
                )
        if not source.is_project:
            raise UserError(
                _("{name} is not a project of SCE Desktop: choose a file that it has saved.", name=path.name)
            )
        yield source, problems


def _drop_indexes(target: sqlite3.Connection) -> list[str]:
    """Drop the indexes and return the statements that make them."""
    found = target.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL")
    indexes: dict[str, str] = dict(found.fetchall())
    for name in indexes:
        target.execute(f"DROP INDEX {name}")
    return list(indexes.values())


def _recovered(table: str, kept: int, lost: int, broken: int) -> str:
    """Say in sentences how much of a table there is and what may be missing."""
    parts = [
        ngettext(
            "Table {table}: {count} record recovered.",
            "Table {table}: {count} records recovered.",
            kept,
            table=table,
        )
    ]
    if lost:
        parts.append(ngettext("{count} record cannot be read.", "{count} records cannot be read.", lost))
    if broken:
        parts.append(
            ngettext(
                "{count} damaged place may have held more.",
                "{count} damaged places may have held more.",
                broken,
            )
        )
    return " ".join(parts)


def _report(source: DamagedFile, target: sqlite3.Connection, problems: list[str]) -> RepairReport:
    tables = []
    for table in TABLES:
        (kept,) = target.execute(f"SELECT count(*) FROM {table}").fetchone()
        broken, lost = source.broken[table], source.lost[table]
        since = schema.metadata.tables[table].info.get("since", 1)
        complete = not source.lacks(table) or since > source.version
        tables.append(TableReport(table, kept, lost, complete))
        if replaced := source.replaced[table]:
            problems.append(
                ngettext(
                    "Table {table}: part of {count} record was replaced.",
                    "Table {table}: parts of {count} records were replaced.",
                    replaced,
                    table=table,
                )
            )
        if source.is_missing(table):
            problems.append(_("The table {table} is missing.", table=table))
        elif not complete:
            problems.append(_recovered(table, kept, lost, broken))
    kept_of = {report.table: report.kept for report in tables}
    return RepairReport(
        rows=kept_of["rows"],
        annotations=kept_of["annotations"],
        scores=kept_of["scores"],
        problems=tuple(problems),
        tables=tuple(tables),
    )
