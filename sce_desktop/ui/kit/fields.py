"""Fields whose value the wheel changes only while they have the focus.

One scrolls a panel with the wheel, and what lies under the mouse on the way must not change. These stand for
Qt's own fields everywhere in the program; `keep_still` is for dialogs that Qt builds.
"""

from __future__ import annotations

import sys
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QDoubleSpinBox,
    QScrollBar,
    QSlider,
    QSpinBox,
    QWidget,
)

_ITEM_IS_NAME = sys.platform not in ("win32", "darwin")


class ComboBox(QComboBox):
    """A combo box that leaves the wheel to what it lies in, unless it has the focus."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # not by the wheel, as Qt has it
        self._described = ""

    def setAccessibleName(self, name: str) -> None:
        """Say what is chosen here: to AT-SPI the name of a combo box is its present item."""
        super().setAccessibleName(name)
        self._describe()

    def setAccessibleDescription(self, description: str) -> None:
        """Say more about what is chosen here."""
        self._described = description
        self._describe()

    def _describe(self) -> None:
        parts = [self._described]
        if _ITEM_IS_NAME and self.accessibleName() != self._described:
            parts.insert(0, self.accessibleName())
        super().setAccessibleDescription(". ".join(filter(None, parts)))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Choose the next item while one is here."""
        super().wheelEvent(event) if self.hasFocus() else event.ignore()


class SpinBox(QSpinBox):
    """A field for whole numbers that leaves the wheel to what it lies in, unless it has the focus."""

    def __init__(self, parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(parent, **properties)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Step while one is here."""
        super().wheelEvent(event) if self.hasFocus() else event.ignore()


class DoubleSpinBox(QDoubleSpinBox):
    """A field for numbers that leaves the wheel to what it lies in, unless it has the focus."""

    def __init__(self, parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(parent, **properties)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Step while one is here."""
        super().wheelEvent(event) if self.hasFocus() else event.ignore()


class Slider(QSlider):
    """A slider that leaves the wheel to what it lies in, unless it has the focus."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Step while one is here."""
        super().wheelEvent(event) if self.hasFocus() else event.ignore()


class _Still(QObject):
    """Keeps the wheel from fields of Qt's that do not have the focus."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave the wheel to what the field lies in."""
        if event.type() is QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def keep_still(dialog: QWidget) -> None:
    """Let the wheel change none of the fields in ``dialog``, which Qt has built, unless one has the focus."""
    still = _Still(dialog)
    for kind in (QComboBox, QAbstractSpinBox, QAbstractSlider):
        for field in dialog.findChildren(kind):
            if not isinstance(field, QScrollBar):
                field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                field.installEventFilter(still)
