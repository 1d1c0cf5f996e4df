"""The two charts of the panel Evaluate. They are painted from the figures at hand, in the theme's colours.

Models differ by mark and line too, never by colour alone. pyqtgraph would bring half a second of import and
tens of milliseconds a drawing for what are two polylines; only Findings uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QToolTip, QWidget

from sce_desktop.core.i18n import _, ngettext, percent
from sce_desktop.core.text import exact_share_text, interval_text, share_text
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, SPACE_XS, font, px, set_role, tokens

if TYPE_CHECKING:
    from sce_desktop.tasks.evaluation.quality import ModelQuality

_LINES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)
_NEAR = 14  # the sketch's pixels from the mouse to a point that it asks about
_TICKS = 5
_STEPS = (0.1, 0.2, 0.5)  # of the axis that goes up, by the room
Named = Sequence[tuple[str, "ModelQuality"]]


@dataclass(frozen=True, slots=True)
class Point:
    """A fraction ``y`` that is right at ``x``, its interval, and on how many rows that rests."""

    x: float
    y: float
    interval: tuple[float, float]
    rows: int


class Chart(QWidget):
    """Lines over an axis from 0 to 100 %, the first with its intervals: as bars or as a band."""

    def __init__(self, title: str, axes: str, *, bars: bool) -> None:
        super().__init__()
        self.setAccessibleName(title)
        self.setMinimumSize(px(160), px(80))
        self._title, self._axes, self._bars = title, axes, bars
        self.lines: tuple[tuple[str, tuple[Point, ...]], ...] = ()
        self.lowest = 0.0  # where the axis that goes up begins

    def sizeHint(self) -> QSize:
        """Half of what a panel below has room for."""
        return QSize(px(400), px(200))

    def show_lines(
        self, lines: Sequence[tuple[str, Sequence[Point]]], description: str, lowest: float
    ) -> None:
        """Show a line for each name; ``description`` is what screen readers say instead."""
        self.lines = tuple((name, tuple(points)) for name, points in lines)
        self.lowest = lowest
        self.setAccessibleDescription(description)
        self.update()

    # --- painting ------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw heading, axes and lines."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_heading(painter)
        self._paint_axes(painter)
        painter.setClipRect(self._field().adjusted(-px(5), -px(5), px(5), px(5)))
        for number in reversed(range(len(self.lines))):  # the first model lies above the others
            self._paint_line(painter, number)

    def _field(self) -> QRectF:
        """Where the lines are."""
        height = self.fontMetrics().height()
        left = self.fontMetrics().horizontalAdvance(percent(1)) + px(SPACE_S)
        top, bottom = height + px(SPACE_S), height + px(SPACE_XS)
        return QRectF(left, top, self.width() - left - px(SPACE_S), self.height() - top - bottom)

    def _at(self, x: float, y: float) -> QPointF:
        field = self._field()
        up = (y - self.lowest) / (1 - self.lowest)
        return QPointF(field.left() + x * field.width(), field.bottom() - up * field.height())

    def _paint_heading(self, painter: QPainter) -> None:
        t, x, height = tokens(), 0, self.fontMetrics().height()
        middle = Qt.AlignmentFlag.AlignVCenter
        for text, look, colour in ((self._title, font("strong"), t.ink), (self._axes, self.font(), t.muted)):
            painter.setFont(look)
            painter.setPen(QColor(colour))
            width = painter.fontMetrics().horizontalAdvance(text)
            painter.drawText(x, 0, width + 2, height, middle, text)
            x += width + px(SPACE_S)
        for number, (name, _points) in enumerate(self.lines):
            x += px(SPACE_S)
            _mark(painter, number, QPointF(x + px(4), height / 2))
            painter.setPen(QColor(t.ink))
            room = max(0, self.width() - x - px(12))
            shown = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(x + px(12), 0, room, height, middle, shown)
            x += px(12) + painter.fontMetrics().horizontalAdvance(shown)

    def _paint_axes(self, painter: QPainter) -> None:
        t, field, height = tokens(), self._field(), self.fontMetrics().height()
        painter.setFont(self.font())
        for tick in range(_TICKS + 1):
            share = tick / _TICKS
            painter.setPen(QColor(t.line))
            painter.drawLine(self._at(share, self.lowest), self._at(share, 1))
            painter.setPen(QColor(t.muted))
            text, at = share_text(share), self._at(share, self.lowest)
            width = painter.fontMetrics().horizontalAdvance(text)
            x = min(at.x() - width / 2, self.width() - width)
            painter.drawText(QPointF(x, field.bottom() + height), text)
        room = field.height() / (1.2 * height)
        step = next((s for s in _STEPS if (1 - self.lowest) / s <= room), _STEPS[-1])
        for number in range(round(1 / step) + 1):
            y = number * step
            if y < self.lowest - 1e-6:
                continue
            painter.setPen(QColor(t.line))
            painter.drawLine(self._at(0, y), self._at(1, y))
            painter.setPen(QColor(t.muted))
            box = QRectF(0, self._at(0, y).y() - height / 2, field.left() - px(SPACE_XS), height)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, share_text(y))
        if self._bars:  # there confidence is what it says
            painter.setPen(QPen(QColor(t.muted), 1, Qt.PenStyle.DashLine))
            painter.drawLine(self._at(self.lowest, self.lowest), self._at(1, 1))

    def _paint_line(self, painter: QPainter, number: int) -> None:
        points = self.lines[number][1]
        colour = QColor(_colour(number))
        if number == 0:  # the intervals of several models would hide each other
            self._paint_intervals(painter, points, colour)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, px(2), _LINES[number % len(_LINES)]))
        painter.drawPolyline(QPolygonF([self._at(point.x, point.y) for point in points]))
        if self._bars or len(points) == 1:
            for point in points:
                _mark(painter, number, self._at(point.x, point.y))

    def _paint_intervals(self, painter: QPainter, points: Sequence[Point], colour: QColor) -> None:
        lows = [self._at(point.x, point.interval[0]) for point in points]
        highs = [self._at(point.x, point.interval[1]) for point in points]
        if self._bars:
            painter.setPen(QPen(colour, 1))
            for low, high in zip(lows, highs, strict=True):
                painter.drawLine(low, high)
            return
        colour = QColor(colour)
        colour.setAlphaF(0.15)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawPolygon(QPolygonF([*lows, *reversed(highs)]))

    def event(self, event: QEvent) -> bool:
        """Show the figures of the point under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.text_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def text_at(self, place: QPointF) -> str:
        """The figures of the point nearest to ``place``; empty where there is none nearby."""
        nearest = float(px(_NEAR))
        shown: tuple[str, Point] | None = None
        for name, points in self.lines:
            for point in points:
                away = (self._at(point.x, point.y) - place).manhattanLength()
                if away < nearest:
                    nearest, shown = away, (name, point)
        if shown is None:
            return ""
        name, point = shown
        return ngettext(
            "{model} at {share}: {correct} correct ({interval}, {count} row)",
            "{model} at {share}: {correct} correct ({interval}, {count} rows)",
            point.rows,
            model=name,
            share=exact_share_text(point.x),
            correct=exact_share_text(point.y),
            interval=interval_text(point.interval),
        )


