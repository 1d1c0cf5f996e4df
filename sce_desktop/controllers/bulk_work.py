"""Labelling many rows at once: in the worker for files, as it takes seconds, and as one step of the history.

A decision by hand in between waits for a step of it only (see `tasks.insight.bulk`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Slot

from sce_desktop.controllers.jobs import Job
from sce_desktop.controllers.label_edits import quoted
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import queue_name
from sce_desktop.controllers.rows_text import decided_names
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import NO_LABEL, SKIPPED, Decision
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.insight.bulk import Answer, BulkOutcome

UNDO = _("Undo with Ctrl+Z.")
Words = Callable[[int], str]  # a sentence about so many rows


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
        replaced=relabelled if decision is Decision.LABEL else labelled_before,
    )


def answer_for(decision: Decision, label_ids: Sequence[int]) -> Answer:
    """Return a decision as the bulk actions take it."""
    bare: dict[Decision, Answer] = {Decision.NONE: (NO_LABEL,), Decision.SKIPPED: (SKIPPED,)}
    return bare.get(decision, tuple(label_ids))


def done_words(workspace: Workspace, decision: Decision, label_ids: Sequence[int]) -> Words:
    """Return what says in a sentence that so many rows were decided like this."""
    if decision is Decision.SKIPPED:
        return lambda count: ngettext("{count} row skipped.", "{count} rows skipped.", count)
    names = decided_names(decision, tuple(label_ids), workspace.labels)
    if not names:
        return labelled_in_bulk
    labels = quoted(names)
    return lambda count: ngettext(
        "{count} row labelled {labels}.", "{count} rows labelled {labels}.", count, labels=labels
    )


def labelled_in_bulk(count: int) -> str:
    """Say that ``count`` rows got labels of several kinds."""
    return ngettext("{count} row labelled in bulk.", "{count} rows labelled in bulk.", count)


def relabelled(count: int) -> str:
    """Say that ``count`` of the rows had another label."""
    return ngettext("{count} of them was relabelled.", "{count} of them were relabelled.", count)


def labelled_before(count: int) -> str:
    """Say that ``count`` of the rows were decided otherwise before."""
    return ngettext("{count} of them had a label before.", "{count} of them had labels before.", count)


def submit_bulk(
    workspace: Workspace,
    navigation: Navigation,
    messages: Messages,
    fn: Any,
    *args: Any,
    title: str = "",
    queue: str = "",
    done: Words = labelled_in_bulk,
    replaced: Words | None = None,
) -> Job | None:
    """Run ``fn(project, *args, queue=..., progress=...)``, which decides rows and returns a `BulkOutcome`.

    ``queue`` is kept with each decision; empty: that of the rows shown. ``done`` makes the sentence about
    the rows, ``replaced`` that about those that had another answer; None: they are not mentioned.
    At its end, also where it was stopped or failed, a message says what has changed. None if the project
    cannot be edited.
    """
    project = workspace.project
    if project is None or workspace.refuses_edit():
        return None
    job = workspace.submit(
        fn,
        project,
        *args,
        queue=queue or queue_name(navigation.query),
        title=title or _("Labelling rows"),
        worker="files",
        first=True,
    )
    _Reporter(workspace, messages, project, job, done, replaced)
    return job


class _Reporter(QObject):
    """Reports what a job has decided; lives as long as the job."""

    def __init__(
        self,
        workspace: Workspace,
        messages: Messages,
        project: Project,
        job: Job,
        done: Words,
        replaced: Words | None,
    ) -> None:
        super().__init__(job)
        self._workspace = workspace
        self._messages = messages
        self._project = project
        self._job = job
        self._done, self._replaced = done, replaced
        job.finished.connect(self._on_finished)
        job.cancelled.connect(self._on_cancelled)
        job.ended.connect(self._on_ended)

    @Slot(object)
    def _on_finished(self, outcome: BulkOutcome) -> None:
        sentences = []
        if outcome.rows:
            sentences.append(self._done(outcome.rows))
            if self._replaced is not None and outcome.relabelled:
                sentences.append(self._replaced(outcome.relabelled))
            sentences.append(UNDO)
        if outcome.spared:
            sentences.append(
                ngettext(
                    "{count} audit-sample row not changed: label it on its own.",
                    "{count} audit-sample rows not changed: label them one by one.",
                    outcome.spared,
                )
            )
        if outcome.blank:
            sentences.append(
                ngettext(
                    "{count} row without text excluded.", "{count} rows without text excluded.", outcome.blank
                )
            )
        self._report(*sentences)

    @Slot()
    def _on_cancelled(self) -> None:
        if self._job.done:
            self._report(_("Stopped."), self._done(self._job.done), UNDO)

    def _report(self, *sentences: str) -> None:
        if sentences and self._workspace.project is self._project:
            self._messages.notify(" ".join(sentences))

    @Slot()
    def _on_ended(self) -> None:
        if (
            self._workspace.project is self._project
        ):  # also where it was stopped or failed: steps may be written
            self._workspace.annotationsChanged.emit(None)
            self._workspace.historyChanged.emit()
            self._workspace.count_soon()


# --- what the workers run ----------------------------------------------------------------------------------


def decide(project: Project, ids: IdArray, answer: Answer, *, queue: str, progress: Progress) -> BulkOutcome:
    """Give all of ``ids`` the same answer."""
    from sce_desktop.tasks.insight.bulk import decide_each

    return decide_each(project, ids, lambda _place: answer, queue=queue, progress=progress)


def undecided_copies(project: Project, row_id: int, *, progress: Progress) -> IdArray:
    """Return the undecided rows with exactly the text of ``row_id`` that belong to no audit sample."""
    from sce_desktop.tasks.insight.bulk import sampled_rows

    progress.check()
    same = project.same_text_ids(row_id)
    return np.setdiff1d(np.setdiff1d(same, project.answers(same).row_ids), sampled_rows(project))
