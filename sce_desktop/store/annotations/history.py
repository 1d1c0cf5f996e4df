"""The log of what the user did: every action can be undone and done again, also after a restart.

An action keeps the other side of what it touches, so undoing and doing again are one thing: the project and
the action change places. Actions are undone newest first, hence all that an action touches is as it left it
when its turn comes. A new action drops what was undone before it.

Of the history the newest `KEPT_ACTIONS` stay, and no more than hold `KEPT_ROWS` rows together; the newest
action always stays. It is cut back when it is a tenth longer than that, not at every decision.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import sqlalchemy as sa

from sce_desktop.core.annotations import Change, ChangeKind, Label, LabelSet
from sce_desktop.core.i18n import N_, _, ngettext
from sce_desktop.core.progress import Progress
from sce_desktop.store.annotations import label_sets
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.rules.records import checked, malformed
from sce_desktop.store.rules.relations import relation
from sce_desktop.store.runs import versions
from sce_desktop.store.sql import Ids, json_ids, now

KEPT_ACTIONS: Final = 1_000
KEPT_ROWS: Final = 1_000_000
_MOST_ROW_IDS: Final = 1_000
BASE_MODEL: Final = N_("Use the base model")
IMPORTED: Final = N_("Import annotations")
_AHEAD: Final = 1_000_000  # more actions than there can be while rows come in
_SWEPT: Final = 1_000  # records in one transaction, which a decision may have to wait for
_KEPT: Final = tuple(schema.row_changes.columns.keys())
_CHECKED: Final = 5_000  # records that are looked at at once
_actions = schema.actions

_RECORD: Final = """
    INSERT OR IGNORE INTO row_changes
        (action_id, row_id, decision, origin, decided_at, queue, labels, unsure, flag, note)
    SELECT :action, ids.value, a.decision, a.origin, a.decided_at, a.queue,
        (SELECT group_concat(label_id) FROM annotation_labels WHERE row_id = a.row_id),
        m.unsure, m.flag, m.note
    FROM {ids} AS ids
        LEFT JOIN annotations AS a ON a.row_id = ids.value
        LEFT JOIN marks AS m ON m.row_id = ids.value"""
_RANGE: Final = "action_id = :of AND row_id > :after AND row_id <= :last"
_OF_ACTION: Final = f"(SELECT row_id AS value FROM row_changes WHERE {_RANGE})"
_RESTORE: Final = (
    f"DELETE FROM annotation_labels WHERE row_id IN (SELECT row_id FROM row_changes WHERE {_RANGE})",
    f"DELETE FROM annotations WHERE row_id IN (SELECT row_id FROM row_changes WHERE {_RANGE})",
    f"DELETE FROM marks WHERE row_id IN (SELECT row_id FROM row_changes WHERE {_RANGE})",
    "INSERT INTO annotations (row_id, decision, origin, decided_at, queue)"
    " SELECT row_id, decision, origin, decided_at, queue FROM row_changes"
    f" WHERE {_RANGE} AND decision IS NOT NULL",
    "INSERT INTO annotation_labels (row_id, label_id) SELECT row_id, l.value"
    " FROM row_changes AS c, json_each('[' || c.labels || ']') AS l"
    f" WHERE {_RANGE} AND c.labels IS NOT NULL",
    "INSERT INTO marks (row_id, unsure, flag, note) SELECT row_id, unsure, flag, note FROM row_changes"
    f" WHERE {_RANGE} AND note IS NOT NULL",
    f"DELETE FROM row_changes WHERE {_RANGE}",
    "UPDATE row_changes SET action_id = :of WHERE action_id = :aside AND row_id > :after AND row_id <= :last",
)
_TURNED: Final = 20_000  # rows that are turned by one round of these, in one transaction with all others


def begin(connection: sa.Connection, kind: ChangeKind, text: str, *, join: int | None = None) -> int:
    """Return the id of a new action, or ``join`` if that is still the newest one."""
    if join is not None and _next(connection, undone=False) == join and not _next(connection, undone=True):
        return join
    plain = raw(connection)
    dropped = plain.execute("DELETE FROM actions WHERE undone").rowcount > 0
    added = plain.execute(
        "INSERT INTO actions (kind, text, done_at, undone, rows) VALUES (?, ?, ?, 0, 0)",
        (kind.value, text, now()),
    )
    action = added.lastrowid
    assert action is not None
    count, rows = plain.execute("SELECT count(*), sum(rows) FROM actions").fetchone()
    if dropped or count > KEPT_ACTIONS + KEPT_ACTIONS // 10 or rows > KEPT_ROWS:
        _forget(plain, action)
    return action


def number_ahead(connection: sa.Connection) -> int:
    """Return a number for an action that is to be the newest one when `add_ahead` adds it.

    Until then what it keeps can be written under that number, in as many transactions as it takes.
    """
    numbers = "SELECT seq AS id FROM sqlite_sequence WHERE name = 'actions'"
    numbers += " UNION ALL SELECT max(action_id) FROM row_changes"
    (newest,) = raw(connection).execute(f"SELECT coalesce(max(id), 0) FROM ({numbers})").fetchone()
    return int(newest) + _AHEAD


def add_ahead(connection: sa.Connection, action: int, kind: ChangeKind, text: str, rows: int) -> None:
    """Add the action that a number of `number_ahead` was kept for; it keeps ``rows`` rows already.

    What drops out of the history by that is removed later, by `sweep`: this transaction is to be short.
    """
    plain = raw(connection)
    plain.execute("DELETE FROM actions WHERE undone")
    plain.execute(
        "INSERT INTO actions (id, kind, text, done_at, undone, rows) VALUES (?, ?, ?, ?, 0, ?)",
        (action, kind.value, text, now(), rows),
    )
    _forget_actions(plain, action)


def sweep(database: Database) -> None:
    """Remove what is kept for actions that are not there, in short transactions.

    Not while a number of `number_ahead` is in use.
    """
    with database.read() as connection:
        left = [action for (action,) in raw(connection).execute(_LEFT)]
    for action in left:
        removed = _SWEPT
        while removed == _SWEPT:
            with database.write_part() as connection:
                removed = (
                    raw(connection)
                    .execute(
                        "DELETE FROM row_changes WHERE action_id = ? AND row_id IN"
                        " (SELECT row_id FROM row_changes WHERE action_id = ? LIMIT ?)",
                        (action, action, _SWEPT),
                    )
                    .rowcount
                )


# From number to number, not along all records of each.
_LEFT: Final = """
    WITH RECURSIVE numbers (id) AS (
        SELECT min(action_id) FROM row_changes
        UNION ALL
        SELECT (SELECT min(action_id) FROM row_changes WHERE action_id > numbers.id)
        FROM numbers WHERE numbers.id IS NOT NULL)
    SELECT id FROM numbers WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM actions)"""


def record_rows(connection: sa.Connection, action: int, row_ids: Ids) -> int:
    """Let an action keep how rows are; called before it changes them. What it keeps already stays.

    Returns how many rows it keeps now.
    """
    parameters = {"action": action, "ids": json_ids(row_ids)}
    plain = raw(connection)
    added = plain.execute(_RECORD.format(ids="json_each(:ids)"), parameters).rowcount
    plain.execute("UPDATE actions SET rows = rows + ? WHERE id = ?", (added, action))
    return row_count(connection, action)


def record_labels(connection: sa.Connection, action: int, before: LabelSet | None) -> None:
    """Let an action keep the label set that was in use before it."""
    _record(connection, action, "label_set_id", before.id if before else 0)


def record_version(connection: sa.Connection, action: int, before: int | None) -> None:
    """Let an action keep the model version that was active before it."""
    _record(connection, action, "version_id", before or 0)


def forget_version(connection: sa.Connection, version_id: int) -> None:
    """Let no action promise a model version that is about to be deleted for good.

    What led to it leads to the base model, and says so. Actions that then change nothing are dropped.
    """
    active = versions.active(connection)

    def stands(version: int) -> int:
        return 0 if version == version_id else version

    for undone, order in ((False, _actions.c.id.desc()), (True, _actions.c.id.asc())):
        state = active.id if active else 0  # to it the newest action led, from it the next undone one leads
        of_versions = _actions.c.version_id.is_not(None) & (_actions.c.undone == undone)
        found = connection.execute(
            sa.select(_actions.c.id, _actions.c.version_id).where(of_versions).order_by(order)
        )
        for action, other in found.all():
            led_to = other if undone else state
            this = _actions.c.id == action
            if stands(other) == stands(state):
                connection.execute(_actions.delete().where(this))
            elif led_to == version_id:
                connection.execute(_actions.update().where(this).values(text=_(BASE_MODEL)))
            if other == version_id:
                connection.execute(_actions.update().where(this).values(version_id=0))
            state = other


def record_removal(connection: sa.Connection, action: int, owner: sa.Table, owner_id: int) -> None:
    """Let an action turn whether an audit or a coder is there."""
    _record(connection, action, _REMOVABLE[owner], owner_id)


def mark_part(connection: sa.Connection, action: int | None) -> None:
    """Let a bulk action be known as one that goes on, until `end_parts`: it may break off before."""
    _change_kind(connection, ChangeKind.BULK, ChangeKind.BULK_PART, action)


def end_parts(connection: sa.Connection) -> None:
    """Let every bulk action be one that is through."""
    _change_kind(connection, ChangeKind.BULK_PART, ChangeKind.BULK)


def parts(connection: sa.Connection) -> tuple[int, bool]:
    """Return how many rows unfinished bulk actions reached, and whether `undo` is of the last one."""
    newest = _next(connection, undone=False)
    found = raw(connection).execute(
        "SELECT coalesce(sum(rows), 0), coalesce(max(id), 0) FROM actions WHERE kind = ? AND NOT undone",
        (ChangeKind.BULK_PART.value,),
    )
    rows, last = found.fetchone()
    return rows, last == newest


def _change_kind(
    connection: sa.Connection, before: ChangeKind, after: ChangeKind, action: int | None = None
) -> None:
    raw(connection).execute(
        "UPDATE actions SET kind = ? WHERE kind = ? AND id = coalesce(?, id)",
        (after.value, before.value, action),
    )


def undo(connection: sa.Connection, progress: Progress) -> Change | None:
    """Take the newest action back and say what that changed; None if there is nothing to undo."""
    return _turn(connection, _next(connection, undone=False), progress, undone=True)


def redo(connection: sa.Connection, progress: Progress) -> Change | None:
    """Do again what was undone last and say what that changed; None if there is nothing to redo."""
    return _turn(connection, _next(connection, undone=True), progress, undone=False)


def text(connection: sa.Connection, *, undone: bool) -> str:
    """Return what would be undone or, with ``undone``, done again, in a few words; empty if nothing is."""
    action = _next(connection, undone=undone)
    return text_of(connection, action)


def size(connection: sa.Connection, *, undone: bool) -> int:
    """Return how many rows would be changed by undoing or, with ``undone``, by doing again."""
    action = _next(connection, undone=undone)
    found = raw(connection).execute("SELECT rows FROM actions WHERE id = ?", (action,)).fetchone()
    return 0 if found is None else int(found[0])


def text_of(connection: sa.Connection, action: int | None) -> str:
    """Return what menus call an action; empty if there is none."""
    found = raw(connection).execute("SELECT text FROM actions WHERE id = ?", (action,)).fetchone()
    return "" if found is None else str(found[0])


def row_count(connection: sa.Connection, action: int) -> int:
    """Return how many rows an action keeps."""
    (rows,) = raw(connection).execute("SELECT rows FROM actions WHERE id = ?", (action,)).fetchone()
    return int(rows)


def set_text(connection: sa.Connection, action: int, text: str) -> None:
    """Let menus call an action something else: more has joined it."""
    raw(connection).execute("UPDATE actions SET text = ? WHERE id = ?", (text, action))


_REMOVABLE: Final = {schema.audits: "audit_id", schema.coders: "coder_id"}


def _next(connection: sa.Connection, *, undone: bool) -> int | None:
    """Return the newest action that is done, or the oldest that is undone."""
    best = "min(id)" if undone else "max(id)"
    found: tuple[int | None] = (
        raw(connection).execute(f"SELECT {best} FROM actions WHERE undone = ?", (undone,)).fetchone()
    )
    return found[0]


def _record(connection: sa.Connection, action: int, column: str, value: int) -> None:
    kept = sa.func.coalesce(_actions.c[column], value)
    connection.execute(_actions.update().where(_actions.c.id == action).values({column: kept}))


def _turn(
    connection: sa.Connection, action: int | None, progress: Progress, *, undone: bool
) -> Change | None:
    """Let the project and an action change places."""
    if action is None:
        return None
    found = connection.execute(sa.select(_actions).where(_actions.c.id == action)).one()
    changed: dict[str, Any] = {"undone": undone}
    before = label_sets.active_set(connection)
    if found.rows:
        _swap_rows(connection, action, found.rows, progress)
    if found.label_set_id is not None:
        label_sets.use(connection, found.label_set_id or None)
        changed["label_set_id"] = before.id if before else 0
    if found.version_id is not None:
        active = versions.active(connection)
        kept = {version.id for version in versions.list_all(connection)}
        # A version that was deleted meanwhile cannot come back: the base model stands for it.
        versions.activate(connection, found.version_id if found.version_id in kept else None)
        changed["version_id"] = active.id if active else 0
    for owner, column in _REMOVABLE.items():
        if (owner_id := found._mapping[column]) is not None:
            is_it = owner.c.id == owner_id
            connection.execute(owner.update().where(is_it).values(removed=sa.not_(owner.c.removed)))
    connection.execute(_actions.update().where(_actions.c.id == action).values(changed))
    touched = "SELECT row_id FROM row_changes WHERE action_id = ? ORDER BY row_id LIMIT ?"
    return Change(
        kind=ChangeKind(found.kind),
        text=found.text,
        rows=found.rows,
        row_ids=tuple(row_id for (row_id,) in raw(connection).execute(touched, (action, _MOST_ROW_IDS))),
        labels=_edited(before, label_sets.active_set(connection)),
        label_set=found.label_set_id is not None,
    )


def _swap_rows(connection: sa.Connection, action: int, rows: int, progress: Progress) -> None:
    plain = raw(connection)
    _check_kept(plain, action)
    after, done = 0, 0
    while True:
        last, count = plain.execute(
            "SELECT max(row_id), count(*) FROM (SELECT row_id FROM row_changes"
            " WHERE action_id = ? AND row_id > ? ORDER BY row_id LIMIT ?)",
            (action, after, _TURNED),
        ).fetchone()
        if not count:
            return
        some = {"of": action, "aside": -action, "after": after, "last": last}
        plain.execute(_RECORD.format(ids=_OF_ACTION), {**some, "action": -action})
        for statement in _RESTORE:
            plain.execute(statement, some)
        after, done = last, done + count
        progress.report(done, rows)


def _check_kept(plain: sqlite3.Connection, action: int) -> None:
    """Raise `Malformed` if what an action keeps cannot be put back."""
    found = plain.execute(f"SELECT {', '.join(_KEPT)} FROM row_changes WHERE action_id = ?", (action,))
    while records := found.fetchmany(_CHECKED):
        checked("row_changes", _KEPT, records)
    for name in ("what can be undone has known labels", "what can be undone is complete"):
        row_id = relation(name).broken_in(plain, "action_id = ?", action)
        if row_id is not None:
            raise malformed("row_changes", "labels", row_id)


def _edited(before: LabelSet | None, after: LabelSet | None) -> tuple[int, ...]:
    old = {label.id: label for label in before.labels} if before else {}
    new = {label.id: label for label in after.labels} if after else {}
    return tuple(id_ for id_ in sorted({*old, *new} - {None}) if old.get(id_) != new.get(id_))  # type: ignore[type-var, misc]


def _forget(plain: sqlite3.Connection, newest: int) -> None:
    """Drop the oldest actions beyond what is kept, and all that belongs to no action any more."""
    _forget_actions(plain, newest)
    plain.execute("DELETE FROM row_changes WHERE action_id < (SELECT min(id) FROM actions)")
    # What was undone lies between the newest action that was kept and the new one.
    plain.execute(
        "DELETE FROM row_changes WHERE action_id > coalesce((SELECT max(id) FROM actions WHERE id < ?), 0)"
        " AND action_id < ?",
        (newest, newest),
    )
    for owner, column in _REMOVABLE.items():
        whole = " AND name != ''" if owner is schema.coders else ""  # others are on their way: `coders.add`
        plain.execute(
            f"DELETE FROM {owner.name} WHERE removed{whole} AND id NOT IN"
            f" (SELECT {column} FROM actions WHERE {column} IS NOT NULL)"
        )


def _forget_actions(plain: sqlite3.Connection, newest: int) -> None:
    plain.execute(
        "DELETE FROM actions WHERE id < ? AND id NOT IN (SELECT id FROM"
        " (SELECT id, sum(rows) OVER newer AS held, count(*) OVER newer AS place FROM actions"
        "  WINDOW newer AS (ORDER BY id DESC))"
        " WHERE held <= ? AND place <= ?)",
        (newest, KEPT_ROWS, KEPT_ACTIONS),
    )


def describe_labels(before: Sequence[Label], after: Sequence[Label]) -> str:
    """Say in a few words how one list of labels became the other."""
    old, new = ({label.id: label for label in labels} for labels in (before, after))
    added = [new[id_].name for id_ in new if id_ not in old]
    gone = [old[id_].name for id_ in old if id_ not in new]
    both = [(old[id_], new[id_]) for id_ in new if id_ in old]
    # A colour where an older program stored none is given by us, and no edit.
    edited = [(was, is_) for was, is_ in both if replace(was, colour=was.colour or is_.colour) != is_]
    match (added, gone, edited):
        case ([name], [], []):
            return _("Add label “{name}”", name=name)
        case ([_, *_], [], []):
            return ngettext("Add {count} label", "Add {count} labels", len(added))
        case ([], [name], []):
            return _("Remove label “{name}”", name=name)
        case ([], [_, *_], []):
            return ngettext("Remove {count} label", "Remove {count} labels", len(gone))
        case ([], [], [(was, now_)]) if was.name != now_.name:
            return _("Rename “{old}” to “{new}”", old=was.name, new=now_.name)
        case ([], [], [(was, _)]):
            return _("Edit label “{name}”", name=was.name)
        case ([], [], [_, *_]):
            return ngettext("Edit {count} label", "Edit {count} labels", len(edited))
        case ([], [], []) if list(old) != list(new):
            return _("Reorder labels")
    return _("Change labels")
