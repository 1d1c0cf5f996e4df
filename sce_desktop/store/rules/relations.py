"""The rules between records: each has a name, finds what breaks it, says so, and may mend it.

`verify` reports every one, `repair` mends them in this order and reports the same sentence, and opening a
project asks the few that guard the program itself (`contents.check`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from sce_desktop.core.i18n import ngettext
from sce_desktop.store.rules.fields import MOST_ID
from sce_desktop.store.rules.records import key
from sce_desktop.store.sql import LAST_ROW

_MISSING_ROW: Final = "row_id NOT IN (SELECT id FROM rows)"


@dataclass(frozen=True, slots=True)
class Relation:
    """A rule between records.

    ``wrong`` is the SQL condition on a record of ``table`` that breaks it. ``mend`` is what makes it hold: a
    statement that is run for those records, "" to remove them, None to leave it to others. ``describe`` says
    what is wrong by how many and the number of the first; it never shows what a record holds.
    """

    name: str
    table: str
    wrong: str
    describe: Callable[[int, int], str]
    mend: str | None = ""

    def find(self, plain: sqlite3.Connection) -> tuple[int, int]:
        """Return how many records break the rule, and the number of the first."""
        count, first = plain.execute(
            f"SELECT count(*), coalesce(min({self._number()}), 0) FROM {self.table} WHERE {self.wrong}"
        ).fetchone()
        return int(count), int(first)

    def problem(self, plain: sqlite3.Connection) -> str:
        """Return what is wrong in a sentence; empty if nothing is."""
        count, first = self.find(plain)
        return self.describe(count, first) if count else ""

    def broken_in(self, plain: sqlite3.Connection, condition: str, *values: object) -> int | None:
        """Return the number of a record that breaks the rule among those that meet a condition."""
        found = plain.execute(
            f"SELECT {self._number()} FROM {self.table} WHERE {condition} AND ({self.wrong}) LIMIT 1", values
        ).fetchone()
        return None if found is None else int(found[0])

    def restore(self, plain: sqlite3.Connection) -> str:
        """Make the rule hold; return in a sentence what that took, empty if nothing."""
        if self.mend is None:
            return ""
        count, first = self.find(plain)
        if not count:
            return ""
        change = f"UPDATE {self.table} SET {self.mend}" if self.mend else f"DELETE FROM {self.table}"
        plain.execute(f"{change} WHERE {self.wrong}")
        return self.describe(count, first)

    def _number(self) -> str:
        return "rowid" if self.table == "sqlite_sequence" else key(self.table)


RELATIONS: Final[tuple[Relation, ...]] = (
    Relation(
        "an annotation is about a row",
        "annotations",
        _MISSING_ROW,
        lambda n, first: ngettext(
            "{count} annotation belongs to a lost row (row {row}).",
            "{count} annotations belong to lost rows, first row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "a label of a row is known",
        "annotation_labels",
        "label_id NOT IN (SELECT id FROM labels)",
        lambda n, first: ngettext(
            "{count} label of a row is lost (row {row}).",
            "{count} labels of rows are lost, first of row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "a row with labels is annotated",
        "annotation_labels",
        "row_id NOT IN (SELECT row_id FROM annotations WHERE decision = 'label')",
        lambda n, first: ngettext(
            "{count} label belongs to a row that is not labelled (row {row}).",
            "{count} labels belong to rows that are not labelled, first row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "a labelled row has a label",
        "annotations",
        "decision = 'label' AND row_id NOT IN (SELECT row_id FROM annotation_labels)",
        lambda n, first: ngettext(
            "{count} annotation has lost its label (row {row}).",
            "{count} annotations have lost their labels, first of row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "a note is about a row",
        "marks",
        _MISSING_ROW,
        lambda n, first: ngettext(
            "{count} note belongs to a lost row (row {row}).",
            "{count} notes belong to lost rows, first row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "a sample's rows exist, each once",
        "audit_rows",
        "audit_id NOT IN (SELECT id FROM audits)"
        f" OR row_id NOT IN (SELECT id FROM rows) OR row_id > {LAST_ROW}"
        " OR (audit_id, place) IN (SELECT audit_id, place FROM (SELECT audit_id, place, row_number()"
        " OVER (PARTITION BY audit_id, row_id ORDER BY place) AS time FROM audit_rows) WHERE time > 1)",
        lambda n, first: ngettext(
            "{count} row of an audit sample is lost or is in it twice (row {row}).",
            "{count} rows of audit samples are lost or are in them twice, first row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "a sample has rows",
        "audits",
        "id NOT IN (SELECT audit_id FROM audit_rows)",
        lambda n, first: ngettext(
            "Audit sample {number} has no rows.",
            "{count} audit samples have no rows, first sample {number}.",
            n,
            number=first,
        ),
    ),
    Relation(
        "a sample was drawn from the rows",
        "audits",
        f"beyond(frame, {LAST_ROW})",
        lambda n, first: ngettext(
            "Audit sample {number} was drawn from rows that do not exist.",
            "{count} audit samples were drawn from rows that do not exist, first sample {number}.",
            n,
            number=first,
        ),
        f"frame = within(frame, {LAST_ROW})",
    ),
    Relation(
        "an annotator's labels are about rows",
        "other_annotations",
        f"coder_id NOT IN (SELECT id FROM coders) OR {_MISSING_ROW} OR row_id > {LAST_ROW}",
        lambda n, first: ngettext(
            "{count} label of an annotator belongs to a lost row or annotator (row {row}).",
            "{count} labels of annotators belong to lost rows or annotators, first row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "a prediction is of a run",
        "scores",
        "run_id NOT IN (SELECT id FROM runs)",
        lambda n, first: ngettext(
            "{count} prediction belongs to a lost run (row {row}): score again.",
            "{count} predictions belong to lost runs, first of row {row}: score again.",
            n,
            row=first,
        ),
    ),
    Relation(
        "a prediction is about a row",
        "scores",
        f"row_id NOT IN (SELECT id FROM rows) OR row_id > {LAST_ROW}",
        lambda n, first: ngettext(
            "{count} prediction belongs to a lost row (row {row}).",
            "{count} predictions belong to lost rows, first row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "a prediction fits the labels of its run",
        "scores",
        "length(probabilities) = 0 OR length(probabilities) <> 4 *"
        " (SELECT json_array_length(labels) FROM runs WHERE id = run_id)",
        lambda n, first: ngettext(
            "{count} prediction does not fit its labels (row {row}).",
            "{count} predictions do not fit their labels, first of row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "the best label is one of the run's",
        "scores",
        "top >= (SELECT json_array_length(labels) FROM runs WHERE id = run_id)",
        lambda n, first: ngettext(
            "The best label of {count} prediction is none of its labels (row {row}).",
            "The best labels of {count} predictions are none of their labels, first of row {row}.",
            n,
            row=first,
        ),
        None,  # made again from the probabilities
    ),
    Relation(
        "cells of one kind are of rows",
        "cell_types",
        f"first_row > last_row OR last_row > {LAST_ROW} OR first_row IN (SELECT first_row FROM"
        " (SELECT first_row, max(last_row) OVER (ORDER BY first_row ROWS BETWEEN UNBOUNDED PRECEDING"
        " AND 1 PRECEDING) AS reached FROM cell_types) WHERE reached >= first_row)",
        lambda n, first: ngettext(
            "{count} record of the types of cells does not fit the rows (from row {row}).",
            "{count} records of the types of cells do not fit the rows, first from row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "types of cells fit the columns",
        "cell_types",
        "length(types) <> (SELECT json_array_length(columns) FROM project)",
        lambda n, first: ngettext(
            "{count} record of the types of cells does not fit the columns (from row {row}).",
            "{count} records of the types of cells do not fit the columns, first from row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "one run is shown under an alias",
        "runs",
        "active AND id NOT IN (SELECT max(id) FROM runs WHERE active GROUP BY alias)",
        lambda n, first: ngettext(
            "{count} run is shown beside another one of its name (run {run}).",
            "{count} runs are shown beside others of their name, first run {run}.",
            n,
            run=first,
        ),
        "active = 0",
    ),
    Relation(
        "one version is in use",
        "model_versions",
        "active AND id < (SELECT max(id) FROM model_versions WHERE active)",
        lambda n, first: ngettext(
            "{count} version is in use beside another one (version {version}).",
            "{count} versions are in use beside another one, first version {version}.",
            n,
            version=first,
        ),
        "active = 0",
    ),
    Relation(
        "what can be undone leads to a label set",
        "actions",
        "label_set_id > 0 AND label_set_id NOT IN (SELECT id FROM label_sets)",
        lambda n, first: ngettext(
            "{count} action of the undo history leads to a lost label set (action {action}).",
            "{count} actions of the undo history lead to lost label sets, first action {action}.",
            n,
            action=first,
        ),
    ),
    Relation(
        "what can be undone is about rows",
        "row_changes",
        _MISSING_ROW,
        lambda n, first: ngettext(
            "{count} record of the undo history belongs to a lost row (row {row}).",
            "{count} records of the undo history belong to lost rows, first row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "what can be undone has known labels",
        "row_changes",
        "labels IS NOT NULL AND (decision IS NOT 'label' OR EXISTS (SELECT 1 FROM"
        " json_each('[' || labels || ']') WHERE value NOT IN (SELECT id FROM labels)))",
        lambda n, first: ngettext(
            "{count} record of the undo history has a lost label (row {row}).",
            "{count} records of the undo history have lost labels, first of row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "what can be undone is complete",
        "row_changes",
        "(decision IS NULL) <> (origin IS NULL) OR (decision IS NULL) <> (decided_at IS NULL)"
        " OR (decision IS NULL) <> (queue IS NULL) OR (note IS NULL) <> (flag IS NULL)"
        " OR (note IS NULL) <> (unsure IS NULL) OR (decision IS 'label' AND labels IS NULL)",
        lambda n, first: ngettext(
            "{count} record of the undo history is incomplete (row {row}).",
            "{count} records of the undo history are incomplete, first of row {row}.",
            n,
            row=first,
        ),
    ),
    Relation(
        "numbers can be counted up",
        "sqlite_sequence",
        f"typeof(seq) <> 'integer' OR seq NOT BETWEEN 0 AND {MOST_ID}"
        " OR name NOT IN ('model_versions', 'actions', 'audits', 'coders')"
        " OR EXISTS (SELECT 1 FROM sqlite_sequence AS other"
        " WHERE other.name = sqlite_sequence.name AND other.rowid < sqlite_sequence.rowid)",
        lambda n, _first: ngettext(
            "{count} counter of the project is invalid.", "{count} counters of the project are invalid.", n
        ),
    ),
)
"""Those between records of the tables. `whole` has what is asked of the project as a whole."""

AT_OPENING: Final = (
    "one version is in use",
    "a sample's rows exist, each once",
    "a sample has rows",
    "a sample was drawn from the rows",
    "what can be undone leads to a label set",
    "numbers can be counted up",
)
"""The rules without which the program itself would stumble, of tables that are small."""


def relation(name: str) -> Relation:
    """Return the rule of that name."""
    return next(rule for rule in RELATIONS if rule.name == name)


def register(plain: sqlite3.Connection) -> None:
    """Make the functions that rules call known to a connection."""
    plain.create_function("beyond", 2, _beyond, deterministic=True)
    plain.create_function("within", 2, _within, deterministic=True)


def _beyond(frame: object, last: int) -> bool:
    """Return whether a sample was drawn from rows after the last one: a bit a row."""
    if not isinstance(frame, bytes):
        return False  # a rule of its own
    whole, rest = divmod(last, 8)
    return frame[whole:].strip(b"\0") != b"" and bool(
        (len(frame) > whole + 1 and frame[whole + 1 :].strip(b"\0")) or frame[whole] << rest & 0xFF
    )


def _within(frame: bytes, last: int) -> bytes:
    bits = np.unpackbits(np.frombuffer(frame[: -(-last // 8)], np.uint8))
    bits[last:] = 0
    return np.packbits(bits).tobytes()
