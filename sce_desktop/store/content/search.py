"""Finding a piece of text as `core.folding` compares: by an index where there is one, else in every row.

The index (FTS5, trigrams of `folding.bare` texts, so that languages without spaces work) only narrows the
rows down; whether a row matches is always decided by its text, so an answer is the same with and without the
index. One or two characters, which are a word in some languages, are looked for in every row. It is filled
behind the work and knows how far it has come: rows beyond that are looked at one by one. Nothing of what the
user types is read as a query language.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import regex
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core import folding
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.progress import Progress
from sce_desktop.store.file import schema
from sce_desktop.store.sql import last_row_id

if TYPE_CHECKING:
    from sce_desktop.store.file.database import Database

TABLE_SQL: Final = (
    f"CREATE VIRTUAL TABLE {schema.SEARCH_TABLE}"
    " USING fts5(text, content='', tokenize='trigram', detail=none, columnsize=0)"
)
"""Without positions and texts the index takes a quarter of the room; we check the texts anyway."""

PATTERN_SECONDS: Final = 5.0
_BATCH_CHARACTERS: Final = 60_000  # a transaction that a decision may have to wait for: some ten milliseconds
_ROOM_BESIDE: Final = 20_000_000  # bytes of the log, in which pages stand several times, and to go on with
_WITHOUT: Final = N_(
    "Search still works, but is slower. The index is built when you next open the project with enough space."
)
_MAX_TRIGRAMS: Final = 24
_MAX_PATTERN: Final = 10_000  # SQLite refuses LIKE patterns above 50,000 bytes


def build_index(database: Database, progress: Progress) -> None:
    """Bring the index up to the last row, in short transactions; what was done stays when this is cancelled.

    Where SQLite was built without FTS5, searching goes on without an index.

    Raises:
        UserError: There is too little room. Searching goes on without.
    """
    _check_room(database)
    try:
        _build(database, progress)
    except UserError as error:  # what it advises is about what is done already
        failed = _("The search index was not built ({reason}).", reason=str(error).split(":")[0])
        raise UserError(f"{failed} {_(_WITHOUT)}") from error


def _build(database: Database, progress: Progress) -> None:
    with database.write() as connection:
        if not _has_fts5(connection):
            return
        form = connection.execute(sa.select(schema.project.c.search_form)).scalar_one()
        if form != folding.FORM or not is_made(connection):
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {schema.SEARCH_TABLE}")
            connection.exec_driver_sql(TABLE_SQL)
            connection.execute(schema.project.update().values(searchable_to=0, search_form=folding.FORM))
    while True:
        progress.check()
        with database.write() as connection:
            start = connection.execute(sa.select(schema.project.c.searchable_to)).scalar_one()
            end = connection.execute(sa.select(last_row_id())).scalar_one()
            if start >= end:
                return
            plain = connection.connection.driver_connection
            assert isinstance(plain, sqlite3.Connection)
            start = _index_some(plain, start, end)
            connection.execute(schema.project.update().values(searchable_to=start))
        progress.report(start, end, stage=_("Building the search index"))


def _check_room(database: Database) -> None:
    """Refuse where the index may not fit: half of it would take the room for what people do next."""
    with database.read() as connection:
        start = connection.execute(sa.select(schema.project.c.searchable_to)).scalar_one()
        missing = sa.select(sa.func.coalesce(sa.func.sum(schema.rows.c.length), 0)).where(
            schema.rows.c.id > start
        )
        characters = connection.execute(missing).scalar_one()
    try:
        free = shutil.disk_usage(database.path.parent).free
    except OSError:
        return
    if characters and free < characters + _ROOM_BESIDE:
        failed = _("There is not enough disk space for the search index.")
        raise UserError(f"{failed} {_(_WITHOUT)}")


def is_made(connection: sa.Connection) -> bool:
    """Return whether the project has an index, however far it goes."""
    found = connection.exec_driver_sql(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (schema.SEARCH_TABLE,)
    )
    return found.first() is not None


def matching_ids(connection: sa.Connection, needle: str) -> sa.Select[Any] | sa.CompoundSelect[Any]:
    """Return the statement for the ids of the rows whose text contains ``needle`` (see `core.folding`)."""
    row = schema.rows.c
    matches = _contains(row.text, needle)
    in_project = sa.select(row.id).where(row.id <= last_row_id())
    indexed_to, form = connection.execute(
        sa.select(schema.project.c.searchable_to, schema.project.c.search_form)
    ).one()
    trigrams = _trigrams(folding.bare(needle))
    if not indexed_to or form != folding.FORM or not trigrams or not _has_fts5(connection):
        return in_project.where(matches)
    found = f"SELECT rowid FROM {schema.SEARCH_TABLE} WHERE {schema.SEARCH_TABLE} MATCH :trigrams"
    if _are_many(connection, found, trigrams, indexed_to):
        return in_project.where(matches)
    candidates = sa.text(found).bindparams(trigrams=trigrams)
    indexed = in_project.where(row.id.in_(candidates.columns(sa.column("rowid", sa.Integer))), matches)
    return indexed.union_all(in_project.where(row.id > indexed_to, matches))


def matching_pattern(
    connection: sa.Connection, pattern: str, among: NDArray[np.bool_], seconds: float = PATTERN_SECONDS
) -> IdArray:
    """Return the rows of ``among`` (by id) whose text a regular expression matches, letter case aside.

    A pattern can take longer than anyone waits, on a single text even: `regex` gives up in time, `re` cannot.

    Raises:
        UserError: It is no regular expression, or it takes more than ``seconds``.
    """
    try:
        matches = regex.compile(pattern, regex.IGNORECASE).search
    except regex.error as error:
        raise UserError(
            _(
                "“{pattern}” is not a valid regular expression ({error}): correct it.",
                pattern=pattern,
                error=error,
            )
        ) from None
    plain = connection.connection.driver_connection
    assert isinstance(plain, sqlite3.Connection)
    until = time.monotonic() + seconds
    found = []
    try:
        for row_id, text in plain.execute(
            "SELECT id, text FROM rows WHERE id < ? ORDER BY id", (len(among),)
        ):
            if among[row_id] and matches(text, timeout=until - time.monotonic()):
                found.append(row_id)
    except (TimeoutError, ValueError):  # the latter: no time is left at all
        raise UserError(
            _("“{pattern}” takes too long on these texts: make it simpler.", pattern=pattern)
        ) from None
    return np.array(found, np.int64)


def _index_some(plain: sqlite3.Connection, start: int, end: int) -> int:
    """Index rows after ``start``, up to a number of characters; return the last one's id."""
    batch: list[tuple[int, str]] = []
    characters = 0
    reading = plain.execute("SELECT id, text FROM rows WHERE id > ? AND id <= ? ORDER BY id", (start, end))
    for row_id, text in reading:
        batch.append((row_id, folding.bare(text)))
        characters += len(text)
        if characters >= _BATCH_CHARACTERS:
            break
    reading.close()
    plain.executemany(f"INSERT INTO {schema.SEARCH_TABLE} (rowid, text) VALUES (?, ?)", batch)
    return batch[-1][0] if batch else end


