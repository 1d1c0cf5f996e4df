"""One line of text that changes with every key, and nothing around it is laid out again for that.

A `QLabel` asks for a new layout whenever its text changes, and so does what it lies in, up to the window.
This one keeps the room that it has, and cuts the text where it does not fit.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QStyle

from sce_desktop.controllers.rows_data import is_right_to_left
from sce_desktop.ui.kit.theme import px

_LEAST = 24


class StillLabel(QLabel):
    """Plain text; the whole of it is what screen readers say, and its tip where it is cut.

    ``grows``: it has the width of the longest text so far. Else its layout is to stretch it.
    """

    _whole = ""  # Qt asks while it makes it
    _widest = 0

    def __init__(self, *, grows: bool = False) -> None:
        super().__init__()
        self._grows = grows
        self.setTextFormat(Qt.TextFormat.PlainText)

    def setText(self, text: str) -> None:
        """Show as much of ``text`` as there is room for."""
        if text == self._whole:
            return
        self._whole = text
        self.setAccessibleDescription(text)
        if self._grows and (wide := self._width()) > self._widest:
            self._widest = wide
            self.updateGeometry()
        self.update()

    def clear(self) -> None:
        """Show nothing; the room stays."""
        self.setText("")

    def text(self) -> str:
        """Return what is seen of the text."""
        return self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, self.width())

    def whole(self) -> str:
        """Return the text with what is cut off."""
        return self._whole

    def toolTip(self) -> str:
        """Return the whole text where it is cut, else what was set."""
        return self._whole if self.text() != self._whole else super().toolTip()

    def _width(self) -> int:
        # It rounds, maybe down, and less than the text needs would cut off its end.
        return self.fontMetrics().horizontalAdvance(self._whole) + 1

    def sizeHint(self) -> QSize:
        """Return the size of the whole text; if it ``grows``, the width of the longest so far."""
        return QSize(max(self._width(), self._widest), self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        """Return the height of a line and, unless it ``grows``, hardly any width."""
        wanted = self.sizeHint()
        return wanted if self._grows else QSize(min(px(_LEAST), wanted.width()), wanted.height())

    def event(self, event: QEvent) -> bool:
        """Have the whole text as the tip where it is cut."""
        if event.type() is QEvent.Type.ToolTip:
            self.setToolTip(self.toolTip())
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:
        """Take more or less room in another font."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._widest = self._width() if self._grows else 0
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text in its own direction, in the colour that the style sheet gives it."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        right = is_right_to_left(self._whole)
        force = Qt.TextFlag.TextForceRightToLeft if right else Qt.TextFlag.TextForceLeftToRight
        place = QStyle.visualAlignment(self.layoutDirection(), self.alignment())
        flags = (
            int(place) | int(Qt.AlignmentFlag.AlignAbsolute) | int(force) | int(Qt.TextFlag.TextSingleLine)
        )
        painter.drawText(self.rect(), flags, self.text())
        painter.end()
