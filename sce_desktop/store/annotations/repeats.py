"""Rows that the user labelled a second time without seeing the first label.

Each second answer is kept as an annotator of its own with one row: it replaces nothing, nothing learns from
it, and undo, redo, repair and the end of the history treat it as they treat every annotator. Its source holds
the first answer as it was then, in JSON: later the row may be relabelled.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import sqlalchemy as sa

from sce_desktop.core.annotations import ChangeKind, Decision, Origin
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import N_, _, number
from sce_desktop.store.annotations import history
from sce_desktop.store.annotations.coders import REPEAT, Answer, is_repeat, resolver
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.repair.stored import is_moment
from sce_desktop.store.sql import LAST_ROW, fetch_ids, insert, is_seen, now

NAME: Final = N_("You (repeat)")
_coders = schema.coders
_answers = schema.other_annotations


@dataclass(frozen=True, slots=True)
class Repeat:
    """A row that was labelled twice. Answers are as those of `coders`: nothing is none of these."""

    row_id: int
    first: Answer
    second: Answer
    at: str  # ISO 8601, UTC: when the second answer was given


def add(connection: sa.Connection, row_id: int, label_ids: Sequence[int]) -> None:
    """Keep a second answer about a row that was labelled by hand; no label: none of these. Undoable.

    Raises:
        ValueError: The row has no answer by hand, or a label is not in use.
    """
    names: dict[int, str] = dict(
        connection.execute(
            sa.select(schema.labels.c.id, schema.labels.c.name).where(schema.labels.c.active)
        ).all()
    )
    wrong = [label_id for label_id in label_ids if label_id not in names]
    first = _first_answer(connection, row_id, names)
    if wrong or first is None:
        raise ValueError(f"row {row_id} cannot be labelled again")
    coder_id = insert(
        connection,
        _coders,
        name=_(NAME),
        source=REPEAT + json.dumps(first, ensure_ascii=False),
        created_at=now(),
        removed=False,
    )
    second: list[tuple[str, int | None]] = [(names[label_id], label_id) for label_id in label_ids]
    raw(connection).executemany(
        "INSERT INTO other_annotations (coder_id, row_id, label, label_id) VALUES (?, ?, ?, ?)",
        [(coder_id, row_id, name, label_id) for name, label_id in second or [("", None)]],
    )
    action = history.begin(connection, ChangeKind.CODER, _("Label row {row} again", row=number(row_id)))
    history.record_removal(connection, action, _coders, coder_id)


def _first_answer(
    connection: sa.Connection, row_id: int, names: dict[int, str]
) -> list[tuple[str, int]] | None:
    decided = schema.annotations.c
    found = connection.execute(
        sa.select(decided.decision).where(
            decided.row_id == row_id, decided.origin == Origin.HAND.value, is_seen(decided.row_id)
        )
    ).scalar()
    of = schema.annotation_labels.c
    ids = connection.execute(
        sa.select(of.label_id).where(of.row_id == row_id).order_by(of.label_id)
    ).scalars()
    first = [(names[label_id], label_id) for label_id in ids if label_id in names]
    return (
        None
        if found not in (Decision.LABEL, Decision.NONE) or (found == Decision.LABEL and not first)
        else first
    )


def list_all(connection: sa.Connection) -> list[Repeat]:
    """Return every second answer, oldest first; of a row there may be several."""
    found: dict[int, Repeat] = {}
    statement = (
        sa.select(
            _coders.c.id,
            _coders.c.source,
            _coders.c.created_at,
            _answers.c.row_id,
            _answers.c.label,
            _answers.c.label_id,
        )
        .join(_answers, _answers.c.coder_id == _coders.c.id)
        .where(is_repeat(), _coders.c.removed == sa.false())
        .order_by(_coders.c.id, _answers.c.label)
    )
    resolved = resolver(connection)
    for coder_id, source, at, row_id, word, label_id in connection.execute(statement):
        second: Answer = frozenset([resolved(word, label_id)] if word else [])
        if coder_id in found:
            found[coder_id] = replace(found[coder_id], second=found[coder_id].second | second)
        elif (first := _parsed(source)) is not None:
            known = frozenset(resolved(name, known_id) for name, known_id in first)
            found[coder_id] = Repeat(row_id, known, second, at)
    return list(found.values())


def _parsed(source: str) -> list[tuple[str, int]] | None:
    """Return the words and ids of a first answer, None where somebody else's file is called so."""
    try:
        stored: Any = json.loads(source.removeprefix(REPEAT))
        return [(str(word), int(label_id)) for word, label_id in stored]
    except (ValueError, TypeError, RecursionError, OverflowError):  # the last: an infinite number
        return None


def repeatable(connection: sa.Connection, *, least_after: int) -> IdArray:
    """Return the rows (n,) that may come again, in the order in which they were labelled, oldest first.

    They were labelled by hand, and ``least_after`` rows at least have been labelled since; none of them has
    come again before.
    """
    decided = schema.annotations.c
    repeated = (
        sa.select(_answers.c.row_id)
        .join(_coders, _coders.c.id == _answers.c.coder_id)
        .where(is_repeat(), _coders.c.removed == sa.false())
    )
    own = sa.select(decided.row_id, decided.decided_at).where(
        decided.origin == Origin.HAND.value,
        decided.decision.in_((Decision.LABEL.value, Decision.NONE.value)),
        is_seen(decided.row_id),
    )
    latest = (
        own.order_by(decided.decided_at.desc(), decided.row_id.desc())
        .limit(-1)
        .offset(least_after)
        .subquery()
    )
    ids = sa.select(latest.c.row_id).where(latest.c.row_id.not_in(repeated))
    return fetch_ids(connection, ids.order_by(latest.c.decided_at, latest.c.row_id))


def moments(connection: sa.Connection, *, since: str = "") -> list[tuple[str, bool]]:
    """Return when rows were decided by hand, from ``since`` on, unordered, and whether each got an answer."""
    found = raw(connection).execute(
        "SELECT decided_at, decision != 'skipped' FROM annotations"
        f" WHERE origin = 'hand' AND decided_at >= ? AND row_id <= {LAST_ROW}",
        (since,),
    )
    return [(at, bool(labelled)) for at, labelled in found if is_moment(at)]
