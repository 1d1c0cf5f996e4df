"""Deleting for good, in an order that a kill cannot turn into half of it.

A note beside the project says what goes (`pending`). Then text vectors and copies lose it, which loses
nothing while the project has it, and last the project itself: its records in one transaction, overwritten
with zeros where they lay; then the file is rewritten, so that nothing is left of what older programs
deleted. Only then the note goes. Opening a project with a note finishes what it says.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from sce_desktop import paths, temporary
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.purging import PurgeEffect, PurgeReport, PurgeScope
from sce_desktop.store.file.connections import connect
from sce_desktop.store.file.failures import known_failures
from sce_desktop.store.file.placing import explaining, lock_of
from sce_desktop.store.purge import copies, counting, pending
from sce_desktop.store.purge.pending import Pending
from sce_desktop.store.purge.records import Records
from sce_desktop.store.runs.vector_cache import VectorCache

_LOG = logging.getLogger(__name__)
_ROOM_BESIDE: Final = 20_000_000
Rows = Sequence[tuple[int, bytes]]


def purge_project(
    path: Path, scope: PurgeScope, *, with_copies: bool, progress: Progress | None = None
) -> PurgeReport:
    """Delete what ``scope`` names for good from the project ``path``, which nobody has open.

    ``with_copies``: from the copies of it too that are found. Until the first record goes it can be
    cancelled; after that it goes on to its end.

    Raises:
        UserError: The project is open, cannot be written, is damaged, or there is not enough space. Nothing
            has been deleted from it then; or all is, and the next opening rewrites the file. It says which.
    """
    progress = progress or SilentProgress()
    path = path.resolve()
    with _alone(path), known_failures(path), explaining(path):
        with contextlib.closing(connect(path, "mode=ro")) as plain:
            copies.check(plain, path)
            effect = counting.effect(plain, scope, path)
            made = copies.created_at(plain)
            (imports,) = plain.execute("SELECT coalesce(max(id), 0) FROM imports").fetchone()
        _check_room(path, effect.copies if with_copies else ())
        progress.check()
        order = Pending(made, imports, scope, with_copies)
        pending.write(path, order)
        try:
            with known_failures(path), explaining(path):
                return _carry_out(path, order, effect, progress)
        except UserError as error:
            raise _unfinished(path, error) from error


def finish(path: Path) -> str:
    """Finish the purge that was interrupted, if there was one; return what to tell of it, or nothing.

    Raises:
        UserError: Something that was to go is still there: nobody is to work with that.
    """
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # reported by whoever opens it
        path = path.resolve()
    if not pending.exists(path) or not _can_write(path):
        return ""
    order = pending.read(path)
    try:
        with _alone(path), known_failures(path), explaining(path):
            with _opened(path) as plain:
                known = order is not None and order.created_at == copies.created_at(plain)
                effect = counting.effect(plain, order.scope, path) if order and known else PurgeEffect()
            if order is None or not known:  # of another project that had this name
                pending.remove(path)
                return ""
            report = _carry_out(path, order, effect, SilentProgress())
    except UserError as error:
        failed = _("Deleting for good was interrupted and is not finished: {reason}", reason=error)
        left = pending.read(path)
        if left is not None and not left.deleted:
            raise UserError(failed) from error
        return failed
    done = _("Deleting for good was interrupted. It is finished now and cannot be undone.")
    return " ".join((done, *report.remains))


def _unfinished(path: Path, error: UserError) -> UserError:
    """Return what to say of a purge that failed; give it up where it has taken nothing out."""
    left = pending.read(path)
    if left is not None and left.deleted:
        return UserError(
            _(
                "It is deleted, but {name} could not be rewritten: {reason} That is done when the project is"
                " opened again.",
                name=path.name,
                reason=error,
            )
        )
    pending.remove(path)
    return UserError(_("Nothing was deleted from {name}: {reason}", name=path.name, reason=error))


def _carry_out(path: Path, order: Pending, effect: PurgeEffect, progress: Progress) -> PurgeReport:
    temporary.sweep()
    progress.report(0, stage=_("Deleting for good"))
    remains: list[str] = []
    cleaned: list[Path] = []
    if not order.deleted:
        with _opened(path) as plain:
            rows = counting.hashes(plain, _still_meant(plain, order))
            names = counting.names(plain, order.scope)
            remains += _forget_vectors(plain, [row_id for row_id, _hash in rows])
        for copy in effect.copies if order.copies else ():
            if failed := _clean_copy(copy, order.scope, rows, names):
                remains.append(_("{copy} still has it: {reason}", copy=copy, reason=failed))
            else:
                cleaned.append(copy)
        with _opened(path) as plain:
            _delete(plain, order.scope, rows, names)
        pending.write(path, replace(order, scope=PurgeScope(), deleted=True))
    with _opened(path) as plain:
        busy = _compact(plain)
    if busy:
        remains.append(
            _(
                "Another program is reading {name}, so parts may be left in {name}-wal: close it there, then"
                " open the project again.",
                name=path.name,
            )
        )
    else:
        pending.remove(path)
    return PurgeReport(effect, tuple(cleaned), tuple(remains))


def _still_meant(plain: sqlite3.Connection, order: Pending) -> Collection[int]:
    """Return the rows that go without those that came later."""
    (last,) = plain.execute(
        "SELECT coalesce(max(last_row_id), 0) FROM imports WHERE id <= ?", (order.imports,)
    ).fetchone()
    return [row_id for row_id in order.scope.rows if row_id <= last]


def _delete(plain: sqlite3.Connection, scope: PurgeScope, rows: Rows, names: counting.Names) -> None:
    """Remove everything in one transaction."""
    labels, annotators = names
    plain.execute("BEGIN IMMEDIATE")
    try:
        records = Records(plain)
        if rows:
            records.drop_rows(rows)
        if scope.notes:
            records.drop_notes()
        if found := records.labels_meant(labels):
            records.drop_labels(found)
        records.drop_annotators(annotators)
        records.drop_history()
        plain.execute("COMMIT")
    except BaseException:
        plain.execute("ROLLBACK")
        raise


def _compact(plain: sqlite3.Connection) -> bool:
    """Rewrite the file and empty its log; return whether somebody reads the old state still."""
    plain.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    plain.execute("VACUUM")
    (busy, *_rest) = plain.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return bool(busy)


def _clean_copy(copy: Path, scope: PurgeScope, rows: Rows, names: counting.Names) -> str:
    """Delete the same from a copy; return why that could not be, or nothing."""
    try:
        if copies.is_log(copy):
            copy.unlink(missing_ok=True)
            return ""
        with _alone(copy), known_failures(copy), _opened(copy) as plain:
            _delete(plain, scope, rows, names)
            _compact(plain)
    except (UserError, OSError, sqlite3.Error, ValueError, TypeError, KeyError) as error:
        _LOG.warning("a copy was not cleaned: %s", type(error).__name__)
        return copies.sentence(error)
    return ""


def _forget_vectors(plain: sqlite3.Connection, row_ids: Collection[int]) -> list[str]:
    """Take the vectors of rows out of the cache; return a sentence where that fails."""
    file = paths.vector_cache_file()
    if not row_ids or not file.exists():
        return []
    gone = True
    with VectorCache(file) as cache:
        for texts in counting.texts(plain, row_ids):
            gone = cache.forget(texts) and gone
    if gone:
        return []
    return [_("Text vectors may be left in {file}: close the program, then delete that file.", file=file)]


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection to a project that is known to be one, in a mode that keeps no copy of old pages."""
    with contextlib.closing(connect(path, "mode=rw")) as plain:
        plain.execute("PRAGMA foreign_keys=OFF")
        copies.check(plain, path)
        plain.execute("PRAGMA journal_mode=WAL").fetchone()
        plain.execute("PRAGMA synchronous=FULL")
        yield plain
        with contextlib.suppress(sqlite3.OperationalError):  # another program reads it
            plain.execute("PRAGMA journal_mode=DELETE").fetchone()


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    lock = lock_of(path)
    if not lock.acquire():
        raise UserError(_("{name} is open: close it there, then try again.", name=path.name))
    try:
        yield
    finally:
        lock.release()


def _can_write(path: Path) -> bool:
    """Whether nobody has the project open, where it can be written at all: else it opens read-only."""
    lock = lock_of(path)
    try:
        return os.access(path, os.W_OK) and lock.acquire()
    except OSError:
        return False
    finally:
        lock.release()


def _check_room(path: Path, others: Collection[Path]) -> None:
    """Refuse where rewriting the files might not fit."""
    largest = max(file.stat().st_size for file in (path, *others))
    free = shutil.disk_usage(path.parent).free
    if free < 2 * largest + _ROOM_BESIDE:
        raise UserError(
            _(
                "There is not enough disk space to rewrite {name}: free some space, then try again."
                " Nothing was deleted.",
                name=path.name,
            )
        )
