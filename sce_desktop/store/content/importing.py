"""Bringing rows in: in short transactions, seen when all are there, gone when not."""

from __future__ import annotations

import functools
import itertools
import logging
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from json.encoder import encode_basestring, encode_basestring_ascii
from operator import itemgetter
from typing import Any, Final

import sqlalchemy as sa

from sce_desktop.core.blank import are_blank, is_blank
from sce_desktop.core.column_rows import ColumnRows
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.i18n import _, listed
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.tables import Cell, TypedCells
from sce_desktop.store.annotations import history
from sce_desktop.store.content import packing, staging
from sce_desktop.store.content.rows import ImportReport, Shape, hash_text, shape
from sce_desktop.store.content.staging import StagedRows
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.file.stopping import sorting_in_parts, stoppable
from sce_desktop.store.sql import last_row_id, now

_LOG = logging.getLogger(__name__)
_BATCH_ROWS: Final = 5_000  # rows in one transaction
_PART_ROWS: Final = 250  # where a decision may have to wait for it, and for what it leaves to be written
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ROWS_A_STATEMENT: Final = 50  # a third faster than one by one
_ROWS_BEHIND: Final = 1_000  # where another thread reads on: each statement waits for Python's lock once
_FIELDS: Final = ("text_hash", "length", "blank", "text", "cells")
_table = schema.rows
_types = schema.cell_types


def add_rows(
    database: Database,
    columns: Sequence[str],
    batches: Iterable[Sequence[Sequence[Cell]]],
    *,
    text_columns: Sequence[int],
    source: dict[str, Any],
    progress: Progress,
    and_then: Callable[[StagedRows], object] | None = None,
    remove_cancelled: bool = True,
) -> ImportReport:
    """Append rows. Until all are there nobody sees any; if it breaks off, none stays.

    What ``and_then`` says about them is seen with them, or not at all. Removing them takes a third of the
    time of the import, and who stops it would wait. So from a draft, which is thrown away, they are not
    removed, and without ``remove_cancelled`` who cancels is answered at once: `remove_unfinished` follows.
    """
    with database.import_lock:
        wanted = Shape(tuple(columns), tuple(text_columns))
        if not wanted.text_columns or not all(0 <= t < len(wanted.columns) for t in wanted.text_columns):
            raise ValueError("text_columns must be places in columns")
        with database.read() as connection:
            present = shape(connection)
            before = connection.execute(sa.select(last_row_id())).scalar_one()
        if present.columns:
            _check_same(present, wanted)
        drop_unfinished(database, progress)
        try:
            if not before:
                with database.write() as connection:
                    schema.text_hash_index.drop(connection)
            rows, blank = _insert_all(database, batches, wanted, progress, ahead=not before)
            staged = None
            if and_then is not None:
                staged = StagedRows(database, progress)
                and_then(staged)
            progress.check()
            report = _finish(
                database, wanted, source, ImportReport(rows, blank, 0), staged, progress, before=before
            )
        except BaseException as reason:
            later = not remove_cancelled and isinstance(reason, Cancelled)
            try:
                if not database.draft and not later:
                    drop_unfinished(database)
            # the next opening does it; raise the first reason
            except (UserError, sa.exc.DBAPIError) as error:
                _LOG.warning("rows of an import that broke off are still there: %s", error)
            raise
        if staged is not None:
            history.sweep(database)
        return report


def remove_unfinished(database: Database, progress: Progress) -> None:
    """Remove what a cancelled `add_rows` has left, which nobody sees: in parts, between which people decide.

    Cancelled by ``progress``: the next `add_rows` or the next opening removes the others.
    """
    with database.import_lock:
        drop_unfinished(database, progress)


def drop_unfinished(database: Database, progress: Progress | None = None) -> None:
    """Remove the rows of an import that did not come to its end, and make the index that it left out."""
    progress = progress or SilentProgress()
    with database.read() as connection:
        last = connection.execute(sa.select(last_row_id())).scalar_one()
        greatest = connection.execute(sa.select(sa.func.max(_table.c.id))).scalar_one() or 0
        names = {index["name"] for index in sa.inspect(connection).get_indexes(_table.name)}
    if greatest > last:
        staging.drop(database, last)
    # Nothing refers to them any more. From the end, so that what is left is an import shorter.
    while greatest > last:
        progress.check()
        keep = max(last, greatest - (_PART_ROWS if database.people_decide else 10 * _BATCH_ROWS))
        with database.write_part(foreign_keys=False) as connection:
            connection.execute(_types.delete().where(_types.c.first_row > keep))
            if keep:
                connection.execute(_table.delete().where(_table.c.id > keep))
            else:
                connection.execute(_table.delete())  # without a condition: SQLite drops whole pages
        greatest = keep
    if schema.text_hash_index.name not in names:
        with database.write() as connection:
            schema.text_hash_index.create(connection)


