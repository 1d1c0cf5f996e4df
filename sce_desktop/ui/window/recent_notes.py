"""How the open project stands, noted for the list of recent projects on the start page."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Slot

from sce_desktop.controllers.recent import RecentProjects
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.choices import Counts


class RecentNotes(QObject):
    """Notes a project when it is first counted and when it is left, not in between: this writes a file."""

    def __init__(self, workspace: Workspace, recent: RecentProjects, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._recent = recent
        self._counted: tuple[Path, Counts] | None = None  # a project, and how it stands
        workspace.countsChanged.connect(self._on_counts)

    @Slot()
    def _on_counts(self) -> None:
        counts, project = self._workspace.counts, self._workspace.project
        if counts is not None and project is not None:
            begun = self._counted is None or self._counted[0] != project.path
            self._counted = (project.path, counts)
            if begun:
                self._note()

    def leave(self) -> None:
        """Note how the project stands that was closed."""
        self._note()
        self._counted = None

    def _note(self) -> None:
        if self._counted is not None:
            path, counts = self._counted
            self._recent.remember(path, rows=counts.rows, labelled=counts.labelled, scored=counts.scored)
