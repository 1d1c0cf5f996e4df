"""What people decided about rows, and what they noted beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from sce_desktop.core.types import Annotation, Decision, Origin, RowMarks
from sce_desktop.store import schema
from sce_desktop.store.database import raw
from sce_desktop.store.label_sets import active_ids, active_set
from sce_desktop.store.query import RowState
from sce_desktop.store.sql import Ids, id_list, last_row_id

_annotations = schema.annotations
_labels_of = schema.annotation_labels
_marks = schema.marks


def store(connection: sa.Connection, annotations: Iterable[Annotation]) -> None:
    """Keep ``annotations`` as they are, in place of what was decided about their rows before.

    Raises:
        ValueError: A row or a label is not in the project, or labels do not fit the decision.
    """
    new = list({a.row_id: a for a in annotations}.values())
    _check(connection, new)
    ids = [(a.row_id,) for a in new]
    plain = raw(connection)
    plain.executemany("DELETE FROM annotation_labels WHERE row_id = ?", ids)
    plain.executemany(
        "INSERT OR REPLACE INTO annotations (row_id, decision, origin, decided_at, queue)"
        " VALUES (?, ?, ?, ?, ?)",
        [(a.row_id, a.decision.value, a.origin.value, a.decided_at, a.queue) for a in new],
    )
    plain.executemany(
        "INSERT INTO annotation_labels (row_id, label_id) VALUES (?, ?)",
        [(a.row_id, label_id) for a in new for label_id in a.label_ids],
    )


def clear(connection: sa.Connection, row_ids: Ids) -> None:
    """Make rows undecided again."""
    # Their labels go with them (ON DELETE CASCADE).
    raw(connection).executemany("DELETE FROM annotations WHERE row_id = ?", [(int(i),) for i in row_ids])


def fetch(connection: sa.Connection, row_ids: Ids) -> dict[int, Annotation]:
    """Return the decisions about ``row_ids`` by row; an undecided row is absent.

    Labels come in the order of the label set, whatever the order of clicks. Labels that are not in use are
    left out, and with its last label the decision.
    """
    label_set = active_set(connection)
    places = {label.id: place for place, label in enumerate(label_set.labels)} if label_set else {}
    chosen = id_list(row_ids)
    pairs = connection.execute(
        sa.select(_labels_of.c.row_id, _labels_of.c.label_id)
        .where(_labels_of.c.row_id.in_(chosen))
        .order_by(_labels_of.c.row_id)
    )
    labels = {
        row_id: tuple(sorted((label for _, label in group if label in places), key=places.__getitem__))
        for row_id, group in groupby(pairs, key=itemgetter(0))
    }
    found = {}
    for record in connection.execute(sa.select(_annotations).where(_annotations.c.row_id.in_(chosen))):
        decision, label_ids = Decision(record.decision), labels.get(record.row_id, ())
        if decision is not Decision.LABEL or label_ids:
            found[record.row_id] = Annotation(
                record.row_id, decision, label_ids, Origin(record.origin), record.decided_at, record.queue
            )
    return found


def fetch_marks(connection: sa.Connection, row_ids: Ids) -> dict[int, RowMarks]:
    """Return the marks of ``row_ids`` by row; a row without any is absent."""
    found = connection.execute(sa.select(_marks).where(_marks.c.row_id.in_(id_list(row_ids))))
    return {r.row_id: RowMarks(r.row_id, r.unsure, r.flag, r.note) for r in found}


def set_marks(
    connection: sa.Connection, row_id: int, *, unsure: bool | None, flag: bool | None, note: str | None
) -> RowMarks:
    """Change what is not None and return what the row has now. ValueError if there is no such row."""
    _check_rows(connection, [row_id])
    old = fetch_marks(connection, [row_id]).get(row_id, RowMarks(row_id))
    marks = RowMarks(
        row_id,
        old.unsure if unsure is None else unsure,
        old.flag if flag is None else flag,
        old.note if note is None else note,
    )
    connection.execute(_marks.delete().where(_marks.c.row_id == row_id))
    if marks != RowMarks(row_id):
        connection.execute(
            _marks.insert().values(row_id=row_id, unsure=marks.unsure, flag=marks.flag, note=marks.note)
        )
    return marks


def label_counts(connection: sa.Connection) -> dict[int, int]:
    """Return the number of rows annotated with each label in use, by label id; 0 is told too."""
    counts: dict[int, int] = dict.fromkeys(connection.execute(active_ids()).scalars(), 0)
    label_id = _labels_of.c.label_id
    statement = sa.select(label_id, sa.func.count()).where(label_id.in_(active_ids())).group_by(label_id)
    counts.update((id_, count) for id_, count in connection.execute(statement))
    return counts


def state_counts(connection: sa.Connection) -> dict[RowState, int]:
    """Return the number of rows in each state; `RowState.UNLABELLED` counts blank rows too."""

    def count(ids: Any) -> int:
        return int(connection.execute(sa.select(sa.func.count()).select_from(ids.subquery())).scalar_one())

    counts = {
        state: count(ids_in_state(state))
        for state in (RowState.LABELLED, RowState.NONE, RowState.SKIPPED, RowState.FLAGGED, RowState.UNSURE)
    }
    every = sa.select(sa.func.coalesce(sa.func.sum(schema.imports.c.rows), 0))
    counts[RowState.ANY] = int(connection.execute(every).scalar_one())
    decided = counts[RowState.LABELLED] + counts[RowState.NONE] + counts[RowState.SKIPPED]
    counts[RowState.UNLABELLED] = counts[RowState.ANY] - decided
    return counts


def ids_in_state(state: RowState) -> sa.Select[Any]:
    """Return the statement for the ids of the rows in ``state`` (neither ANY nor UNLABELLED)."""
    match state:
        case RowState.LABELLED:
            return ids_with_labels(None)
        case RowState.NONE | RowState.SKIPPED:
            return sa.select(_annotations.c.row_id).where(_annotations.c.decision == state.value)
        case RowState.FLAGGED:
            return sa.select(_marks.c.row_id).where(_marks.c.flag == sa.true())
        case RowState.UNSURE:
            return sa.select(_marks.c.row_id).where(_marks.c.unsure == sa.true())
    raise ValueError(f"{state} is not kept by row")


def ids_with_labels(label_ids: Sequence[int] | None) -> sa.Select[Any]:
    """Return the statement for the ids of the rows annotated with a label in use, one of ``label_ids``."""
    statement = sa.select(_labels_of.c.row_id).where(_labels_of.c.label_id.in_(active_ids())).distinct()
    return statement if label_ids is None else statement.where(_labels_of.c.label_id.in_(label_ids))


def ids_decided() -> sa.CompoundSelect[Any]:
    """Return the statement for the ids of the rows about which something is decided."""
    other = sa.select(_annotations.c.row_id).where(_annotations.c.decision.in_(("none", "skipped")))
    return ids_with_labels(None).union_all(other)


def _check(connection: sa.Connection, annotations: list[Annotation]) -> None:
    label_set = active_set(connection)
    known = {label.id for label in label_set.labels} if label_set else set()
    many = label_set is not None and label_set.multi_label
    for a in annotations:
        if (a.decision is Decision.LABEL) != bool(a.label_ids):
            raise ValueError("a labelled row has labels, any other has none")
        if len(set(a.label_ids)) != len(a.label_ids) or (len(a.label_ids) > 1 and not many):
            raise ValueError("one label a row, or different ones in a multi-label set")
        if not known.issuperset(a.label_ids):
            raise ValueError("a label is not in the active label set")
    _check_rows(connection, [a.row_id for a in annotations])


def _check_rows(connection: sa.Connection, row_ids: Sequence[int]) -> None:
    last = connection.execute(sa.select(last_row_id())).scalar_one()
    if row_ids and not (min(row_ids) >= 1 and max(row_ids) <= last):
        raise ValueError("no such row")
