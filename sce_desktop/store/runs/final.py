"""Final labels: who gives each row its one answer, an annotator, the model or nobody yet."""

from __future__ import annotations

from typing import Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray, at_least, counted, looked_up, true_places
from sce_desktop.core.query import FinalSource, RowState
from sce_desktop.store.annotations import decisions
from sce_desktop.store.annotations.label_sets import active_set
from sce_desktop.store.content.rows import counts
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.runs import runs
from sce_desktop.store.runs.scored import ScoredRuns
from sce_desktop.store.sql import fetch_ids, last_row_id

SOURCES: Final = (FinalSource.NONE, FinalSource.ANNOTATOR, FinalSource.MODEL)
"""What the codes of `sources` stand for."""
_NO_TEXT: Final = 255

Codes = NDArray[np.uint8]


def sources(
    connection: sa.Connection, run_id: int | None, threshold: float | None, scored: ScoredRuns
) -> tuple[IdArray, Codes]:
    """Return ids (n,) and codes (n,) of the rows with text, in file order; see `Project.final_sources`."""
    last = connection.execute(sa.select(last_row_id())).scalar_one()
    codes = _by_row(connection, run_id, last, threshold, scored)
    ids = true_places(codes != _NO_TEXT)
    return ids.astype(np.int64), codes[ids]


def source_counts(
    connection: sa.Connection, run_id: int | None, scored: ScoredRuns
) -> dict[FinalSource, int]:
    """Return how many rows with text have their final label from each source."""
    last = connection.execute(sa.select(last_row_id())).scalar_one()
    sizes = counted(_by_row(connection, run_id, last, None, scored), _NO_TEXT + 1)
    return {source: int(sizes[code]) for code, source in enumerate(SOURCES)}


def by_source(
    connection: sa.Connection, source: FinalSource, run_id: int | None, last: int, scored: ScoredRuns
) -> NDArray[np.bool_]:
    """Return by row id, from 0 to ``last``, which rows have their final label from ``source``."""
    result: NDArray[np.bool_] = _by_row(connection, run_id, last, None, scored) == SOURCES.index(source)
    return result


def _by_row(
    connection: sa.Connection, run_id: int | None, last: int, threshold: float | None, scored: ScoredRuns
) -> Codes:
    """Return the code of each row by its id, from 0 to ``last``; `_NO_TEXT` where there is none to label.

    An annotation counts, accepted or imported as well. A skipped row waits for somebody else: no model labels
    it. Nor does it where it says that no label fits, which is no answer to give unseen.
    """
    codes = np.zeros(last + 1, np.uint8)
    if run_id is not None:
        by_model = _by_model(connection, run_id, last, threshold, scored)
        np.multiply(by_model, np.uint8(SOURCES.index(FinalSource.MODEL)), out=codes[: len(by_model)])
    codes[fetch_ids(connection, decisions.ids_in_state(RowState.SKIPPED))] = 0
    for answered in (decisions.ids_labelled(), decisions.ids_in_state(RowState.NONE)):
        codes[fetch_ids(connection, answered)] = SOURCES.index(FinalSource.ANNOTATOR)
    row, known = schema.rows.c, counts(connection)
    if known.rows != last:  # a repaired project has gaps
        some = sa.select(row.id).where(row.blank == sa.false(), row.id <= last)
        has_text = np.zeros(last + 1, bool)
        has_text[fetch_ids(connection, some)] = True
        codes[~has_text] = _NO_TEXT
    elif known.blank:
        blank = sa.select(row.id).where(row.blank == sa.true(), row.id <= last)
        codes[fetch_ids(connection, blank)] = _NO_TEXT
    codes[0] = _NO_TEXT
    return codes


def _by_model(
    connection: sa.Connection, run_id: int, last: int, threshold: float | None, scored: ScoredRuns
) -> NDArray[np.bool_]:
    """Return by row id to which rows a run gives a label in use with enough confidence."""
    run, said = runs.get(connection, run_id), scored.get(connection, run_id)
    if threshold is None:
        (threshold,) = raw(connection).execute("SELECT threshold FROM project").fetchone()
    label_set = active_set(connection)
    used = {label.id for label in label_set.labels} if label_set else set()
    in_use = np.array([*(label.id in used for label in run.labels), False])  # -1, no score, is at the end
    result: NDArray[np.bool_] = looked_up(in_use, said.top[: last + 1])
    if threshold:
        result &= said.confidence[: last + 1] >= at_least(threshold)
    result &= ~said.unfitting(threshold, multi_label=run.multi_label)[: last + 1]
    return result
