"""The headings of the table: a click sorts, one on the funnel at their end filters, as in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QStyle, QWidget

from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.theme import px

MARK = 12  # pixels of the funnel
_ZONE = 20  # that a click on it may miss it by
_NARROW = 40  # pixels of a section that has no room for its sign and the funnel
_EDGE = 4  # beside the next heading, where one drags the width


class FilterHeader(QHeaderView):
    """Shows the funnel of a column that is filtered by, and of the one under the mouse."""

    filterAsked = Signal(int)  # section
    menuAsked = Signal(int, QPoint)  # section, place on the screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._filtered: frozenset[int] = frozenset()
        self._plain: frozenset[int] = frozenset()
        self._hovered = -1
        self._pressed = -1
        self.viewport().setMouseTracking(True)

    @property
    def filtered(self) -> frozenset[int]:
        """The sections that are marked."""
        return self._filtered

    def set_filtered(self, sections: Iterable[int], *, plain: Iterable[int] = ()) -> None:
        """Mark the sections that rows are filtered by; ``plain`` ones have no filter."""
        before = (self._filtered, self._plain)
        self._filtered, self._plain = frozenset(sections), frozenset(plain)
        if before != (self._filtered, self._plain):
            self.viewport().update()

    def funnel(self, section: int) -> QRect:
        """Return where the funnel of a section is."""
        left, width = self.sectionViewportPosition(section), self.sectionSize(section)
        box = QRect(
            left + width - px(_EDGE + MARK) + px(1), (self.height() - px(MARK)) // 2, px(MARK), px(MARK)
        )
        return QStyle.visualRect(self.layoutDirection(), QRect(left, 0, width, self.height()), box)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Draw the heading, and its funnel over the end of it."""
        painter.save()
        super().paintSection(painter, rect, section)
        painter.restore()
        on = section in self._filtered
        if on or (section == self._hovered and section not in self._plain):
            box = self.funnel(section)
            narrow = rect.width() < px(_NARROW)  # else a part of the sign would be seen beside it
            ground = rect.adjusted(0, 0, 0, -1) if narrow else box.adjusted(-px(2), 0, px(2), 0)
            painter.fillRect(ground, self.palette().window())
            icon("filter", "accent" if on else "muted").paint(painter, box)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Let a press on a funnel neither sort nor drag."""
        self._pressed = self._funnel_at(event) if event.button() is Qt.MouseButton.LeftButton else -1
        if self._pressed < 0:
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Ask for the filter of the funnel that was clicked."""
        pressed, self._pressed = self._pressed, -1
        if pressed < 0:
            super().mouseReleaseEvent(event)
        elif self._funnel_at(event) == pressed:
            self.filterAsked.emit(pressed)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the funnel of the heading under the mouse."""
        self._hover(self.logicalIndexAt(event.position().toPoint()))
        if self._pressed < 0:
            super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the funnel when the mouse goes."""
        self._hover(-1)
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of a heading."""
        self.menuAsked.emit(self.logicalIndexAt(event.pos()), event.globalPos())

    def below(self, section: int) -> QPoint:
        """Return the place on the screen at which the filter of a section opens."""
        left, width = self.sectionViewportPosition(section), self.sectionSize(section)
        right_to_left = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        return self.viewport().mapToGlobal(QPoint(left + (width if right_to_left else 0), self.height()))

    def _hover(self, section: int) -> None:
        if section != self._hovered:
            self._hovered = section
            self.viewport().update()

    def _funnel_at(self, event: QMouseEvent) -> int:
        at = event.position().toPoint()
        section = self.logicalIndexAt(at)
        if section < 0 or section in self._plain:
            return -1
        spare = px(_ZONE - MARK) // 2
        zone = self.funnel(section).adjusted(-spare, -self.height(), px(1), self.height())
        return section if zone.contains(at) else -1
