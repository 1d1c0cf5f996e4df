"""Several rows selected in the table: what a key or a button of the row panel does is done to all of them.

Answers go the way of the table's menu (`bulk_work`): in bulk, in the background, undone as one step. Each
method says whether it has done or refused it: False where not more than one row is selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from sce_desktop.controllers.bulk_work import UNDO, answer_for, decide_many, done_words, submit_bulk
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.label_edits import ask, quoted
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.rows_text import decided_names
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import ACCEPTED, Decision
from sce_desktop.core.arrays import ManyRows
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Run
from sce_desktop.tasks.scoring.models import MAIN_ALIAS

if TYPE_CHECKING:
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.insight.bulk import BulkOutcome

MOST_MARKED = 10_000


class SelectedRows(QObject):
    """Does to the selected rows what the row panel would do to the current one."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        messages: Messages,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._edits = edits
        self._messages = messages

    @property
    def count(self) -> int:
        """How many rows a key is about: 0 where it is the current one alone."""
        return len(self._navigation.selected)

    def _refuses(self) -> bool:
        """Whether nothing can be done yet, as some of them are still being found; a message says so."""
        if self._navigation.selected_unknown:
            self._messages.notify(_("{job}: try again in a moment.", job=_("Finding rows")), "warn")
        return self._navigation.selected_unknown

    def decide(self, decision: Decision, label_ids: tuple[int, ...] = ()) -> bool:
        """Give all of them the same label; ask first where that replaces another."""
        if self._refuses():
            return True
        project, ids = self._workspace.project, self._navigation.selected
        if not ids or project is None:
            return False
        many = isinstance(ids, ManyRows)
        replaced = 0
        if not self._workspace.read_only:
            replaced = (
                len(ids)
                if isinstance(ids, ManyRows)
                else _count_relabelled(project, ids, decision, label_ids)
            )
        do = partial(self._decide, project, ids, decision, label_ids)
        parent = self.parent()
        if not replaced or not isinstance(parent, QWidget):
            do()
            return True
        names = quoted(decided_names(decision, label_ids, self._workspace.labels))
        if decision is Decision.SKIPPED:
            question = ngettext("Skip {count} row?", "Skip {count} rows?", len(ids))
        else:
            question = ngettext(
                "Label {count} row {labels}?", "Label {count} rows {labels}?", len(ids), labels=names
            )
        details = ngettext(
            "{count} of them has another label, which is replaced.",
            "{count} of them have another label, which is replaced.",
            replaced,
        )
        if many:
            details = _("Other labels that they have are replaced.")
        ask(parent, question, f"{details} {UNDO}", _("Replace labels"), do)
        return True

    def _decide(
        self, project: Project, ids: Sequence[int], decision: Decision, label_ids: tuple[int, ...]
    ) -> None:
        if self._workspace.project is project:
            decide_many(self._workspace, self._navigation, self._messages, ids, decision, label_ids)

    def choose(self, label_id: int) -> bool:
        """Give all of them a label; where rows may have several, add it to those that they have."""
        if self._refuses():
            return True
        if not self.count or self._workspace.label_set is None:
            return False
        if not self._workspace.label_set.multi_label:
            return self.decide(Decision.LABEL, (label_id,))
        done = done_words(self._workspace, Decision.LABEL, (label_id,))
        submit_bulk(
            self._workspace,
            self._navigation,
            self._messages,
            add_label,
            self._navigation.selected,
            label_id,
            done=done,
        )
        return True

    def accept(self) -> bool:
        """Accept the predictions of those that are unlabelled."""
        if self._refuses():
            return True
        run = next((run for run in self._workspace.runs if run.alias == MAIN_ALIAS), None)
        if not self.count:
            return False
        if run is None or self._navigation.blind:
            self._messages.notify(_("No predictions to accept. Choose a label."))
        elif (
            self._workspace.project is not None
            and not isinstance(self._navigation.selected, ManyRows)  # of millions the worker finds out
            and self._workspace.project.first_open(self._navigation.selected) is None
        ):
            self._messages.notify(
                ngettext(
                    "{count} row selected, none unlabelled. Nothing to accept.",
                    "{count} rows selected, none unlabelled. Nothing to accept.",
                    self.count,
                )
            )
        else:
            job = submit_bulk(
                self._workspace,
                self._navigation,
                self._messages,
                accept_predictions,
                run,
                self._navigation.selected,
                self._workspace.threshold,
                title=_("Accepting predictions"),
                queue=ACCEPTED,
            )
            if job is not None and self._workspace.project is not None:
                job.finished.connect(partial(self._report_none, self._workspace.project))
        return True

    def _report_none(self, project: Project, outcome: BulkOutcome) -> None:
        if not outcome.rows and self._workspace.project is project:
            self._messages.notify(_("No unlabelled row in the selection has a prediction to accept."))

    def mark(self, mark: str) -> bool:
        """Set a mark on all of them, or remove it where all have it."""
        if self._refuses():
            return True
        project = self._workspace.project
        if not self.count or project is None:
            return False
        ids = self._navigation.selected
        if isinstance(ids, ManyRows):
            self._messages.notify(
                ngettext(
                    "At most {count} row can be marked at once.",
                    "At most {count} rows can be marked at once.",
                    MOST_MARKED,
                )
            )
            return True
        marks = project.marks(ids)
        on = not all(row_id in marks and getattr(marks[row_id], mark) for row_id in ids)
        if self._edits.set_marks(ids, **{mark: on}):
            self._report(_marked(mark, on, self.count))
        return True

    def take_back(self) -> bool:
        """Undo the labels of them."""
        if self._refuses():
            return True
        if self.count:
            self._edits.clear_decision(self._navigation.selected, self._report_cleared)
        return bool(self.count)

    def _report_cleared(self, count: int) -> None:
        if count:
            self._report(ngettext("{count} row unlabelled again.", "{count} rows unlabelled again.", count))

    def _report(self, sentence: str) -> None:
        self._messages.notify(f"{sentence} {UNDO}")


