"""A queue of rows to label: their order, and a table to label them in elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.core.queues import Queue
from sce_desktop.core.runs import Run
from sce_desktop.data.writers import OutCell, write_table
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.queues import diverse_ids
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.tasks.tables.columns import beside
from sce_desktop.tasks.tables.labelling import LABEL_COLUMN, ROW_COLUMN

_ORDERS: Final = {
    Queue.FILE: RowOrder.FILE,
    Queue.LEAST_CERTAIN: RowOrder.CONFIDENCE,
    Queue.SMALLEST_MARGIN: RowOrder.MARGIN,
    Queue.DISAGREE: RowOrder.DISAGREE,
    Queue.RARE_LABEL: RowOrder.RARE,
    Queue.RANDOM: RowOrder.RANDOM,
}
_BATCH = 5000


def queue_ids(
    project: Project,
    queue: Queue,
    *,
    seed: int = 0,
    vectors: Callable[[], KnownVectors] | None = None,
    progress: Progress,
) -> IdArray:
    """Return the unlabelled rows with text (n,) in the order in which ``queue`` offers them.

    Args:
        project: Whose rows.
        queue: The order, as the window has it.
        seed: Of the random orders.
        vectors: Gives the text vectors, for the diverse queue.
        progress: Asked whether to go on.

    Raises:
        UserError: The order needs scores, a baseline or text vectors that there are not.
    """
    query = RowQuery(state=RowState.UNLABELLED, blank=False, seed=seed)
    if queue is Queue.DIVERSE:
        open_ids = project.row_ids(query)
        if vectors is None or not len(open_ids):
            return open_ids
        return diverse_ids(project, vectors(), open_ids, seed=seed, progress=progress)
    main = project.active_run(MAIN_ALIAS)
    order = _ORDERS[queue]
    if order in (RowOrder.FILE, RowOrder.RANDOM):
        return project.row_ids(RowQuery(state=query.state, blank=False, order=order, seed=seed))
    if main is None or not main.scored:
        raise UserError(_("Nothing is scored yet: score the rows first."))
    compare = None
    if order is RowOrder.DISAGREE:
        compare = (main.id, _baseline(project).id)
    return project.row_ids(
        RowQuery(state=query.state, blank=False, order=order, run_id=main.id, compare=compare, seed=seed)
    )


def _baseline(project: Project) -> Run:
    aliases = dict.fromkeys(run.alias for run in project.runs() if run.alias != MAIN_ALIAS)
    for alias in aliases:
        run = project.active_run(alias)
        if run is not None and run.scored:
            return run
    raise UserError(_("No baseline has scored the rows: score with one to see where models disagree."))


@one_state
def write_queue(
    project: Project, path: Path, row_ids: IdArray, *, overwrite: bool = False, progress: Progress
) -> int:
    """Write rows to a table in their order, with a column of row numbers and an empty one for labels.

    `label_from_table` takes the labels back. Returns the number of rows.
    """
    run = project.active_run(MAIN_ALIAS)
    header = [ROW_COLUMN, LABEL_COLUMN, *(("sce_label", "sce_confidence") if run is not None else ())]
    header = beside(project.columns, header, progress)
    name_of = run.label_names if run is not None else ()

    def batches() -> Iterator[list[list[OutCell]]]:
        for start in range(0, len(row_ids), _BATCH):
            progress.check()
            rows = project.rows(row_ids[start : start + _BATCH])
            scores = project.scores(run.id, [row.id for row in rows]) if run is not None else {}
            made: list[list[OutCell]] = []
            for row in rows:
                cells: list[OutCell] = [row.id, None]
                if run is not None:
                    score = scores.get(row.id)
                    best = None if score is None else int(np.argmax(score.probabilities))
                    cells += [
                        None if best is None else name_of[best],
                        None if score is None or best is None else float(score.probabilities[best]),
                    ]
                made.append([*cells, *row.cells])
            yield made

    return write_table(path, [*header, *project.columns], batches(), overwrite=overwrite, progress=progress)
