"""Edits of labels that are one step in the history: new lists, merging, deleting, splitting.

Annotations of a label that goes without another taking over stay in the project. They count for nothing, but
tell what a row was before (`decisions.former_labels`), and come back with the label.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from sce_desktop.core.annotations import ChangeKind, Label, LabelEffect, LabelSet, Origin, SwitchEffect
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.labels import why_several
from sce_desktop.store.annotations import decisions, history, label_sets
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.rules.records import malformed
from sce_desktop.store.runs import runs
from sce_desktop.store.sql import LAST_ROW, fetch_ids, is_seen

_labels_of = schema.annotation_labels.c


def set_labels(
    connection: sa.Connection,
    labels: Sequence[Label],
    *,
    name: str | None = None,
    multi_label: bool | None = None,
    join: int | None = None,
) -> LabelSet:
    """Make ``labels`` the active set (`label_sets.set_labels`), as a part of the action ``join`` if given.

    Raises:
        UserError: Rows would have several labels of a set in which a row has one.
    """
    before = label_sets.active_set(connection)
    after = label_sets.set_labels(connection, labels, name=name, multi_label=multi_label)
    _check_several(connection, before, after)
    _note(connection, before, after, join)
    return after


def use_label_set(connection: sa.Connection, set_id: int) -> LabelSet:
    """Make an earlier version, or another label set, the active one. KeyError if there is none of that id.

    Raises:
        UserError: Rows would have several labels of a set in which a row has one.
    """
    before = label_sets.active_set(connection)
    after = label_sets.use(connection, set_id)
    assert after is not None
    _check_several(connection, before, after)
    if before is not None and before.id != set_id:
        action = history.begin(
            connection, ChangeKind.LABELS, _("Use “{name}” {version}", name=after.name, version=after.version)
        )
        history.record_labels(connection, action, before)
    elif before is None:
        _note(connection, before, after, None)
    return after


def merge(connection: sa.Connection, from_ids: Collection[int], into_id: int, *, synonyms: bool) -> LabelSet:
    """Let a label take over others; their annotations move, with time and origin.

    ``synonyms``: their wordings become synonyms of it. ValueError if one of them is not in use.
    """
    label_set = _in_use(connection, {*from_ids, into_id})
    going = set(from_ids) - {into_id}
    if not going:
        return label_set
    names = {label.id: label.name for label in label_set.labels}
    into = names[into_id]
    text = (
        _("Merge “{name}” into “{into}”", name=names[next(iter(going))], into=into)
        if len(going) == 1
        else ngettext(
            "Merge {count} label into “{into}”", "Merge {count} labels into “{into}”", len(going), into=into
        )
    )
    action = history.begin(connection, ChangeKind.MERGE, text)
    _move(connection, action, going, into_id)
    wordings = [word for label in label_set.labels if label.id in going for word in label.wordings]

    def merged(label: Label) -> Label:
        if label.id != into_id or not synonyms:
            return label
        words = dict.fromkeys((*label.synonyms, *wordings))
        return replace(label, synonyms=tuple(word for word in words if word != label.name))

    kept = [merged(label) for label in label_set.labels if label.id not in going]
    return set_labels(connection, kept, join=action)


def delete(connection: sa.Connection, label_id: int, *, move_to: int | None) -> LabelSet:
    """Take a label out; its annotations move to ``move_to``, or their rows count as unlabelled.

    ValueError if a label is not in use, or the two are the same.
    """
    if move_to == label_id:
        raise ValueError("a label that goes cannot take over")
    label_set = _in_use(connection, {label_id} if move_to is None else {label_id, move_to})
    (name,) = (label.name for label in label_set.labels if label.id == label_id)
    action = history.begin(connection, ChangeKind.DELETE, _("Delete label “{name}”", name=name))
    if move_to is None:
        history.record_rows(connection, action, _rows_with(connection, {label_id}))
    else:
        _move(connection, action, {label_id}, move_to)
    kept = [label for label in label_set.labels if label.id != label_id]
    return set_labels(connection, kept, join=action)


def split(connection: sa.Connection, label_id: int, parts: Sequence[Label]) -> LabelSet:
    """Put new labels in the place of one; its rows wait for a decision among them.

    Raises:
        UserError: A part has the name of the label itself, or of another one.
        ValueError: The label is not in use.
    """
    label_set = _in_use(connection, {label_id})
    place, old = next((p, label) for p, label in enumerate(label_set.labels) if label.id == label_id)
    if not parts:
        raise UserError(
            _("“{name}” has no parts to split into: name at least one, or delete the label.", name=old.name)
        )
    if any(part.name == old.name for part in parts):
        raise UserError(
            _("“{name}” is the label being split: choose other names for its parts.", name=old.name)
        )
    action = history.begin(connection, ChangeKind.SPLIT, _("Split label “{name}”", name=old.name))
    history.record_rows(connection, action, _rows_with(connection, {label_id}))
    new = [*label_set.labels[:place], *parts, *label_set.labels[place + 1 :]]
    return set_labels(connection, new, join=action)


def effect(connection: sa.Connection, label_ids: Collection[int], into_id: int | None = None) -> LabelEffect:
    """Count what an edit of labels touches. ValueError if one is not in use."""
    _in_use(connection, {*label_ids} if into_id is None else {*label_ids, into_id})
    ids = _rows_with(connection, label_ids)
    chosen = sa.select(_labels_of.row_id).where(
        _labels_of.label_id.in_(label_ids), is_seen(_labels_of.row_id)
    )
    decided = schema.annotations.c
    by_origin = dict.fromkeys(Origin, 0)
    counts = sa.select(decided.origin, sa.func.count()).where(decided.row_id.in_(chosen))
    for origin, count in connection.execute(counts.group_by(decided.origin)):
        if origin not in by_origin:
            raise malformed("annotations", "origin", None)
        by_origin[Origin(origin)] = count
    others = (
        _labels_of.label_id == into_id
        if into_id is not None
        else _labels_of.label_id.in_(label_sets.active_ids()) & _labels_of.label_id.not_in(label_ids)
    )
    overlap = sa.select(sa.func.count(sa.distinct(_labels_of.row_id))).where(
        _labels_of.row_id.in_(chosen), others
    )
    stale = sum(any(label.id in label_ids for label in run.labels) for run in runs.list_all(connection))
    return LabelEffect(
        rows=len(ids),
        hand=by_origin[Origin.HAND],
        bulk=by_origin[Origin.BULK],
        imported=by_origin[Origin.IMPORTED],
        overlap=connection.execute(overlap).scalar_one(),
        runs=stale,
    )


def use_effect(connection: sa.Connection, set_id: int) -> SwitchEffect:
    """Count what `use_label_set` would do to rows. KeyError if there is none of that id."""
    before, after = label_sets.active_set(connection), label_sets.get(connection, set_id)
    lacking = _labels_of.label_id.not_in([label.id for label in after.labels])
    hidden = _count(connection, decisions.ids_with_labels(None).where(lacking))
    return SwitchEffect(hidden, _several(connection, before, after))


def _in_use(connection: sa.Connection, label_ids: set[int]) -> LabelSet:
    label_set = label_sets.active_set(connection)
    if label_set is None or not label_ids <= {label.id for label in label_set.labels}:
        raise ValueError("a label is not in the active label set")
    return label_set


def _check_several(connection: sa.Connection, before: LabelSet | None, after: LabelSet) -> None:
    """Refuse what would leave rows with several labels where they may have one: all but the first would be
    lost in an export.
    """
    if rows := _several(connection, before, after):
        raise UserError(why_several(rows))


def _several(connection: sa.Connection, before: LabelSet | None, after: LabelSet) -> int:
    """Count the rows that have more labels of ``after`` than it allows, and did not have them before.

    A project that has such rows already, of an older version of ours, can still be edited.
    """
    if after.multi_label:
        return 0
    ids = {label.id for label in after.labels if label.id is not None}
    new = ids - {label.id for label in before.labels} if before and not before.multi_label else ids
    of_new = _labels_of.label_id.in_(new) & is_seen(_labels_of.row_id)
    if connection.execute(sa.select(_labels_of.row_id).where(of_new).limit(1)).first() is None:
        return 0  # a label that nobody has given yet: no row need be looked at
    return _count(connection, decisions.ids_with_several(ids).having(sa.func.sum(of_new) > 0))


def _count(connection: sa.Connection, ids: sa.Select[Any]) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(ids.subquery())).scalar_one())


def _note(connection: sa.Connection, before: LabelSet | None, after: LabelSet, join: int | None) -> None:
    if before is not None and before.id == after.id:
        return
    if join is None:
        text = history.describe_labels(before.labels if before else (), after.labels)
        join = history.begin(connection, ChangeKind.LABELS, text)
    history.record_labels(connection, join, before)


def _rows_with(connection: sa.Connection, label_ids: Collection[int]) -> IdArray:
    chosen = sa.select(_labels_of.row_id).where(
        _labels_of.label_id.in_(label_ids), is_seen(_labels_of.row_id)
    )
    return fetch_ids(connection, chosen.distinct().order_by(_labels_of.row_id))


def _move(connection: sa.Connection, action: int, going: Collection[int], into_id: int) -> None:
    history.record_rows(connection, action, _rows_with(connection, going))
    moved = f"label_id IN ({','.join(map(str, going))}) AND row_id <= {LAST_ROW}"
    plain = raw(connection)
    plain.execute(
        "INSERT OR IGNORE INTO annotation_labels (row_id, label_id)"
        f" SELECT row_id, ? FROM annotation_labels WHERE {moved}",
        (into_id,),
    )
    plain.execute(f"DELETE FROM annotation_labels WHERE {moved}")
