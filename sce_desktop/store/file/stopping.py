"""Letting the user stop what SQLite does in one statement."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import sqlalchemy as sa

from sce_desktop.core.progress import Progress

_STEPS: Final = 20_000  # of SQLite between two looks: a few milliseconds
_SORTED_AT_ONCE: Final = -2_048  # KiB: some 70 milliseconds without a look


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


@contextmanager
def sorting_in_parts(plain: sqlite3.Connection) -> Iterator[None]:
    """Let a large index be sorted in small parts, which are merged: faster, and with a look after each."""
    (before,) = plain.execute("PRAGMA cache_size").fetchone()
    plain.execute(f"PRAGMA cache_size={_SORTED_AT_ONCE}")
    try:
        yield
    finally:
        plain.execute(f"PRAGMA cache_size={before}")
