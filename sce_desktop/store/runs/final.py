"""Final labels: who gives each row its one answer, an annotator, the model or nobody yet."""

from __future__ import annotations

from typing import Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core import scoring
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.query import FinalSource, RowState
from sce_desktop.store.annotations import decisions
from sce_desktop.store.annotations.label_sets import active_set
from sce_desktop.store.content.rows import counts
from sce_desktop.store.file import schema
from sce_desktop.store.file.database import raw
from sce_desktop.store.runs import runs
from sce_desktop.store.runs.scored import ScoredRuns
from sce_desktop.store.sql import fetch_ids, last_row_id

SOURCES: Final = (FinalSource.NONE, FinalSource.ANNOTATOR, FinalSource.MODEL)
"""What the codes of `sources` stand for."""


def sources(
    connection: sa.Connection, run_id: int | None, threshold: float | None, scored: ScoredRuns
) -> tuple[IdArray, IdArray]:
    """Return ids (n,) and codes (n,) of the rows with text, in file order; see `Project.final_sources`.

    An annotation counts, accepted or imported as well. A skipped row waits for somebody else: no model labels
    it. Nor does it where it says that no label fits, which is no answer to give unseen.
    """
    last = connection.execute(sa.select(last_row_id())).scalar_one()
    ids = _with_text(connection, last)
    codes = np.zeros(last + 1, np.int64)
    if run_id is not None:
        codes[_by_model(connection, run_id, last, threshold, scored)] = SOURCES.index(FinalSource.MODEL)
    codes[fetch_ids(connection, decisions.ids_decided())] = 0
    for state in (RowState.LABELLED, RowState.NONE):
        codes[fetch_ids(connection, decisions.ids_in_state(state))] = SOURCES.index(FinalSource.ANNOTATOR)
    return ids, codes[ids]


def _with_text(connection: sa.Connection, last: int) -> IdArray:
    """Return the rows with text, in file order: all rows but for the few that are blank."""
    row, known = schema.rows.c, counts(connection)
    if known.rows != last:  # a repaired project has gaps
        some = sa.select(row.id).where(row.blank == sa.false(), row.id <= last)
        return np.sort(fetch_ids(connection, some))
    has_text = np.ones(last + 1, bool)
    has_text[0] = False
    if known.blank:
        has_text[fetch_ids(connection, sa.select(row.id).where(row.blank == sa.true(), row.id <= last))] = (
            False
        )
    return np.flatnonzero(has_text)


def _by_model(
    connection: sa.Connection, run_id: int, last: int, threshold: float | None, scored: ScoredRuns
) -> IdArray:
    """Return the rows to which a run gives a label in use with enough confidence."""
    run, said = runs.get(connection, run_id), scored.get(connection, run_id)
    if threshold is None:
        (threshold,) = raw(connection).execute("SELECT threshold FROM project").fetchone()
    label_set = active_set(connection)
    used = {label.id for label in label_set.labels} if label_set else set()
    places = [place for place, label in enumerate(run.labels) if label.id in used]
    ids = said.ids(last)
    confidence = said.confidence[ids]
    threshold = None if threshold is None else np.float64(threshold)  # compared as such
    none = scoring.none_fits(confidence, said.none[ids], threshold=threshold, multi_label=run.multi_label)
    return ids[(confidence >= np.float64(threshold or 0)) & ~none & np.isin(said.top[ids], places)]


def by_source(
    connection: sa.Connection, source: FinalSource, run_id: int | None, last: int, scored: ScoredRuns
) -> NDArray[np.bool_]:
    """Return by row id, from 0 to ``last``, which rows have their final label from ``source``."""
    ids, codes = sources(connection, run_id, None, scored)
    result = np.zeros(last + 1, bool)
    result[ids[codes == SOURCES.index(source)]] = True
    return result
