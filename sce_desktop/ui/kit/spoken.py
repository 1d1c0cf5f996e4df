"""What Qt gives a screen reader of our labels and drawings, where its own words would leave out the content.

A `QLabel` with an accessible name is known by that name alone: “Number of rows”, and not how many. Here it is
known by both. A widget that draws is nothing in particular to Qt: here it has the role that its class names.

Qt asks the first time that something reads a widget, so that this costs nothing where nothing does.
"""

from __future__ import annotations

from functools import partial

from PySide6 import QtGui
from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface, QTextDocumentFragment
from PySide6.QtWidgets import QAbstractItemView, QAccessibleWidget, QApplication, QLabel, QScrollArea, QWidget

from sce_desktop.core.i18n import _

Role = QAccessible.Role
_installed = False


def speak_widgets(app: QApplication) -> None:
    """Let labels, drawings and items be known as above, from here on in this process."""
    global _installed  # Qt keeps a list, and would ask twice
    install = getattr(QAccessible, "installFactory", None)
    if install is not None and not _installed:
        install(_interface)
        _installed = True
        ItemFocus(app)


class ItemFocus(QObject):
    """Tells a screen reader which item a list is at when it gets the focus: Qt names the list alone."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        app.focusChanged.connect(self._on_focus)

    @Slot(QWidget, QWidget)
    def _on_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        if isinstance(now, QAbstractItemView) and QAccessible.isActive():
            QTimer.singleShot(0, now, partial(tell_item, now))  # behind what Qt says of the list itself


def tell_item(view: QAbstractItemView) -> None:
    """Say that the current item of ``view`` has the focus."""
    spoken = QAccessible.queryAccessibleInterface(view)
    if not view.hasFocus() or not view.currentIndex().isValid() or spoken is None:
        return
    item = spoken.focusChild()
    if item is not None and item.isValid():
        QAccessible.updateAccessibility(QAccessibleEvent(item, QAccessible.Event.Focus))


def label_words(label: QLabel) -> str:
    """Return what a label is known by: its name, if it has one, and what it shows."""
    name, text = label.accessibleName(), _plain(label)
    if not name or name in text:
        return text or name
    return _("{name}: {text}", name=name.rstrip(":"), text=text) if text else name


def _plain(label: QLabel) -> str:
    whole = getattr(label, "whole", None)  # of one that is cut where it does not fit
    text = whole() if whole is not None else label.text()
    rich = label.textFormat() is Qt.TextFormat.RichText or (
        label.textFormat() is Qt.TextFormat.AutoText and QtGui.Qt.mightBeRichText(text)
    )
    return QTextDocumentFragment.fromHtml(text).toPlainText() if rich else text


class _Label(QAccessibleWidget):
    """A label, known by its name and what it shows."""

    def __init__(self, label: QLabel) -> None:
        link = bool(label.focusPolicy() & Qt.FocusPolicy.TabFocus)  # only one with a link takes the focus
        super().__init__(label, Role.Link if link else Role.StaticText)

    def text(self, kind: QAccessible.Text) -> str:
        label = self.object()
        if kind is QAccessible.Text.Name and isinstance(label, QLabel):
            return label_words(label)
        return super().text(kind)


def _interface(name: str, widget: QObject) -> QAccessibleInterface | None:
    """Return how a widget is known; None where Qt knows better. It asks for each class by ``name``."""
    if isinstance(widget, QLabel):
        return _Label(widget) if widget.pixmap().isNull() else None  # to Qt a picture is one, by its name
    if isinstance(widget, QScrollArea) and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        return QAccessibleWidget(widget, Role.Section)  # what one scrolls by keys is not nothing
    role = getattr(widget, "accessible_role", None)
    if isinstance(role, Role) and isinstance(widget, QWidget):
        return QAccessibleWidget(widget, role)
    return None
