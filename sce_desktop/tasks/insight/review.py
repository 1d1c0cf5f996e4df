"""What a review looks up in many rows or does to them: predictions accepted, values, thresholds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import ACCEPTED, Origin, Row
from sce_desktop.core.arrays import FloatArray, IdArray, ManyRows, counted, looked_up
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.core.readings import ColumnValues
from sce_desktop.core.runs import Run
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.evidence import learned_rows
from sce_desktop.tasks.insight.bulk import BulkOutcome, decide_each, sampled_rows
from sce_desktop.tasks.one_state import one_state

EXAMPLES: Final = 10
_PART: Final = 20_000  # rows whose probabilities are read at once


@dataclass(frozen=True, slots=True, eq=False)
class Acceptance:
    """Undecided rows (m,) whose prediction is confident enough, and the labels (p,) that they get.

    No probability of any row is held: of ten million rows with twenty labels they fill 800 MB.
    """

    run: Run
    row_ids: IdArray  # (m,) in file order
    ends: IdArray  # (m,): where in ``places`` the labels of a row end; they begin where those of the last do
    places: NDArray[np.int32]  # (p,) of the labels in the run

    def __len__(self) -> int:
        return len(self.row_ids)

    @property
    def counts(self) -> dict[int, int]:
        """How many rows each label gets, by label id; those that get none are left out."""
        sums = counted(self.places, len(self.run.labels)).tolist()
        return {
            label.id: count
            for label, count in zip(self.run.labels, sums, strict=True)
            if count and label.id is not None
        }

    def places_of(self, place: int) -> NDArray[np.int32]:
        """The places in the run of the labels that the row at ``place`` gets."""
        start = int(self.ends[place - 1]) if place else 0
        return self.places[start : int(self.ends[place])]

    def labels_of(self, place: int) -> tuple[int, ...]:
        """The ids of the labels that the row at ``place`` gets."""
        ids = [self.run.labels[column].id for column in self.places_of(place).tolist()]
        return tuple(label_id for label_id in ids if label_id is not None)


@one_state
def acceptable(
    project: Project,
    run: Run,
    query: RowQuery,
    confidence: float,
    *,
    among: IdArray | None = None,
    progress: Progress | None = None,
) -> Acceptance:
    """Return the undecided rows of ``query`` with a prediction of at least ``confidence``.

    With several labels a row, every label with a probability that high is taken. Rows of a random sample are
    left out: they are decided by a person, or they prove nothing. So are rows that no label
    fits, as the model says, and labels that are not in use any more. ``among``: only these rows.
    """
    progress = progress or SilentProgress()
    confident, tops = project.confident_rows(run.id, confidence)
    ids = confident
    for kept in (query, RowQuery(state=RowState.UNLABELLED, blank=False)):
        if kept == RowQuery():
            continue
        progress.check()
        kept = replace(kept, order=RowOrder.FILE, descending=False)
        if kept.among is None:
            ids = project.row_ids(replace(kept, among=ManyRows(ids)), compact=True)
        else:
            ids = np.intersect1d(ids, project.row_ids(kept, compact=True))
    if among is not None:
        ids = ids[np.isin(ids, among)]
    for left_out in (sampled_rows(project), project.unfitting_ids(run.id)):
        if len(left_out) and len(ids):
            hidden = np.zeros(max(int(left_out.max()), int(ids[-1])) + 1, bool)
            hidden[left_out] = True
            ids = ids[~looked_up(hidden, ids)]
    ids = ids.astype(np.int64, copy=False)
    label_set = project.label_set()
    used = {label.id for label in label_set.labels} if label_set else set()
    in_use = np.array([label.id in used for label in run.labels])
    if run.multi_label:
        return _several(project, run, ids, confidence, in_use, progress)
    places = tops[np.searchsorted(confident, ids)].astype(np.int32)
    chosen = looked_up(in_use, places)
    ids, places = ids[chosen], places[chosen]
    return Acceptance(run, ids, np.arange(1, len(ids) + 1), places)


def _several(
    project: Project,
    run: Run,
    ids: IdArray,
    confidence: float,
    in_use: NDArray[np.bool_],
    progress: Progress,
) -> Acceptance:
    """Return what of several labels a row is accepted, reading probabilities in parts."""
    found, sizes, places = [], [], []
    for start in range(0, len(ids), _PART):
        progress.check()
        some = ids[start : start + _PART]
        known = project.scores_of_rows(run.id, some)
        some = some[known.present]
        if not len(some):
            continue
        given = known.scores.probabilities >= np.float32(confidence)
        given &= in_use
        rows, columns = np.nonzero(given)
        sizes.append(np.bincount(rows, minlength=len(some)))
        places.append(columns.astype(np.int32))
        found.append(some)
    if not found:
        return Acceptance(run, ids[:0], ids[:0], np.empty(0, np.int32))
    row_ids, counts = np.concatenate(found), np.concatenate(sizes)
    return Acceptance(run, row_ids[counts > 0], np.cumsum(counts[counts > 0]), np.concatenate(places))


def examples(
    project: Project, found: Acceptance, *, seed: int = 0
) -> list[tuple[Row, tuple[int, ...], float]]:
    """Return ten rows of ``found`` at random, the labels they get and the least of their probabilities."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(len(found), size=min(EXAMPLES, len(found)), replace=False))
    ids = found.row_ids[places]
    scores = project.scores(found.run.id, ids)
    return [
        (
            row,
            found.labels_of(place),
            float(scores[row.id].probabilities[found.places_of(place)].min()),
        )
        for row, place in zip(project.rows(ids), places.tolist(), strict=True)
    ]


def accept(project: Project, found: Acceptance, *, queue: str = ACCEPTED, progress: Progress) -> BulkOutcome:
    """Give every row of ``found`` its labels (see `bulk.decide_all`).

    They count as decided in bulk: figures and exports keep them apart from what a person looked at.
    """
    return decide_each(project, found.row_ids, found.labels_of, queue=queue, progress=progress)


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
