"""Two widgets side by side, or one below the other where there is no room for that."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget


class SideOrBelow(QWidget):
    """``first`` at the leading edge or on top, ``second`` takes what is left."""

    def __init__(self, first: QWidget, second: QWidget, *, gap: int) -> None:
        super().__init__()
        self._both = (first, second)
        self._gap = gap
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(gap)
        self._row.addWidget(first, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addWidget(second, 1)

    def sizeHint(self) -> QSize:
        """Return the size side by side, also while one is below the other."""
        hints = [widget.sizeHint().width() for widget in self._both if not widget.isHidden()]
        return QSize(sum(hints) + self._gap, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the least width of the wider one: the other can go below it."""
        return QSize(max(self._widths()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose by the new width."""
        super().resizeEvent(event)
        fits = sum(self._widths()) + self._gap <= self.width()
        way = QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom
        if way is not self._row.direction():
            self._row.setDirection(way)
            self.updateGeometry()

    def _widths(self) -> list[int]:
        shown = [widget for widget in self._both if not widget.isHidden()]
        return [widget.minimumSizeHint().expandedTo(widget.minimumSize()).width() for widget in shown] or [0]
