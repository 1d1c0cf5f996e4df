"""What the map shows, read in workers: places, answers and predictions, all as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sce_desktop.controllers.review_work import NO_VECTORS
from sce_desktop.core.annotations import NO_LABEL
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Run

if TYPE_CHECKING:
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.insight.map import Method, RowMap
    from sce_desktop.tasks.scoring.vectors import KnownVectors

UNKNOWN = -2
"""Stands where a label's id would, as `NO_LABEL` and `SKIPPED` do: undecided, or not scored."""


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """About each row of the map (n,): a person's label, the model's, and whether the table shows it."""

    answers: IdArray
    predicted: IdArray
    shown: NDArray[np.bool_]


def lay_out(project: Project, known: KnownVectors | None, method: Method, *, progress: Progress) -> RowMap:
    """Find the places of all rows with a vector."""
    from sce_desktop.tasks.insight.map import map_rows

    if known is None:
        raise UserError(NO_VECTORS)
    return map_rows(project, known, method, progress=progress)


def facts(
    project: Project, row_ids: IdArray, run: Run | None, query: RowQuery | None, *, progress: Progress
) -> Facts:
    """Read what is known about ``row_ids`` (n,), in file order; without ``query`` all of them are shown."""
    with project.snapshot():
        return _facts(project, row_ids, run, query, progress)


def _facts(
    project: Project, row_ids: IdArray, run: Run | None, query: RowQuery | None, progress: Progress
) -> Facts:
    answers = answers_of(project, row_ids, None, progress=progress)
    predicted = np.full(len(row_ids), UNKNOWN)
    if run is not None:
        scores = project.run_arrays(run.id)
        label_ids = np.array([*(label.id or UNKNOWN for label in run.labels), UNKNOWN], np.int64)
        places = np.full(len(row_ids), -1, np.int32)
        _put(places, row_ids, scores.row_ids, scores.top)
        predicted = label_ids[places]
        unfitting = project.unfitting_ids(run.id)
        _put(predicted, row_ids, unfitting, np.full(len(unfitting), NO_LABEL))
    progress.check()
    if query is None:
        return Facts(answers, predicted, np.ones(len(row_ids), bool))
    shown = np.isin(row_ids, project.row_ids(query, compact=True))
    return Facts(answers, predicted, shown)


def answers_of(
    project: Project, row_ids: IdArray, changed: list[int] | None, *, progress: Progress
) -> IdArray:
    """Return a person's answers (n,) about ``row_ids``, the first of several labels.

    With ``changed`` only those rows are asked for, and the others are `UNKNOWN`.
    """
    progress.check()
    found = project.answers(changed)
    rows, first = np.unique(found.row_ids, return_index=True)
    answers = np.full(len(row_ids), UNKNOWN)
    _put(answers, row_ids, rows, found.label_ids[first])
    return answers


def _put(target: NDArray[Any], row_ids: IdArray, rows: IdArray, values: NDArray[Any]) -> None:
    """Write ``values`` of ``rows`` into ``target``, which is about ``row_ids``; both are in file order."""
    if not len(row_ids):
        return
    if len(rows) > len(row_ids):
        at = np.minimum(np.searchsorted(rows, row_ids.astype(rows.dtype)), len(rows) - 1)
        there = rows[at] == row_ids
        target[there] = values[at[there]]
        return
    at = np.minimum(np.searchsorted(row_ids, rows), len(row_ids) - 1)
    there = row_ids[at] == rows
    target[at[there]] = values[there]
