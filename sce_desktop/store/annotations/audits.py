"""Random samples of rows, apart from all else that was decided: claims about the table rest on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import sqlalchemy as sa

from sce_desktop.core.annotations import Audit, ChangeKind
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import ngettext
from sce_desktop.store.annotations import decisions, history
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.sql import Ids, fetch_ids, insert, last_row_id, now

_audits = schema.audits
_rows = schema.audit_rows


def create(
    connection: sa.Connection,
    row_ids: Ids,
    seed: int,
    *,
    frame_ids: Ids | None,
    blind: bool,
    clear_ids: Ids = (),
) -> Audit:
    """Keep a sample in the order in which it was drawn. See `Project.create_audit`."""
    chosen = np.asarray(row_ids, np.int64)
    last = connection.execute(sa.select(last_row_id())).scalar_one()
    if frame_ids is None:
        with_text = sa.select(schema.rows.c.id).where(
            schema.rows.c.blank == sa.false(), schema.rows.c.id <= last
        )
        frame = fetch_ids(connection, with_text)
    else:
        frame = np.asarray(frame_ids, np.int64)
    if not len(chosen) or len(np.unique(chosen)) != len(chosen):
        raise ValueError("a sample has rows, each of them once")
    if not np.isin(chosen, frame).all() or frame.min() < 1 or frame.max() > last:
        raise ValueError("no such row in what the sample is drawn from")
    bits = np.zeros(last, bool)
    bits[frame - 1] = True
    audit_id = insert(
        connection,
        _audits,
        seed=seed,
        blind=blind,
        created_at=now(),
        removed=False,
        frame=np.packbits(bits).tobytes(),
    )
    raw(connection).executemany(
        "INSERT INTO audit_rows (audit_id, place, row_id) VALUES (?, ?, ?)",
        [(audit_id, place, row_id) for place, row_id in enumerate(chosen.tolist())],
    )
    action = history.begin(
        connection,
        ChangeKind.AUDIT,
        ngettext("Draw {count} row at random", "Draw {count} rows at random", len(chosen)),
    )
    history.record_removal(connection, action, _audits, audit_id)
    decisions.clear(connection, clear_ids, join=action)
    return _audit(connection, connection.execute(_present().where(_audits.c.id == audit_id)).one())


def list_all(connection: sa.Connection) -> tuple[Audit, ...]:
    """Return all samples, oldest first."""
    return tuple(_audit(connection, found) for found in connection.execute(_present().order_by(_audits.c.id)))


def rows(connection: sa.Connection, audit_id: int) -> IdArray:
    """Return the rows (n,) of a sample in the order in which they were drawn. KeyError if there is none."""
    _get(connection, audit_id)
    return fetch_ids(
        connection, sa.select(_rows.c.row_id).where(_rows.c.audit_id == audit_id).order_by(_rows.c.place)
    )


def frame(connection: sa.Connection, audit_id: int) -> IdArray:
    """Return the rows (n,) that a sample was drawn from, in file order. KeyError if there is none."""
    return _unpacked(_get(connection, audit_id).frame)


def _present() -> sa.Select[Any]:
    return sa.select(_audits).where(_audits.c.removed == sa.false())


def _get(connection: sa.Connection, audit_id: int) -> sa.Row[Any]:
    found = connection.execute(_present().where(_audits.c.id == audit_id)).one_or_none()
    if found is None:
        raise KeyError(audit_id)
    return found


def _unpacked(packed: bytes) -> IdArray:
    ids: IdArray = np.flatnonzero(np.unpackbits(np.frombuffer(packed, np.uint8))) + 1
    return ids


def _audit(connection: sa.Connection, found: sa.Row[Any]) -> Audit:
    count = sa.select(sa.func.count()).where(_rows.c.audit_id == found.id)
    size = connection.execute(count).scalar_one()
    return Audit(found.id, found.seed, size, len(_unpacked(found.frame)), found.blind, found.created_at)
