"""The heading of a group of labels in the row panel; pressed, it folds or unfolds the group."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QStyle, QWidget

from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.text import share_text
from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.painting import draw_name
from sce_desktop.ui.kit.theme import RADIUS, font, px, tokens
from sce_desktop.ui.rows.label_line import GroupLine

_HEIGHT, _SIGN = 22, 12


class GroupButton(QAbstractButton):
    """Sign, name of the parent, and the probability of the group."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line: GroupLine | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def show_line(self, line: GroupLine) -> None:
        """Show another group."""
        if line == self.line:
            return
        self.line = line
        size = ngettext("group of {count} label", "group of {count} labels", line.count)
        state = _("folded") if line.folded else _("unfolded")
        share = "" if line.share is None else share_text(line.share)
        self.setAccessibleName(line.parent)
        self.setAccessibleDescription(", ".join(filter(None, (size, state, share))))
        self.setToolTip(f"{line.parent}\n{size}")
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of a line."""
        return QSize(px(180), px(_HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the heading."""
        line, colours, direction = self.line, tokens(), self.layoutDirection()
        if line is None:
            return
        painter, rect = QPainter(self), self.rect()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus() or self.underMouse():
            painter.setPen(QPen(QColor(colours.accent)) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.hover) if self.underMouse() else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), px(RADIUS), px(RADIUS))
        closed = "left" if direction is Qt.LayoutDirection.RightToLeft else "right"
        sign = QRect(px(7), (rect.height() - px(_SIGN)) // 2, px(_SIGN), px(_SIGN))
        icon(closed if line.folded else "down", "muted").paint(
            painter, QStyle.visualRect(direction, rect, sign)
        )
        right = rect.width() - px(8)
        if line.share is not None:
            painter.setPen(QColor(colours.muted))
            text = share_text(line.share)
            width = painter.fontMetrics().horizontalAdvance(text) + 1
            box = QStyle.visualRect(direction, rect, QRect(right - width, 0, width, rect.height()))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
            right -= width + px(6)
        painter.setFont(font("strong"))
        painter.setPen(QColor(colours.ink))
        name = QRect(px(24), 0, right - px(24), rect.height())
        draw_name(painter, QStyle.visualRect(direction, rect, name), line.parent)
        painter.end()
