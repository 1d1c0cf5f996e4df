"""Decisions about rows that nobody sees yet: kept in short transactions, seen with the rows.

They lie where all decisions lie, and count for nothing until the rows are seen: whoever asks for decisions
asks for those of seen rows (`sql.is_seen`). So that showing them takes a moment only, however many they are,
whoever labels meanwhile waits for a part at most. Labels that come with them have a record from the first
part on, and are in no label set until then. The history holds the other side of all of them, under a number
that no action bears yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from sce_desktop.core.annotations import Annotation, ChangeKind, Decision, Label, LabelSet, RowMarks
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.labels import label_key
from sce_desktop.core.progress import Progress
from sce_desktop.store.annotations import history, label_edits, label_sets
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.sql import LAST_ROW, fetch_ids, last_row_id

PART: Final = 500
"""Records in one transaction that a decision may have to wait for: some 5 ms."""
_TABLES: Final = ("annotation_labels", "annotations", "marks")
_Record = TypeVar("_Record")


class StagedRows:
    """The rows of an import that are in the file and not seen, and what is to be known of them."""

    def __init__(self, database: Database, progress: Progress) -> None:
        self._database = database
        self._progress = progress
        self._labels: tuple[Label, ...] = ()
        self._multi_label = False
        self._used = set[int]()  # labels that a row has
        self._rows = 0  # that the action holds
        with database.read() as connection:
            self.row_ids: IdArray = fetch_ids(connection, _unseen(schema.rows.c.id))
            self._action = history.number_ahead(connection)

    def set_labels(self, labels: Sequence[Label], *, multi_label: bool) -> LabelSet:
        """Let those of ``labels`` that a row gets be in use when the rows are seen; they get their ids now.

        Those in use by then stay in use.
        """
        with self._database.write() as connection:
            self._labels = label_sets.reserve(connection, labels)
        self._multi_label = multi_label
        return LabelSet(0, "", 0, self._labels, multi_label)

    def annotate(
        self,
        annotations: Iterable[Annotation],
        marks: Iterable[RowMarks] = (),
        *,
        imported: bool = True,
        action: int | None = None,
    ) -> int | None:
        """Keep annotations and marks of these rows, each row's once; see `Project.annotate`.

        ValueError if a row is another one, or a label was not given to `set_labels`.
        """
        known = {label.id for label in self._labels}
        rows = set(self.row_ids.tolist())
        for part in _parts(annotations):
            self._progress.check()
            for one in part:
                if one.row_id not in rows or not known.issuperset(one.label_ids):
                    raise ValueError("no such row, or no such label")
                if (one.decision is Decision.LABEL) != bool(one.label_ids):
                    raise ValueError("a labelled row has labels, any other has none")
            self._keep_annotations(part)
        for noted in _parts(marks):
            self._progress.check()
            if not rows.issuperset(one.row_id for one in noted):
                raise ValueError("no such row")
            self._keep_marks(noted)
        return self._action

    def _keep_annotations(self, part: Sequence[Annotation]) -> None:
        records = [(a.row_id, a.decision.value, a.origin.value, a.decided_at, a.queue) for a in part]
        labels = [(a.row_id, label_id) for a in part for label_id in a.label_ids]
        self._used.update(label_id for _, label_id in labels)
        with self._database.write_part() as connection:
            plain = raw(connection)
            plain.executemany(
                "INSERT INTO annotations (row_id, decision, origin, decided_at, queue)"
                " VALUES (?, ?, ?, ?, ?)",
                records,
            )
            plain.executemany("INSERT INTO annotation_labels (row_id, label_id) VALUES (?, ?)", labels)
            self._record(connection, [record[:1] for record in records])

    def _keep_marks(self, part: Sequence[RowMarks]) -> None:
        records = [(m.row_id, m.unsure, m.flag, m.note) for m in part]
        with self._database.write_part() as connection:
            raw(connection).executemany(
                "INSERT INTO marks (row_id, unsure, flag, note) VALUES (?, ?, ?, ?)", records
            )
            self._record(connection, [record[:1] for record in records])

    def _record(self, connection: sa.Connection, ids: list[tuple[Any, ...]]) -> None:
        """Let the history know that these rows had no annotation before."""
        added = raw(connection).executemany(
            f"INSERT OR IGNORE INTO row_changes (action_id, row_id) VALUES ({self._action}, ?)", ids
        )
        self._rows += added.rowcount

    def publish(self, connection: sa.Connection) -> None:
        """Bring the labels into use and the action into the history, in the transaction that shows the rows.

        It comes before the rows are shown: until then nobody has given these labels.
        """
        if self._used:
            current = label_sets.active_set(connection)
            kept, several = (current.labels, current.multi_label) if current else ((), False)
            more = self._added(connection, kept)
            if more or current is None or (self._multi_label and not several):
                label_edits.set_labels(connection, [*kept, *more], multi_label=several or self._multi_label)
        if self._rows:
            history.add_ahead(connection, self._action, ChangeKind.IMPORT, history.IMPORTED, self._rows)

    def _added(self, connection: sa.Connection, kept: Sequence[Label]) -> list[Label]:
        """Return the labels of rows that are not in use: labels may have been edited since the first part."""
        used = {label.id for label in kept}
        by_name = {label_key(label.name): label.id for label in kept}
        more = []
        for label in self._labels:
            if label.id in used or label.id not in self._used:
                continue
            if (other := by_name.get(label_key(label.name))) is None:
                more.append(label)
                continue
            moved = f"label_id = ? AND row_id > {LAST_ROW}"  # another label has taken the name
            plain = raw(connection)
            plain.execute(
                "INSERT OR IGNORE INTO annotation_labels (row_id, label_id)"
                f" SELECT row_id, ? FROM annotation_labels WHERE {moved}",
                (other, label.id),
            )
            plain.execute(f"DELETE FROM annotation_labels WHERE {moved}", (label.id,))
        return more


def drop(database: Database, end: int) -> None:
    """Remove annotations of rows behind ``end``, which nobody has seen, in short transactions."""
    for name in _TABLES:
        table = schema.metadata.tables[name]
        removed = PART
        while removed >= PART:
            with database.write_part(foreign_keys=False) as connection:
                some = sa.select(table.c.row_id).where(table.c.row_id > end).limit(PART)
                removed = connection.execute(table.delete().where(table.c.row_id.in_(some))).rowcount
    history.sweep(database)
    with database.write() as connection:
        label_sets.drop_reserved(connection)


def _parts(records: Iterable[_Record]) -> Iterator[list[_Record]]:
    remaining = iter(records)
    while part := list(islice(remaining, PART)):
        yield part


def _unseen(row_id: sa.ColumnElement[Any]) -> sa.Select[Any]:
    return sa.select(row_id).where(row_id > last_row_id()).order_by(row_id)