def _marked(mark: str, on: bool, count: int) -> str:
    if mark == "flag":
        if on:
            return ngettext("{count} row flagged.", "{count} rows flagged.", count)
        return ngettext("{count} row no longer flagged.", "{count} rows no longer flagged.", count)
    if on:
        return ngettext("{count} row marked as unsure.", "{count} rows marked as unsure.", count)
    return ngettext("{count} row no longer unsure.", "{count} rows no longer unsure.", count)


def _count_relabelled(
    project: Project, ids: tuple[int, ...], decision: Decision, label_ids: tuple[int, ...]
) -> int:
    from sce_desktop.tasks.insight.bulk import count_relabelled

    return count_relabelled(project, ids, answer_for(decision, label_ids))


# --- what the worker runs ----------------------------------------------------------------------------------


def add_label(
    project: Project, row_ids: Sequence[int], label_id: int, *, queue: str, progress: Progress
) -> BulkOutcome:
    """Add a label to those that rows have."""
    from sce_desktop.tasks.insight.bulk import STEP, decide_each

    ids = np.asarray(row_ids, np.int64)
    ids = ids[~np.isin(ids, project.row_ids(RowQuery(label_ids=(label_id,))))]
    known: dict[int, tuple[int, ...]] = {}  # labels of the rows that are decided next

    def answer(place: int) -> tuple[int, ...]:
        row_id = int(ids[place])
        if row_id not in known:
            some = ids[place : place + STEP]
            known.clear()
            known.update(dict.fromkeys(some.tolist(), ()))
            known.update((row, one.label_ids) for row, one in project.annotations(some).items())
        return (*known[row_id], label_id)

    return decide_each(project, ids, answer, queue=queue, progress=progress)


def accept_predictions(
    project: Project, run: Run, row_ids: Sequence[int], threshold: float, *, queue: str, progress: Progress
) -> BulkOutcome:
    """Give unlabelled rows what ``run`` predicts; of several labels those from ``threshold`` up."""
    from sce_desktop.core.scoring import MULTI_LABEL_THRESHOLD
    from sce_desktop.tasks.insight.review import accept, acceptable

    least = (threshold or MULTI_LABEL_THRESHOLD) if run.multi_label else 0.0
    among = np.asarray(row_ids, np.int64)
    found = acceptable(project, run, RowQuery(), least, among=among, progress=progress)
    return accept(project, found, queue=queue, progress=progress)
