"""A dialog about the open project: it goes when the project does, and hears nothing once it is done."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QDialog, QWidget

from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.workspace import Workspace


class ProjectDialog(QDialog):
    """The base of dialogs that must not outlive the project they were opened for."""

    def __init__(self, workspace: Workspace, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._follows = True
        self._job: Job | None = None
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        workspace.projectClosed.connect(self._on_project_closed)

    def _watch(self, job: Job) -> Job:
        """Let ``job`` take the place of the one before; whichever runs when the dialog is done is stopped."""
        self._drop_job()
        self._job = job
        return job

    def _drop_job(self) -> None:
        drop(self._job)
        self._job = None

    def done(self, result: int) -> None:
        """Close, and listen no more: a dialog may be gone before the next signal comes."""
        self._drop_job()
        if self._follows:
            self._follows = False
            self._workspace.projectClosed.disconnect(self._on_project_closed)
        super().done(result)

    @Slot()
    def _on_project_closed(self) -> None:
        self.reject()
