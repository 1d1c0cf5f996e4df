"""Keeping a project safe: copies of it, and a check of everything that must be true of it."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from sce_desktop import paths
from sce_desktop.core.annotations import Origin
from sce_desktop.core.errors import RescuedProject, UserError
from sce_desktop.core.names import check_name
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.store.annotations import label_sets
from sce_desktop.store.content import rows, search
from sce_desktop.store.file import schema
from sce_desktop.store.file.database import Database, raw
from sce_desktop.store.file.failures import known_failures
from sce_desktop.store.file.placing import new_file
from sce_desktop.store.repair import contents
from sce_desktop.store.runs import runs
from sce_desktop.store.sql import last_row_id

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
            raise UserError("A backup must be another file than the project: choose another name.")

    def tell(_status: int, remaining: int, total: int) -> None:
        progress.report(total - remaining, total, stage="Copying the project")
        progress.check()

    with (
        new_file(copy, overwrite=overwrite) as draft,
        _source(database) as source,
        known_failures(copy),
        contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as target,
    ):
        source.backup(target, pages=_BACKUP_PAGES, progress=tell)
        target.execute("PRAGMA journal_mode=DELETE")


@contextlib.contextmanager
def _source(database: Database) -> Iterator[sqlite3.Connection]:
    """Give a connection that sees one state of the project, also when its file is lost."""
    if database.lost() and not database.read_only:
        with database.last_read() as plain:
            yield plain
    else:
        with database.read() as connection:
            rows.shape(connection)  # begins the snapshot: without one, each write would start the copy anew
            yield raw(connection)


def rescue(database: Database) -> UserError:
    """Save what a project holds whose file is `Database.lost`, and say in a sentence where that is."""
    path, lost = database.path, database.lost()
    said = f"{path.name} {lost} while it was open"
    if database.moved_to is not None:
        return UserError(f"{said}: all that was saved in it is there.")
    why = ""
    for folder in (path.parent, paths.projects_dir()):
        copy, number = folder / f"{path.stem} (rescued){path.suffix}", 1
        while copy.exists():
            number += 1
            copy = copy.with_name(f"{path.stem} (rescued {number}){path.suffix}")
        try:
            if folder != path.parent:
                folder.mkdir(parents=True, exist_ok=True)
            backup(database, copy, SilentProgress())
        except (UserError, OSError, sqlite3.Error) as error:
            why = why or str(error)
        else:
            return RescuedProject(path, copy, f"{said}: all that was saved in it is in {copy} now.")
    log, kept = (path.with_name(f"{path.name}-wal{ending}") for ending in ("", ".rescued"))
    with contextlib.suppress(OSError):
        shutil.copyfile(log, kept)
        why += f" What was written last lies in {kept}."
    return UserError(f"{said}, and no copy could be made: restore it from a backup. {why}".rstrip())


def verify(database: Database, progress: Progress) -> list[str]:
    """Return what is wrong with the project, a sentence each; nothing if all is well."""
    with database.read() as connection:
        problems = _broken_pages(raw(connection))
        problems = problems or contents.check_all(raw(connection))
        if problems:  # what such a file says of itself means nothing
            return problems
        for check in (_check_references, _check_rows, _check_labels, _check_runs, _check_search):
            progress.check()
            problems += check(connection)
    return problems


def _broken_pages(plain: sqlite3.Connection) -> list[str]:
    try:
        found = [str(line) for (line,) in plain.execute(f"PRAGMA integrity_check({_MAX_PROBLEMS})")]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    return [] if found == ["ok"] else [f"The file is damaged: {line}." for line in found]


def _check_references(connection: sa.Connection) -> list[str]:
    broken = raw(connection).execute("PRAGMA foreign_key_check").fetchall()
    return [
        f"Record {row_id} of {table} refers to a record of {parent} that is missing."
        for table, row_id, parent, _ in broken[:_MAX_PROBLEMS]
    ]


def _check_rows(connection: sa.Connection) -> list[str]:
    problems = []
    plain = raw(connection)
    last = connection.execute(sa.select(last_row_id())).scalar_one()
    (present,) = plain.execute("SELECT count(*) FROM rows WHERE id <= ?", (last,)).fetchone()
    expected = rows.counts(connection).rows
    if present != expected:
        problems.append(f"There are {present} rows where imports brought {expected}.")
    changed = []
    for row_id, text_hash, text in plain.execute(
        "SELECT id, text_hash, text FROM rows WHERE id <= ?", (last,)
    ):
        if rows.hash_text(text) != text_hash:
            changed.append(row_id)
    if changed:
        problems.append(f"The text of {len(changed)} rows was changed outside, first in row {changed[0]}.")
    columns = len(rows.shape(connection).columns)
    (odd,) = plain.execute(
        "SELECT count(*) FROM rows WHERE id <= ?"
        " AND CASE WHEN NOT json_valid(cells) THEN 1 WHEN json_array_length(cells) NOT IN (?, ?) THEN 1"
        " ELSE EXISTS (SELECT 1 FROM json_each(cells) WHERE type NOT IN ('text', 'null')) END",
        (last, columns - 1, columns),
    ).fetchone()
    if odd:
        problems.append(f"The cells of {odd} rows do not fit the columns.")
    return problems


def _check_labels(connection: sa.Connection) -> list[str]:
    problems = []
    label_set = label_sets.active_set(connection)
    used = {label.id for label in label_set.labels} if label_set else set()
    if used != set(connection.execute(label_sets.active_ids()).scalars()):
        problems.append("The labels in use are not those of the active label set.")
    (bare,) = (
        raw(connection)
        .execute(
            "SELECT count(*) FROM annotations WHERE (decision = 'label') <>"
            " (row_id IN (SELECT row_id FROM annotation_labels))"
        )
        .fetchone()
    )
    if bare:
        problems.append(f"{bare} decisions and their labels do not fit together.")
    origins = set(connection.execute(sa.select(schema.annotations.c.origin).distinct()).scalars())
    if odd := origins - set(Origin):
        problems.append(f"Decisions have an unknown origin: {', '.join(map(repr, sorted(odd)))}.")
    return problems


def _check_runs(connection: sa.Connection) -> list[str]:
    problems = []
    for run in runs.every(connection):
        (count, odd) = (
            raw(connection)
            .execute(
                "SELECT count(*), coalesce(sum(length(probabilities) <> ? OR top NOT BETWEEN 0 AND ?), 0)"
                " FROM scores WHERE run_id = ?",
                (4 * len(run.labels), len(run.labels) - 1, run.id),
            )
            .fetchone()
        )
        if count != run.scored:
            problems.append(f"Run {run.id} ({run.alias}) has {count} scores where {run.scored} were counted.")
        if odd:
            problems.append(f"{odd} scores of run {run.id} ({run.alias}) do not fit its labels.")
        elif wrong := runs.count_wrong(connection, run.id):
            problems.append(
                f"{wrong} scores of run {run.id} ({run.alias}) do not follow from its probabilities."
            )
    return problems


def _check_search(connection: sa.Connection) -> list[str]:
    indexed = connection.execute(sa.select(schema.project.c.searchable_to)).scalar_one()
    if indexed and not search.is_made(connection):
        return ["The search index is missing although it was built."]
    return []
