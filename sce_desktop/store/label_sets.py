"""Labels and label sets.

A label keeps its id over renames. A label set never changes: an edit makes the next version. A label that is
taken out of the active set stays known, and so do its annotations, but they count for nothing: their rows are
unlabelled until a label with that id or that name is back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import sqlalchemy as sa

from sce_desktop.core.errors import UserError
from sce_desktop.core.types import Label, LabelSet
from sce_desktop.store import schema
from sce_desktop.store.sql import insert, now

_DEFAULT_NAME = "Labels"
_sets = schema.label_sets
_labels = schema.labels


def active_set(connection: sa.Connection) -> LabelSet | None:
    """Return the label set in use, None before the first."""
    active = sa.select(schema.project.c.label_set_id).scalar_subquery()
    found = connection.execute(sa.select(_sets).where(_sets.c.id == active)).one_or_none()
    return None if found is None else _label_set(found)


def all_sets(connection: sa.Connection) -> tuple[LabelSet, ...]:
    """Return every version of every label set, oldest first."""
    return tuple(_label_set(found) for found in connection.execute(sa.select(_sets).order_by(_sets.c.id)))


def set_labels(
    connection: sa.Connection, labels: Sequence[Label], *, name: str | None, multi_label: bool | None
) -> LabelSet:
    """Make ``labels`` the active set: a new version, unless the latest one of that name says the same.

    Raises:
        UserError: Two labels have the same name, or one has none.
        ValueError: Two labels have the same id.
    """
    _check_names(labels)
    current = active_set(connection)
    if name is None:
        name = current.name if current else _DEFAULT_NAME
    if multi_label is None:
        multi_label = current.multi_label if current else False
    known = _identify(connection, labels)
    newest = connection.execute(
        sa.select(_sets).where(_sets.c.name == name).order_by(_sets.c.version.desc()).limit(1)
    ).one_or_none()
    if newest is not None and (newest.multi_label, _label_set(newest).labels) == (multi_label, known):
        label_set = _label_set(newest)
    else:
        version = 1 if newest is None else newest.version + 1
        set_id = insert(
            connection,
            _sets,
            name=name,
            version=version,
            labels=to_json(known),
            multi_label=multi_label,
            created_at=now(),
        )
        label_set = LabelSet(set_id, name, version, known, multi_label)
    connection.execute(schema.project.update().values(label_set_id=label_set.id))
    return label_set


def use(connection: sa.Connection, set_id: int | None) -> LabelSet | None:
    """Make the label set of that id the active one (None: none); its labels bear its names again.

    KeyError if there is none of that id.
    """
    connection.execute(schema.project.update().values(label_set_id=None))
    label_set = None
    if set_id is not None:
        found = connection.execute(sa.select(_sets).where(_sets.c.id == set_id)).one_or_none()
        if found is None:
            raise KeyError(set_id)
        label_set = _label_set(found)
        connection.execute(schema.project.update().values(label_set_id=set_id))
    labels = label_set.labels if label_set else ()
    in_use = {label.id for label in labels}
    connection.execute(_labels.update().values(active=_labels.c.id.in_(in_use)))
    for label in labels:
        is_it = sa.and_(_labels.c.id == label.id, _labels.c.name != label.name)
        connection.execute(_labels.update().where(is_it).values(name=label.name))
    return label_set


def to_json(labels: Sequence[Label]) -> list[dict[str, Any]]:
    """Return everything about ``labels`` as a project keeps it."""
    return [asdict(label) for label in labels]


def from_json(stored: list[dict[str, Any]]) -> tuple[Label, ...]:
    """Return the labels that `to_json` stored."""
    return tuple(Label(**{**label, "synonyms": tuple(label["synonyms"])}) for label in stored)


def active_ids() -> sa.Select[Any]:
    """Return the statement for the ids of the labels in use."""
    return sa.select(_labels.c.id).where(_labels.c.active == sa.true())


def _check_names(labels: Sequence[Label]) -> None:
    seen: set[str] = set()
    for label in labels:
        if not label.name.strip():
            raise UserError("A label has no name: give every label a name.")
        if label.name in seen:
            raise UserError(f"The label {label.name!r} is there twice: remove or rename one of them.")
        seen.add(label.name)
    ids = [label.id for label in labels if label.id is not None]
    if len(set(ids)) != len(ids):
        raise ValueError("two labels have the same id")


def _identify(connection: sa.Connection, labels: Sequence[Label]) -> tuple[Label, ...]:
    """Give every label its id, record its name, and mark which labels are in use.

    A label without an id is the known one of the same name, so that a label typed anew brings its annotations
    back; the one used last, if there are several. Otherwise it is new.
    """
    stored = sa.select(_labels.c.id, _labels.c.name).order_by(_labels.c.active, _labels.c.id)
    names: dict[int, str] = dict(connection.execute(stored).all())
    taken = {label.id for label in labels if label.id in names}
    by_name = {name: id_ for id_, name in names.items() if id_ not in taken}
    known = []
    for label in labels:
        label_id = label.id if label.id in names else by_name.get(label.name)
        if label_id is None:
            label_id = insert(connection, _labels, name=label.name, active=True)
        elif names[label_id] != label.name:
            connection.execute(_labels.update().where(_labels.c.id == label_id).values(name=label.name))
        known.append(replace(label, id=label_id))
    in_use = {label.id for label in known}
    connection.execute(_labels.update().values(active=_labels.c.id.in_(in_use)))
    return tuple(known)


def _label_set(found: sa.Row[Any]) -> LabelSet:
    return LabelSet(found.id, found.name, found.version, from_json(found.labels), found.multi_label)
