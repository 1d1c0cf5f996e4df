"""The command palette: type a few letters of what you want to do, Return does it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Slot
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QKeySequence, QPixmap
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHeaderView,
    QLabel,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.command_history import CommandHistory
from sce_desktop.ui.kit.theme import SPACE_S, px, set_role

_ACTION_ROLE = Qt.ItemDataRole.UserRole


def matches(name: str, typed: str) -> bool:
    """Whether the words of ``typed`` all begin, or lie in, ``name``; letter case aside."""
    return all(word in name.casefold() for word in typed.casefold().split())


def name_of(action: QAction) -> str:
    """What an action is called, without mnemonic and dots; with its menu in front where it has one."""
    menu = action.property("menu_name")
    command = plain_text(action)
    return _("{menu}: {command}", menu=menu, command=command) if menu else command


def plain_text(action: QAction) -> str:
    """The text of an action without its mnemonic, a single &, and the dots at its end."""
    return action.text().replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("….")


def key_of(action: QAction) -> str:
    """The name under which the use of an action is remembered: the same in every language."""
    return action.objectName() or plain_text(action)


class CommandPalette(QFrame):
    """A list of every enabled action of the window, those used often and lately first; typing filters it.

    It lies in the window instead of being one: under Wayland a program cannot say where its windows go.
    """

    def __init__(self, actions: Sequence[QAction], history: CommandHistory, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Command palette"))
        self._history = history
        set_role(self, "card")
        offered = (
            action
            for action in actions
            if action.isEnabled() and action.isVisible() and action.text() and action.menu() is None
        )
        self._actions = history.ordered(offered, key_of)
        self._before = QApplication.focusWidget()  # where one was
        self.field = QLineEdit(placeholderText=_("What do you want to do?"))
        self.field.setAccessibleName(_("Command"))
        self.field.textChanged.connect(self._filter)
        self.field.returnPressed.connect(self._run)
        self.field.installEventFilter(self)
        self.list = QTreeWidget(columnCount=2)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setAccessibleName(_("Commands"))
        self.list.setUniformRowHeights(True)
        self.list.setIconSize(QSize(px(16), px(16)))
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        blank = QPixmap(px(16), px(16))
        blank.fill(Qt.GlobalColor.transparent)
        self._no_icon = QIcon(blank)  # keeps the names in line
        self.list.itemClicked.connect(self._run)
        self.nothing = QLabel(
            _("No command matches. Type fewer letters."), alignment=Qt.AlignmentFlag.AlignCenter
        )
        self.nothing.setAccessibleName(_("Search result"))
        set_role(self.nothing, "muted")
        self.nothing.hide()
        layout = QVBoxLayout(self)
        margin = px(SPACE_S)
        layout.setContentsMargins(margin, margin, margin, margin)
        layout.addWidget(self.field)
        layout.addWidget(self.list)
        layout.addWidget(self.nothing, 1)
        self.resize(px(460), px(340))
        self.ensurePolished()  # before the first row is measured: all rows are as high as that one
        self.list.ensurePolished()
        self._filter("")

    @Slot(str)
    def _filter(self, typed: str) -> None:
        self.list.clear()
        for action in self._actions:
            name = name_of(action)
            if not matches(name, typed):
                continue
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            item = QTreeWidgetItem([name, keys])
            item.setIcon(0, self._no_icon if action.icon().isNull() else action.icon())
            item.setForeground(1, self.palette().placeholderText())
            item.setData(0, _ACTION_ROLE, action)
            self.list.addTopLevelItem(item)
        first = self.list.topLevelItem(0)
        self.list.setVisible(first is not None)
        self.nothing.setVisible(first is None)
        if first is not None:
            self.list.setCurrentItem(first)

    @Slot()
    def _run(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            action = item.data(0, _ACTION_ROLE)
            self.dismiss()
            self._history.note(key_of(action))
            action.trigger()

    def dismiss(self) -> None:
        """Go away; who has not gone elsewhere meanwhile is back where one was."""
        focus, before = QApplication.focusWidget(), self._before
        here = focus is None or focus is self or self.isAncestorOf(focus)
        if here and before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)
        self.hide()
        self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let keys of the field move in the list or close it; close too when the focus goes elsewhere."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
                self.list.keyPressEvent(event)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.dismiss()
                return True
        elif event.type() is QEvent.Type.FocusOut and not self.isAncestorOf(
            QApplication.focusWidget() or self
        ):
            self.dismiss()
        return super().eventFilter(watched, event)
