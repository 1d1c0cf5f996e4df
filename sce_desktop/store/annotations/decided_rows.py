"""What people decided about many rows: each kind of decision once, and which row has which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.annotations import Annotation, Decision, Origin
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.giving_way import giving_way
from sce_desktop.store.annotations.label_sets import active_set
from sce_desktop.store.file.connections import raw
from sce_desktop.store.rules.records import checked
from sce_desktop.store.sql import LAST_ROW, Ids, among

_DECISIONS: Final = {kind.value: kind for kind in Decision}
_ORIGINS: Final = {origin.value: origin for origin in Origin}
_FETCH = f"""
    SELECT row_id, decision, origin, decided_at, queue,
        (SELECT group_concat(label_id) FROM annotation_labels AS l WHERE l.row_id = a.row_id)
    FROM annotations AS a WHERE row_id <= {LAST_ROW} AND"""
_FETCHED: Final = ("row_id", "decision", "origin", "decided_at", "queue")


@dataclass(frozen=True, slots=True, eq=False)
class DecidedRows:
    """What people decided about rows: ``kinds`` of decisions, each once, without row and moment.

    ``codes`` (m,) say which each of ``row_ids`` (m,) has, ``moments`` (m,) when it was decided.
    """

    row_ids: IdArray
    kinds: Sequence[Annotation]
    codes: NDArray[np.int32]
    moments: Sequence[str]


def fetch(connection: sa.Connection, row_ids: Ids) -> DecidedRows:
    """Return the decisions about ``row_ids``, without the undecided ones; see `decisions.fetch`."""
    condition, parameters = among("row_id", row_ids)
    records = checked(
        "annotations", _FETCHED, raw(connection).execute(f"{_FETCH} {condition}", parameters).fetchall()
    )
    if not records:
        return DecidedRows(np.empty(0, np.int64), (), np.empty(0, np.int32), ())
    label_set = active_set(connection)
    places = {label.id: at for at, label in enumerate(label_set.labels)} if label_set else {}
    ids, decisions, origins, moments, queues, listed = zip(*records, strict=True)
    known: dict[tuple[Any, ...], int] = {}
    asked = zip(decisions, origins, queues, listed, strict=True)
    codes = np.array([known.setdefault(kind, len(known)) for kind in giving_way(asked)], np.int32)
    kinds = []
    for decision, origin, queue, labels in known:
        mine = [label_id for label_id in map(int, labels.split(",") if labels else ()) if label_id in places]
        label_ids = tuple(sorted(mine, key=places.__getitem__))
        kinds.append(Annotation(0, _DECISIONS[decision], label_ids, _ORIGINS[origin], "", queue))
    in_use = np.array([kind.decision is not Decision.LABEL or bool(kind.label_ids) for kind in kinds])[codes]
    found = DecidedRows(np.array(ids, np.int64), tuple(kinds), codes, moments)
    if in_use.all():
        return found
    return DecidedRows(found.row_ids[in_use], found.kinds, codes[in_use], list(compress(moments, in_use)))
