"""F8 and Shift+F8 move the divider beside what has the focus, as dragging it does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QSplitter, QWidget

from sce_desktop.ui.kit.theme import px

LARGER, SMALLER = "F8", "Shift+F8"
STEP = 32  # pixels of the sketch


def resize_focused(by: int) -> bool:
    """Give what has the focus ``by`` pixels of the sketch more room, or fewer; False where nothing divides.

    It is the nearest part that a divider stands beside: a part of a panel, a zone of the window, or the dock.
    """
    widget = QApplication.focusWidget()
    while widget is not None and not widget.isWindow():
        parent = widget.parentWidget()
        if isinstance(parent, QSplitter) and resize_part(parent, widget, px(by)):
            return True
        if isinstance(widget, QDockWidget) and _resize_dock(widget, px(by)):
            return True
        widget = parent
    return False


def resize_part(splitter: QSplitter, part: QWidget, by: int) -> bool:
    """Give ``part`` of a splitter so many pixels of its largest neighbour; False where it has none."""
    sizes, at = splitter.sizes(), splitter.indexOf(part)
    parts = [splitter.widget(place) for place in range(len(sizes))]
    others = [n for n, other in enumerate(parts) if n != at and other is not None and other.isVisible()]
    if at < 0 or not others:
        return False
    other = max(others, key=lambda place: sizes[place])
    sizes[at] += by
    sizes[other] -= by
    splitter.setSizes([max(size, 1) for size in sizes])  # no part is closed: 0 would hide it
    return True


def _resize_dock(dock: QDockWidget, by: int) -> bool:
    deck = dock.parentWidget()
    if not isinstance(deck, QMainWindow) or dock.isFloating():
        return False
    sides = Qt.DockWidgetArea.LeftDockWidgetArea | Qt.DockWidgetArea.RightDockWidgetArea
    across = bool(deck.dockWidgetArea(dock) & sides)
    way = Qt.Orientation.Horizontal if across else Qt.Orientation.Vertical
    size = dock.width() if across else dock.height()
    deck.resizeDocks([dock], [max(1, size + by)], way)
    return True


def add_resize_keys(window: QWidget) -> None:
    """Let F8 and Shift+F8 work in a window of its own: a dialog, the guide."""
    for keys, by in ((LARGER, STEP), (SMALLER, -STEP)):
        do: Callable[[], object] = partial(resize_focused, by)
        QShortcut(QKeySequence(keys), window).activated.connect(do)