class Charts(QWidget):
    """Reliability and coverage, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(_("Charts"))
        set_role(self, "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.reliability = Chart(_("Reliability"), _("correct, by confidence"), bars=True)
        self.coverage = Chart(_("Coverage"), _("correct, by share of rows covered"), bars=False)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_XS))
        layout.setSpacing(px(SPACE_M))
        layout.addWidget(self.reliability)
        layout.addWidget(self.coverage)

    def show_quality(self, models: Named, reliability: str, coverage: str) -> None:
        """Show the models of a part, each with its name, and what screen readers say of the charts."""
        self.reliability.show_lines(
            [
                (
                    name,
                    [Point(one.confidence, one.right, one.interval, one.rows) for one in model.reliability],
                )
                for name, model in models
            ],
            reliability,
            0.0,
        )
        lines = [
            (
                name,
                [
                    Point(point.coverage, point.precision, point.interval, point.rows)
                    for point in reversed(model.curve)  # from few rows answered to all
                    if point.precision is not None
                ],
            )
            for name, model in models
        ]
        lowest = min((point.y for _name, points in lines for point in points), default=0.0)
        self.coverage.show_lines(lines, coverage, int(lowest * 5) / 5 if lowest < 1 else 0.0)


def _mark(painter: QPainter, number: int, at: QPointF) -> None:
    """Draw the mark of a model: a circle, a square, a triangle, a diamond."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(_colour(number)))
    half = px(4)
    x, y = at.x(), at.y()
    if number % 4 == 0:
        painter.drawEllipse(at, half, half)
    elif number % 4 == 1:
        painter.drawRect(QRectF(x - half, y - half, 2 * half, 2 * half))
    elif number % 4 == 2:
        corners = [QPointF(x, y - half), QPointF(x - half, y + half), QPointF(x + half, y + half)]
        painter.drawPolygon(QPolygonF(corners))
    else:
        corners = [QPointF(x, y - half), QPointF(x - half, y), QPointF(x, y + half), QPointF(x + half, y)]
        painter.drawPolygon(QPolygonF(corners))


def _colour(number: int) -> str:
    t = tokens()
    return (t.accent, t.muted, t.warn, t.good)[number % 4]
