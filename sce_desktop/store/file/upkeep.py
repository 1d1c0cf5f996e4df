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
from sce_desktop.core import private
from sce_desktop.core.annotations import Origin
from sce_desktop.core.errors import RescuedProject, UserError
from sce_desktop.core.i18n import _, listed, ngettext, number
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
            return RescuedProject(
                path,
                copy,
                _(
                    "{name} {problem} while it was open: everything saved in it is now in {copy}.",
                    name=path.name,
                    problem=lost,
                    copy=copy,
                ),
            )
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
    return [] if found == ["ok"] else [_("The file is damaged: {problem}.", problem=line) for line in found]


def _check_references(connection: sa.Connection) -> list[str]:
    broken = raw(connection).execute("PRAGMA foreign_key_check").fetchall()
    return [
        _(
            "Record {record} of {table} refers to a missing record of {parent}.",
            record=row_id,
            table=table,
            parent=parent,
        )
        for table, row_id, parent, _key in broken[:_MAX_PROBLEMS]
    ]


def _check_rows(connection: sa.Connection) -> list[str]:
    problems = []
    plain = raw(connection)
    last = connection.execute(sa.select(last_row_id())).scalar_one()
    (present,) = plain.execute("SELECT count(*) FROM rows WHERE id <= ?", (last,)).fetchone()
    expected = rows.counts(connection).rows
    if present != expected:
        problems.append(
            _(
                "Rows in the file: {present}. Rows imported: {expected}.",
                present=number(present),
                expected=number(expected),
            )
        )
    changed = []
    for row_id, text_hash, text in plain.execute(
        "SELECT id, text_hash, text FROM rows WHERE id <= ?", (last,)
    ):
        if rows.hash_text(text) != text_hash:
            changed.append(row_id)
    if changed:
        problems.append(
            ngettext(
                "The text of {count} row was changed by another program (row {first}).",
                "The text of {count} rows was changed by another program, first in row {first}.",
                len(changed),
                first=changed[0],
            )
        )
    columns = len(rows.shape(connection).columns)
    (odd,) = plain.execute(
        "SELECT count(*) FROM rows WHERE id <= ?"
        " AND CASE WHEN NOT json_valid(cells) THEN 1 WHEN json_array_length(cells) NOT IN (?, ?) THEN 1"
        " ELSE EXISTS (SELECT 1 FROM json_each(cells) WHERE type NOT IN ('text', 'null')) END",
        (last, columns - 1, columns),
    ).fetchone()
    if odd:
        problems.append(
            ngettext(
                "The cells of {count} row do not fit the columns.",
                "The cells of {count} rows do not fit the columns.",
                odd,
            )
        )
    return problems


def _check_labels(connection: sa.Connection) -> list[str]:
    problems = []
    label_set = label_sets.active_set(connection)
    used = {label.id for label in label_set.labels} if label_set else set()
    if used != set(connection.execute(label_sets.active_ids()).scalars()):
        problems.append(_("The labels in use differ from the active label set."))
    (bare,) = (
        raw(connection)
        .execute(
            "SELECT count(*) FROM annotations WHERE (decision = 'label') <>"
            " (row_id IN (SELECT row_id FROM annotation_labels))"
        )
        .fetchone()
    )
    if bare:
        problems.append(
            ngettext(
                "The annotation of {count} row does not fit its labels.",
                "The annotations of {count} rows do not fit their labels.",
                bare,
            )
        )
    origins = set(connection.execute(sa.select(schema.annotations.c.origin).distinct()).scalars())
    if odd := origins - set(Origin):
        problems.append(
            _(
                "Annotations have an unknown origin: {origins}.",
                origins=listed([f"“{one}”" for one in sorted(odd)]),
            )
        )
    return problems


def _check_runs(connection: sa.Connection) -> list[str]:
    problems = []
    for run in runs.list_all(connection):
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
            problems.append(
                _(
                    "Run {run} ({alias}) has {present} scores, expected {expected}.",
                    run=run.id,
                    alias=run.alias,
                    present=number(count),
                    expected=number(run.scored),
                )
            )
        if odd:
            problems.append(
                ngettext(
                    "{count} score of run {run} ({alias}) does not fit its labels.",
                    "{count} scores of run {run} ({alias}) do not fit its labels.",
                    odd,
                    run=run.id,
                    alias=run.alias,
                )
            )
        elif wrong := runs.count_wrong(connection, run.id):
            problems.append(
                ngettext(
                    "{count} score of run {run} ({alias}) does not follow from its probabilities.",
                    "{count} scores of run {run} ({alias}) do not follow from its probabilities.",
                    wrong,
                    run=run.id,
                    alias=run.alias,
                )
            )
    return problems


def _check_search(connection: sa.Connection) -> list[str]:
    indexed = connection.execute(sa.select(schema.project.c.searchable_to)).scalar_one()
    if indexed and not search.is_made(connection):
        return [_("The search index is missing although it was built.")]
    return []
