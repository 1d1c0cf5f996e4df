"""Findings handed on: cells to paste, a workbook, a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from sce_desktop.controllers import findings_work
from sce_desktop.controllers.findings_work import Answer
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.escapes import Verbatim
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.dialog_parts import ask_save


class FindingsExports(QObject):
    """Copies and writes the ``answer`` that the panel shows. Belongs to the panel."""

    def __init__(self, workspace: Workspace, messages: Messages, panel: QWidget) -> None:
        super().__init__(panel)
        self._workspace = workspace
        self._messages = messages
        self._panel = panel
        self.answer: Answer | None = None

    def copy(self, order: Sequence[int]) -> None:
        """Copy the figures, as cells to paste, the labels in ``order``."""
        if self.answer is None:
            return
        job = self._workspace.submit(
            findings_work.as_text,
            self.answer,
            order,
            title=_("Copying the findings"),
            worker="reads",
            first=True,
            quiet=True,
        )
        job.finished.connect(self._on_copied)

    @Slot(object)
    def _on_copied(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._messages.notify(_("The figures were copied: paste them into a spreadsheet."))

    @Slot()
    def ask_workbook(self) -> None:
        """Choose where a workbook with the figures goes."""
        self._choose(_("Export to Excel"), _("Excel (*.xlsx)"), ".xlsx")

    @Slot()
    def ask_page(self) -> None:
        """Choose where a page with the figures goes."""
        self._choose(_("Save as web page"), _("Web page (*.html)"), ".html")

    def _choose(self, title: str, filters: str, ending: str) -> None:
        project = self._workspace.project
        if project is None or self.answer is None:
            return
        suggested = project.path.with_name(
            _("{project} findings", project=Verbatim(project.path.stem)) + ending
        )
        ask_save(self._panel, title, filters, self.save_to, at=str(suggested), suffix=ending)

    def save_to(self, path: Path, replace: bool = False) -> None:
        """Write the figures to a workbook or a page, by the ending of ``path``."""
        if self._workspace.project is None or self.answer is None:
            return
        job = self._workspace.submit(
            findings_work.write,
            self._workspace.project,
            self.answer,
            path,
            replace=replace,
            title=_("Writing {name}", name=path.name),
        )
        job.finished.connect(
            lambda path: self._messages.notify(_("The findings were written to {path}.", path=path))
        )
