"""Deciding many rows at once: in the lane for files, as it takes seconds, and as one step of the history.

A decision by hand in between waits for a step of it only (see `tasks.bulk`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Slot

from sce_desktop.core.progress import Progress
from sce_desktop.core.types import NO_LABEL, SKIPPED, Decision, IdArray
from sce_desktop.ui.jobs import Job
from sce_desktop.ui.label_edits import rows
from sce_desktop.ui.queries import queue_name
from sce_desktop.ui.session import Session

if TYPE_CHECKING:
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.bulk import Answer, BulkOutcome


def decide_many(
    session: Session, ids: Sequence[int] | IdArray, decision: Decision, label_ids: Sequence[int] = ()
) -> Job | None:
    """Decide the same about ``ids``, in bulk; None if the project cannot be edited."""
    bare = {Decision.NONE: (NO_LABEL,), Decision.SKIPPED: (SKIPPED,)}
    answer = bare.get(decision, tuple(label_ids))
    return submit_bulk(session, decide, np.asarray(ids, np.int64), answer)


def submit_bulk(
    session: Session, fn: Any, *args: Any, title: str = "Deciding rows", queue: str = ""
) -> Job | None:
    """Run ``fn(project, *args, queue=..., progress=...)``, which decides rows and returns a `BulkOutcome`.

    ``queue`` is kept with each decision; empty: that of the rows shown.
    When it is through, stopped or failed the session tells what has changed. None if the project cannot be
    edited.
    """
    project = session.project
    if project is None or session.refuses_edit():
        return None
    job = session.submit(
        fn, project, *args, queue=queue or queue_name(session.query), title=title, lane="files", first=True
    )
    _Teller(session, project, job)
    return job


class _Teller(QObject):
    """Tells what a job has decided; lives as long as the job."""

    def __init__(self, session: Session, project: Project, job: Job) -> None:
        super().__init__(job)
        self._session = session
        self._project = project
        self._job = job
        job.finished.connect(self._on_finished)
        job.cancelled.connect(self._on_cancelled)
        job.ended.connect(self._on_ended)

    @Slot(object)
    def _on_finished(self, outcome: BulkOutcome) -> None:
        said = []
        if outcome.rows:
            said.append(f"{rows(outcome.rows)} decided in bulk. Ctrl+Z takes that back.")
        if outcome.spared:
            said.append(f"{rows(outcome.spared)} of a random sample left out: decide them one by one.")
        if outcome.blank:
            said.append(f"{rows(outcome.blank)} without text left out: there is nothing to decide about.")
        self._say(" ".join(said))

    @Slot()
    def _on_cancelled(self) -> None:
        if self._job.done:
            self._say(f"Stopped: {rows(self._job.done)} decided in bulk until then. Ctrl+Z takes that back.")

    def _say(self, words: str) -> None:
        if words and self._session.project is self._project:
            self._session.tell(words)

    @Slot()
    def _on_ended(self) -> None:
        session = self._session
        if session.project is self._project:  # also where it was stopped or failed: steps may be written
            session.annotationsChanged.emit(None)
            session.historyChanged.emit()
            session.count_soon()


# --- what the lanes run ------------------------------------------------------------------------------------


def decide(project: Project, ids: IdArray, answer: Answer, *, queue: str, progress: Progress) -> BulkOutcome:
    """Give all of ``ids`` the same answer."""
    from sce_desktop.tasks.bulk import decide_all

    return decide_all(project, dict.fromkeys(ids.tolist(), answer), queue=queue, progress=progress)


def undecided_copies(project: Project, row_id: int, *, progress: Progress) -> IdArray:
    """Return the undecided rows with exactly the text of ``row_id`` that belong to no random sample."""
    from sce_desktop.tasks.bulk import sampled_rows

    progress.check()
    same = project.same_text_ids(row_id)
    return np.setdiff1d(np.setdiff1d(same, project.answers(same).row_ids), sampled_rows(project))
