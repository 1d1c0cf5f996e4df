"""Letting the user stop what SQLite does in one statement."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Final

import sqlalchemy as sa

from sce_desktop.core.progress import Progress

_LOOK_S: Final = 0.05  # between two looks at a statement in another thread
_STEPS: Final = 20_000  # of SQLite between two looks: a few milliseconds
_SORTED_AT_ONCE: Final = -1_024  # KiB: some 70 milliseconds without a look
_SORTERS: Final = 2  # threads beside the one that reads: one has its part while the next is filled


@contextmanager
def stoppable(plain: sqlite3.Connection, progress: Progress) -> Iterator[None]:
    """Ask ``progress`` whether to go on while ``plain`` works; what it raises comes out of here."""
    stopped: list[BaseException] = []

    def look() -> bool:
        try:
            progress.check()
        except BaseException as error:  # SQLite would only say that it was interrupted
            stopped.append(error)
        return bool(stopped)

    plain.set_progress_handler(look, _STEPS)
    try:
        yield
    except (sqlite3.Error, sa.exc.DBAPIError):
        if stopped:
            raise stopped[0] from None
        raise
    finally:
        plain.set_progress_handler(None, 0)


def fetch_watched(plain: sqlite3.Connection, statement: str, progress: Progress) -> tuple[Any, ...]:
    """Return the first record of a ``statement`` that makes no steps, as a check of the file's trees does.

    `stoppable` would not look before it is over. So another thread does it, which this one watches and
    interrupts. What ``progress`` raises comes out of here.
    """
    progress.check()
    with ThreadPoolExecutor(1, thread_name_prefix="sqlite") as pool:
        found = pool.submit(lambda: plain.execute(statement).fetchone())
        try:
            while not found.done():
                wait([found], _LOOK_S)
                progress.check()
        except BaseException:
            while not found.done():  # it may not have begun
                plain.interrupt()
                wait([found], _LOOK_S)
            raise
    record: tuple[Any, ...] = found.result()
    return record


@contextmanager
def sorting_in_parts(plain: sqlite3.Connection) -> Iterator[None]:
    """Let a large index be sorted in small parts, which are merged: faster, and with a look after each.

    Another thread sorts a part while the next is read: half the time where a core is free. Where SQLite was
    built without threads it sorts in this one.
    """
    (before,) = plain.execute("PRAGMA cache_size").fetchone()
    (threads,) = plain.execute("PRAGMA threads").fetchone()
    plain.execute(f"PRAGMA cache_size={_SORTED_AT_ONCE}")
    plain.execute(f"PRAGMA threads={_SORTERS}").fetchall()
    try:
        yield
    finally:
        plain.execute(f"PRAGMA threads={threads}").fetchall()
        plain.execute(f"PRAGMA cache_size={before}")
