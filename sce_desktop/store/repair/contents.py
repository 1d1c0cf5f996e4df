"""Whether what a project holds can be what the program wrote, apart from SQLite's own consistency.

The rules themselves are in `store.rules`.
"""

from __future__ import annotations

import sqlite3

from sce_desktop.core.progress import Progress
from sce_desktop.store.rules import relations, whole


def check(plain: sqlite3.Connection) -> None:
    """Raise `Malformed` where a project says something that we never write, as far as opening can see."""
    relations.register(plain)
    whole.check_opening(plain)


def check_all(plain: sqlite3.Connection, progress: Progress) -> list[str]:
    """Return a sentence for everything in the whole file that we never write."""
    relations.register(plain)
    problems = whole.problems_of_records(plain)
    if problems:  # what such a file says of itself means nothing
        return problems
    return whole.problems_between_records(plain, progress)
