"""What people decided about rows, and what they noted beside it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import sqlalchemy as sa

from sce_desktop.core.annotations import NO_LABEL, SKIPPED, Annotation, ChangeKind, Decision, Origin, RowMarks
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.query import RowState
from sce_desktop.store.annotations import decided_rows, history
from sce_desktop.store.annotations.label_sets import active_ids, active_set
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.rules.records import checked
from sce_desktop.store.sql import LAST_ROW, Ids, among, fetch_columns, fetch_ids, id_list, is_seen, json_ids

_PART: Final = 50_000  # rows that are named to SQLite at once
_annotations = schema.annotations
_labels_of = schema.annotation_labels
_marks = schema.marks


class Answers(NamedTuple):
    """What is decided, one record (m,) a row and label; rows in file order, labels in the order of the set.

    Instead of a label there is `NO_LABEL` where none fits and `SKIPPED` where the row was skipped.
    """

    row_ids: IdArray
    label_ids: IdArray


_FIRST_OPEN = """
    SELECT value FROM json_each(?)
    WHERE NOT EXISTS (SELECT 1 FROM rows WHERE blank = 1 AND id = value) AND NOT EXISTS (
        SELECT 1 FROM annotations AS a WHERE row_id = value AND (decision != 'label' OR EXISTS (
            SELECT 1 FROM annotation_labels AS l JOIN labels ON labels.id = label_id AND active
            WHERE l.row_id = a.row_id)))
    LIMIT 1"""
_MARKS = (
    "INSERT INTO marks (row_id, unsure, flag, note) VALUES (?, ?, ?, ?) ON CONFLICT (row_id)"
    " DO UPDATE SET unsure = excluded.unsure, flag = excluded.flag, note = excluded.note"
)


def store(
    connection: sa.Connection,
    annotations: Iterable[Annotation],
    marks: Iterable[RowMarks] = (),
    *,
    imported: bool = False,
    join: int | None = None,
) -> int | None:
    """Keep ``annotations`` and ``marks`` as they are, in place of what was said about their rows before.

    Args:
        connection: In a transaction that writes.
        annotations: Of several about a row the last one counts.
        marks: Likewise.
        imported: They come from a file.
        join: An action to go on with, if it is still the newest one.

    Returns:
        The action in the history, None if there was nothing to do.

    Raises:
        ValueError: A row or a label is not in the project, or labels do not fit the decision.
    """
    new = list({a.row_id: a for a in annotations}.values())
    noted = list({m.row_id: m for m in marks}.values())
    if not new and not noted:
        return join
    _check(connection, new)
    _check_rows(connection, [m.row_id for m in noted])
    kind, what = _described(connection, new, imported)
    action = history.begin(connection, kind, _counted(what, len(new)), join=join)
    touched = {a.row_id for a in new} | {m.row_id for m in noted}
    kept = history.row_count(connection, action) if action == join else 0
    rows = history.record_rows(connection, action, sorted(touched))
    if action == join and kind is not ChangeKind.IMPORT:
        same = history.text_of(connection, action) == _counted(what, kept)
        history.set_text(connection, action, _counted(what if same else _("Label rows"), rows))
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
    _write_marks(connection, noted)
    return action


def clear(connection: sa.Connection, row_ids: Ids, *, join: int | None = None) -> int:
    """Make rows undecided again and return how many were not.

    ``join``: an action to go on with, if it is still the newest one.
    """
    seen = sa.select(_annotations.c.row_id).where(is_seen(_annotations.c.row_id))
    if len(row_ids) <= _PART:
        decided = fetch_ids(connection, seen.where(_annotations.c.row_id.in_(id_list(row_ids))))
    else:
        decided = fetch_ids(connection, seen)
        decided = decided[np.isin(decided, np.asarray(row_ids, np.int64))]
    if not len(decided):
        return 0
    action = history.begin(
        connection,
        ChangeKind.CLEAR,
        ngettext("Clear {count} row", "Clear {count} rows", len(decided)),
        join=join,
    )
    for start in range(0, len(decided), _PART):
        some = decided[start : start + _PART]
        history.record_rows(connection, action, some)
        # Their labels go with them (ON DELETE CASCADE).
        raw(connection).execute(
            "DELETE FROM annotations WHERE row_id IN (SELECT value FROM json_each(?))", (json_ids(some),)
        )
    return len(decided)


def fetch(connection: sa.Connection, row_ids: Ids) -> dict[int, Annotation]:
    """Return the decisions about ``row_ids`` by row; an undecided row is absent.

    Labels come in the order of the label set, whatever the order of clicks. Labels that are not in use are
    left out, and with its last label the decision.
    """
    decided = decided_rows.fetch(connection, row_ids)
    answers = [decided.kinds[code] for code in decided.codes.tolist()]
    return {
        row_id: Annotation(row_id, kind.decision, kind.label_ids, kind.origin, moment, kind.queue)
        for row_id, kind, moment in zip(decided.row_ids.tolist(), answers, decided.moments, strict=True)
    }


def first_open(connection: sa.Connection, row_ids: Ids) -> int | None:
    """Return the first of ``row_ids`` that has text and no decision; None if all are decided or blank.

    No row behind the one that is found is looked at.
    """
    found = raw(connection).execute(_FIRST_OPEN, (json_ids(row_ids),)).fetchone()  # in the order of the list
    return None if found is None else int(found[0])


def answers(connection: sa.Connection, row_ids: Ids | None) -> Answers:
    """Return the answers about ``row_ids``, about every row if None; labels out of use are left out."""
    of, about = _labels_of.c, _annotations.c
    labelled = sa.select(of.row_id, of.label_id).where(of.label_id.in_(active_ids()), is_seen(of.row_id))
    code = sa.case((about.decision == Decision.NONE.value, NO_LABEL), else_=SKIPPED)
    bare = sa.select(about.row_id, code).where(
        about.decision.in_((Decision.NONE.value, Decision.SKIPPED.value)), is_seen(about.row_id)
    )
    if row_ids is not None:
        labelled = labelled.where(of.row_id.in_(id_list(row_ids)))
        bare = bare.where(about.row_id.in_(id_list(row_ids)))
    parts = [fetch_columns(connection, part, (np.int64, np.int64)) for part in (labelled, bare)]
    rows, labels = (np.concatenate(column) for column in zip(*parts, strict=True))
    label_set = active_set(connection)
    ordered = [label.id for label in label_set.labels if label.id is not None] if label_set else []
    places = np.zeros(max(ordered, default=0) + 2, np.int64)  # of each label id; the last is that of SKIPPED
    places[ordered] = np.arange(len(ordered))
    order = np.lexsort((places[labels], rows))
    return Answers(rows[order], labels[order])


def fetch_marks(connection: sa.Connection, row_ids: Ids) -> dict[int, RowMarks]:
    """Return the marks of ``row_ids`` by row; a row without any is absent."""
    condition, parameters = among("row_id", row_ids)
    found = raw(connection).execute(
        f"SELECT row_id, unsure, flag, note FROM marks WHERE row_id <= {LAST_ROW} AND {condition}", parameters
    )
    records = checked("marks", ("row_id", "unsure", "flag", "note"), found.fetchall())
    return {id_: RowMarks(id_, bool(unsure), bool(flag), note) for id_, unsure, flag, note in records}


def set_marks(
    connection: sa.Connection, row_ids: Ids, *, unsure: bool | None, flag: bool | None, note: str | None
) -> dict[int, RowMarks]:
    """Change what is not None and return what each row has now. ValueError if there is no such row."""
    ids = [int(row_id) for row_id in row_ids]
    _check_rows(connection, ids)
    old = fetch_marks(connection, ids)
    marks = {
        row_id: RowMarks(
            row_id,
            was.unsure if unsure is None else unsure,
            was.flag if flag is None else flag,
            was.note if note is None else note,
        )
        for row_id in ids
        for was in (old.get(row_id, RowMarks(row_id)),)
    }
    changed = [row for row in marks.values() if row != old.get(row.row_id, RowMarks(row.row_id))]
    if changed:
        action = history.begin(connection, ChangeKind.MARKS, _marked(len(changed), unsure, flag, note))
        history.record_rows(connection, action, [row.row_id for row in changed])
        _write_marks(connection, changed)
    return marks


def _write_marks(connection: sa.Connection, marks: list[RowMarks]) -> None:
    plain = raw(connection)
    plain.executemany(_MARKS, [(m.row_id, m.unsure, m.flag, m.note) for m in marks])
    nothing = [(m.row_id,) for m in marks if m == RowMarks(m.row_id)]
    plain.executemany("DELETE FROM marks WHERE row_id = ?", nothing)


def _marked(count: int, unsure: bool | None, flag: bool | None, note: str | None) -> str:
    match (unsure, flag, note):
        case (True, None, None):
            what = _("Mark as unsure")
        case (False, None, None):
            what = _("Mark as sure")
        case (None, True, None):
            what = _("Flag")
        case (None, False, None):
            what = _("Unflag")
        case (None, None, str()):
            what = _("Note")
        case _:
            what = _("Marks")
    return what if count == 1 else _with_count(what, count)


def _described(
    connection: sa.Connection, annotations: list[Annotation], imported: bool
) -> tuple[ChangeKind, str]:
    """Return what an action that stores ``annotations`` is, and what menus call it before its count."""
    first = annotations[0] if annotations else None
    if imported or first is None or first.origin is Origin.IMPORTED:
        return ChangeKind.IMPORT, _(history.IMPORTED)
    kind = ChangeKind.BULK if first.origin is Origin.BULK else ChangeKind.DECIDE
    what = _("Label rows")
    if all((a.decision, a.label_ids) == (first.decision, first.label_ids) for a in annotations):
        label_set = active_set(connection) if first.label_ids else None
        chosen = set(first.label_ids)
        names = [label.name for label in label_set.labels if label.id in chosen] if label_set else []
        what = {
            Decision.LABEL: _("Label {names}", names=", ".join(f"“{name}”" for name in names)),
            Decision.NONE: _("None of these"),
            Decision.SKIPPED: _("Skip"),
        }[first.decision]
    return kind, what


def _counted(what: str, count: int) -> str:
    return what if count == 1 or what == _(history.IMPORTED) else _with_count(what, count)


def _with_count(what: str, count: int) -> str:
    return ngettext("{action}, {count} row", "{action}, {count} rows", count, action=what)


def label_counts(connection: sa.Connection) -> dict[int, int]:
    """Return the number of rows annotated with each label in use, by label id; those with 0 too."""
    counts: dict[int, int] = dict.fromkeys(connection.execute(active_ids()).scalars(), 0)
    label_id, seen = _labels_of.c.label_id, is_seen(_labels_of.c.row_id)
    statement = sa.select(label_id, sa.func.count()).where(label_id.in_(active_ids()), seen)
    statement = statement.group_by(label_id)
    counts.update((id_, count) for id_, count in connection.execute(statement))
    return counts


def state_counts(connection: sa.Connection) -> dict[RowState, int]:
    """Return the number of rows in each state; `RowState.UNLABELLED` counts blank rows too."""

    def count(ids: Any) -> int:
        return int(connection.execute(sa.select(sa.func.count()).select_from(ids.subquery())).scalar_one())

    counts: dict[RowState, int] = {
        state: count(ids_in_state(state))
        for state in RowState
        if state not in (RowState.ANY, RowState.UNLABELLED)
    }
    every = sa.select(sa.func.coalesce(sa.func.sum(schema.imports.c.rows), 0))
    counts[RowState.ANY] = int(connection.execute(every).scalar_one())
    decided = counts[RowState.LABELLED] + counts[RowState.NONE] + counts[RowState.SKIPPED]
    counts[RowState.UNLABELLED] = counts[RowState.ANY] - decided
    return counts


def has_bare(connection: sa.Connection) -> bool:
    """Return whether a row was decided as none or skipped, and not by hand."""
    bare = (_annotations.c.decision != Decision.LABEL.value) & (_annotations.c.origin != Origin.HAND.value)
    found = sa.select(_annotations.c.row_id).where(bare, is_seen(_annotations.c.row_id)).limit(1)
    return connection.execute(found).first() is not None


def ids_in_state(state: RowState) -> sa.Select[Any]:
    """Return the statement for the ids of the rows in ``state`` (neither ANY nor UNLABELLED)."""
    match state:
        case RowState.LABELLED:
            return ids_with_labels(None)
        case RowState.NONE | RowState.SKIPPED:
            decided = _annotations.c
            return sa.select(decided.row_id).where(decided.decision == state.value, is_seen(decided.row_id))
        case RowState.FLAGGED:
            return sa.select(_marks.c.row_id).where(_marks.c.flag == sa.true(), is_seen(_marks.c.row_id))
        case RowState.UNSURE:
            return sa.select(_marks.c.row_id).where(_marks.c.unsure == sa.true(), is_seen(_marks.c.row_id))
        case RowState.SEVERAL:
            return ids_with_several(active_ids())
    raise ValueError(f"{state} is not kept by row")


def ids_with_labels(label_ids: Sequence[int] | None) -> sa.Select[Any]:
    """Return the statement for the ids of the rows annotated with a label in use, one of ``label_ids``."""
    of = _labels_of.c
    statement = sa.select(of.row_id).where(of.label_id.in_(active_ids()), is_seen(of.row_id)).distinct()
    return statement if label_ids is None else statement.where(_labels_of.c.label_id.in_(label_ids))


def ids_labelled() -> sa.Select[Any]:
    """Return the statement for the ids of the rows with a label in use, repeated for each: that is cheap."""
    of = _labels_of.c
    return sa.select(of.row_id).where(of.label_id.in_(active_ids()), is_seen(of.row_id))


def ids_with_several(label_ids: Collection[int] | sa.Select[Any]) -> sa.Select[Any]:
    """Return the statement for the ids of the rows annotated with more than one of ``label_ids``."""
    of = _labels_of.c
    statement = sa.select(of.row_id).where(of.label_id.in_(label_ids), is_seen(of.row_id))
    return statement.group_by(of.row_id).having(sa.func.count() > 1)


def ids_decided_since(moment: str) -> sa.Select[Any]:
    """Return the statement for the ids of the rows decided at ``moment`` (ISO 8601, UTC) or later."""
    decided = _annotations.c
    return sa.select(decided.row_id).where(decided.decided_at >= moment, is_seen(decided.row_id))


def ids_with_former_labels(label_ids: Sequence[int]) -> sa.Select[Any]:
    """Return the statement for the ids of the rows that bear one of ``label_ids`` which is out of use."""
    of = _labels_of.c
    former = of.label_id.in_(label_ids) & of.label_id.not_in(active_ids())
    return sa.select(of.row_id).where(former, is_seen(of.row_id)).distinct()


def former_labels(connection: sa.Connection, row_ids: Ids) -> dict[int, tuple[str, ...]]:
    """Return the names of the labels out of use that ``row_ids`` still bear, by row."""
    label = schema.labels.c
    found = connection.execute(
        sa.select(_labels_of.c.row_id, label.name)
        .join(schema.labels, label.id == _labels_of.c.label_id)
        .where(
            label.active == sa.false(),
            _labels_of.c.row_id.in_(id_list(row_ids)),
            is_seen(_labels_of.c.row_id),
        )
        .order_by(_labels_of.c.row_id, label.id)
    )
    return {row_id: tuple(name for _, name in group) for row_id, group in groupby(found, key=itemgetter(0))}


def ids_decided() -> sa.CompoundSelect[Any]:
    """Return the statement for the ids of the rows about which something is decided; some come repeatedly."""
    decided = _annotations.c
    bare = decided.decision.in_(("none", "skipped"))
    other = sa.select(decided.row_id).where(bare, is_seen(decided.row_id))
    return ids_labelled().union_all(other)


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
    if not row_ids:
        return
    (last,) = raw(connection).execute(f"SELECT {LAST_ROW}").fetchone()
    if not (min(row_ids) >= 1 and max(row_ids) <= last):
        raise ValueError("no such row")
