"""What is shown after a bug, and after an end that nobody asked for: what a report of it needs."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
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

from sce_desktop.controllers.crash_reports import report_of_bug
from sce_desktop.controllers.crashes import Crash
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.dialog_parts import keep_on_screen
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_S, px, set_role


class CrashDialog(QDialog):
    """Says what happened and what to do, shows the report, and copies it. Holds no text and no file name."""

    def __init__(self, report: str, words: str, parent: QWidget | None = None) -> None:
        """``words``: what happened and what to do, in sentences."""
        super().__init__(parent)
        self.report = report
        self.setWindowTitle(_("Something went wrong"))
        self.setAccessibleName(_("Something went wrong"))
        heading = QLabel(_("SCE Desktop hit a bug"))
        set_role(heading, "title")
        self.words = QLabel(words, wordWrap=True)
        self.words.setAccessibleName(_("What happened"))
        note = QLabel(_("The report below contains no texts or file names."), wordWrap=True)
        set_role(note, "muted")
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
        layout.addWidget(self.words)
        layout.addWidget(note)
        layout.addWidget(details, 1)
        layout.addWidget(buttons)
        self.resize(px(640), px(440))

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report)
        self.copy_button.setText(_("Copied"))


class CrashReports(QObject):
    """Shows one report at a time: a second crash while the first is shown stays in the log."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._open: CrashDialog | None = None

    @Slot(object)
    def show_crash(self, crash: Crash) -> bool:
        """Show what went wrong; False while another report is shown."""
        report = report_of_bug(crash)
        return self.show_report(report.text(), " ".join((report.what, report.advice)))

    def show_report(self, report: str, words: str) -> bool:
        """Show the report of a crash below ``words``; False while another one is shown."""
        if self._open is not None:
            return False
        self._open = CrashDialog(report, words, self._window)
        self._open.finished.connect(self._on_crash_read)
        keep_on_screen(self._open)
        self._open.open()
        return True

    @Slot()
    def _on_crash_read(self) -> None:
        if self._open is not None:
            self._open.deleteLater()
            self._open = None
