"""What SQLite is told before it looks at a file that anybody may have made.

After https://www.sqlite.org/security.html, as far as our own statements leave room for it.
"""

from __future__ import annotations

import sqlite3
from typing import Final

_PRAGMAS: Final = (
    "trusted_schema=OFF",  # functions in a schema do nothing beyond it
    "cell_size_check=ON",  # each page is looked at before it is used
    "mmap_size=0",  # a file that is cut meanwhile is an error, not the end of the process
    "cache_size=-2000",  # KiB, whatever the file suggests; connections that need more ask for it
)
_LIMITS: Final = {
    # Our longest statements have a few hundred parameters, a dozen terms and some ten thousand characters.
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 1,  # VACUUM attaches one
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 10,  # foreign keys that cascade count as triggers
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
# Python 3.12 and newer.
_SWITCHES: Final = {
    "SQLITE_DBCONFIG_ENABLE_TRIGGER": False,
    "SQLITE_DBCONFIG_ENABLE_VIEW": False,
    "SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION": False,
}
_DEFENSIVE: Final = "SQLITE_DBCONFIG_DEFENSIVE"


def harden(plain: sqlite3.Connection) -> None:
    """Let a connection that was just made trust nothing of the file, and have no more room than we need."""
    for limit, value in _LIMITS.items():
        plain.setlimit(limit, value)
    for name, on in _SWITCHES.items():
        _switch(plain, name, on)
    for pragma in _PRAGMAS:
        plain.execute(f"PRAGMA {pragma}")


def forbid_schema_writes(plain: sqlite3.Connection) -> None:
    """Let nothing write to the schema or the search index but by the statements made for it."""
    _switch(plain, _DEFENSIVE, True)


def _switch(plain: sqlite3.Connection, name: str, on: bool) -> None:
    if hasattr(plain, "setconfig") and hasattr(sqlite3, name):
        plain.setconfig(getattr(sqlite3, name), on)
