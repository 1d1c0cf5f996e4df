"""The rules of single records: what each column of each table can hold.

`checked` is the loader's part: what is read goes through it. `wrong_records` asks the same of a whole table.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, get_args

import sqlalchemy as sa

from sce_desktop.core.annotations import ChangeKind, Decision, Origin
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.runs import ModelKind
from sce_desktop.core.tables import CellType
from sce_desktop.store.file import schema
from sce_desktop.store.repair.stored import MOST_LABEL, Malformed
from sce_desktop.store.rules.fields import (
    Field,
    blob,
    filled,
    ids,
    json_numbers,
    json_object,
    json_texts,
    labels,
    letters,
    moment,
    number,
    text,
    truth,
    whole,
    word,
)

_FAR: Final = 10**9  # of places and counts within a row or a label set
_DECISIONS: Final = tuple(one.value for one in Decision)
_ORIGINS: Final = tuple(one.value for one in Origin)

FIELDS: Final[dict[str, dict[str, Field]]] = {
    "project": {
        "id": whole(1, 1),
        "name": text(),
        "created_at": moment(),
        "columns": json_texts(),
        "text_columns": json_numbers(),
        "label_set_id": whole(1, null=True),
        "searchable_to": whole(),
        "whole_table": truth(),
        "threshold": number(0, 1, null=True),
        "model": text(null=True),
        "model_chosen": truth(),
        "search_form": text(),
    },
    "imports": {
        "id": whole(1),
        "source": json_object(),
        "rows": whole(),
        "blank": whole(),
        "duplicates": whole(),
        "last_row_id": whole(),
        "finished_at": moment(),
    },
    "rows": {
        "id": whole(1),
        "text_hash": blob(16, most=16),
        "length": whole(high=_FAR),
        "blank": truth(),
        "text": text(),
        "cells": json_texts(),
    },
    "cell_types": {
        "first_row": whole(1),
        "last_row": whole(1),
        "types": letters("".join(one.value for one in CellType)),
    },
    "labels": {"id": whole(1, MOST_LABEL), "name": filled(), "active": truth()},
    "label_sets": {
        "id": whole(1),
        "name": text(),
        "version": whole(1),
        "labels": labels(),
        "multi_label": truth(),
        "created_at": moment(),
    },
    "annotations": {
        "row_id": whole(1),
        "decision": word(*_DECISIONS),
        "origin": word(*_ORIGINS),
        "decided_at": moment(),
        "queue": text(),
    },
    "annotation_labels": {"row_id": whole(1), "label_id": whole(1, MOST_LABEL)},
    "marks": {"row_id": whole(1), "unsure": truth(), "flag": truth(), "note": text()},
    "runs": {
        "id": whole(1),
        "alias": text(),
        "kind": word(*get_args(ModelKind)),
        "model": text(),
        "fingerprint": text(),
        "labels": labels(),
        "labels_key": text(),
        "multi_label": truth(),
        "created_at": moment(),
        "finished_at": moment(null=True),
        "active": truth(),
        "scored": whole(),
        "whole_table": truth(),
    },
    "scores": {
        "run_id": whole(1),
        "row_id": whole(1),
        "top": whole(high=_FAR),
        "confidence": number(),
        "margin": number(),
        "none": number(null=True),
        "probabilities": blob(4, step=4),
    },
    "model_versions": {
        "id": whole(1),
        "name": text(),
        "base": text(),
        "base_fingerprint": text(),
        "created_at": moment(),
        "data_hash": text(),
        "train_rows": whole(),
        "held_out_rows": whole(),
        "settings": json_object(),
        "seed": whole(-(2**63), 2**63 - 1),
        "metrics": json_object(),
        "seconds": number(0),
        "active": truth(),
        "weights": blob(),
    },
    "actions": {
        "id": whole(1),
        "kind": word(*(one.value for one in ChangeKind)),
        "text": text(),
        "done_at": moment(),
        "undone": truth(),
        "rows": whole(),
        "label_set_id": whole(null=True),
        "version_id": whole(null=True),
        "audit_id": whole(null=True),
        "coder_id": whole(null=True),
    },
    "row_changes": {
        "action_id": whole(1),
        "row_id": whole(1),
        "decision": word(*_DECISIONS, null=True),
        "origin": word(*_ORIGINS, null=True),
        "decided_at": moment(null=True),
        "queue": text(null=True),
        "labels": ids(null=True),
        "unsure": truth(null=True),
        "flag": truth(null=True),
        "note": text(null=True),
    },
    "audits": {
        "id": whole(1),
        "seed": whole(-(2**63), 2**63 - 1),
        "blind": truth(),
        "created_at": moment(),
        "removed": truth(),
        "frame": blob(1),
    },
    "audit_rows": {"audit_id": whole(1), "place": whole(high=_FAR), "row_id": whole(1)},
    "coders": {
        "id": whole(1),
        "name": text(),
        "source": text(),
        "created_at": moment(),
        "removed": truth(),
    },
    "other_annotations": {
        "coder_id": whole(1),
        "row_id": whole(1),
        "label": text(),
        "label_id": whole(1, null=True),
    },
}
_OF_TYPE: Final = {
    # A column that is not named above: by its type alone.
    sa.Integer: lambda null: whole(-(2**63), 2**63 - 1, null=null),
    sa.Boolean: lambda null: truth(null=null),
    sa.Text: lambda null: text(null=null),
    sa.JSON: lambda null: text(null=null),
    sa.Float: lambda null: number(null=null),
    sa.LargeBinary: lambda _null: blob(),
}
LENIENT: Final = {
    ("model_versions", "settings"),  # a version can be used though its report is lost
    ("model_versions", "metrics"),
    ("label_sets", "labels"),  # there may be many; each is looked at when it is read
}
"""What opening a project does not ask for, though the tables are small."""

_Record = TypeVar("_Record", bound=Sequence[Any])


@dataclass(frozen=True, slots=True)
class Wrong:
    """How many records of a table hold in a column what it cannot, and the first of them."""

    table: str
    column: str
    times: int
    record: int

    def __str__(self) -> str:
        return ngettext(
            "{count} record of table {table} has an invalid “{column}” (record {record}).",
            "{count} records of table {table} have an invalid “{column}”, first in record {record}.",
            self.times,
            table=self.table,
            column=self.column,
            record=self.record,
        )


@functools.cache
def field(table: str, column: str) -> Field:
    """Return what a column can hold."""
    found = FIELDS.get(table, {}).get(column)
    if found is not None:
        return found
    of = schema.metadata.tables[table].c[column]
    return _OF_TYPE[type(of.type)](bool(of.nullable))


def key(table: str) -> str:
    """Return the column by whose number a record is called: the row, where it is about one."""
    columns = schema.metadata.tables[table].columns
    return "row_id" if "row_id" in columns else str(columns.keys()[0])


def checked(table: str, columns: Sequence[str], records: Sequence[_Record]) -> Sequence[_Record]:
    """Return ``records`` of ``columns``, having looked at each value. `Malformed` names the first wrong one.

    The key of the table must be among the columns where there is more than one record.
    """
    for place, column in enumerate(columns):
        rule = field(table, column)
        if rule.all_hold([record[place] for record in records]):
            continue
        wrong = next(record for record in records if not rule.all_hold([record[place]]))
        named = key(table)
        raise malformed(table, column, wrong[columns.index(named)] if named in columns else None)
    return records


def malformed(table: str, column: str, record: object) -> Malformed:
    """Return the error that names a column of a record, and nothing that it holds."""
    if isinstance(record, int):
        return Malformed(
            _(
                "record {record} of table {table} has an invalid “{column}”",
                record=record,
                table=table,
                column=column,
            )
        )
    return Malformed(_("a record of table {table} has an invalid “{column}”", table=table, column=column))


def wrong_records(plain: sqlite3.Connection, table: str, *, lenient: bool = False) -> list[Wrong]:
    """Return for each column of a whole table how many records hold what it cannot."""
    columns = [
        column.name
        for column in schema.metadata.tables[table].columns
        if not (lenient and (table, column.name) in LENIENT)
    ]
    named = key(table)
    number_of = f"CASE typeof({named}) WHEN 'integer' THEN {named} ELSE 0 END"
    rules = [field(table, column) for column in columns]
    counts = ", ".join(
        f"count(CASE WHEN {wrong} THEN 1 END), min(CASE WHEN {wrong} THEN {number_of} END)"
        for wrong in (rule.wrong(column) for rule, column in zip(rules, columns, strict=True))
    )
    found = plain.execute(f"SELECT {counts} FROM {table}").fetchone()
    problems = [
        Wrong(table, column, found[2 * place], found[2 * place + 1])
        for place, column in enumerate(columns)
        if found[2 * place]
    ]
    wrong = {problem.column for problem in problems}
    for column, rule in zip(columns, rules, strict=True):
        if rule.sql or rule.test is None or column in wrong or (lenient and rule.soft):
            continue
        count = first = 0
        for record, value in plain.execute(f"SELECT {number_of}, {column} FROM {table}"):
            if value is not None and not rule.test(value):
                first = first if count else record
                count += 1
        if count:
            problems.append(Wrong(table, column, count, first))
    return problems
