"""Help, About and Help, Licences."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from sce_desktop import __version__, paths
from sce_desktop.core.components import components
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.window.licences_dialog import LicencesDialog

TITLE = "SCE Desktop"


def show_about(parent: QWidget) -> QMessageBox:
    """Say what this program is."""
    box = QMessageBox(parent)
    box.setWindowTitle(_("About {program}", program=TITLE))
    box.setText(f"{TITLE} {__version__}")
    box.setInformativeText(
        _("Sorts texts into labels of your own, on this machine. No text leaves it.\nApache License 2.0")
    )
    licences = box.addButton(_("Licences…"), QMessageBox.ButtonRole.ActionRole)
    licences.clicked.connect(lambda: show_licences(parent))
    close = box.addButton(QMessageBox.StandardButton.Close)
    box.setDefaultButton(close)
    box.setEscapeButton(close)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box


def show_licences(parent: QWidget) -> LicencesDialog:
    """Show the licences of what the program consists of."""
    parts = components(paths.resources_dir() / "notices", paths.bundled_models_dir())
    return open_dialog(LicencesDialog(parts, parent))
