"""What a window says to who does not see it, and shows to who has no mouse: used by `test_accessibility`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDockWidget,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QScrollBar,
    QTabBar,
    QWidget,
)

from sce_desktop.ui.kit.tab_order import scrollers, tab_stops

ROLE = QAccessible.Role
# They say nothing of what a control does.
MUTE = frozenset({ROLE.NoRole, ROLE.Client, ROLE.Pane, ROLE.Border, ROLE.Whitespace, ROLE.Window})
_EDGE = 3  # pixels round a widget in which its focus may be drawn
_SAME_LINE = 12  # pixels: what begins no lower than that after another stands beside it


def where(widget: QWidget) -> str:
    """Name a widget for who looks for it."""
    names: list[str] = []
    one: QWidget | None = widget
    while one is not None and len(names) < 4:
        name = one.accessibleName() or getattr(one, "text", lambda: "")()
        names.append(f"{type(one).__name__} {name!r}")
        one = one.parentWidget()
    return " < ".join(names)


def stops(top: QWidget) -> list[QWidget]:
    """Return where Tab stops in a window, in the order of the keys."""
    if not type(top).__module__.startswith("PySide6") and "focusNextPrevChild" in vars(type(top)):
        return tab_stops(top)
    found: list[QWidget] = []
    first: QWidget = top
    widget = top.nextInFocusChain()
    while widget is not None and widget is not first:
        takes = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.focusProxy() is None
        inside = widget.window() is top and widget.isVisibleTo(top) and widget.isEnabled()
        if takes and inside and not _is_unchecked_radio(widget):
            found.append(widget)
        widget = widget.nextInFocusChain()
    return found


def _is_unchecked_radio(widget: QWidget) -> bool:
    """Tab goes to the checked one of several radio buttons, arrows to the others."""
    exclusive = isinstance(widget, QAbstractButton) and widget.autoExclusive() and widget.isCheckable()
    return exclusive and not widget.isChecked()  # type: ignore[attr-defined]


def unnamed(top: QWidget) -> Iterator[str]:
    """Yield the controls below ``top`` that a screen reader has no name or no role for."""
    for widget in stops(top):
        spoken = QAccessible.queryAccessibleInterface(widget)
        if spoken is None:
            yield f"not known: {where(widget)}"
            continue
        if not spoken.text(QAccessible.Text.Name).strip():
            yield f"no name: {where(widget)}"
        if spoken.role() in MUTE:
            yield f"role {spoken.role().name}: {where(widget)}"


def without_name(top: QWidget) -> list[str]:
    """Return the controls below ``top`` that a screen reader has no name for."""
    return [problem for problem in unnamed(top) if problem.startswith("no name")]


def unreachable(top: QWidget) -> Iterator[str]:
    """Yield the controls below ``top`` that only a mouse can use."""
    kinds = (QAbstractButton, QAbstractItemView, QComboBox, QLineEdit, QTabBar)
    for widget in top.findChildren(QWidget):
        if not isinstance(widget, kinds) or not widget.isVisible() or isinstance(widget, QHeaderView):
            continue
        if widget.window() is not top or widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            continue
        if _is_unchecked_radio(widget):
            continue
        parent = widget.parentWidget()
        inside = isinstance(parent, QLineEdit | QTabBar | QComboBox | QAbstractItemView | QScrollBar)
        if not inside and widget.focusProxy() is None and not _is_proxy(widget):
            yield f"no Tab: {where(widget)}"


def _is_proxy(widget: QWidget) -> bool:
    """Whether another widget stands for this one: the field within a number field."""
    parent = widget.parentWidget()
    return parent is not None and parent.inherits("QAbstractSpinBox")


def out_of_order(top: QWidget, found: list[QWidget] | None = None) -> Iterator[str]:
    """Yield the steps of Tab that go back, against the direction of reading."""
    found = stops(top) if found is None else found
    rtl = top.layoutDirection() is Qt.LayoutDirection.RightToLeft
    docked = {widget for dock in top.findChildren(QDockWidget) for widget in dock.findChildren(QWidget)}
    for one, other in itertools.pairwise(found):
        if other in docked and one not in docked:
            continue  # the row beside the panels belongs to the table above them, and comes before them
        here, there = _place(one, top, rtl), _place(other, top, rtl)
        if here.contains(there.center()) or there.contains(here.center()):
            continue  # a part of it, or what it is a part of
        above = there.bottom() <= here.top() + _SAME_LINE and there.top() < here.top() - _SAME_LINE
        beside = there.left() >= here.right() - _SAME_LINE
        same_line = abs(there.top() - here.top()) <= _SAME_LINE
        if (above and not beside) or (same_line and there.right() <= here.left() + _SAME_LINE):
            yield f"{where(one)} at {here.getRect()} → {where(other)} at {there.getRect()}"


def _place(widget: QWidget, top: QWidget, rtl: bool) -> QRect:
    place = QRect(widget.mapTo(top, QPoint(0, 0)), widget.size())
    if (area := next(reversed(scrollers(widget)), None)) is not None:  # what is scrolled out stands in it
        around = QRect(area.mapTo(top, QPoint(0, 0)), area.size())
        place = place & around if place.intersects(around) else around
    return QRect(top.width() - place.right(), place.top(), place.width(), place.height()) if rtl else place


def without_visible_focus(top: QWidget, known: set[QWidget]) -> Iterator[str]:
    """Yield the stops of Tab that look the same with the focus and without; ``known``: passed over."""
    for widget in stops(top):
        if widget in known or widget.visibleRegion().isEmpty():
            continue
        before = _picture(widget, top, focus=False)
        after = _picture(widget, top, focus=True)
        if after.isNull():  # the platform gave the keyboard to no window: it is asked for another time
            continue
        known.add(widget)
        if before == after:
            yield where(widget)
    if (focus := QApplication.focusWidget()) is not None:
        focus.clearFocus()


def _picture(widget: QWidget, top: QWidget, *, focus: bool) -> QImage:
    if focus:
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        if not widget.hasFocus():
            return QImage()
    elif (now := QApplication.focusWidget()) is not None:
        now.clearFocus()
    place = QRect(widget.mapTo(top, QPoint(0, 0)), widget.size()).adjusted(-_EDGE, -_EDGE, _EDGE, _EDGE)
    return top.grab(place).toImage()


def twice(top: QWidget) -> Iterator[str]:
    """Yield the mnemonics that two controls of ``top``, or two entries of one of its menus, have."""
    texts = [
        widget.text()
        for widget in top.findChildren(QWidget)
        if widget.isVisible()
        and (
            isinstance(widget, QAbstractButton) or (isinstance(widget, QLabel) and widget.buddy() is not None)
        )
    ]
    yield from _repeated(type(top).__name__, texts)
    for menu in top.findChildren(QMenu):
        yield from _repeated(menu.title(), [action.text() for action in menu.actions()])
    if (bar := getattr(top, "menuBar", None)) is not None:
        yield from _repeated("menu bar", [action.text() for action in bar().actions()])


def _repeated(place: str, texts: list[str]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for text in texts:
        plain = text.replace("&&", "")
        at = plain.find("&")
        if at < 0 or at + 1 >= len(plain):
            continue
        letter = plain[at + 1].casefold()
        if letter in seen:
            yield f"{place}: {letter!r} of {text!r} and {seen[letter]!r}"
        seen[letter] = text
