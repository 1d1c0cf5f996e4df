"""Tab goes where the eye goes: from the top to the bottom and, on a line, in the direction of the language,
zone by zone; what is docked below comes last.

Qt's own order is that in which widgets were made: buttons that come later stand at its end, and panels behind
a tab, which Qt keeps off the screen, stand in it too.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractScrollArea, QDockWidget, QScrollArea, QWidget

from sce_desktop.ui.kit.theme import px

_LINE = 12  # pixels: what begins no lower than that after the first of a line stands on it


def tab_stops(window: QWidget) -> list[QWidget]:
    """Return the widgets at which Tab stops, in their order."""
    return [widget for widget in _reading_order(window) if _stops_at(widget, window)]


def step(window: QWidget, *, forward: bool) -> bool:
    """Give the focus to the next stop, or the one before; False where there is none."""
    order = _reading_order(window)
    here = window.focusWidget()
    at = order.index(here) if here in order else -1
    after = [*order[at + 1 :], *order[: max(at, 0)]]
    if not forward:
        after = [*reversed(order[: max(at, 0)]), *reversed(order[at + 1 :])]
    target = next((widget for widget in after if _stops_at(widget, window)), None)
    if target is None:
        return False
    target.setFocus(Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason)
    for area in scrollers(target):
        if isinstance(area, QScrollArea):
            area.ensureWidgetVisible(target)
    return True


def _reading_order(window: QWidget) -> list[QWidget]:
    """All visible widgets of the window as one reads them; panels in docks are read after the rest.

    A dock lies below the rows and beside the current row, which belong together.
    """
    order = _in_order(window)
    docked: set[QWidget] = set()
    for dock in (widget for widget in order if isinstance(widget, QDockWidget)):
        docked.update((dock, *_in_order(dock)))
    rest = [widget for widget in order if widget not in docked]
    return [*rest, *(widget for widget in order if widget in docked)] if docked else order


def _in_order(parent: QWidget) -> list[QWidget]:
    """All visible widgets below ``parent`` as one reads them; what lies in another follows it."""
    children = [
        child
        for child in parent.children()
        if isinstance(child, QWidget) and child.isVisible() and not child.isWindow()
    ]
    found: list[QWidget] = []
    for child in _by_lines(children, parent.layoutDirection()):
        found += [child, *_in_order(child)]
    return found


def _by_lines(widgets: list[QWidget], direction: Qt.LayoutDirection) -> list[QWidget]:
    lines: list[list[QWidget]] = []
    for widget in sorted(widgets, key=lambda one: one.y()):
        if lines and widget.y() <= lines[-1][0].y() + px(_LINE):
            lines[-1].append(widget)
        else:
            lines.append([widget])
    mirrored = direction is Qt.LayoutDirection.RightToLeft
    return [
        widget
        for line in lines
        for widget in sorted(line, key=lambda one: -one.geometry().right() if mirrored else one.x())
    ]


def _stops_at(widget: QWidget, window: QWidget) -> bool:
    takes = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return takes and widget.isEnabled() and widget.focusProxy() is None and _is_there(widget, window)


def _is_there(widget: QWidget, window: QWidget) -> bool:
    """Whether a widget is in the window, or can be scrolled to."""
    place = next(reversed(scrollers(widget)), widget)
    shown = QRect(place.mapTo(window, QPoint(0, 0)), place.size()).intersected(window.rect())
    return shown.width() > 1 and shown.height() > 1


def scrollers(widget: QWidget) -> list[QAbstractScrollArea]:
    """The areas in which a widget can be scrolled, the innermost first."""
    found = []
    parent = widget.parentWidget()
    while parent is not None and not parent.isWindow():
        if isinstance(parent, QAbstractScrollArea):
            found.append(parent)
        parent = parent.parentWidget()
    return found
