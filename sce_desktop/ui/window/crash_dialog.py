"""What is shown after a bug: what a report of it needs. The program continues."""

from __future__ import annotations

import platform
from importlib import metadata

from PySide6.QtCore import Slot, qVersion
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop import __version__
from sce_desktop.controllers.crashes import Crash
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_S, px, set_role

_LIBRARIES = ("PySide6-Essentials", "torch", "transformers", "numpy", "SQLAlchemy")


def versions() -> str:
    """Versions of what matters, from package metadata: nothing is imported for it."""
    lines = [f"SCE Desktop {__version__}"]
    lines.append(f"{platform.system()} {platform.release()} {platform.machine()}")
    lines.append(f"Python {platform.python_version()}, Qt {qVersion()}, {QGuiApplication.platformName()}")
    for name in _LIBRARIES:
        try:
            lines.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            lines.append(f"{name} is not installed")
    return "\n".join(lines)


class CrashDialog(QDialog):
    """Says that there was a bug, shows what a report needs, and copies it. Holds no text and no file name."""

    def __init__(self, crash: Crash, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(_("Something went wrong"))
        self.setAccessibleName(_("Something went wrong"))
        heading = QLabel(_("SCE Desktop hit a bug"))
        set_role(heading, "title")
        words = QLabel(
            _(
                "Your project is saved and you can continue. "
                "The report below contains no texts or file names."
            ),
            wordWrap=True,
        )
        self.report = f"{versions()}\n\n{crash.trace}"
        details = QPlainTextEdit(self.report, readOnly=True)
        details.setAccessibleName(_("Report"))
        details.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        details.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.copy_button = QPushButton(_("Copy report"))
        self.copy_button.setAccessibleName(_("Copy report"))
        set_icon(self.copy_button, "copy")
        self.copy_button.clicked.connect(self._copy)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setAccessibleName(_("Close"))
        buttons.addButton(self.copy_button, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(px(SPACE_S))
        margin = px(SPACE_L)
        layout.setContentsMargins(margin, margin, margin, margin)
        layout.addWidget(heading)
        layout.addWidget(words)
        layout.addWidget(details, 1)
        layout.addWidget(buttons)
        self.resize(px(640), px(440))

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report)
        self.copy_button.setText(_("Copied"))
