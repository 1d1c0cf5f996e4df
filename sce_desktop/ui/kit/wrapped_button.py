"""A button whose words go on two lines where one has no room for them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy


class WrappedButton(QPushButton):
    """Takes the width of the column that it stands in."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self._words = words
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def _width(self, text: str) -> int:
        advance = self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, self.text()).width()
        frame = super().sizeHint().width() - advance
        return self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, text).width() + frame

    def _broken(self) -> str:
        """The words on two lines, as equal as they can be."""
        places = [place for place, letter in enumerate(self._words) if letter == " "]
        middle = len(self._words) / 2
        at = min(places, key=lambda place: abs(place - middle), default=None)
        return self._words if at is None else f"{self._words[:at]}\n{self._words[at + 1 :]}"

    def _fit(self) -> None:
        text = self._words if self._width(self._words) <= self.width() else self._broken()
        if text != self.text():
            self.setText(text)
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        """Return the width of two lines."""
        return QSize(self._width(self._broken()), super().minimumSizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        """Break otherwise in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break where there is less room."""
        super().resizeEvent(event)
        self._fit()
