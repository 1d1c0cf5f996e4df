"""Where imported rows go: a new project with a name, or the open one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QLabel, QLineEdit, QRadioButton, QVBoxLayout, QWidget

from sce_desktop.controllers import work
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.core.names import MOST_NAME
from sce_desktop.core.quoting import quoted_names
from sce_desktop.ui.kit.theme import set_role

if TYPE_CHECKING:
    from sce_desktop.store.project import Project

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
        self._workspace = workspace
        self._folder = work.projects_folder(preferences.settings)
        project = workspace.project
        possible = project is not None and not project.read_only
        self.setAccessibleName(_("Destination"))
        self.new = QRadioButton(_("New project"))
        self.to_open = QRadioButton(
            _("Add to {project}", project=project.path.stem) if project is not None else _("Add")
        )
        self.name = QLineEdit(work.free_path(self._folder, table.stem).stem)
        self.name.setAccessibleName(_("Project name"))
        self.name.setToolTip(_("In {folder}", folder=self._folder))
        self.name.textChanged.connect(self.renamed)
        group = QButtonGroup(self)
        for button in (self.new, self.to_open):
            button.setAccessibleName(button.text())
            group.addButton(button)
        self._heading = heading(_("New project"))
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
    def project(self) -> Project | None:
        """The open project that rows are added to; None: they become a new one."""
        return self._workspace.project if self.append else None

    @property
    def folder(self) -> Path:
        """The folder that the rows take room in."""
        project = self.project
        return self._folder if project is None else project.path.parent

    @property
    def project_path(self) -> Path:
        """Where the new project goes."""
        return self._folder / f"{self.name.text().strip()}.sce"

    def offer_open(self, possible: bool) -> None:
        """Say whether there is an open project that can be added to."""
        self._heading.setVisible(not possible)
        self.new.setVisible(possible)
        self.to_open.setVisible(possible)

    def obstacle(self, columns: tuple[str, ...]) -> str:
        """Why a table of these ``columns`` cannot go there, in one sentence; empty if it can."""
        project = self.project
        if project is not None and project.row_count() and columns != project.columns:
            return _difference(columns, project.columns)
        if self.append:
            return ""
        name = self.name.text().strip()
        if not name or name.startswith(".") or _FORBIDDEN & set(name):
            return _("Enter a project name that is valid as a file name.")
        if len(name.encode()) > MOST_NAME - len(".sce"):
            return _("The project name is too long: enter a shorter one.")
        if self.project_path.exists():
            return _("A project of this name already exists: enter another name.")
        return ""

    @Slot(bool)
    def _on_toggled(self, _on: bool) -> None:
        self.name.setVisible(not self.append)
        self.changed.emit()


def _difference(columns: tuple[str, ...], wanted: tuple[str, ...]) -> str:
    """How the columns of a table differ from those of the project that it would be added to."""
    missing = [name for name in wanted if name not in columns]
    extra = [name for name in columns if name not in wanted]
    if missing and extra:
        return _(
            "Columns differ from the project. Missing: {missing}. Extra: {extra}. Import as a new project.",
            missing=quoted_names(missing, 3),
            extra=quoted_names(extra, 3),
        )
    if missing:
        return _(
            "Columns differ from the project. Missing: {missing}. Import as a new project.",
            missing=quoted_names(missing, 3),
        )
    if extra:
        return _(
            "Columns differ from the project. Extra: {extra}. Import as a new project.",
            extra=quoted_names(extra, 3),
        )
    return _("Columns are in another order than in the project. Import as a new project.")
