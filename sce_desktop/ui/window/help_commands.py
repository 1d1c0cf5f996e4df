"""The Help menu's commands: the guide, diagnostics, the log folder, licences."""

from __future__ import annotations

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import (
    QDesktopServices,
)
from PySide6.QtWidgets import (
    QApplication,
    QWidget,
)

from sce_desktop import paths
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.diagnostics import diagnostics
from sce_desktop.core.i18n import _
from sce_desktop.ui.window.about import show_about, show_licences
from sce_desktop.ui.window.guide_pages import page_for
from sce_desktop.ui.window.guide_window import GuideWindow


class HelpCommands(QObject):
    """Has the window of the guide, which is made when it is first wanted."""

    def __init__(self, controllers: Controllers, window: QWidget) -> None:
        super().__init__(window)
        self._controllers = controllers
        self._window = window
        self.guide: GuideWindow | None = None

    @Slot()
    def show_guide(self, about: QWidget | None = None) -> None:
        """Show the page of the guide about ``about``, or about what has the focus."""
        if self.guide is None:
            self.guide = GuideWindow(self._window.windowIcon())
        self.guide.show_page(page_for(about or QApplication.focusWidget()))

    @Slot()
    def open_log_folder(self) -> None:
        """Show the folder of the log in the file manager."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(paths.log_dir())))

    def close_guide(self) -> None:
        """Close the window of the guide, if it was ever open."""
        if self.guide is not None:
            self.guide.close()

    @Slot()
    def copy_diagnostics(self) -> None:
        """Copy what a question about the program needs, without texts and file names."""
        controllers = self._controllers
        text = diagnostics(controllers.workspace, controllers.scorer, controllers.preferences)
        QApplication.clipboard().setText(text)
        controllers.messages.notify_of_program(
            _("Diagnostics copied, without texts or file names. Paste them into your question.")
        )

    @Slot()
    def show_about(self) -> None:
        """Say what this program is."""
        show_about(self._window)

    @Slot()
    def show_licences(self) -> None:
        """Show the licences of what the program consists of."""
        show_licences(self._window)
