"""From an older project file to the present one, a step a version.

``PRAGMA user_version`` names the version of a file. A change of `schema` comes with one more function here,
which does the same to a file that holds data, and `formats` learns from both what a file of each version has.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import sqlalchemy as sa

from sce_desktop.core.blank import is_blank
from sce_desktop.store.file.failures import error_code


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


def _add_history_audits_coders(connection: sa.Connection) -> None:
    for statement in (
        """
        CREATE TABLE actions (
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            text TEXT NOT NULL,
            done_at TEXT NOT NULL,
            undone BOOLEAN NOT NULL,
            rows INTEGER NOT NULL,
            label_set_id INTEGER,
            version_id INTEGER,
            audit_id INTEGER,
            coder_id INTEGER
        )""",
        """
        CREATE TABLE row_changes (
            action_id INTEGER NOT NULL,
            row_id INTEGER NOT NULL,
            decision TEXT,
            origin TEXT,
            decided_at TEXT,
            queue TEXT,
            labels TEXT,
            unsure BOOLEAN,
            flag BOOLEAN,
            note TEXT,
            CONSTRAINT pk_row_changes PRIMARY KEY (action_id, row_id)
        ) WITHOUT ROWID""",
        """
        CREATE TABLE audits (
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            seed INTEGER NOT NULL,
            blind BOOLEAN NOT NULL,
            created_at TEXT NOT NULL,
            removed BOOLEAN NOT NULL,
            frame BLOB NOT NULL
        )""",
        """
        CREATE TABLE audit_rows (
            audit_id INTEGER NOT NULL,
            place INTEGER NOT NULL,
            row_id INTEGER NOT NULL,
            CONSTRAINT pk_audit_rows PRIMARY KEY (audit_id, place),
            CONSTRAINT fk_audit_rows_audit_id FOREIGN KEY(audit_id) REFERENCES audits (id) ON DELETE CASCADE
        ) WITHOUT ROWID""",
        """
        CREATE TABLE coders (
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            source TEXT NOT NULL,
            created_at TEXT NOT NULL,
            removed BOOLEAN NOT NULL
        )""",
        """
        CREATE TABLE other_annotations (
            coder_id INTEGER NOT NULL,
            row_id INTEGER NOT NULL,
            label TEXT NOT NULL,
            label_id INTEGER,
            CONSTRAINT pk_other_annotations PRIMARY KEY (coder_id, row_id, label),
            CONSTRAINT fk_other_annotations_coder_id
                FOREIGN KEY(coder_id) REFERENCES coders (id) ON DELETE CASCADE
        ) WITHOUT ROWID""",
    ):
        connection.exec_driver_sql(statement)


def _add_columns_of_format_4(connection: sa.Connection) -> None:
    for table in ("project", "runs"):
        connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN whole_table BOOLEAN NOT NULL DEFAULT '0'")
    connection.exec_driver_sql("ALTER TABLE project ADD COLUMN threshold FLOAT")
    connection.exec_driver_sql("CREATE INDEX ix_scores_none ON scores (run_id, row_id) WHERE none >= 0.5")


def _add_cell_types(connection: sa.Connection) -> None:
    connection.exec_driver_sql(
        """
        CREATE TABLE cell_types (
            first_row INTEGER NOT NULL,
            last_row INTEGER NOT NULL,
            types TEXT NOT NULL,
            CONSTRAINT pk_cell_types PRIMARY KEY (first_row)
        )"""
    )
    _find_blank(connection)


def _find_blank(connection: sa.Connection) -> None:
    """Mark rows blank that have only invisible characters, and remove their scores."""
    plain = connection.connection.driver_connection
    assert isinstance(plain, sqlite3.Connection)
    plain.create_function("is_blank", 1, is_blank, deterministic=True)
    found = plain.execute("SELECT id FROM rows WHERE blank = 0 AND is_blank(text)").fetchall()
    plain.create_function("is_blank", 1, None)
    if not found:
        return
    plain.executemany("UPDATE rows SET blank = 1 WHERE id = ?", found)
    plain.executemany("DELETE FROM scores WHERE row_id = ?", found)
    plain.execute("UPDATE runs SET scored = (SELECT count(*) FROM scores WHERE run_id = runs.id)")
    before = 0
    for import_id, last in plain.execute("SELECT id, last_row_id FROM imports ORDER BY id").fetchall():
        plain.execute(
            "UPDATE imports SET"
            " blank = (SELECT count(*) FROM rows WHERE blank = 1 AND id > ? AND id <= ?),"
            " duplicates = (SELECT count(*) FROM rows AS new"
            " WHERE blank = 0 AND id > ? AND id <= ? AND EXISTS"
            " (SELECT 1 FROM rows WHERE blank = 0 AND text_hash = new.text_hash AND id < new.id))"
            " WHERE id = ?",
            (before, last, before, last, import_id),
        )
        before = last


def _add_model(connection: sa.Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE project ADD COLUMN model TEXT")
    connection.exec_driver_sql("ALTER TABLE project ADD COLUMN model_chosen BOOLEAN NOT NULL DEFAULT '0'")


def _add_search_form(connection: sa.Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE project ADD COLUMN search_form TEXT NOT NULL DEFAULT ''")


def _drop_fts_index(connection: sa.Connection) -> None:
    """Remove the search index of FTS5: another one is made behind the work."""
    connection.exec_driver_sql("UPDATE project SET searchable_to = 0, search_form = ''")
    try:
        connection.exec_driver_sql("DROP TABLE IF EXISTS row_search")
    except sa.exc.OperationalError as error:
        if error_code(error) != sqlite3.SQLITE_ERROR:  # that is what a SQLite without FTS5 says
            raise


MIGRATIONS: Final[list[Callable[[sa.Connection], None]]] = [
    _add_model_versions,
    _add_history_audits_coders,
    _add_columns_of_format_4,
    _add_cell_types,
    _add_model,
    _add_search_form,
    _drop_fts_index,
]
"""The function at place i brings a file of version i + 1 to version i + 2."""


def schema_version() -> int:
    """Return the version that this program writes."""
    return len(MIGRATIONS) + 1


def migrate(connection: sa.Connection, version: int) -> None:
    """Bring a file of ``version`` up to `schema_version`, within the transaction of ``connection``.

    Foreign keys must be off: a step may have to build a table again.
    """
    plain = connection.connection.driver_connection
    assert isinstance(plain, sqlite3.Connection)
    begun = plain.in_transaction
    for step in MIGRATIONS[version - 1 :]:
        step(connection)
        if begun and not plain.in_transaction:  # some failures make SQLite take back all that was done
            raise RuntimeError(f"{step.__name__} ended the transaction of the update")
    connection.exec_driver_sql(f"PRAGMA user_version={schema_version()}")
