"""Labels that come from elsewhere than the keyboard, looked at before they are added; and where they go."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from sce_desktop.controllers import table_work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.dialog_parts import ask_save, open_dialog
from sce_desktop.ui.labels.add_labels_dialog import AddLabelsDialog
from sce_desktop.ui.labels.templates import template_name

_FILES = ";;".join((_("Labels (*.txt *.csv *.tsv *.xlsx *.json *.qdc)"), _("All files (*)")))
_SAVED = ";;".join(("CSV (*.csv)", "JSON (*.json)", _("Names only (*.txt)")))


class LabelOffers(QObject):
    """Offers labels of a column, a file or a template, in a dialog over ``parent``."""

    def __init__(self, workspace: Workspace, edits: Edits, messages: Messages, parent: QWidget) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._edits = edits
        self._messages = messages
        self._parent = parent

    def _dialog(self, title: str) -> AddLabelsDialog:
        return open_dialog(AddLabelsDialog(self._workspace, self._edits, title, parent=self._parent.window()))

    @Slot()
    def add_from_column(self) -> AddLabelsDialog:
        """Offer the values of a column of the table."""
        dialog = self._dialog(_("Labels from a column"))
        dialog.of_columns()
        return dialog

    @Slot()
    def ask_file(self) -> None:
        """Choose a file of labels."""
        dialog = QFileDialog(self._parent, _("Labels from a file"), "", _FILES)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: self.add_from_file(Path(name)))
        open_dialog(dialog)

    @Slot(object)
    def add_from_file(self, path: Path) -> AddLabelsDialog:
        """Offer the labels of a file or a template."""
        dialog = self._dialog(_("Labels from “{name}”", name=template_name(path)))
        dialog.follow(
            self._workspace.submit(
                table_work.read_labels,
                path,
                title=_("Reading {name}", name=path.name),
                worker="reads",
                quiet=True,
                notify_failure=False,
            )
        )
        return dialog

    @Slot()
    def ask_save(self) -> None:
        """Choose where the labels are written."""
        ask_save(self._parent, _("Save labels"), _SAVED, self.save_to, at="labels.csv", suffix="csv")

    def save_to(self, path: Path, replace: bool = False) -> None:
        """Write the labels to a file."""
        job = self._workspace.submit(
            in_worker("sce_desktop.tasks.tables.tables", "write_labels", takes_progress=False),
            path,
            self._workspace.labels,
            overwrite=replace,
            title=_("Writing {name}", name=path.name),
        )
        job.finished.connect(
            lambda _result: self._messages.notify(_("The labels were written to {path}.", path=path))
        )
