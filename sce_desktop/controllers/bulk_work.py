"""Deciding many rows at once: in the lane for files, as it takes seconds, and as one step of the history.

A decision by hand in between waits for a step of it only (see `tasks.insight.bulk`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Slot

from sce_desktop.controllers.jobs import Job
from sce_desktop.controllers.label_edits import quoted, rows
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import queue_name
from sce_desktop.controllers.rows_text import decided_names
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import NO_LABEL, SKIPPED, Decision
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.insight.bulk import Answer, BulkOutcome


def decide_many(
    workspace: Workspace,
    navigation: Navigation,
    messages: Messages,
    ids: Sequence[int] | IdArray,
    decision: Decision,
    label_ids: Sequence[int] = (),
) -> Job | None:
    """Decide the same about ``ids``, in bulk; None if the project cannot be edited."""
    return submit_bulk(
        workspace,
        navigation,
        messages,
        decide,
        np.asarray(ids, np.int64),
        answer_for(decision, label_ids),
        done=done_words(workspace, decision, label_ids),
        before="relabelled" if decision is Decision.LABEL else "answered otherwise before",
    )


def answer_for(decision: Decision, label_ids: Sequence[int]) -> Answer:
    """Return a decision as the bulk actions take it."""
    bare: dict[Decision, Answer] = {Decision.NONE: (NO_LABEL,), Decision.SKIPPED: (SKIPPED,)}
    return bare.get(decision, tuple(label_ids))


def done_words(workspace: Workspace, decision: Decision, label_ids: Sequence[int]) -> str:
    """What is done to rows, in words that follow their number."""
    if decision is Decision.SKIPPED:
        return "skipped"
    names = decided_names(decision, tuple(label_ids), workspace.labels)
    return f"labelled {quoted(names)}" if names else "decided in bulk"


def submit_bulk(
    workspace: Workspace,
    navigation: Navigation,
    messages: Messages,
    fn: Any,
    *args: Any,
    title: str = "Deciding rows",
    queue: str = "",
    done: str = "decided in bulk",
    before: str = "",
) -> Job | None:
    """Run ``fn(project, *args, queue=..., progress=...)``, which decides rows and returns a `BulkOutcome`.

    ``queue`` is kept with each decision; empty: that of the rows shown. ``done`` says what becomes of the
    rows, ``before`` what of those that had another answer; empty: they are not counted.
    When it is through, stopped or failed it is told what has changed. None if the project cannot be
    edited.
    """
    project = workspace.project
    if project is None or workspace.refuses_edit():
        return None
    job = workspace.submit(
        fn, project, *args, queue=queue or queue_name(navigation.query), title=title, lane="files", first=True
    )
    _Teller(workspace, messages, project, job, done, before)
    return job


class _Teller(QObject):
    """Tells what a job has decided; lives as long as the job."""

    def __init__(
        self, workspace: Workspace, messages: Messages, project: Project, job: Job, done: str, before: str
    ) -> None:
        super().__init__(job)
        self._workspace = workspace
        self._messages = messages
        self._project = project
        self._job = job
        self._done, self._before = done, before
        job.finished.connect(self._on_finished)
        job.cancelled.connect(self._on_cancelled)
        job.ended.connect(self._on_ended)

    @Slot(object)
    def _on_finished(self, outcome: BulkOutcome) -> None:
        said = []
        if outcome.rows:
            told = self._before and outcome.relabelled
            had = f", {outcome.relabelled:,} of them {self._before}" if told else ""
            said.append(f"{rows(outcome.rows)} {self._done}{had}. Undo with Ctrl+Z.")
        if outcome.spared:
            said.append(f"{rows(outcome.spared)} of a random sample left out: decide them one by one.")
        if outcome.blank:
            said.append(f"{rows(outcome.blank)} without text left out: there is nothing to decide about.")
        self._say(" ".join(said))

    @Slot()
    def _on_cancelled(self) -> None:
        if self._job.done:
            self._say(f"Stopped: {rows(self._job.done)} {self._done} until then. Undo with Ctrl+Z.")

    def _say(self, words: str) -> None:
        if words and self._workspace.project is self._project:
            self._messages.tell(words)

    @Slot()
    def _on_ended(self) -> None:
        if (
            self._workspace.project is self._project
        ):  # also where it was stopped or failed: steps may be written
            self._workspace.annotationsChanged.emit(None)
            self._workspace.historyChanged.emit()
            self._workspace.count_soon()


# --- what the lanes run ------------------------------------------------------------------------------------


def decide(project: Project, ids: IdArray, answer: Answer, *, queue: str, progress: Progress) -> BulkOutcome:
    """Give all of ``ids`` the same answer."""
    from sce_desktop.tasks.insight.bulk import decide_all

    return decide_all(project, dict.fromkeys(ids.tolist(), answer), queue=queue, progress=progress)


def undecided_copies(project: Project, row_id: int, *, progress: Progress) -> IdArray:
    """Return the undecided rows with exactly the text of ``row_id`` that belong to no random sample."""
    from sce_desktop.tasks.insight.bulk import sampled_rows

    progress.check()
    same = project.same_text_ids(row_id)
    return np.setdiff1d(np.setdiff1d(same, project.answers(same).row_ids), sampled_rows(project))
