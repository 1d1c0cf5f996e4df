"""What others than the user answered about rows: second coders, and columns of right answers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

import numpy as np
import sqlalchemy as sa

from sce_desktop.core.annotations import USER, ChangeKind, Coder, Origin
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.labels import label_key
from sce_desktop.store.annotations import history
from sce_desktop.store.annotations.label_sets import active_ids, active_set
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.rules.records import checked
from sce_desktop.store.sql import insert, is_seen, last_row_id, now

Answer = frozenset[int | str]
"""Ids of labels in use, and names of others as they were written; nothing: none of these."""
REPEAT: Final = "repeat:"
"""So begins the source of a second answer of the user, which is no annotator; see `repeats`."""
_PART: Final = 500  # answers in one transaction, which a decision may have to wait for
_READ: Final = ("row_id", "label", "label_id")
_coders = schema.coders
_answers = schema.other_annotations


def add(
    database: Database,
    name: str,
    source: str,
    answers: Mapping[int, str | Sequence[str] | None],
    *,
    replaces: int | None = None,
) -> Coder:
    """Keep what a coder answered. See `Project.add_coder`.

    The answers come in short transactions, as somebody may be deciding; until the last one the coder is
    removed and has no name, so that nobody knows of it. Opening a project removes what broke off.
    """
    if not name.strip():
        raise UserError(_("Enter a name for the annotator."))
    with database.read() as connection:
        _check_name(connection, name, replaces)
        last = connection.execute(sa.select(last_row_id())).scalar_one()
        known = _wordings(connection)
    if not answers or not (min(answers) >= 1 and max(answers) <= last):
        raise ValueError("no such row")
    source = source.replace(REPEAT, REPEAT.upper(), 1) if source.startswith(REPEAT) else source
    with database.write() as connection:
        coder_id = insert(connection, _coders, name="", source=source, created_at=now(), removed=True)
    records = [
        (coder_id, int(row_id), word, known.get(label_key(word)))
        for row_id, answered in answers.items()
        for word in dict.fromkeys(
            [answered or ""] if answered is None or isinstance(answered, str) else answered or [""]
        )
    ]
    try:
        for start in range(0, len(records), _PART):
            with database.write_part() as connection:
                raw(connection).executemany(
                    "INSERT INTO other_annotations (coder_id, row_id, label, label_id) VALUES (?, ?, ?, ?)",
                    records[start : start + _PART],
                )
        with database.write(durable=True) as connection:
            _check_name(connection, name, replaces)
            if replaces is not None:
                remove(connection, replaces)
            is_it = _coders.c.id == coder_id
            connection.execute(_coders.update().where(is_it).values(name=name, removed=False))
            action = history.begin(connection, ChangeKind.CODER, _("Add labels of {name}", name=name))
            history.record_removal(connection, action, _coders, coder_id)
    except BaseException:
        with contextlib.suppress(UserError):  # the disk may be full: then opening the project removes it
            _drop(database, coder_id)
        raise
    with database.read() as connection:
        return _get(connection, coder_id)


def _check_name(connection: sa.Connection, name: str, replaces: int | None) -> None:
    there = sa.select(_coders.c.id).where(_coders.c.name == name, _coders.c.removed == sa.false())
    if connection.execute(there.where(_coders.c.id != (replaces or 0))).first() is not None:
        raise UserError(
            _(
                "An annotator named “{name}” already exists: choose another name, or remove that one first.",
                name=name,
            )
        )


def drop_unfinished(database: Database) -> None:
    """Remove coders whose answers did not come to their end. Not while some are on their way."""
    with database.read() as connection:
        left = connection.execute(sa.select(_coders.c.id).where(_coders.c.name == "")).scalars().all()
    for coder_id in left:
        _drop(database, coder_id)


def _drop(database: Database, coder_id: int) -> None:
    some = sa.select(_answers.c.row_id).where(_answers.c.coder_id == coder_id).limit(_PART)
    part = _answers.delete().where(_answers.c.coder_id == coder_id, _answers.c.row_id.in_(some))
    removed = 1
    while removed:
        with database.write_part() as connection:
            removed = connection.execute(part).rowcount
    with database.write() as connection:
        connection.execute(_coders.delete().where(_coders.c.id == coder_id))


def remove(connection: sa.Connection, coder_id: int) -> None:
    """Remove a coder and all answers, undoably. KeyError if there is none."""
    is_it = (_coders.c.id == coder_id) & (_coders.c.removed == sa.false())
    name = connection.execute(sa.select(_coders.c.name).where(is_it)).scalar()
    if name is None:
        raise KeyError(coder_id)
    connection.execute(_coders.update().where(is_it).values(removed=True))
    action = history.begin(connection, ChangeKind.CODER, _("Remove labels of {name}", name=name))
    history.record_removal(connection, action, _coders, coder_id)


def list_all(connection: sa.Connection) -> tuple[Coder, ...]:
    """Return all coders, oldest first, without the user, whose second answers are in `repeats`."""
    count = sa.func.count(sa.distinct(_answers.c.row_id))
    statement = (
        sa.select(_coders.c.id, _coders.c.name, _coders.c.source, count, _coders.c.created_at)
        .join(_answers, _answers.c.coder_id == _coders.c.id)
        .where(_coders.c.removed == sa.false(), ~is_repeat())
        .group_by(_coders.c.id)
        .order_by(_coders.c.id)
    )
    return tuple(Coder(*found) for found in connection.execute(statement))


def is_repeat() -> sa.ColumnElement[bool]:
    """Return the condition that a coder is a second answer of the user."""
    return sa.func.substr(_coders.c.source, 1, len(REPEAT)) == REPEAT


def answers(connection: sa.Connection, coder_id: int, *, origin: Origin | None = None) -> dict[int, Answer]:
    """Return what a coder answered by row, in file order; `USER` is the user, whose skipped rows are absent.

    Of the user's answers those of ``origin`` alone, if given. KeyError if there is no coder of that id.
    """
    if coder_id == USER:
        return _own_answers(connection, origin)
    _get(connection, coder_id)
    found = connection.execute(
        sa.select(_answers.c.row_id, _answers.c.label, _answers.c.label_id)
        .where(_answers.c.coder_id == coder_id)
        .order_by(_answers.c.row_id)
    ).all()
    resolved = resolver(connection)
    return {
        row_id: frozenset(resolved(word, label_id) for _, word, label_id in group if word)
        for row_id, group in groupby(checked(_answers.name, _READ, found), key=itemgetter(0))
    }


def of_row(connection: sa.Connection, row_id: int) -> list[tuple[str, Answer]]:
    """Return name and answer of every coder who answered a row, the oldest coder first."""
    found = raw(connection).execute(_OF_ROW, (int(row_id),)).fetchall()
    checked(_answers.name, _READ, [(row_id, *record[1:]) for record in found])
    if not found:
        return []
    resolved = resolver(connection)
    return [
        (name, frozenset(resolved(word, label_id) for _, word, label_id in group if word))
        for name, group in groupby(found, key=itemgetter(0))
    ]


_OF_ROW = (
    "SELECT c.name, o.label, o.label_id FROM coders AS c JOIN other_annotations AS o ON o.coder_id = c.id"
    " WHERE NOT c.removed AND o.row_id = ? ORDER BY c.id"
)


def resolver(connection: sa.Connection) -> Callable[[str, int | None], int | str]:
    """Return what finds the label in use that a word, or a label of former times, means."""
    known = _wordings(connection)
    used = set(known.values())
    latest: dict[int, str] = dict(
        connection.execute(sa.select(schema.labels.c.id, schema.labels.c.name)).all()
    )

    def resolved(word: str, label_id: int | None) -> int | str:
        if label_id in used:
            return label_id
        latest_name = latest.get(label_id or 0, word)  # merged away under a name that it got later
        renamed = known.get(label_key(latest_name))
        return renamed if renamed is not None else known.get(label_key(word), word)

    return resolved


def disagreements(connection: sa.Connection, coder_ids: Sequence[int]) -> IdArray:
    """Return the rows, in file order, that two of ``coder_ids`` at least have answered, not all the same."""
    seen: dict[int, Answer] = {}
    differ: set[int] = set()
    for coder_id in coder_ids:
        for row_id, answer in answers(connection, coder_id).items():
            if seen.setdefault(row_id, answer) != answer:
                differ.add(row_id)
    return np.array(sorted(differ), np.int64)


def _own_answers(connection: sa.Connection, origin: Origin | None) -> dict[int, Answer]:
    decided, labelled = schema.annotations.c, schema.annotation_labels.c
    none = sa.select(decided.row_id).where(decided.decision == "none", is_seen(decided.row_id))
    listed = sa.func.group_concat(labelled.label_id)
    found = (
        sa.select(labelled.row_id, listed)
        .where(labelled.label_id.in_(active_ids()), is_seen(labelled.row_id))
        .group_by(labelled.row_id)
    )
    if origin is not None:
        none = none.where(decided.origin == origin.value)
        of_row = sa.select(decided.origin).where(decided.row_id == labelled.row_id).scalar_subquery()
        found = found.where(of_row == origin.value)  # a list of such rows is far slower
    own: dict[int, Answer] = dict.fromkeys(connection.execute(none).scalars(), frozenset())
    known: dict[str, Answer] = {}  # few different ones: made once
    for row_id, labels in connection.execute(found):
        answer = known.get(labels)
        if answer is None:
            answer = known[labels] = frozenset(map(int, labels.split(",")))
        own[row_id] = answer
    return dict(sorted(own.items()))


def _wordings(connection: sa.Connection) -> dict[str, int]:
    """Return the labels in use by each of their wordings; a name goes before another's synonym."""
    label_set = active_set(connection)
    labels = label_set.labels if label_set else ()
    known = {label_key(word): label.id for label in labels if label.id for word in label.synonyms}
    return known | {label_key(label.name): label.id for label in labels if label.id}


def _get(connection: sa.Connection, coder_id: int) -> Coder:
    found = [coder for coder in list_all(connection) if coder.id == coder_id]
    if not found:
        raise KeyError(coder_id)
    return found[0]