def _has_fts5(connection: sa.Connection) -> bool:
    modules = connection.exec_driver_sql("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")
    return modules.first() is not None


def _contains(text: sa.ColumnElement[str], needle: str) -> sa.ColumnElement[bool]:
    """Return whether ``text`` contains ``needle``: by LIKE where it knows the letters, which is faster."""
    key, accented = folding.bare(needle), folding.folded(needle)
    if not accented:  # all that was typed is what never counts: take it as it is
        return sa.func.instr(text, needle) > 0
    if key != accented:
        return sa.func.contains_folded(text, accented) == 1
    if not needle.isascii() or "\0" in needle or len(needle) > _MAX_PATTERN:
        return sa.func.contains_bare(text, key) == 1
    alike = text.contains(needle, autoescape=True, escape="\\")  # LIKE, to which "A" is "a"
    beyond_ascii = sa.func.length(sa.cast(text, sa.LargeBinary)) > schema.rows.c.length
    return alike | (beyond_ascii & (sa.func.contains_bare(text, key) == 1))


def _are_many(connection: sa.Connection, found: str, trigrams: str, rows: int) -> bool:
    """Return whether an index narrows so little down that looking at the texts in their order is faster."""
    most = rows // 2
    counted = f"SELECT count(*) FROM ({found} LIMIT :most)"
    parameters = {"trigrams": trigrams, "most": most}
    return most > 0 and connection.execute(sa.text(counted), parameters).scalar_one() >= most


def _trigrams(needle: str) -> str:
    """Return the FTS5 expression that the trigrams of ``needle`` are all there; empty if it is too short."""
    pieces = [needle[i : i + 3] for i in range(len(needle) - 2)]
    distinct = list(dict.fromkeys(piece for piece in pieces if "\0" not in piece))[:_MAX_TRIGRAMS]
    return " AND ".join('"' + piece.replace('"', '""') + '"' for piece in distinct)
