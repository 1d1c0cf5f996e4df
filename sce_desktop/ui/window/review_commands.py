"""The Review menu's commands that ask before they change labels."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import (
    QWidget,
)

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.i18n import _
from sce_desktop.ui.evaluate.annotator_dialog import AnnotatorDialog
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.kit.files import TABLE_FILTER
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from sce_desktop.ui.rows.accept_dialog import AcceptDialog
from sce_desktop.ui.window.file_commands import FileCommands


class ReviewCommands(QObject):
    """Accepts predictions in bulk, imports an annotator's labels, merges labels of the list ``labels``."""

    def __init__(
        self, controllers: Controllers, labels: QWidget, files: FileCommands, window: QWidget
    ) -> None:
        super().__init__(window)
        self._controllers = controllers
        self._labels = labels
        self._files = files
        self._window = window

    @Slot()
    def ask_accept(self) -> None:
        """Offer to accept predictions in bulk."""
        if not self._controllers.workspace.runs:
            self._controllers.messages.notify(_("Nothing is scored yet: press Score first."))
        elif not self._controllers.workspace.refuses_edit():
            open_dialog(
                AcceptDialog(
                    self._controllers.workspace,
                    self._controllers.navigation,
                    self._controllers.messages,
                    self._window,
                )
            )

    @Slot()
    def ask_annotator(self) -> None:
        """Choose the file of another annotator's labels."""
        if not self._controllers.workspace.refuses_edit():
            self._files.choose(_("Import another annotator's labels"), TABLE_FILTER, self._show_annotator)

    def _show_annotator(self, path: Path) -> None:
        open_dialog(
            AnnotatorDialog(
                self._controllers.workspace,
                self._controllers.navigation,
                self._controllers.projects,
                self._controllers.messages,
                path,
                self._window,
            )
        )

    @Slot()
    def merge_labels(self) -> None:
        """Offer to merge the labels that are selected in their list."""
        panel = self._labels
        if isinstance(panel, LabelsPanel):
            panel.merge_selected()
