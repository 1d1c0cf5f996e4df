"""A button whose text is cut where it does not fit: it gives way to what must be seen whole beside it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton

from sce_desktop.core.text import menu_text
from sce_desktop.ui.kit.theme import px

_LEAST = 70  # pixels of the name: a usual one stays whole


class ElidedButton(QToolButton):
    """Shows a name, cut in its middle where it must be, and what follows it, which never is."""

    _name = _tail = ""  # its font is set while Qt makes it

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_name(self, name: str, tail: str) -> None:
        """Show as much of ``name`` as there is room for, and ``tail`` behind it."""
        self._name, self._tail = name, tail
        self.updateGeometry()
        self._fit()

    def _fit(self) -> None:
        shown = self._name
        if self.width() < self._width(shown):  # or else rounding may cut what has just enough room
            room = self.width() - self._width("")
            shown = self.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideMiddle, room)
        text = menu_text(f"{shown}{self._tail}")
        if text != self.text():
            self.setText(text)

    def _width(self, name: str) -> int:
        """The width of the button with ``name`` whole, rounded up: a part of a pixel would cut it."""
        frame = super().sizeHint().width() - self._text_width(self.text())
        return frame + self._text_width(menu_text(f"{name}{self._tail}")) + 1

    def _text_width(self, text: str) -> int:
        return self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, text).width()

    def sizeHint(self) -> QSize:
        """Return the size with the whole name."""
        return QSize(self._width(self._name), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the size with a short name, or the beginning and the end of a long one."""
        least = min(self._width("") + px(_LEAST), self.sizeHint().width())
        return QSize(least, super().minimumSizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        """Show more or less of the name in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show more or less of the name."""
        super().resizeEvent(event)
        self._fit()
