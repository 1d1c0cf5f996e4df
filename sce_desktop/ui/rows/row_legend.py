"""Which bar of a label is whose."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.painting import draw_bar
from sce_desktop.ui.kit.theme import Tokens, px, tokens
from sce_desktop.ui.rows.cell_drawing import mirrored


def grey(colours: Tokens, place: int) -> QColor:
    """The grey of the baseline at ``place`` (0-based): each is fainter than the one before."""
    colour = QColor(colours.muted)
    colour.setAlphaF((0.92, 0.8, 0.68)[min(place, 2)])
    return colour


def visual_box(widget: QWidget, box: QRectF) -> QRectF:
    """Return where ``box``, laid out from the left, lies in the layout of ``widget``."""
    return mirrored(widget.rect(), box) if widget.layoutDirection() is Qt.LayoutDirection.RightToLeft else box


class Legend(QWidget):
    """Which bar is whose."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._titles: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(_("Legend"))
        self.hide()

    def set_titles(self, titles: Sequence[str]) -> None:
        """Name the bars of a label from top to bottom."""
        if self._titles == tuple(titles):
            return
        self._titles = tuple(titles)
        self.setAccessibleDescription(", ".join(titles))
        self.setVisible(bool(titles))
        self.update()

    def wanted_width(self) -> int:
        """Return the width that shows all names, in pixels."""
        names = (self.fontMetrics().horizontalAdvance(title) for title in self._titles)
        return px(8) + sum(px(19) + name + px(14) for name in names)

    def sizeHint(self) -> QSize:
        """Return the height of a line."""
        return QSize(px(180), px(18))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a mark and a name for each model."""
        painter, colours = QPainter(self), tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, middle = px(8), self.height() / 2
        for place, title in enumerate(self._titles):
            colour = (
                colours.accent if place == 0 else grey(colours, place - 1).name(QColor.NameFormat.HexArgb)
            )
            mark = QRectF(x, middle - px(2.5), px(14), px(5))
            draw_bar(painter, visual_box(self, mark), 1.0, colour, None)
            x += px(19)
            painter.setPen(QColor(colours.muted))
            width = painter.fontMetrics().horizontalAdvance(title)
            name = QRectF(x, 0, width + 2, self.height())
            painter.drawText(visual_box(self, name), Qt.AlignmentFlag.AlignVCenter, title)
            x += width + px(14)
        painter.end()
