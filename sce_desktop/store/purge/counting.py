"""What a purge would take along, and what it needs to know of the project before that is gone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

from sce_desktop.core.purging import PurgeEffect, PurgeScope
from sce_desktop.store.purge import copies
from sce_desktop.store.purge.records import LabelNames, Records
from sce_desktop.store.repair.stored import read_json, read_labels
from sce_desktop.store.sql import LAST_ROW

Names = tuple[LabelNames, list[str]]
"""Of the labels that go, and of the annotators."""

_PART: Final = 2_000  # rows
_AMONG: Final = "IN (SELECT value FROM json_each(:ids))"


def effect(plain: sqlite3.Connection, scope: PurgeScope, path: Path) -> PurgeEffect:
    """Count what ``scope`` takes along from the project that ``plain`` reads, which lies at ``path``."""
    ids = {"ids": json.dumps([int(row_id) for row_id in scope.rows])}
    tables = {name for (name,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}

    def count(what: str, table: str, condition: str, values: Any = ids) -> int:
        if table not in tables:
            return 0
        (found,) = plain.execute(f"SELECT count({what}) FROM {table} WHERE {condition}", values).fetchone()
        return int(found)

    labels, annotators = names(plain, scope)
    label_ids = {"ids": json.dumps(Records(plain).labels_meant(labels))}
    coder_ids = {"ids": json.dumps([int(one) for one in scope.annotators])}
    annotations = count("*", "annotations", f"row_id {_AMONG} AND row_id <= {LAST_ROW}")
    annotations += count("DISTINCT row_id", "annotation_labels", f"label_id {_AMONG}", label_ids)
    annotations += count("*", "other_annotations", f"row_id {_AMONG}")
    annotations += count("*", "other_annotations", f"label_id {_AMONG}", label_ids)
    annotations += count("*", "other_annotations", f"coder_id {_AMONG}", coder_ids)
    notes = count("*", "marks", "note != ''" if scope.notes else f"note != '' AND row_id {_AMONG}")
    same = f"text_hash IN (SELECT text_hash FROM rows WHERE blank = 0 AND id {_AMONG})"
    return PurgeEffect(
        rows=count("*", "rows", f"id {_AMONG} AND id <= {LAST_ROW}"),
        annotations=annotations,
        notes=notes,
        labels=tuple(borne[0] for borne in labels.values()),
        annotators=tuple(annotators),
        steps=count("*", "actions", "true"),
        runs=_runs(plain, set(json.loads(label_ids["ids"]))),
        repeated=count("*", "rows", f"blank = 0 AND {same} AND id NOT {_AMONG} AND id <= {LAST_ROW}"),
        versions=_versions(plain, tables, set(scope.rows), set(json.loads(label_ids["ids"]))),
        copies=copies.find(path, copies.created_at(plain)),
    )


def names(plain: sqlite3.Connection, scope: PurgeScope) -> Names:
    """Return all names of the labels that go, former ones too, and those of the annotators."""
    borne = Records(plain).label_names() if scope.labels else {}
    labels = {label_id: borne[label_id] for label_id in scope.labels if label_id in borne}
    if not scope.annotators:
        return labels, []
    among = {"ids": json.dumps([int(one) for one in scope.annotators])}
    found = plain.execute(f"SELECT DISTINCT name FROM coders WHERE id {_AMONG} AND name != ''", among)
    return labels, [name for (name,) in found]


def hashes(plain: sqlite3.Connection, row_ids: Collection[int]) -> list[tuple[int, bytes]]:
    """Return number and hash of those rows that there are."""
    among = {"ids": json.dumps([int(row_id) for row_id in row_ids])}
    return plain.execute(f"SELECT id, text_hash FROM rows WHERE id {_AMONG} ORDER BY id", among).fetchall()


def texts(plain: sqlite3.Connection, row_ids: Collection[int]) -> Iterator[list[str]]:
    """Give the texts of rows, some at a time."""
    among = {"ids": json.dumps([int(row_id) for row_id in row_ids])}
    found = plain.execute(f"SELECT text FROM rows WHERE id {_AMONG}", among)
    while part := found.fetchmany(_PART):
        yield [text for (text,) in part]


def _runs(plain: sqlite3.Connection, label_ids: set[int]) -> int:
    if not label_ids:
        return 0
    known = [read_labels(stored) for (stored,) in plain.execute("SELECT labels FROM runs")]
    return sum(any(label.id in label_ids for label in labels) for labels in known)


def _versions(
    plain: sqlite3.Connection, tables: set[str], rows: set[int], label_ids: set[int]
) -> tuple[str, ...]:
    """Return the names of the versions that learned from one of ``rows``, or know one of the labels."""
    if "model_versions" not in tables:
        return ()
    found = []
    for name, stored in plain.execute("SELECT name, settings FROM model_versions ORDER BY id"):
        settings = read_json(stored)
        learned = settings.get("row_ids") if isinstance(settings, dict) else None
        known = settings.get("label_ids") if isinstance(settings, dict) else None
        if (isinstance(learned, list) and rows.intersection(learned)) or (
            isinstance(known, dict) and label_ids.intersection(known.values())
        ):
            found.append(str(name))
    return tuple(found)
