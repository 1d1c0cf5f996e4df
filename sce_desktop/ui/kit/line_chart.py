"""Lines over two axes, painted in the theme's colours: the one chart of the window.

Lines differ by dashes and marks too, never by colour alone. What axes say and how lines look is up to the
panel; where things are, what lies under the mouse and painting is done here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from sce_desktop.ui.kit.theme import SPACE_S, SPACE_XS, px, tokens

DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
    Qt.PenStyle.DashDotDotLine,
)
_SHAPES = 5
_NEAR = 14  # the sketch's pixels from the mouse to a point that it asks about
Tick = tuple[float, str]
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Point:
    """A value ``y`` at ``x``, its interval if one is to be drawn, and what its tip says."""

    x: float
    y: float
    interval: Range | None = None
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Points from left to right, None where the line has a gap; ``rank`` decides on dashes and marks."""

    name: str
    points: tuple[Point | None, ...]
    colour: str
    rank: int
    marked: bool = True

    @property
    def pen(self) -> QPen:
        """The pen it is drawn with."""
        return QPen(QColor(self.colour), px(2), DASHES[self.rank % len(DASHES)])

    @property
    def there(self) -> list[Point]:
        """The points that it has."""
        return [point for point in self.points if point is not None]


class LineChart(QWidget):
    """Shows lines; `ticks` and `paint_more` are for those who know what the axes mean."""

    clicked = Signal(object, object)  # x and y of a click between the axes

    accessible_role = QAccessible.Role.Chart

    def __init__(self, *, band: bool = False) -> None:
        super().__init__()
        self.setMinimumSize(px(160), px(80))
        self.lines: tuple[Line, ...] = ()
        self.x_range: Range = (0.0, 1.0)
        self.y_range: Range = (0.0, 1.0)
        self._band = band  # intervals of a line are one area instead of bars
        self._head = 0  # pixels above the axes
        self._x_ticks: Sequence[Tick] = ()
        self._y_ticks: Sequence[Tick] = ()
        self._field = QRectF()

    def sizeHint(self) -> QSize:
        """Half of what a panel below has room for."""
        return QSize(px(400), px(200))

    def set_lines(self, lines: Sequence[Line], *, x_range: Range, y_range: Range) -> None:
        """Show ``lines``, the first one above the others."""
        self.lines, self.x_range, self.y_range = tuple(lines), x_range, y_range
        self._lay_out()
        self.update()

    def ticks(self) -> tuple[Sequence[Tick], Sequence[Tick]]:
        """Return what the axes say at which x, and at which y, in the room that there is."""
        return (), ()

    def paint_more(self, painter: QPainter) -> None:
        """Paint what else there is below the lines."""

    # --- where things are ----------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._x_ticks, self._y_ticks = self.ticks()
        metrics = self.fontMetrics()
        left = max((metrics.horizontalAdvance(text) for _, text in self._y_ticks), default=0) + px(SPACE_S)
        last = metrics.horizontalAdvance(self._x_ticks[-1][1]) // 2 if self._x_ticks else 0
        top, bottom = max(self._head, metrics.height() // 2), metrics.height() + px(SPACE_XS)
        right = max(last, px(SPACE_S))
        self._field = QRectF(left, top, self.width() - left - right, self.height() - top - bottom)

    def at(self, x: float, y: float) -> QPointF:
        """Return where a point is in the widget."""
        (x_low, x_high), (y_low, y_high) = self.x_range, self.y_range
        across, up = (x - x_low) / (x_high - x_low), (y - y_low) / (y_high - y_low)
        field = self._field
        return QPointF(field.left() + across * field.width(), field.bottom() - up * field.height())

    def text_at(self, place: QPointF) -> str:
        """Return the tip of the point nearest to ``place``; empty where there is none nearby."""
        nearest, tip = float(px(_NEAR)), ""
        for line in self.lines:
            for point in line.there:
                away = (self.at(point.x, point.y) - place).manhattanLength()
                if away < nearest:
                    nearest, tip = away, point.tip
        return tip

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say as much at the axes as there is room for."""
        super().resizeEvent(event)
        self._lay_out()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the font."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and hasattr(self, "_field"):
            self._lay_out()

    def event(self, event: QEvent) -> bool:
        """Show the figures of the point under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.text_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Say where the axes were clicked at."""
        super().mouseReleaseEvent(event)
        field, place = self._field, event.position()
        if event.button() is Qt.MouseButton.LeftButton and field.contains(place) and not field.isEmpty():
            (x_low, x_high), (y_low, y_high) = self.x_range, self.y_range
            across = (place.x() - field.left()) / field.width()
            up = (field.bottom() - place.y()) / field.height()
            self.clicked.emit(x_low + across * (x_high - x_low), y_low + up * (y_high - y_low))

    # --- painting ------------------------------------------------------------------------------------------

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw axes and lines."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_axes(painter)
        self.paint_more(painter)
        painter.setClipRect(self._field.adjusted(-px(5), -px(5), px(5), px(5)))
        for line in reversed(self.lines):
            self._paint_line(painter, line)

    def _paint_axes(self, painter: QPainter) -> None:
        t, field, height = tokens(), self._field, self.fontMetrics().height()
        painter.setFont(self.font())
        for x, text in self._x_ticks:
            low = self.at(x, self.y_range[0])
            painter.setPen(QColor(t.line))
            painter.drawLine(low, QPointF(low.x(), field.top()))
            painter.setPen(QColor(t.muted))
            width = painter.fontMetrics().horizontalAdvance(text)
            painter.drawText(QPointF(low.x() - width / 2, field.bottom() + height), text)
        for y, text in self._y_ticks:
            left = self.at(self.x_range[0], y)
            painter.setPen(QColor(t.line))
            painter.drawLine(left, QPointF(field.right(), left.y()))
            painter.setPen(QColor(t.muted))
            box = QRectF(0, left.y() - height / 2, field.left() - px(SPACE_XS), height)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_line(self, painter: QPainter, line: Line) -> None:
        self._paint_intervals(painter, line)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(line.pen)
        for there, stretch in groupby(line.points, lambda point: point is not None):
            if there:
                places = [self.at(point.x, point.y) for point in stretch if point is not None]
                painter.drawPolyline(QPolygonF(places))
        if line.marked:
            for point in line.there:
                paint_mark(painter, line, self.at(point.x, point.y))

    def _paint_intervals(self, painter: QPainter, line: Line) -> None:
        ends = [(point.x, *point.interval) for point in line.there if point.interval is not None]
        lows, highs = [self.at(x, low) for x, low, _ in ends], [self.at(x, high) for x, _, high in ends]
        colour = QColor(line.colour)
        if not self._band:
            colour.setAlphaF(0.7)
            painter.setPen(QPen(colour, 1))
            for low, high in zip(lows, highs, strict=True):
                painter.drawLine(low, high)
            return
        colour.setAlphaF(0.15)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawPolygon(QPolygonF([*lows, *reversed(highs)]))


def paint_mark(painter: QPainter, line: Line, at: QPointF) -> None:
    """Draw the mark of a line: a circle, a square, a triangle, a diamond, a triangle on its tip."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(line.colour))
    half, shape = px(4), line.rank % _SHAPES
    x, y = at.x(), at.y()
    if shape == 0:
        painter.drawEllipse(at, half, half)
        return
    corners = {
        1: ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        2: ((0, -1), (-1, 1), (1, 1)),
        3: ((0, -1), (-1, 0), (0, 1), (1, 0)),
        4: ((0, 1), (-1, -1), (1, -1)),
    }[shape]
    painter.drawPolygon(QPolygonF([QPointF(x + half * right, y + half * down) for right, down in corners]))
