"""One sentence in place, above the rows: what went wrong or was done. Never modal, never two at a time."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from sce_desktop.ui.icons import icon, set_icon
from sce_desktop.ui.theme import SPACE_M, SPACE_S, px, set_role

INFO_MS = 8000  # good news goes by itself; a warning stays until it is closed


class MessageStrip(QFrame):
    """Shows the newest sentence. The older ones are in the log."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._warn = False
        self._icon = QLabel()
        self.setAccessibleName("Message")
        self._icon.setAccessibleName("Kind of message")
        self.text = QLabel(wordWrap=True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)  # a file name may look like a tag
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setAccessibleName("Message text")
        close = QToolButton()
        close.setToolTip("Close this message")
        close.setAccessibleName("Close message")
        set_role(close, "quiet")
        set_icon(close, "close", "muted")
        close.clicked.connect(self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(px(SPACE_M), px(2), px(SPACE_S), px(2))
        layout.addWidget(self._icon)
        layout.addWidget(self.text, 1)
        layout.addWidget(close)
        self._timer = QTimer(self, singleShot=True, interval=INFO_MS)
        self._timer.timeout.connect(self.hide)
        set_role(self, "strip")
        self.hide()

    @Slot(object, object)
    def show_message(self, sentence: str, tone: str = "info") -> None:
        """Show ``sentence``; ``tone`` is "info" or "warn"."""
        warn = tone == "warn"
        self.text.setText(sentence)
        self._warn = warn
        self._draw_icon()
        self._icon.setToolTip("Warning" if warn else "Information")
        self.setAccessibleDescription(sentence)
        self.setProperty("tone", tone)
        self.style().unpolish(self)
        self.style().polish(self)
        if warn:
            self._timer.stop()
        else:
            self._timer.start()
        self.show()

    def _draw_icon(self) -> None:
        name, role = ("warning", "warn") if self._warn else ("info", "accent")
        self._icon.setPixmap(icon(name, role).pixmap(px(16), px(16)))

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icon in the colours of another theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._draw_icon()
