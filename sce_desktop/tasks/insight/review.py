"""What a review looks up in many rows or does to them: predictions accepted, values, thresholds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import ACCEPTED, Origin, Row
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.core.readings import ColumnValues
from sce_desktop.core.runs import Run
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.evidence import learned_rows
from sce_desktop.tasks.insight.bulk import BulkOutcome, decide_all, sampled_rows
from sce_desktop.tasks.one_state import one_state

EXAMPLES: Final = 10


@dataclass(frozen=True, slots=True, eq=False)
class Acceptance:
    """Undecided rows whose prediction is confident enough. ``given`` (m, K) says which labels each gets."""

    run: Run
    row_ids: IdArray  # (m,) in file order
    given: NDArray[np.bool_]
    probabilities: FloatArray  # (m, K)

    def __len__(self) -> int:
        return len(self.row_ids)

    @property
    def counts(self) -> dict[int, int]:
        """How many rows each label gets, by label id; those that get none are left out."""
        sums = self.given.sum(axis=0).tolist()
        return {
            label.id: count
            for label, count in zip(self.run.labels, sums, strict=True)
            if count and label.id is not None
        }

    def labels_of(self, place: int) -> tuple[int, ...]:
        """The ids of the labels that the row at ``place`` gets."""
        ids = [self.run.labels[int(column)].id for column in np.flatnonzero(self.given[place])]
        return tuple(label_id for label_id in ids if label_id is not None)


@one_state
def acceptable(project: Project, run: Run, query: RowQuery, confidence: float) -> Acceptance:
    """Return the undecided rows of ``query`` with a prediction of at least ``confidence``.

    With several labels a row, every label with a probability that high is taken. Rows of a random sample are
    left out: they are decided by a person, or they prove nothing. So are rows that no label
    fits, as the model says, and labels that are not in use any more.
    """
    ids, matrix = project.run_matrix(run.id)
    wanted = np.isin(ids, project.row_ids(query))
    open_ids = project.row_ids(RowQuery(state=RowState.UNLABELLED, blank=False))
    wanted &= np.isin(ids, open_ids)
    wanted &= ~np.isin(ids, sampled_rows(project))
    wanted &= ~np.isin(ids, project.unfitting_ids(run.id))
    ids, matrix = ids[wanted], matrix[wanted]
    label_set = project.label_set()
    used = {label.id for label in label_set.labels} if label_set else set()
    given = matrix >= confidence
    if not run.multi_label:
        best = np.zeros_like(given)
        best[np.arange(len(matrix)), matrix.argmax(axis=1)] = True
        given &= best
    given &= np.array([label.id in used for label in run.labels])
    kept = given.any(axis=1)
    return Acceptance(run, ids[kept], given[kept], matrix[kept])


def examples(
    project: Project, found: Acceptance, *, seed: int = 0
) -> list[tuple[Row, tuple[int, ...], float]]:
    """Return ten rows of ``found`` at random, the labels they get and the least of their probabilities."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.permutation(len(found))[:EXAMPLES])
    rows = project.rows(found.row_ids[places])
    return [
        (row, found.labels_of(place), float(found.probabilities[place][found.given[place]].min()))
        for row, place in zip(rows, places.tolist(), strict=True)
    ]


def accept(project: Project, found: Acceptance, *, queue: str = ACCEPTED, progress: Progress) -> BulkOutcome:
    """Give every row of ``found`` its labels (see `bulk.decide_all`).

    They count as decided in bulk: figures and exports keep them apart from what a person looked at.
    """
    wanted = {row_id: found.labels_of(place) for place, row_id in enumerate(found.row_ids.tolist())}
    return decide_all(project, wanted, queue=queue, progress=progress)


@one_state
def column_values(
    project: Project, column: int, query: RowQuery, *, most: int, containing: str = "", progress: Progress
) -> ColumnValues:
    """Return the commonest ``most`` values of a column among the rows that the other filters leave.

    Args:
        project: Whose rows.
        column: 0-based place in its columns.
        query: The filters; the one by ``column`` does not count.
        most: Values that are listed.
        containing: Only values that contain this, letter case aside.
        progress: Asked between the steps whether to go on.
    """
    others = replace(query, cells=tuple(cell for cell in query.cells if cell.column != column))
    ids = project.row_ids(replace(others, order=RowOrder.FILE, order_column=None))
    progress.check()
    values, count = project.cell_counts(column, ids, most=most, containing=containing, progress=progress)
    return ColumnValues(tuple(values), count, project.reading(column).kind)


@one_state
def threshold_facts(project: Project, run: Run) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return what a threshold can be judged by.

    Returns:
        The confidence (n,) of every scored row, and of the m rows that a person decided by hand and the
        model has not learned from, with whether its best label is (one of) theirs (m,).
    """
    _, learned = learned_rows(project, [run.alias])
    arrays = project.run_arrays(run.id)
    decided = project.row_ids(RowQuery(state=RowState.LABELLED, blank=False))
    none = project.row_ids(RowQuery(state=RowState.NONE, blank=False))
    wanted = np.isin(arrays.row_ids, np.concatenate([decided, none])) & ~np.isin(arrays.row_ids, learned)
    found = project.annotations(arrays.row_ids[wanted])
    known, right = [], []
    for place in np.flatnonzero(wanted).tolist():
        annotation = found.get(int(arrays.row_ids[place]))
        if annotation is not None and annotation.origin is Origin.HAND:
            known.append(place)
            right.append(run.labels[int(arrays.top[place])].id in annotation.label_ids)
    return arrays.confidence, arrays.confidence[known], np.array(right, dtype=bool)