def _check_same(present: Shape, wanted: Shape) -> None:
    if wanted.columns != present.columns:
        missing = [c for c in present.columns if c not in wanted.columns]
        extra = [c for c in wanted.columns if c not in present.columns]
        parts = [_("Missing: {columns}.", columns=_quoted(missing))] if missing else []
        parts += [_("Not in the project: {columns}.", columns=_quoted(extra))] if extra else []
        raise UserError(
            "{} {} {}".format(
                _("The columns of this table differ from those of the project."),
                " ".join(parts) or _("Their order or number differs."),
                _("Change its header, or make a new project of it."),
            )
        )
    if wanted.text_columns != present.text_columns:
        names = _quoted([present.columns[i] for i in present.text_columns])
        raise UserError(
            _(
                "The texts of this project come from {columns}: choose the same for the new rows.",
                columns=names,
            )
        )


def _quoted(columns: Sequence[str]) -> str:
    return listed([f"“{column}”" for column in columns])


def _insert_all(
    database: Database,
    batches: Iterable[Sequence[Sequence[Cell]]],
    shape: Shape,
    progress: Progress,
    *,
    ahead: bool,
) -> tuple[int, int]:
    """Insert all rows; return how many there were and how many of them blank.

    ``ahead``: the next ones are read meanwhile. Python's lock is free while SQLite writes, and nobody labels
    the rows of a project that has none.
    """
    rows = blank = 0
    with ThreadPoolExecutor(1, thread_name_prefix="import") if ahead else nullcontext() as writer:
        writing: Future[None] | None = None
        for batch in itertools.chain.from_iterable(_split(database, batch) for batch in batches):
            progress.check()
            try:
                packed = _pack(batch, shape)
            except UnicodeEncodeError:
                packed = _pack_halves(batch, shape)
            if writing is not None:
                writing.result()
            if writer is None:
                _insert(database, packed, batch, shape, _ROWS_A_STATEMENT)
            else:
                writing = writer.submit(_insert, database, packed, batch, shape, _ROWS_BEHIND)
            rows += len(batch)
            blank += sum(packed[_FIELDS.index("blank") :: len(_FIELDS)])
            progress.report(rows, stage=_("Importing rows"))
        if writing is not None:
            writing.result()
    return rows, blank


def _insert(
    database: Database, packed: list[Any], batch: Sequence[Sequence[Cell]], shape: Shape, step: int
) -> None:
    """Insert the rows of a batch, in one transaction or, where somebody waits, in several."""
    done = 0
    while done < len(batch):
        try:
            done += _insert_some(database, packed[done * len(_FIELDS) :], batch[done:], step)
        except UnicodeEncodeError:
            packed = _pack_halves(batch, shape)


def _split(database: Database, batch: Sequence[Sequence[Cell]]) -> Iterator[Sequence[Sequence[Cell]]]:
    start = 0
    while start < len(batch):
        size = _PART_ROWS if database.people_decide else _BATCH_ROWS
        yield batch[start : start + size]
        start += size


def _pack_halves(batch: Sequence[Sequence[Cell]], shape: Shape) -> list[Any]:
    """Do as `_pack` where a cell has half a character, which jsonl files can hold and SQLite cannot."""
    records = (_pack_row(cells, shape, encode_basestring_ascii) for cells in batch)
    return list(itertools.chain.from_iterable(records))


def _pack(batch: Sequence[Sequence[Cell]], shape: Shape) -> list[Any]:
    """Return the fields of all rows one after the other.

    In the usual case whole columns are made at a time, which takes half the time, and no tuple is kept for a
    row: a million of them would keep the garbage collector busy.
    """
    width = len(shape.columns)
    (place, *more) = shape.text_columns
    if isinstance(batch, ColumnRows) and not more and 1 < width == len(batch.columns):
        return packing.packed(batch, place)
    columns = list(zip(*batch, strict=True)) if len({*map(len, batch)}) == 1 else []
    if more or width == 1 or len(columns) != width or any(None in column for column in columns):
        records = (_pack_row(cells, shape, encode_basestring) for cells in batch)
        return list(itertools.chain.from_iterable(records))
    texts: Sequence[str] = columns.pop(place)
    encoded = [map(encode_basestring, column) for column in columns]
    fields: list[Any] = [None] * (len(_FIELDS) * len(texts))
    for start, values in enumerate(
        (
            packing.hashes(texts),
            map(len, texts),
            map(int, are_blank(texts)),
            texts,
            map(f"[{','.join(['%s'] * len(columns))}]".__mod__, zip(*encoded, strict=True)),
        )
    ):
        fields[start :: len(_FIELDS)] = values
    return fields


