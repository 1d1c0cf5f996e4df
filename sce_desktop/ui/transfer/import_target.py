"""Where imported rows go: a new project with a name, or the open one."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QLabel, QLineEdit, QRadioButton, QVBoxLayout, QWidget

from sce_desktop.controllers import work
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.names import MOST_NAME
from sce_desktop.ui.kit.theme import set_role

_FORBIDDEN = set('/\\:*?"<>|')


def heading(text: str) -> QLabel:
    """A heading of a part of the dialog."""
    label = QLabel(text)
    set_role(label, "heading")
    return label


class TargetForm(QWidget):
    """Offers the open project where it can be added to; ``append``: begin with that."""

    changed = Signal()  # ``append`` is another
    renamed = Signal()

    def __init__(
        self,
        workspace: Workspace,
        preferences: Preferences,
        table: Path,
        *,
        append: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._folder = work.projects_folder(preferences.settings)
        project = workspace.project
        possible = project is not None and not project.read_only
        self.setAccessibleName("Where the rows go")
        self.new = QRadioButton("New project")
        self.to_open = QRadioButton(f"Add to {project.path.stem}" if project is not None else "Add")
        self.name = QLineEdit(work.free_path(self._folder, table.stem).stem)
        self.name.setAccessibleName("Name of the project")
        self.name.setToolTip(f"In {self._folder}")
        self.name.textChanged.connect(self.renamed)
        group = QButtonGroup(self)
        for button in (self.new, self.to_open):
            button.setAccessibleName(button.text())
            group.addButton(button)
        self._heading = heading("New project")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for widget in (self._heading, self.new, self.name, self.to_open):
            layout.addWidget(widget)
        (self.to_open if append and possible else self.new).setChecked(True)
        self.name.setVisible(not self.append)
        self.offer_open(possible)
        self.new.toggled.connect(self._on_toggled)

    @property
    def append(self) -> bool:
        """Whether the rows are added to the open project."""
        return self.to_open.isChecked()

    @property
    def project_path(self) -> Path:
        """Where the new project goes."""
        return self._folder / f"{self.name.text().strip()}.sce"

    def offer_open(self, possible: bool) -> None:
        """Say whether there is an open project that can be added to."""
        self._heading.setVisible(not possible)
        self.new.setVisible(possible)
        self.to_open.setVisible(possible)

    def obstacle(self) -> str:
        """Why no new project can be made by this name, in one sentence; empty if it can."""
        name = self.name.text().strip()
        if self.append:
            return ""
        if not name or name.startswith(".") or _FORBIDDEN & set(name):
            return "Give the project a name that can be a file's."
        if len(name.encode()) > MOST_NAME - len(".sce"):
            return "This name is too long for a file: give the project a shorter one."
        if self.project_path.exists():
            return "There is a project of that name already: give this one another."
        return ""

    @Slot(bool)
    def _on_toggled(self, _: bool) -> None:
        self.name.setVisible(not self.append)
        self.changed.emit()
