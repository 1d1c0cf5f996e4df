"""The rules of a project as a whole: what opening asks, and what `verify` asks besides.

With those of `records` and `relations` these are all that the store relies on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from sce_desktop.core import scoring
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.progress import Progress
from sce_desktop.store.content import trigrams
from sce_desktop.store.file import schema
from sce_desktop.store.repair.stored import MOST_LABEL, Malformed, read_labels, read_shape
from sce_desktop.store.rules.records import malformed, wrong_records
from sce_desktop.store.rules.relations import AT_OPENING, RELATIONS, relation
from sce_desktop.store.sql import LAST_ROW

_SMALL: Final = (
    "project",
    "imports",
    "labels",
    "label_sets",
    "runs",
    "model_versions",
    "actions",
    "audits",
    "coders",
)
_FAR: Final = 20_000_000  # a row with a greater number needs as many rows, or arrays grow for nothing
_HUGE: Final = 1e300  # beyond it a number is not finite
_BATCH: Final = 5_000
_ROUNDING: Final = 1e-4
_STORED: Final = np.dtype("<f4")


# --- at opening ---------------------------------------------------------------------------------------------


def check_opening(plain: sqlite3.Connection) -> None:
    """Raise `Malformed` where a project says what we never write, as far as that can be seen at once.

    All of the small tables, and of the large ones the ends of their indexes: the greatest numbers, by which
    arrays are made, and texts, which SQLite puts behind all numbers.
    """
    for table in _SMALL:
        for wrong in wrong_records(plain, table, lenient=True):
            raise malformed(table, wrong.column, wrong.record)
    last = _check_project(plain)
    _check_ends(plain, last)
    for name in AT_OPENING:
        rule = relation(name)
        if problem := rule.problem(plain):
            raise Malformed(problem.rstrip("."))
    for run_id, labels, scored in plain.execute("SELECT id, labels, scored FROM runs").fetchall():
        _check_run(plain, run_id, len(read_labels(labels)), scored, last)


def _check_project(plain: sqlite3.Connection) -> int:
    """Check the one record of the project against its rows; return the number of the last row."""
    found = plain.execute("SELECT columns, text_columns, label_set_id, searchable_to FROM project").fetchall()
    if len(found) != 1:
        raise Malformed(_("the project record is missing"))
    columns, texts, label_set_id, searchable_to = found[0]
    read_shape(columns, texts)
    last = _check_imports(plain)
    if searchable_to > last:
        raise malformed("project", "searchable_to", 1)
    active = plain.execute("SELECT labels FROM label_sets WHERE id = ?", (label_set_id,)).fetchone()
    if active is not None:
        try:
            read_labels(active[0])
        except Malformed:
            raise malformed("label_sets", "labels", label_set_id) from None
    elif label_set_id is not None:
        raise Malformed(_("its label set is missing"))
    return last


def _check_imports(plain: sqlite3.Connection) -> int:
    """Return the number of the last row."""
    (greatest,) = plain.execute("SELECT max(id) FROM rows").fetchone()
    last, rows = plain.execute(
        "SELECT coalesce(max(last_row_id), 0), coalesce(sum(rows), 0) FROM imports"
    ).fetchone()
    if rows > last or last > (greatest or 0):
        raise Malformed(_("its imports do not fit its rows"))
    if (greatest or 0) - last > _FAR:
        raise Malformed(_("an interrupted import left too many rows"))
    if last > _FAR:
        (present,) = plain.execute("SELECT count(*) FROM rows").fetchone()
        if last > 2 * present:
            raise Malformed(_("most of its rows are missing"))
    return int(last)


def _check_ends(plain: sqlite3.Connection, last: int) -> None:
    """Check the least and greatest row and label that the large tables name."""
    # An import that broke off leaves rows that nobody has seen, and what came with them (`staging`).
    (unseen,) = plain.execute("SELECT max(id) FROM rows").fetchone()
    for table, column, most in (
        ("annotations", "row_id", max(last, unseen or 0)),
        ("annotation_labels", "row_id", max(last, unseen or 0)),
        ("annotation_labels", "label_id", MOST_LABEL),
        ("marks", "row_id", max(last, unseen or 0)),
    ):
        of_table = (f"(SELECT {end}({column}) FROM {table})" for end in ("min", "max"))
        ends = _ends(plain, f"SELECT {', '.join(of_table)}")
        _check_range(plain, table, column, ends, most)
    for (coder_id,) in plain.execute("SELECT id FROM coders").fetchall():
        of_coder = f"FROM other_annotations WHERE coder_id = {coder_id:d}"
        ends = _ends(plain, f"SELECT (SELECT min(row_id) {of_coder}), (SELECT max(row_id) {of_coder})")
        _check_range(plain, "other_annotations", "row_id", ends, last)


def _check_range(
    plain: sqlite3.Connection, table: str, column: str, ends: tuple[Any, ...], most: int
) -> None:
    for end in ends:
        if end is None or (isinstance(end, int) and 0 < end <= most):
            continue
        found = plain.execute(f"SELECT row_id FROM {table} WHERE {column} = ? LIMIT 1", (end,)).fetchone()
        raise malformed(table, column, found[0] if found else None)


def _check_run(plain: sqlite3.Connection, run_id: int, labels: int, scored: int, last: int) -> None:
    if scored > last:
        raise malformed("runs", "scored", run_id)
    bounds = {
        "row_id": (1, last),
        "top": (0, labels - 1),
        "confidence": (-_HUGE, _HUGE),
        "margin": (-_HUGE, _HUGE),
    }
    ends = [f"{end}({column})" for column in bounds for end in ("min", "max")]
    of_run = (f"(SELECT {end} FROM scores WHERE run_id = {run_id:d})" for end in ends)
    found = _ends(plain, f"SELECT {', '.join(of_run)}")
    if found[0] is None:
        return
    for place, (column, (least, most)) in enumerate(bounds.items()):
        for end in found[2 * place : 2 * place + 2]:
            if not isinstance(end, int | float) or not least <= end <= most:
                wrong = f"SELECT row_id FROM scores WHERE run_id = ? AND {column} = ? LIMIT 1"
                record = plain.execute(wrong, (run_id, end)).fetchone()
                raise malformed("scores", column, record[0] if record else None)


def _ends(plain: sqlite3.Connection, statement: str) -> tuple[Any, ...]:
    """Return the one record of a statement; (None,) where an index that it needs is damaged."""
    try:
        found: tuple[Any, ...] = plain.execute(statement).fetchone()
    except sqlite3.DatabaseError:
        return (None,)
    return found


# --- verify -------------------------------------------------------------------------------------------------


def problems_of_records(plain: sqlite3.Connection) -> list[str]:
    """Return a sentence for every column of the whole file that holds what it cannot."""
    return [str(wrong) for table in schema.metadata.tables for wrong in wrong_records(plain, table)]


def problems_between_records(plain: sqlite3.Connection, progress: Progress) -> list[str]:
    """Return a sentence for every rule between records that is broken, and for the project as a whole."""
    problems = []
    for rule in RELATIONS:
        progress.check()
        problems.append(rule.problem(plain))
    for _name, check in WHOLE:
        progress.check()
        problems += check(plain)
    try:
        check_opening(plain)
    except Malformed as error:
        if not any(problems):
            problems.append(_("The project is damaged: {error}.", error=error))
    return [problem for problem in problems if problem]


def _check_count(plain: sqlite3.Connection) -> list[str]:
    (present,) = plain.execute(f"SELECT count(*) FROM rows WHERE id <= {LAST_ROW}").fetchone()
    (expected,) = plain.execute("SELECT coalesce(sum(rows), 0) FROM imports").fetchone()
    if present == expected:
        return []
    return [
        _(
            "Rows in the file: {present}. Rows imported: {expected}.",
            present=number(present),
            expected=number(expected),
        )
    ]


def _check_texts(plain: sqlite3.Connection) -> list[str]:
    from sce_desktop.store.content.rows import hash_text

    changed = [
        row_id
        for row_id, text_hash, text in plain.execute(
            f"SELECT id, text_hash, text FROM rows WHERE id <= {LAST_ROW}"
        )
        if hash_text(text) != text_hash
    ]
    if not changed:
        return []
    return [
        ngettext(
            "The text of {count} row was changed by another program (row {first}).",
            "The text of {count} rows was changed by another program, first in row {first}.",
            len(changed),
            first=changed[0],
        )
    ]


def _check_cells(plain: sqlite3.Connection) -> list[str]:
    odd, first = plain.execute(
        "SELECT count(*), min(id) FROM rows, (SELECT json_array_length(columns) AS width,"
        " json_array_length(text_columns) AS texts FROM project)"
        f" WHERE id <= {LAST_ROW} AND json_array_length(cells) <> width"
        " AND (texts <> 1 OR json_array_length(cells) <> width - 1)"
    ).fetchone()
    if not odd:
        return []
    return [
        ngettext(
            "The cells of {count} row do not fit the columns (row {first}).",
            "The cells of {count} rows do not fit the columns, first in row {first}.",
            odd,
            first=first,
        )
    ]


def _check_labels(plain: sqlite3.Connection) -> list[str]:
    found = plain.execute(
        "SELECT labels FROM label_sets WHERE id = (SELECT label_set_id FROM project)"
    ).fetchone()
    used = {(label.id, label.name) for label in read_labels(found[0])} if found else set()
    if used != set(plain.execute("SELECT id, name FROM labels WHERE active")):
        return [_("The labels in use differ from the active label set.")]
    return []


def _check_runs(plain: sqlite3.Connection) -> list[str]:
    problems = []
    runs = plain.execute("SELECT id, alias, labels, scored FROM runs").fetchall()
    for run_id, alias, labels, scored in runs:
        (count,) = plain.execute("SELECT count(*) FROM scores WHERE run_id = ?", (run_id,)).fetchone()
        if count != scored:
            problems.append(
                _(
                    "Run {run} ({alias}) has {present} scores, expected {expected}.",
                    run=run_id,
                    alias=alias,
                    present=number(count),
                    expected=number(scored),
                )
            )
        if wrong := _count_wrong(plain, run_id, len(read_labels(labels))):
            problems.append(
                ngettext(
                    "{count} score of run {run} ({alias}) does not follow from its probabilities.",
                    "{count} scores of run {run} ({alias}) do not follow from its probabilities.",
                    wrong,
                    run=run_id,
                    alias=alias,
                )
            )
    return problems


def _count_wrong(plain: sqlite3.Connection, run_id: int, labels: int) -> int:
    """Return how many rows' best label, confidence or margin are not those of their probabilities.

    Those that do not fit the labels at all break another rule.
    """
    wrong = 0
    found = plain.execute(
        "SELECT top, confidence, margin, probabilities FROM scores"
        " WHERE run_id = ? AND length(probabilities) = ? AND top < ?",
        (run_id, 4 * labels, labels),
    )
    while records := found.fetchmany(_BATCH):
        top, *stored, blobs = zip(*records, strict=True)
        vectors = np.frombuffer(b"".join(blobs), _STORED).reshape(len(blobs), -1)
        with np.errstate(invalid="ignore"):
            _, confidence, margin = scoring.top(vectors)
            best = vectors[np.arange(len(blobs)), np.array(top)]
            right = np.array([confidence, margin, confidence])
            off = ~(np.abs(right - np.array([*stored, best], np.float64)) <= _ROUNDING)  # NaN too
        wrong += int(off.any(axis=0).sum())
    return wrong


def _check_search(plain: sqlite3.Connection) -> list[str]:
    (indexed,) = plain.execute("SELECT searchable_to FROM project").fetchone()
    name = schema.SEARCH_TABLE
    found = plain.execute("SELECT name FROM sqlite_schema WHERE name IN (?, ?)", (name, schema.FTS_TABLE))
    made = {table for (table,) in found}
    if name not in made:  # a project of an older format has another index, which is made again
        return [_("The search index is missing although it was built.")] if indexed and not made else []
    (damaged,) = plain.execute(
        f"SELECT count(*) FROM {name} WHERE typeof(rows) != 'blob' OR id < 0 OR NOT CASE substr(rows, 1, 1)"
        " WHEN x'00' THEN length(rows) > 2 AND length(rows) % 2 = 1"
        " WHEN x'01' THEN length(rows) > 1"
        " WHEN x'02' THEN length(rows) = :bitmap ELSE false END",
        {"bitmap": 1 + trigrams.BLOCK // 8},
    ).fetchone()
    return [_("The search index is damaged.")] if damaged else []


WHOLE: Final[tuple[tuple[str, Callable[[sqlite3.Connection], list[str]]], ...]] = (
    ("all rows that were imported are there", _check_count),
    ("texts are what was imported", _check_texts),
    ("cells fit the columns", _check_cells),
    ("labels in use are those of the label set", _check_labels),
    ("scores follow from their probabilities", _check_runs),
    ("the search index is there", _check_search),
)
