"""The charts of the panel Evaluate: whether confidence is what it says, and how right the rows kept are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QHBoxLayout, QWidget

from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.text import exact_share_text, interval_text, share_text
from sce_desktop.ui.kit.line_chart import Line, LineChart, Point, Tick, paint_mark
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, SPACE_XS, font, px, set_role, tokens

if TYPE_CHECKING:
    from sce_desktop.tasks.evaluation.quality import ModelQuality

_TICKS = 5
_STEPS = (0.1, 0.2, 0.5)  # of the axis that goes up, by the room
Named = Sequence[tuple[str, "ModelQuality"]]


class Chart(LineChart):
    """Lines over an axis from 0 to 100 %, the first with its intervals: as bars or as a band."""

    def __init__(self, title: str, axes: str, *, bars: bool) -> None:
        super().__init__(band=not bars)
        self.setAccessibleName(title)
        self._title, self._axes, self._bars = title, axes, bars
        self._head = self.fontMetrics().height() + px(SPACE_S)

    def show_lines(
        self,
        lines: Sequence[tuple[str, Sequence[Point]]],
        description: str,
        lowest: float,
        highest: float = 1.0,
    ) -> None:
        """Show a line for each name from ``lowest`` to ``highest``.

        ``description`` is what is spoken instead.
        """
        drawn = []
        for rank, (name, points) in enumerate(lines):
            if rank:  # the intervals of several models would hide each other
                points = [replace(point, interval=None) for point in points]
            marked = self._bars or len(points) == 1
            drawn.append(Line(name, tuple(points), _colour(rank), rank, marked))
        self.setAccessibleDescription(description)
        self.set_lines(drawn, x_range=(0.0, 1.0), y_range=(lowest, highest))

    def ticks(self) -> tuple[Sequence[Tick], Sequence[Tick]]:
        """Return shares, as many of them as there is room for."""
        across = [tick / _TICKS for tick in range(_TICKS + 1)]
        height, (lowest, highest) = self.fontMetrics().height(), self.y_range
        room = (self.height() - self._head - height - px(SPACE_XS)) / (1.2 * height)
        step = next((step for step in _STEPS if (highest - lowest) / step <= room), _STEPS[-1])
        up = [place * step for place in range(round(highest / step) + 1) if place * step >= lowest - 1e-6]
        return [(x, share_text(x)) for x in across], [(y, share_text(y)) for y in up]

    def paint_more(self, painter: QPainter) -> None:
        """Paint the heading with a legend, and where confidence is what it says."""
        t, x, height = tokens(), 0, self.fontMetrics().height()
        if self._bars:
            lowest = self.y_range[0]
            painter.setPen(QPen(QColor(t.muted), 1, Qt.PenStyle.DashLine))
            painter.drawLine(self.at(lowest, lowest), self.at(1, 1))
        middle = Qt.AlignmentFlag.AlignVCenter
        for text, look, colour in ((self._title, font("strong"), t.ink), (self._axes, self.font(), t.muted)):
            painter.setFont(look)
            painter.setPen(QColor(colour))
            width = painter.fontMetrics().horizontalAdvance(text)
            painter.drawText(x, 0, width + 2, height, middle, text)
            x += width + px(SPACE_S)
        for line in self.lines if any(line.name for line in self.lines) else ():  # one line needs no legend
            x += px(SPACE_S)
            paint_mark(painter, line, QPointF(x + px(4), height / 2))
            painter.setPen(QColor(t.ink))
            room = max(0, self.width() - x - px(12))
            shown = painter.fontMetrics().elidedText(line.name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(x + px(12), 0, room, height, middle, shown)
            x += px(12) + painter.fontMetrics().horizontalAdvance(shown)


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
                    [
                        _point(name, one.confidence, one.right, one.interval, one.rows)
                        for one in model.reliability
                    ],
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
                    _point(name, point.coverage, point.precision, point.interval, point.rows)
                    for point in reversed(model.curve)  # from few rows answered to all
                    if point.precision is not None
                ],
            )
            for name, model in models
        ]
        lowest = min((point.y for _name, points in lines for point in points), default=0.0)
        self.coverage.show_lines(lines, coverage, int(lowest * 5) / 5 if lowest < 1 else 0.0)


def _point(name: str, x: float, y: float, interval: tuple[float, float], rows: int) -> Point:
    tip = ngettext(
        "{model} at {share}: {correct} correct ({interval}, {count} row)",
        "{model} at {share}: {correct} correct ({interval}, {count} rows)",
        rows,
        model=name,
        share=exact_share_text(x),
        correct=exact_share_text(y),
        interval=interval_text(interval),
    )
    return Point(x, y, interval, tip)


def _colour(number: int) -> str:
    t = tokens()
    return (t.accent, t.muted, t.warn, t.good)[number % 4]
