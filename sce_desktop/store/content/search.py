"""Finding a piece of text as `core.folding` compares: by an index where there is one, else in every row.

The index (`trigrams` of `folding.bare` texts, so that languages without spaces work) only narrows the rows
down; whether a row matches is always decided by its text, so an answer is the same with and without the
index. One or two characters, which are a word in some languages, are looked for in every row. It is filled
behind the work and knows how far it has come: rows beyond that are looked at one by one. Nothing of what the
user types is read as a query language.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Final

import numpy as np
import regex
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core import folding
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.progress import Progress
from sce_desktop.store.content import trigrams
from sce_desktop.store.file import schema
from sce_desktop.store.file.stopping import stoppable
from sce_desktop.store.rules.records import malformed
from sce_desktop.store.sql import json_ids, last_row_id

if TYPE_CHECKING:
    from sce_desktop.store.file.database import Database

TABLE_SQL: Final = f"CREATE TABLE {schema.SEARCH_TABLE} (id INTEGER PRIMARY KEY, rows BLOB NOT NULL)"
"""The number of a record is `trigrams.record_id`'s."""

PATTERN_SECONDS: Final = 5.0
_BATCH_CHARACTERS: Final = 1_000_000  # between two looks at whether to go on: some 30 milliseconds
_PART_RECORDS: Final = 500  # after which a transaction ends if somebody waits: a few milliseconds
_ROOM_BESIDE: Final = 20_000_000  # bytes of the log, in which pages stand several times, and to go on with
_WITHOUT: Final = N_(
    "Search still works, but is slower. The index is built when you next open the project with enough space."
)
_MAX_TRIGRAMS: Final = 16
_MAX_PATTERN: Final = 10_000  # SQLite refuses LIKE patterns above 50,000 bytes


def build_index(database: Database, progress: Progress) -> None:
    """Bring the index up to the last row, in short transactions; what was done stays when this is cancelled.

    Raises:
        UserError: There is too little room. Searching goes on without.
    """
    _check_room(database, progress)
    try:
        _build(database, progress)
    except UserError as error:  # what it advises is about what is done already
        failed = _("The search index was not built ({reason}).", reason=str(error).split(":")[0])
        raise UserError(f"{failed} {_(_WITHOUT)}") from error


def _build(database: Database, progress: Progress) -> None:
    with database.write() as connection:
        form = connection.execute(sa.select(schema.project.c.search_form)).scalar_one()
        if form != folding.FORM or not is_made(connection):
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {schema.SEARCH_TABLE}")
            connection.exec_driver_sql(TABLE_SQL)
            connection.execute(schema.project.update().values(searchable_to=0, search_form=folding.FORM))
    while True:
        progress.check()
        with database.read() as connection:
            start = connection.execute(sa.select(schema.project.c.searchable_to)).scalar_one()
            last = connection.execute(sa.select(last_row_id())).scalar_one()
        if start >= last:
            return
        block = start // trigrams.BLOCK
        end = min((block + 1) * trigrams.BLOCK, last)
        parts = []
        for row_ids, texts in _texts(database, block * trigrams.BLOCK, end):
            places = ((np.array(row_ids) - 1) % trigrams.BLOCK).astype(np.uint32)
            parts.append(trigrams.pairs(texts, places))
            progress.check()
            progress.report(max(start, row_ids[-1]), last, stage=_("Building the search index"))
        _keep(database, trigrams.records_of(block, parts), start, end, progress)


def _texts(database: Database, start: int, end: int) -> Iterator[tuple[list[int], list[str]]]:
    """Yield the ids and the texts to compare of the rows after ``start``, some characters at a time."""
    while start < end:
        row_ids, texts, characters = [], [], 0
        with database.read() as connection:
            reading = _plain(connection).execute(
                "SELECT id, text FROM rows WHERE id > ? AND id <= ? ORDER BY id", (start, end)
            )
            with closing(reading):
                for row_id, text in reading:
                    row_ids.append(row_id)
                    texts.append(folding.bare(text))
                    characters += len(text)
                    if characters >= _BATCH_CHARACTERS:
                        break
        if not row_ids:
            return
        yield row_ids, texts
        start = row_ids[-1]


def _keep(
    database: Database,
    slices: Iterable[list[tuple[int, bytes]]],
    start: int,
    end: int,
    progress: Progress,
) -> None:
    """Write the records of a block, which count from then on when all are there.

    A record that is written early says of the rows up to ``start`` what it said before. Where somebody has
    begun the index again meanwhile, or removed it, nothing is written.
    """
    for records in slices:
        if not _write(database, records, start, start, progress):
            return
    _write(database, [], start, end, progress)


def _write(
    database: Database, records: list[tuple[int, bytes]], start: int, end: int, progress: Progress
) -> bool:
    """Write records, then that the index goes to ``end``; return whether it still went to ``start``."""
    done = 0
    while done < len(records) or start < end:
        progress.check()
        with database.write_part() as connection:
            now = connection.execute(sa.select(schema.project.c.searchable_to)).scalar_one()
            if now != start or not is_made(connection):
                return False
            plain = _plain(connection)
            while done < len(records):
                some = records[done : done + _PART_RECORDS]
                plain.executemany(f"INSERT OR REPLACE INTO {schema.SEARCH_TABLE} VALUES (?, ?)", some)
                done += len(some)
                if database.awaited:
                    break
            if done >= len(records) and start < end:
                connection.execute(schema.project.update().values(searchable_to=end))
                start = end
        progress.check()  # the log may have been shortened, which waits for the disk
    return True


