"""A project that was open elsewhere: once it is closed there, changes can be made here by one click.

It is not taken over unasked: that opens it again, which would end what runs on it here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    from sce_desktop.controllers.messages import Messages
    from sce_desktop.controllers.projects import Projects
    from sce_desktop.controllers.workspace import Workspace
    from sce_desktop.store.project import Project

LOOK_MS = 2000
FREE = _("This project is no longer open elsewhere.")
TAKE = _("Make changes here")


class Takeover(QObject):
    """Looks now and then whether the open project, if it is open elsewhere, has been closed there."""

    def __init__(self, workspace: Workspace, projects: Projects, messages: Messages) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._projects = projects
        self._messages = messages
        self._look: Job | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._ask)
        workspace.projectOpened.connect(self._follow)
        workspace.projectClosed.connect(self._follow)

    @Slot()
    def _follow(self) -> None:
        drop(self._look)
        self._look = None
        project = self._workspace.project
        if project is not None and project.open_elsewhere:
            self._timer.start(LOOK_MS)
        else:
            self._timer.stop()

    @Slot()
    def _ask(self) -> None:
        project = self._workspace.project
        if project is None or (self._look is not None and self._look.active):
            return
        self._look = self._workspace.submit(
            is_free, project, title=_("Checking whether it is open elsewhere"), worker="reads", quiet=True
        )
        self._look.finished.connect(self._on_looked)

    @Slot(object)
    def _on_looked(self, free: bool) -> None:
        if free:
            self._timer.stop()
            self._messages.offer(FREE, TAKE, self._take)

    def _take(self) -> None:
        project = self._workspace.project
        if project is not None and project.open_elsewhere:
            self._projects.open_project(project.path)


def is_free(project: Project, *, progress: Progress) -> bool:
    """Check whether nobody else has the project open by now; what the worker runs."""
    progress.check()
    return project.is_free()
