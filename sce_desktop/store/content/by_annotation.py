"""The order by your label: decided rows by the place of their label in the label set."""

from __future__ import annotations

import numpy as np
import sqlalchemy as sa

from sce_desktop.core.annotations import Decision
from sce_desktop.core.arrays import IdArray
from sce_desktop.store.annotations.label_sets import active_set
from sce_desktop.store.file import schema
from sce_desktop.store.sql import fetch_columns, fetch_ids, is_seen


def by_annotation(connection: sa.Connection, *, descending: bool = False) -> IdArray:
    """Return the decided rows (n,) by the first of their labels in use, then "none of these", then skipped.

    Rows of equal place are in file order, also where ``descending``. Sorted here: SQLite takes four times as
    long to sort as to list them.
    """
    label_set = active_set(connection)
    used = [label.id for label in label_set.labels if label.id is not None] if label_set else []
    decided, of_row = schema.annotations.c, schema.annotation_labels.c
    labelled = sa.select(of_row.row_id, of_row.label_id).where(is_seen(of_row.row_id))
    ids, labels = fetch_columns(connection, labelled, (np.int64, np.int64))
    place_of = np.full(max([*used, int(labels.max(initial=0))]) + 1, -1, np.int64)
    place_of[used] = np.arange(len(used))
    places = place_of[labels]
    ids, places = ids[places >= 0], places[places >= 0]
    found, at = [ids], [places]
    for place, decision in enumerate((Decision.NONE, Decision.SKIPPED), start=len(used)):
        bare = sa.select(decided.row_id).where(decided.decision == decision.value, is_seen(decided.row_id))
        found.append(fetch_ids(connection, bare))
        at.append(np.full(len(found[-1]), place, np.int64))
    ids, places = np.concatenate(found), np.concatenate(at)
    order = np.lexsort((places, ids))  # of several labels the first counts
    ids, places = ids[order], places[order]
    first = np.ones(len(ids), bool)
    first[1:] = ids[1:] != ids[:-1]
    ids, places = ids[first], places[first]
    result: IdArray = ids[np.argsort(-places if descending else places, kind="stable")]
    return result