def _check_room(database: Database, progress: Progress) -> None:
    """Refuse where the index may not fit: half of it would take the room for what people do next."""
    with database.read() as connection, stoppable(_plain(connection), progress):
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


def candidates(connection: sa.Connection, needle: str, last: int) -> NDArray[np.bool_] | None:
    """Return by row id, up to ``last``, which rows may contain ``needle``; None: the index does not tell.

    Rows that are not in the index yet are among them.
    """
    indexed_to, form = connection.execute(
        sa.select(schema.project.c.searchable_to, schema.project.c.search_form)
    ).one()
    codes = trigrams.codes_of(folding.bare(needle), _MAX_TRIGRAMS)
    if not indexed_to or form != folding.FORM or not codes or not is_made(connection):
        return None
    found = _candidates(_plain(connection), codes, min(indexed_to, last))
    result = np.zeros(last + 1, bool)
    result[1 : len(found) + 1] = found
    result[len(found) + 1 :] = True
    return result


def _candidates(plain: sqlite3.Connection, codes: list[int], end: int) -> NDArray[np.bool_]:
    """Return which of the first ``end`` rows have all trigrams of ``codes``, or others of the same codes."""
    blocks = (end - 1) // trigrams.BLOCK + 1
    found = np.ones(blocks * trigrams.BLOCK, np.bool_)
    # Nothing here depends on the order of records, but SQLite asks for each by its number.
    reading = (
        f"SELECT record.id, record.rows FROM json_each(?) AS asked"
        f" CROSS JOIN {schema.SEARCH_TABLE} AS record WHERE record.id = asked.value"
    )
    for number, code in enumerate(codes):
        left = np.flatnonzero(found.reshape(blocks, trigrams.BLOCK).any(axis=1))
        if number and np.count_nonzero(found) <= len(left):
            break  # to read these rows takes no longer than to read more records
        wanted = json_ids(left * trigrams.CODES + code)
        records = plain.execute(reading, (wanted,)).fetchall()
        if not records:
            return np.zeros(end, np.bool_)
        of_blocks = np.array([record_id for record_id, _record in records], np.int64) // trigrams.CODES
        try:
            found &= trigrams.rows_of_blocks(of_blocks, [record for _id, record in records], blocks)
        except trigrams.DamagedRecordError:
            raise malformed(schema.SEARCH_TABLE, "rows", _damaged(records)) from None
    return found[:end]


def _damaged(records: Iterable[tuple[int, object]]) -> int:
    """Return the number of the first of ``records`` that is damaged."""
    for record_id, record in records:
        try:
            trigrams.rows_of(record)
        except trigrams.DamagedRecordError:
            return record_id
    raise AssertionError("all of them can be read")


def check_pattern(pattern: str) -> None:
    """UserError if ``pattern`` is no regular expression."""
    _compiled(pattern)


def matching_pattern(
    connection: sa.Connection, pattern: str, ids: IdArray, seconds: float | None = None
) -> IdArray:
    """Return the rows of ``ids`` whose text a regular expression matches, letter case aside.

    A pattern can take longer than anyone waits, on a single text even: `regex` gives up in time, `re` cannot.

    Raises:
        UserError: It is no regular expression, or it takes more than ``seconds`` (`PATTERN_SECONDS`).
    """
    matches = _compiled(pattern).search
    until = time.monotonic() + (PATTERN_SECONDS if seconds is None else seconds)
    found = []
    texts = "SELECT id, text FROM rows WHERE id IN (SELECT value FROM json_each(?))"
    try:
        for row_id, text in _plain(connection).execute(texts, (json_ids(ids),)):
            if matches(text, timeout=until - time.monotonic()):
                found.append(row_id)
    except (TimeoutError, ValueError):  # the latter: no time is left at all
        raise UserError(
            _("“{pattern}” takes too long on these texts: make it simpler.", pattern=pattern)
        ) from None
    return np.array(found, np.int64)


def _compiled(pattern: str) -> regex.Pattern[str]:
    try:
        return regex.compile(pattern, regex.IGNORECASE)
    except regex.error as error:
        raise UserError(
            _(
                "“{pattern}” is not a valid regular expression ({error}): correct it.",
                pattern=pattern,
                error=error,
            )
        ) from None


def _plain(connection: sa.Connection) -> sqlite3.Connection:
    plain = connection.connection.driver_connection
    assert isinstance(plain, sqlite3.Connection)
    return plain


def contains(text: sa.ColumnElement[str], needle: str) -> sa.ColumnElement[bool]:
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
    with_nul = sa.func.length(text) < schema.rows.c.length  # where LIKE and length stop
    return alike | ((beyond_ascii | with_nul) & (sa.func.contains_bare(text, key) == 1))
