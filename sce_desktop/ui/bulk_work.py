"""Deciding many rows at once: in a lane, as writing them takes seconds, and as one step of the history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sce_desktop.core.progress import Progress
from sce_desktop.core.types import Decision, IdArray, Origin
from sce_desktop.ui.jobs import Job
from sce_desktop.ui.label_edits import rows
from sce_desktop.ui.queries import queue_name
from sce_desktop.ui.session import Session

if TYPE_CHECKING:
    from sce_desktop.store.project import Project


def decide_many(
    session: Session, ids: Sequence[int] | IdArray, decision: Decision, label_ids: Sequence[int] = ()
) -> Job | None:
    """Decide the same about ``ids``, in bulk; None if the project cannot be edited."""
    return submit_bulk(session, decide, np.asarray(ids, np.int64), decision, tuple(label_ids))


def submit_bulk(session: Session, fn: Any, *args: Any) -> Job | None:
    """Run ``fn(project, *args, queue=..., progress=...)``, which decides rows and returns how many.

    When it is through the session tells what has changed. None if the project cannot be edited.
    """
    project = session.project
    if project is None or session.refuses_edit():
        return None
    job = session.submit(
        fn, project, *args, queue=queue_name(session.query), title="Deciding rows", lane="reads", first=True
    )

    def done(count: int) -> None:
        if session.project is not project:
            return
        if count:
            session.tell(f"{rows(count)} decided in bulk. Ctrl+Z takes that back.")
        session.annotationsChanged.emit(None)
        session.historyChanged.emit()
        session.count_soon()

    job.finished.connect(done)
    return job


# --- what the lanes run ------------------------------------------------------------------------------------


def decide(
    project: Project,
    ids: IdArray,
    decision: Decision,
    label_ids: tuple[int, ...],
    *,
    queue: str,
    progress: Progress,
) -> int:
    """Decide the same about all of ``ids`` and return how many they are."""
    progress.check()
    project.decide(ids, decision, label_ids, origin=Origin.BULK, queue=queue)
    return len(ids)


def undecided_copies(project: Project, row_id: int, *, progress: Progress) -> IdArray:
    """Return the undecided rows with exactly the text of ``row_id``."""
    progress.check()
    same = project.same_text_ids(row_id)
    return np.setdiff1d(same, project.answers(same).row_ids, assume_unique=False)
