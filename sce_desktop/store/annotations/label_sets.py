"""Labels and label sets.

A label keeps its id over renames. A label set never changes: an edit makes the next version. A label that is
taken out of the active set stays known, and so do its annotations, but they count for nothing: their rows are
unlabelled until a label with that id or that name is back.

Every label has a colour from its first set on and keeps it, whatever becomes of the labels beside it: what is
learned to be blue stays blue.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, Final

import sqlalchemy as sa

from sce_desktop.core.annotations import Label, LabelSet
from sce_desktop.core.colours import colour_of, free_colours
from sce_desktop.core.labels import check_names, label_key
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.repair.stored import Malformed, read_labels
from sce_desktop.store.rules.records import malformed
from sce_desktop.store.sql import insert, now

_DEFAULT_NAME = "Labels"
_SET: Final = "SELECT id, name, version, labels, multi_label FROM label_sets"
_sets = schema.label_sets
_labels = schema.labels


def active_set(connection: sa.Connection) -> LabelSet | None:
    """Return the label set in use, None before the first."""
    of_project = f"{_SET} WHERE id = (SELECT label_set_id FROM project)"
    found = raw(connection).execute(of_project).fetchone()
    return None if found is None else _label_set(found)


def all_sets(connection: sa.Connection) -> tuple[LabelSet, ...]:
    """Return every version of every label set, oldest first."""
    return tuple(_label_set(found) for found in raw(connection).execute(f"{_SET} ORDER BY id"))


def get(connection: sa.Connection, set_id: int) -> LabelSet:
    """Return the version of that id. KeyError if there is none."""
    found = raw(connection).execute(f"{_SET} WHERE id = ?", (set_id,)).fetchone()
    if found is None:
        raise KeyError(set_id)
    return _label_set(found)


def set_labels(
    connection: sa.Connection, labels: Sequence[Label], *, name: str | None, multi_label: bool | None
) -> LabelSet:
    """Make ``labels`` the active set: a new version, unless the latest one of that name says the same.

    Raises:
        UserError: The names will not do (`core.labels.check_names`).
        ValueError: Two labels have the same id.
    """
    current = active_set(connection)
    _check_names(labels, current)
    ids = [label.id for label in labels if label.id is not None]
    if len(set(ids)) != len(ids):
        raise ValueError("two labels have the same id")
    if name is None:
        name = current.name if current else _DEFAULT_NAME
    if multi_label is None:
        multi_label = current.multi_label if current else False
    newest_id = connection.execute(sa.select(sa.func.max(_labels.c.id))).scalar_one() or 0
    known = _coloured(connection, _identify(connection, labels), current, newest_id)
    of_name = f"{_SET} WHERE name = ? ORDER BY version DESC LIMIT 1"
    found = raw(connection).execute(of_name, (name,)).fetchone()
    newest = None if found is None else _label_set(found)
    if newest is not None and (newest.multi_label, newest.labels) == (multi_label, known):
        label_set = newest
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


def reserve(connection: sa.Connection, labels: Sequence[Label]) -> tuple[Label, ...]:
    """Return ``labels`` with ids and colours as `set_labels` would give them, before they are in any set.

    UserError if two have the same name, or one has none.
    """
    check_names(labels)
    newest_id = connection.execute(sa.select(sa.func.max(_labels.c.id))).scalar_one() or 0
    _, known_ids = _known(connection, labels)
    known = tuple(
        replace(label, id=insert(connection, _labels, name=label.name, active=False) if id_ is None else id_)
        for label, id_ in zip(labels, known_ids, strict=True)
    )
    return _coloured(connection, known, active_set(connection), newest_id)


def drop_reserved(connection: sa.Connection) -> None:
    """Forget the labels that were given an id and came into no label set."""
    raw(connection).execute(
        "DELETE FROM labels WHERE NOT active AND id NOT IN (SELECT label_id FROM annotation_labels)"
        " AND id NOT IN (SELECT json_extract(l.value, '$.id') FROM label_sets, json_each(labels) AS l)"
    )


def use(connection: sa.Connection, set_id: int | None) -> LabelSet | None:
    """Make the label set of that id the active one (None: none); its labels bear its names again.

    KeyError if there is none of that id.
    """
    connection.execute(schema.project.update().values(label_set_id=None))
    label_set = None
    if set_id is not None:
        label_set = get(connection, set_id)
        connection.execute(schema.project.update().values(label_set_id=set_id))
    labels = label_set.labels if label_set else ()
    in_use = {label.id for label in labels}
    connection.execute(_labels.update().values(active=_labels.c.id.in_(in_use)))
    for label in labels:
        is_it = sa.and_(_labels.c.id == label.id, _labels.c.name != label.name)
        connection.execute(_labels.update().where(is_it).values(name=label.name))
    return label_set


def to_json(labels: Sequence[Label]) -> list[dict[str, Any]]:
    """Return everything about ``labels`` as a project keeps it; see `stored.read_labels`."""
    names = [field.name for field in fields(Label)]  # not asdict, which copies deeply
    return [{name: getattr(label, name) for name in names} for label in labels]


@functools.lru_cache(maxsize=64)
def parsed(stored: str) -> tuple[Label, ...]:
    """Return the labels of the JSON text ``stored``; they are asked for again and again."""
    return read_labels(stored)


def active_ids() -> sa.Select[Any]:
    """Return the statement for the ids of the labels in use."""
    return sa.select(_labels.c.id).where(_labels.c.active == sa.true())


def _check_names(labels: Sequence[Label], current: LabelSet | None) -> None:
    """Refuse names that will not do; a project may be older than the rule, and its labels can be merged."""
    known = {(label.id, label.name) for label in current.labels} if current else set()
    as_before = {label_key(label.name): label for label in labels if (label.id, label.name) in known}
    check_names([*as_before.values(), *(label for label in labels if (label.id, label.name) not in known)])


def _identify(connection: sa.Connection, labels: Sequence[Label]) -> tuple[Label, ...]:
    """Give every label its id, record its name, and mark which labels are in use.

    A label without an id is the known one of the same name, so that a label typed again brings its
    annotations back; the one used last, if there are several. Otherwise it is new.
    """
    names, known_ids = _known(connection, labels)
    known = []
    for label, label_id in zip(labels, known_ids, strict=True):
        if label_id is None:
            known.append(replace(label, id=insert(connection, _labels, name=label.name, active=True)))
            continue
        if names[label_id] != label.name:
            connection.execute(_labels.update().where(_labels.c.id == label_id).values(name=label.name))
        known.append(replace(label, id=label_id))
    in_use = {label.id for label in known}
    connection.execute(_labels.update().values(active=_labels.c.id.in_(in_use)))
    return tuple(known)


def _known(connection: sa.Connection, labels: Sequence[Label]) -> tuple[dict[int, str], list[int | None]]:
    """Return the names of known labels by id, and which of them each of ``labels`` is; None: a new one."""
    stored = sa.select(_labels.c.id, _labels.c.name).order_by(_labels.c.active, _labels.c.id)
    names: dict[int, str] = dict(connection.execute(stored).all())
    taken = {label.id for label in labels if label.id in names}
    by_name = {label_key(name): id_ for id_, name in names.items() if id_ not in taken}
    return names, [label.id if label.id in names else by_name.get(label_key(label.name)) for label in labels]


def _coloured(
    connection: sa.Connection, labels: Sequence[Label], current: LabelSet | None, newest: int
) -> tuple[Label, ...]:
    """Give each label without a colour the one that it had, else one that no label has, or had until now.

    Labels with an id up to ``newest`` were known before: one that is back brings its colour, if it is free.
    """
    had = {label.id: colour_of(label) for label in current.labels} if current else {}
    taken = [*had.values(), *(label.colour.lower() for label in labels)]
    for label in labels:
        if not label.colour and label.id not in had and label.id is not None and label.id <= newest:
            before = _last_colour(connection, label.id)
            if before not in taken:
                had[label.id] = before
                taken.append(before)
    free = free_colours(taken)
    return tuple(
        label if label.colour else replace(label, colour=had.get(label.id) or next(free)) for label in labels
    )


def _last_colour(connection: sa.Connection, label_id: int) -> str:
    """Return the colour that a label had in the newest set with it; empty where there is none."""
    for (stored,) in raw(connection).execute("SELECT labels FROM label_sets ORDER BY id DESC"):
        for label in parsed(stored):
            if label.id == label_id:
                return colour_of(label)
    return ""


def _label_set(found: tuple[Any, ...]) -> LabelSet:
    set_id, name, version, labels, multi_label = found
    try:
        known = parsed(labels)
    except (Malformed, TypeError):  # the latter: nothing that can be looked up
        raise malformed("label_sets", "labels", set_id) from None
    return LabelSet(set_id, name, version, known, bool(multi_label))
