"""The two charts of the panel Evaluate, in the colours of the theme. Importing this imports pyqtgraph.

Models differ by mark and line too, never by colour alone.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from sce_desktop.ui.rows_text import per_cent
from sce_desktop.ui.theme import SPACE_M, SPACE_S, font, px, set_role, tokens

if TYPE_CHECKING:
    from sce_desktop.core.thresholds import AtThreshold
    from sce_desktop.tasks.quality import ModelQuality

_MARKS = (("o", "●"), ("s", "■"), ("t1", "▲"), ("d", "◆"))
_LINES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)
_PADDING = 0.04
Named = Sequence[tuple[str, "ModelQuality"]]


class _PerCent(pg.AxisItem):
    """An axis from 0 to 100 %."""

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        return [per_cent(value) for value in values]


class _Chart(QWidget):
    """A heading with what the axes are and the marks of the models, and the plot."""

    def __init__(self, title: str, axes: str) -> None:
        super().__init__()
        self._title, self._axes = title, axes
        self._models: Named = ()
        self.heading = QLabel()
        self.heading.setTextFormat(Qt.TextFormat.RichText)
        self.plot = pg.PlotWidget(axisItems={side: _PerCent(side) for side in ("bottom", "left")})
        self.plot.setAccessibleName(title)
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setMinimumSize(px(180), px(100))
        self.plot.setMouseEnabled(False, False)
        self.plot.setMenuEnabled(False)
        self.plot.hideButtons()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(px(2))
        layout.addWidget(self.heading)
        layout.addWidget(self.plot, 1)

    def changeEvent(self, event: QEvent) -> None:
        """Draw again in the colours of another theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and self._models:
            self._draw()

    def show_quality(self, models: Named, said: str) -> None:
        """Show the models of a part, each with its name; ``said``: the same in words."""
        self._models = models
        self.plot.setAccessibleDescription(said)
        self._draw()

    def _draw(self) -> None:
        t = tokens()
        plot = self.plot.getPlotItem()
        plot.clear()
        self.plot.setBackground(t.pane)
        for side in ("bottom", "left"):
            axis = plot.getAxis(side)
            axis.setPen(pg.mkPen(t.line))
            axis.setTextPen(pg.mkPen(t.muted))
            axis.setStyle(tickFont=font("body"), tickLength=-px(4))
        plot.showGrid(x=True, y=True, alpha=0.2)
        marks = "".join(
            f"&nbsp;&nbsp;&nbsp;<span style='color:{_colour(n)}'>{_MARKS[n % 4][1]}</span> "
            f"{html.escape(name)}"
            for n, (name, _) in enumerate(self._models)
        )
        axes = f"<span style='color:{t.muted}'>{self._axes}</span>"
        self.heading.setText(f"<b>{self._title}</b>&nbsp; {axes}{marks}")
        for number in reversed(range(len(self._models))):  # the first model lies above the others
            self._draw_model(number, self._models[number][1])

    def _draw_model(self, number: int, model: ModelQuality) -> None:
        raise NotImplementedError

    def _line(self, number: int, x: list[float], y: list[float], *, marks: bool) -> None:
        colour = _colour(number)
        self.plot.plot(
            x,
            y,
            pen=pg.mkPen(colour, width=2, style=_LINES[number % 4]),
            symbol=_MARKS[number % 4][0] if marks else None,
            symbolSize=px(7),
            symbolBrush=colour,
            symbolPen=None,
            antialias=True,
        )


class ReliabilityChart(_Chart):
    """How often a model is right where it says how sure it is; on the diagonal both are the same."""

    def __init__(self) -> None:
        super().__init__("Reliability", "right, by confidence; dashed: as sure as right")
        self.plot.setRange(xRange=(0, 1), yRange=(0, 1), padding=_PADDING)

    def _draw(self) -> None:
        super()._draw()
        pen = pg.mkPen(tokens().muted, width=1, style=Qt.PenStyle.DashLine)
        self.plot.plot([0, 1], [0, 1], pen=pen, antialias=True)

    def _draw_model(self, number: int, model: ModelQuality) -> None:
        bins = model.reliability
        x, y = [one.confidence for one in bins], [one.right for one in bins]
        if number == 0:  # the intervals of several models would hide each other
            spread = pg.ErrorBarItem(
                x=np.asarray(x),
                y=np.asarray(y),
                top=np.asarray([one.interval[1] - one.right for one in bins]),
                bottom=np.asarray([one.right - one.interval[0] for one in bins]),
                beam=0.01,
                pen=pg.mkPen(_colour(0), width=1),
            )
            self.plot.addItem(spread)
        self._line(number, x, y, marks=True)


class CoverageChart(_Chart):
    """How often a model is right about the rows that it answers, from the surest to all."""

    def __init__(self) -> None:
        super().__init__("Coverage", "right, by the share of rows answered")

    def _draw(self) -> None:
        super()._draw()
        lowest = min(
            (point.interval[0] for _, model in self._models for point in _known(model) if point.rows > 4),
            default=0.0,
        )
        self.plot.setRange(xRange=(0, 1), yRange=(int(lowest * 10) / 10, 1), padding=_PADDING)

    def _draw_model(self, number: int, model: ModelQuality) -> None:
        points = _known(model)
        x = [point.coverage for point in points]
        if number == 0 and len(points) > 1:
            colour = QColor(_colour(0))
            colour.setAlphaF(0.12)
            ends = [pg.PlotCurveItem(x, [point.interval[end] for point in points]) for end in (0, 1)]
            self.plot.addItem(pg.FillBetweenItem(*ends, brush=pg.mkBrush(colour)))
        self._line(number, x, [point.precision or 0.0 for point in points], marks=False)


class Charts(QWidget):
    """Both charts side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Charts")
        set_role(self, "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.reliability, self.coverage = ReliabilityChart(), CoverageChart()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        layout.setSpacing(px(SPACE_M))
        layout.addWidget(self.reliability)
        layout.addWidget(self.coverage)

    def show_quality(self, models: Named, reliability: str, coverage: str) -> None:
        """Show the models of a part, each with its name, and what screen readers say of the charts."""
        self.reliability.show_quality(models, reliability)
        self.coverage.show_quality(models, coverage)


def _known(model: ModelQuality) -> list[AtThreshold]:
    """The points of the curve that rows with a known label speak for, from few rows answered to all."""
    return [point for point in reversed(model.curve) if point.precision is not None]


def _colour(number: int) -> str:
    t = tokens()
    return (t.accent, t.muted, t.warn, t.good)[number % 4]
