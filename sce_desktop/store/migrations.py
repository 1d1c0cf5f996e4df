"""From an older project file to the present one, a step a version.

``PRAGMA user_version`` names the version of a file. A change of `schema` comes with one more function here,
which does the same to a file that holds data, and with the SQL text of the version left behind in the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import sqlalchemy as sa


def _add_model_versions(connection: sa.Connection) -> None:
    connection.exec_driver_sql(
        """
        CREATE TABLE model_versions (
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            base TEXT NOT NULL,
            base_fingerprint TEXT NOT NULL,
            created_at TEXT NOT NULL,
            data_hash TEXT NOT NULL,
            train_rows INTEGER NOT NULL,
            held_out_rows INTEGER NOT NULL,
            settings JSON NOT NULL,
            seed INTEGER NOT NULL,
            metrics JSON NOT NULL,
            seconds FLOAT NOT NULL,
            active BOOLEAN NOT NULL,
            weights BLOB NOT NULL
        )"""
    )


MIGRATIONS: Final[list[Callable[[sa.Connection], None]]] = [_add_model_versions]
"""The function at place i brings a file of version i + 1 to version i + 2."""


def schema_version() -> int:
    """Return the version that this program writes."""
    return len(MIGRATIONS) + 1


def migrate(connection: sa.Connection, version: int) -> None:
    """Bring a file of ``version`` up to `schema_version`, within the transaction of ``connection``.

    Foreign keys must be off: a step may have to build a table anew.
    """
    for step in MIGRATIONS[version - 1 :]:
        step(connection)
    connection.exec_driver_sql(f"PRAGMA user_version={schema_version()}")
