"""The review of the audit sample: its rows in random order, blind, until the last of them is decided.

Which rows are shown, and that what models say about them is hidden, is in the query: so it ends
when one looks at other rows, and continues after a restart.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers.answering import CalmTimer
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.queries import in_audit, without_filters
from sce_desktop.core.annotations import Change, ChangeKind
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.query import AUDIT, OPEN_AUDIT

if TYPE_CHECKING:
    from sce_desktop.controllers.edits import Edits
    from sce_desktop.controllers.messages import Messages
    from sce_desktop.controllers.navigation import Navigation
    from sce_desktop.controllers.workspace import Workspace
    from sce_desktop.tasks.evaluation.audits import AuditState

_LOOK_MS = 150  # decisions come faster than anybody reads how many are left


class AuditReview(QObject):
    """Draws the sample, shows it, follows how far it has come, and leaves it at its end."""

    stateChanged = Signal()

    def __init__(
        self, workspace: Workspace, navigation: Navigation, edits: Edits, messages: Messages
    ) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._navigation = navigation
        self._messages = messages
        self._job: Job | None = None
        self.state: AuditState | None = None  # of the newest sample; None: there is none, or not known yet
        self._look_soon = CalmTimer(self, interval=_LOOK_MS)
        self._look_soon.calm.connect(self._look)
        workspace.projectOpened.connect(self._look_soon.start)
        workspace.annotationsChanged.connect(self._look_soon.start)
        edits.changed.connect(self._on_undone)
        workspace.projectClosed.connect(self._forget)

    @property
    def shown(self) -> bool:
        """Whether its rows are in the table, in their order."""
        return in_audit(self._navigation.query)

    def draw(self, size: int, *, blind: bool = True) -> Job | None:
        """Draw ``size`` rows, those of the present sample among them where they can be, and show them."""
        if self._workspace.project is None or self._workspace.refuses_edit():
            return None
        job = self._workspace.submit(
            in_worker("sce_desktop.tasks.evaluation.audits", "draw_and_look"),
            self._workspace.project,
            size,
            random.getrandbits(32),
            blind,
            title=ngettext("Drawing {count} random row", "Drawing {count} random rows", size),
            worker="reads",
            first=True,
        )
        job.finished.connect(self._on_drawn)
        return job

    @Slot()
    def go_on(self) -> None:
        """Show the rows of the sample, at the first one that waits."""
        if self.state is not None:
            name = AUDIT if self.state.audit.blind else OPEN_AUDIT
            self._navigation.show_ids(self.state.row_ids.tolist(), name=name)  # blind before the row is shown
            if (row_id := self.state.first_waiting) is not None:
                self._navigation.set_current_row(row_id)
            self._navigation.rowsFocusAsked.emit()

    # --- following -----------------------------------------------------------------------------------------

    @Slot(object)
    def _on_drawn(self, drawn: tuple[AuditState, int]) -> None:
        if self._workspace.project is None:
            return
        self.state, cleared = drawn
        self._workspace.annotationsChanged.emit(None)
        self._workspace.historyChanged.emit()
        self._workspace.count_soon()
        self.stateChanged.emit()
        self.go_on()
        if cleared:
            self._messages.notify(
                ngettext(
                    "{count} accepted prediction was cleared, as it cannot be evaluated.",
                    "{count} accepted predictions were cleared, as they cannot be evaluated.",
                    cleared,
                )
            )

    @Slot()
    def _look(self) -> None:
        self._drop_job()
        if self._workspace.project is None:
            return
        job = self._workspace.submit(
            in_worker("sce_desktop.tasks.evaluation.audits", "state", takes_progress=False),
            self._workspace.project,
            title=_("Loading the audit sample"),
            worker="reads",
            quiet=True,
        )
        job.finished.connect(self._on_state)
        self._job = job

    @Slot(object)
    def _on_state(self, state: AuditState | None) -> None:
        self._job = None
        before, self.state = self.state, state
        self.stateChanged.emit()
        if state is None or state.waiting or not self.shown:
            return
        if before is not None and before.waiting:
            self._navigation.set_query(without_filters(self._navigation.query))
            self._messages.notify(
                ngettext(
                    "The audit sample is complete: {count} row. Findings and Evaluate now use it.",
                    "The audit sample is complete: {count} rows. Findings and Evaluate now use it.",
                    len(state.row_ids),
                )
            )

    @Slot(object)
    def _on_undone(self, change: Change) -> None:
        """Where the draw itself is undone, its rows are no longer a sample."""
        if change.kind is ChangeKind.AUDIT and self.shown:
            self._navigation.set_query(without_filters(self._navigation.query))

    def _drop_job(self) -> None:
        drop(self._job)
        self._job = None

    @Slot()
    def _forget(self) -> None:
        self._drop_job()
        self._look_soon.stop()
        self.state = None
        self.stateChanged.emit()
