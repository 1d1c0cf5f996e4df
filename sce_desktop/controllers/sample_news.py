"""Passes on what the random sample of a large table says, as soon as it is scored (`sample_first`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.tasks.scoring.models import MAIN_ALIAS

if TYPE_CHECKING:
    from sce_desktop.controllers.messages import Messages
    from sce_desktop.controllers.workspace import Workspace
    from sce_desktop.tasks.scoring.sample_first import SampleReport


class SampleNews(QObject):
    """Hears of the sample in the worker that scores, and tells it in the message strip once a run."""

    arrived = Signal(object)  # `SampleReport`; emitted in the worker, taken in here

    def __init__(self, workspace: Workspace, messages: Messages, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._messages = messages
        self.arrived.connect(self._tell)

    @Slot(object)
    def _tell(self, report: SampleReport) -> None:
        """Tell it, unless the project was closed meanwhile, or shows another run by now."""
        project = self._workspace.project
        if project is None or project.path != report.project:
            return
        shown = project.active_run(MAIN_ALIAS)
        if shown is not None and shown.id == report.run_id:
            self._messages.notify(report.sentence())
