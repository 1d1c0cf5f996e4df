"""The command palette: type a few letters of what you want to do, Return does it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from sce_desktop.ui.theme import SPACE_S, px

_ACTION_ROLE = Qt.ItemDataRole.UserRole


def matches(name: str, typed: str) -> bool:
    """Whether the words of ``typed`` all begin, or lie in, ``name``; letter case aside."""
    return all(word in name.casefold() for word in typed.casefold().split())


def name_of(action: QAction) -> str:
    """What an action is called, without mnemonic and dots; with its menu in front where it has one."""
    menu = action.property("menu_name")
    text = action.text().replace("&", "").rstrip("….")
    return f"{menu}: {text}" if menu else text


class CommandPalette(QDialog):
    """A list of every enabled action of the window, filtered as one types."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAccessibleName("Command palette")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._actions = [
            action
            for action in actions
            if action.isEnabled() and action.isVisible() and action.text() and action.menu() is None
        ]
        self.field = QLineEdit(placeholderText="What do you want to do?")
        self.field.setAccessibleName("Command")
        self.field.textChanged.connect(self._filter)
        self.field.returnPressed.connect(self._run)
        self.field.installEventFilter(self)
        self.list = QListWidget()
        self.list.setAccessibleName("Commands")
        self.list.setUniformItemSizes(True)
        self.list.itemClicked.connect(self._run)
        layout = QVBoxLayout(self)
        margin = px(SPACE_S)
        layout.setContentsMargins(margin, margin, margin, margin)
        layout.addWidget(self.field)
        layout.addWidget(self.list)
        self.resize(px(460), px(340))
        self._filter("")

    @Slot(str)
    def _filter(self, typed: str) -> None:
        self.list.clear()
        for action in self._actions:
            name = name_of(action)
            if not matches(name, typed):
                continue
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            item = QListWidgetItem(action.icon(), f"{name}    {keys}" if keys else name)
            item.setData(_ACTION_ROLE, action)
            self.list.addItem(item)
        self.list.setCurrentRow(0)

    @Slot()
    def _run(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            action = item.data(_ACTION_ROLE)
            self.close()
            action.trigger()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrow keys move in the list while the field has the focus."""
        moving = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress and event.key() in moving:
            self.list.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)