def _pack_row(cells: Sequence[Cell], shape: Shape, encode: Callable[[str], str]) -> tuple[Any, ...]:
    """Return the fields of one row.

    The cells are a JSON list. If the text is one column's cell, that cell is left out of it, so that no text
    is stored twice; its length tells. A null cell and a text that SQLite cannot hold are kept in the list.
    """
    if len(cells) != len(shape.columns):
        raise ValueError(f"a row has {len(cells)} cells, the table {len(shape.columns)} columns")
    text = _LONE_SURROGATE.sub("\ufffd", shape.text_of(cells))
    kept = cells
    if len(shape.text_columns) == 1 and cells[shape.text_columns[0]] == text:
        place = shape.text_columns[0]
        kept = [*cells[:place], *cells[place + 1 :]]
    packed = "[" + ",".join(["null" if cell is None else encode(cell) for cell in kept]) + "]"
    return hash_text(text), len(text), is_blank(text), text, packed


def _insert_some(database: Database, fields: list[Any], batch: Sequence[Sequence[Cell]], rows: int) -> int:
    """Insert rows in one transaction, all or as many as there were when somebody waited; return how many.

    ``rows``: of a statement. What is left at the end is inserted by small ones: each length is a statement
    of its own, which is made and kept.
    """
    step, done = rows * len(_FIELDS), 0
    with database.write_part() as connection:
        plain = raw(connection)
        while done < len(fields):
            if done + step > len(fields):
                step = min(step, _ROWS_A_STATEMENT * len(_FIELDS))
            some = fields[done : done + step]
            plain.execute(_insert_statement(len(some) // len(_FIELDS)), some)
            done += len(some)
            if database.awaited:
                break
        rows = done // len(_FIELDS)
        if not isinstance(batch, ColumnRows) and any(isinstance(cells, TypedCells) for cells in batch[:rows]):
            _insert_types(plain, batch[:rows])
    return rows


def _insert_types(plain: sqlite3.Connection, batch: Sequence[Sequence[Cell]]) -> None:
    """Keep what the cells of the rows that were inserted last are, a record for rows that are alike."""
    (last,) = plain.execute("SELECT max(id) FROM rows").fetchone()
    first = last - len(batch) + 1
    of_rows = (cells.types if isinstance(cells, TypedCells) else "" for cells in batch)
    for types, rows in itertools.groupby(enumerate(of_rows, start=first), key=itemgetter(1)):
        if types:
            places = [place for place, _ in rows]
            plain.execute("INSERT INTO cell_types VALUES (?, ?, ?)", (places[0], places[-1], types))


@functools.cache
def _insert_statement(rows: int) -> str:
    record = f"({', '.join('?' * len(_FIELDS))})"
    return f"INSERT INTO rows ({', '.join(_FIELDS)}) VALUES {', '.join([record] * rows)}"


def _finish(
    database: Database,
    shape: Shape,
    source: dict[str, Any],
    report: ImportReport,
    staged: StagedRows | None,
    progress: Progress,
    *,
    before: int,
) -> ImportReport:
    """Make the rows after ``before`` visible, in one transaction with everything that is to be true then."""
    duplicates = 0
    if before:  # counted before, so that decisions need not wait for it: no rows can be added meanwhile
        with database.read() as connection, stoppable(raw(connection), progress):
            duplicates = _count_repeated(raw(connection), before)
        database.shorten_log()  # and so that little is left to be brought to the disk while they wait
    with database.write(durable=True) as connection:
        if not before:
            plain = raw(connection)
            with stoppable(plain, progress), sorting_in_parts(plain):
                schema.text_hash_index.create(connection)
                duplicates = report.rows - report.blank - _count_texts(plain)
        if staged is not None:
            staged.publish(connection)
        connection.execute(
            schema.project.update().values(columns=shape.columns, text_columns=shape.text_columns)
        )
        connection.execute(
            schema.imports.insert().values(
                source=source,
                rows=report.rows,
                blank=report.blank,
                duplicates=duplicates,
                last_row_id=sa.select(sa.func.coalesce(sa.func.max(_table.c.id), 0)).scalar_subquery(),
                finished_at=now(),
            )
        )
    return ImportReport(report.rows, report.blank, duplicates)


def _count_repeated(plain: sqlite3.Connection, before: int) -> int:
    """Count the rows after ``before`` whose text, if it is one, an earlier row has too."""
    statement = """
        SELECT count(*) FROM rows AS new WHERE id > ? AND NOT blank AND EXISTS (
            SELECT 1 FROM rows WHERE blank = 0 AND text_hash = new.text_hash AND id < new.id)"""
    (count,) = plain.execute(statement, (before,)).fetchone()
    return int(count)


def _count_texts(plain: sqlite3.Connection) -> int:
    """Count the different texts of all rows, by the index alone."""
    (count,) = plain.execute(
        "SELECT count(*) FROM (SELECT DISTINCT text_hash FROM rows WHERE blank = 0)"
    ).fetchone()
    return int(count)
