"""The File menu's questions: which file to open, to add or to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Slot
from PySide6.QtWidgets import (
    QFileDialog,
    QWidget,
)

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.work import free_path
from sce_desktop.core.escapes import Verbatim
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.dialog_parts import ask_save, open_dialog
from sce_desktop.ui.kit.files import OPEN_FILTERS, PROJECT_FILTER, TABLE_FILTER
from sce_desktop.ui.kit.parts import Parts


class FileCommands(QObject):
    """Asks for files and hands them over, without a nested event loop.

    Args:
        state: Keeps the folder that was chosen last.
        open_path: Takes a project or a table that was chosen.
        window: The parent of the dialogs.
    """

    def __init__(
        self,
        controllers: Controllers,
        parts: Parts,
        state: QSettings,
        open_path: Callable[[Path], object],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._controllers = controllers
        self._parts = parts
        self._state = state
        self._open_path = open_path
        self._window = window

    def show_import(self, path: Path, *, append: bool = False, message: str = "") -> None:
        """Show how a table would be imported, and the sentence ``message`` with it."""
        open_dialog(
            self._parts.import_dialog(
                self._controllers, path, append=append, message=message, parent=self._window
            )
        )

    def choose(self, title: str, filters: str, then: Callable[[Path], object]) -> None:
        """Let the user choose a file, without a nested event loop."""
        dialog = QFileDialog(self._window, title, str(self._state.value("folder", "")), filters)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)

        def chosen(name: str) -> None:
            self._state.setValue("folder", str(Path(name).parent))
            then(Path(name))

        dialog.fileSelected.connect(chosen)
        open_dialog(dialog)

    @Slot()
    def ask_open(self) -> None:
        """Choose a project or a table."""
        self.choose(_("Open"), OPEN_FILTERS, self._open_path)

    @Slot()
    def ask_append(self) -> None:
        """Choose a table whose rows are added to the open project."""
        self.choose(_("Add rows"), TABLE_FILTER, lambda path: self.show_import(path, append=True))

    @Slot()
    def ask_copy(self) -> None:
        """Choose where a copy of the project goes."""
        self._choose_copy(_("Save a copy"), self._controllers.projects.save_copy)

    def _choose_copy(self, title: str, then: Callable[[Path, bool], object], *, at: str = "") -> None:
        """Let the user choose a project to write, and whether it replaces one that exists."""

        def chosen(path: Path, replace: bool) -> None:
            self._state.setValue("folder", str(path.parent))
            then(path, replace)

        at = at or str(self._state.value("folder", ""))
        ask_save(self._window, title, PROJECT_FILTER, chosen, at=at, suffix="sce")

    @Slot(object)
    def ask_repair(self, path: Path) -> None:
        """Choose where what can be read of a damaged project goes."""
        self._choose_copy(
            _("Repair to a new project"),
            lambda copy, replace: self._controllers.projects.repair_project(path, copy, replace),
            at=str(free_path(path.parent, _("{name} (repaired)", name=Verbatim(path.stem)))),
        )

    @Slot()
    def ask_export(self) -> None:
        """Show the export dialog."""
        open_dialog(self._parts.export_dialog(self._controllers, parent=self._window))
