"""From an older project file to the present one, a step a version.

``PRAGMA user_version`` names the version of a file. A change of `schema` comes with one more function here,
which does the same to a file that holds data, and with the SQL text of the version left behind in the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import sqlalchemy as sa

MIGRATIONS: Final[list[Callable[[sa.Connection], None]]] = []
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
