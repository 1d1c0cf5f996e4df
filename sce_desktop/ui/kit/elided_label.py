"""One line of text that is cut where it does not fit: it asks for no more width than there is."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel

from sce_desktop.ui.kit.theme import px

_LEAST = 24


class ElidedLabel(QLabel):
    """Plain text; the whole of it is its tip and what screen readers say."""

    _whole = _tip = ""  # its font is set while Qt makes it

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)

    def setText(self, text: str, tip: str = "") -> None:
        """Show as much of ``text`` as there is room for; ``tip`` is what else there is to say of it."""
        if (text, tip) == (self._whole, self._tip):
            return  # else the whole window would be laid out again for it
        self._whole, self._tip = text, tip
        self.setAccessibleDescription(text)
        self.updateGeometry()
        self._fit()

    def whole(self) -> str:
        """The text with what is cut off."""
        return self._whole

    def _fit(self) -> None:
        shown = self.fontMetrics().elidedText(
            self._whole, Qt.TextElideMode.ElideRight, self.contentsRect().width()
        )
        if shown != self.text():
            super().setText(shown)
        self.setToolTip("\n".join(filter(None, (self._whole if shown != self._whole else "", self._tip))))

    def sizeHint(self) -> QSize:
        """Return the size of the whole text."""
        # It rounds, maybe down, and less than the text needs would cut off its end.
        width = self.fontMetrics().horizontalAdvance(self._whole) + 1
        margins = self.contentsMargins()
        return QSize(width + margins.left() + margins.right(), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the height of the text, and hardly any width."""
        return QSize(min(px(_LEAST), self.sizeHint().width()), super().minimumSizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        """Show more or less of it in another font."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self.updateGeometry()
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show more or less."""
        super().resizeEvent(event)
        self._fit()
