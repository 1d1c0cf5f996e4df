"""Single keys that decide about the current row; dead while one types into a text field."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from sce_desktop.ui.rows.rows_table import RowsTable

RETURN = ("Return", "Enter")


def takes_text(widget: QWidget | None) -> bool:
    """Whether typing changes what ``widget`` holds."""
    if isinstance(widget, QLineEdit | QTextEdit | QPlainTextEdit):
        return not widget.isReadOnly()
    if isinstance(widget, QAbstractItemView) and not isinstance(widget, RowsTable):
        return widget.state() is QAbstractItemView.State.EditingState
    return isinstance(widget, QAbstractSpinBox | QComboBox)


def takes_return(widget: QWidget | None) -> bool:
    """Whether the Return key already means something where the focus is."""
    if isinstance(widget, QAbstractItemView):
        return not isinstance(widget, RowsTable)
    return isinstance(widget, QAbstractButton) or takes_text(widget)


class RowKeys(QObject):
    """Shortcuts of the window, as long as the focus leaves them free."""

    typing = Signal(bool)  # whether one types into a field now, where they are dead

    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner)
        self._owner = owner
        self._shortcuts: dict[str, QShortcut] = {}
        self._typing = False
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus)

    def set_keys(self, keys: Mapping[str, Callable[[], object]]) -> None:
        """Make exactly ``keys`` work."""
        for shortcut in self._shortcuts.values():
            shortcut.setEnabled(False)
            shortcut.deleteLater()
        self._shortcuts = {}
        both = {"Enter": keys["Return"]} if "Return" in keys else {}  # of the number pad
        for key, do in (dict(keys) | both).items():
            shortcut = QShortcut(QKeySequence(key), self._owner)
            shortcut.setContext(Qt.ShortcutContext.WindowShortcut)
            shortcut.activated.connect(lambda do=do: do())
            self._shortcuts[key] = shortcut
        self._follow(QApplication.focusWidget())

    @Slot(QWidget, QWidget)
    def _on_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        self._follow(now)

    def _follow(self, focus: QWidget | None) -> None:
        typing, returns = takes_text(focus), takes_return(focus)
        for key, shortcut in self._shortcuts.items():
            shortcut.setEnabled(not (returns if key in RETURN else typing))
        if typing != self._typing:
            self._typing = typing
            self.typing.emit(typing)
