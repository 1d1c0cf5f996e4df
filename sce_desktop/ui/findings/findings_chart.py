"""Shares, or numbers of rows, over time as lines; which labels are drawn is chosen beside them.

Importing this imports pyqtgraph, which takes a while: `findings_work.look` has done that in a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QSplitter, QWidget

from sce_desktop.controllers.findings_work import Answer
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.text import exact_share_text, share_text
from sce_desktop.tasks.evaluation.svg import scale_step
from sce_desktop.ui.findings.findings_models import interval
from sce_desktop.ui.kit.preview_model import plain_tip
from sce_desktop.ui.kit.theme import font, px, tokens

MOST_MARKS = 60  # periods, of more a line is drawn without marks
MOST_LINES = 5  # drawn before anybody has chosen
_DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
    Qt.PenStyle.DashDotDotLine,
)
_APART = 0.05  # of a period, between two lines with whiskers, which else would cover one another
_MARKS = ("o", "s", "t", "d", "t1")
_PLACE = Qt.ItemDataRole.UserRole
Floats = NDArray[np.float64]


class TimeChart(QWidget):
    """Lines over the periods, which differ by dashes and marks too; the labels to choose from beside them."""

    cellChosen = Signal(object, object)  # place of the answer, of the period

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer: Answer | None = None
        self._colours: Sequence[str] = ()
        self._places: dict[pg.PlotDataItem, int] = {}  # the answer that a line shows
        self._chosen: set[str] | None = None  # names; None: nobody has chosen
        self.plot = pg.PlotWidget(viewBox=pg.ViewBox(enableMenu=False), enableMenu=False)
        self.plot.setAccessibleName(_("Figures over time"))
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.hideButtons()
        self.plot.scene().sigMouseClicked.connect(self._on_clicked)
        self.labels = QListWidget()
        self.labels.setAccessibleName(_("Labels in the chart"))
        self.labels.setUniformItemSizes(True)
        self.labels.itemChanged.connect(self._on_checked)
        split = QSplitter()
        split.addWidget(self.plot)
        split.addWidget(self.labels)
        split.setStretchFactor(0, 1)
        split.setSizes([px(600), px(190)])
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(split)
        self._colour()

    def show_answer(self, answer: Answer | None, colours: Sequence[str] = ()) -> None:
        """Draw other figures; ``colours`` of the labels in their order."""
        self._answer, self._colours = answer, colours
        self._fill_list()
        self._draw()

    def drawn(self) -> list[int]:
        """The places of the answers that are drawn, in the order of the list."""
        items = (self.labels.item(row) for row in range(self.labels.count()))
        return [item.data(_PLACE) for item in items if item.checkState() is Qt.CheckState.Checked]

    def _fill_list(self) -> None:
        self.labels.blockSignals(True)
        self.labels.clear()
        if self._answer is not None:
            found = self._answer.findings
            order = sorted(range(len(found.answers)), key=lambda one: -found.whole.shares[one].share.value)
            for rank, place in enumerate(order):
                name = found.answers[place]
                on = rank < MOST_LINES if self._chosen is None else name in self._chosen
                item = QListWidgetItem(" ".join(name.split()))
                item.setToolTip(plain_tip(name))
                item.setData(_PLACE, place)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
                self.labels.addItem(item)
        self.labels.blockSignals(False)

    @Slot(QListWidgetItem)
    def _on_checked(self, _item: QListWidgetItem) -> None:
        assert self._answer is not None
        self._chosen = {self._answer.findings.answers[place] for place in self.drawn()}
        self._draw()

    def _pen(self, place: int, rank: int) -> QPen:
        colour = self._colours[place] if place < len(self._colours) else tokens().muted
        pen = pg.mkPen(colour, width=2)
        pen.setStyle(_DASHES[rank % len(_DASHES)])
        return pen

    @staticmethod
    def _marks(pen: QPen, rank: int) -> dict[str, Any]:
        return {
            "symbol": _MARKS[rank % len(_MARKS)],
            "symbolSize": px(7),
            "symbolPen": pg.mkPen(tokens().pane),
            "symbolBrush": pen.color(),
        }

    def _draw(self) -> None:
        item = self.plot.getPlotItem()
        item.clear()
        self._places.clear()
        drawn = self.drawn()
        self._show_looks(drawn)
        if self._answer is None or not self._answer.findings.groups:
            return
        answer, groups = self._answer, self._answer.findings.groups
        most = 1.0 if answer.wanted.counts else 0.01
        for rank, place in enumerate(drawn):
            figures = [
                answer.figure(place, part) if groups[part].rows else None for part in range(len(groups))
            ]
            values: Floats = np.asarray([np.nan if one is None else one.value for one in figures])
            ends = np.asarray(
                [
                    (np.nan, np.nan) if one is None or one.counted or one.interval is None else one.interval
                    for one in figures
                ]
            )
            sure = np.isnan(ends).all()
            at: Floats = np.arange(len(groups), dtype=np.float64) + (
                0.0 if sure else _APART * (rank - (len(drawn) - 1) / 2)
            )
            most = max(most, np.nanmax(values, initial=0.0), np.nanmax(ends, initial=0.0))
            pen = self._pen(place, rank)
            if not sure:
                item.addItem(self._whiskers(at, values, ends, pen))
            line = item.plot(
                at,
                values,
                pen=pen,
                connect="finite",
                antialias=True,
                **(self._marks(pen, rank) if len(groups) <= MOST_MARKS else {}),
            )
            line.scatter.opts |= {"hoverable": True, "tip": self._tip(place)}
            self._places[line] = place
        self._scale(most, [group.name for group in groups])

    @staticmethod
    def _whiskers(at: Floats, values: Floats, ends: Floats, pen: QPen) -> pg.ErrorBarItem:
        """The intervals of a line (n, 2), as thin bars; none where there is none."""
        there = ~np.isnan(ends).any(axis=1)
        colour = QColor(pen.color())
        colour.setAlphaF(0.55)
        return pg.ErrorBarItem(
            x=at[there],
            y=values[there],
            top=ends[there, 1] - values[there],
            bottom=values[there] - ends[there, 0],
            beam=_APART / 2 if len(at) <= MOST_MARKS else 0.0,
            pen=pg.mkPen(colour, width=1),
        )

    def _scale(self, most: float, names: Sequence[str]) -> None:
        assert self._answer is not None
        item, counts = self.plot.getPlotItem(), self._answer.wanted.counts
        step = scale_step(most, ticks=5, least=1 if counts else 0.002)
        top = step * np.ceil(most / step - 1e-9)
        heights = [place * step for place in range(round(top / step) + 1)]
        fraction = exact_share_text if step < 0.01 else share_text
        marks = [number(at) if counts else fraction(at) for at in heights]
        item.getAxis("left").setTicks([list(zip(heights, marks, strict=True))])
        widest = QFontMetrics(font("body")).horizontalAdvance(marks[-1])
        item.getAxis("left").setWidth(max(px(44), widest + px(8)))
        for at in heights:  # the grid of pyqtgraph hides the numbers at both ends
            item.addLine(y=at, pen=pg.mkPen(tokens().line)).setZValue(-1)
        width = QFontMetrics(font("body")).horizontalAdvance(max(names, key=len)) + px(14)
        every = max(1, -(-len(names) * width // max(width, self.plot.width() - px(60) - width // 2)))
        ticks = [(place, name) for place, name in enumerate(names) if place % every == 0]
        item.getAxis("bottom").setTicks([ticks])
        item.layout.setContentsMargins(0, 0, width // 2, 0)  # the last name may go on beyond its line
        item.setRange(xRange=(-0.3, len(names) - 0.7), yRange=(-top * 0.03, top * 1.04), padding=0.0)

    def _show_looks(self, drawn: Sequence[int]) -> None:
        """Show in the list how each line is drawn."""
        self.labels.blockSignals(True)
        width, height = px(26), px(12)
        self.labels.setIconSize(QPixmap(width, height).size())
        for row in range(self.labels.count()):
            item = self.labels.item(row)
            place = item.data(_PLACE)
            picture = QPixmap(width, height)
            picture.fill(Qt.GlobalColor.transparent)
            if place in drawn:
                painter = QPainter(picture)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(self._pen(place, drawn.index(place)))
                painter.drawLine(QPointF(0, height / 2), QPointF(width, height / 2))
                painter.end()
            item.setIcon(QIcon(picture))
        self.labels.blockSignals(False)

    def _tip(self, place: int) -> Callable[..., str]:
        answer = self._answer
        assert answer is not None
        found, counts = answer.findings, answer.wanted.counts

        def tip(x: float, y: float, data: object) -> str:
            figure = answer.figure(place, round(x))
            value = (
                ngettext("{count} row", "{count} rows", round(figure.value))
                if counts
                else exact_share_text(figure.value)
            )
            words = _(
                "{label}, {part}: {value}",
                label=found.answers[place],
                part=found.groups[round(x)].name,
                value=value,
            )
            return plain_tip(f"{words}\n{interval(figure, counts=counts)}".rstrip())

        return tip

    @Slot(object)
    def _on_clicked(self, event: Any) -> None:
        """Choose the line that is nearest to the click, at the nearest period."""
        box = self.plot.getPlotItem().getViewBox()
        if not self._places or not box.sceneBoundingRect().contains(event.scenePos()):
            return
        at = box.mapSceneToView(event.scenePos())
        self.choose_near(at.x(), at.y())

    def choose_near(self, x: float, y: float) -> None:
        """Choose the cell at period ``x`` whose figure is nearest to ``y``."""
        assert self._answer is not None
        answer, groups = self._answer, self._answer.findings.groups
        part = min(max(round(x), 0), len(groups) - 1)
        if groups[part].rows:
            near = min(self._places.values(), key=lambda place: abs(answer.figure(place, part).value - y))
            self.cellChosen.emit(near, part)

    def _colour(self) -> None:
        t = tokens()
        self.plot.setBackground(QColor(t.pane))
        small = font("body")
        small.setPixelSize(px(11))
        for side in ("left", "bottom"):
            axis = self.plot.getPlotItem().getAxis(side)
            axis.setPen(pg.mkPen(t.line))
            axis.setTextPen(pg.mkPen(t.muted))
            axis.setStyle(tickFont=small, tickLength=-px(4), hideOverlappingLabels=False)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "labels"):
            self._colour()
            self._draw()

    def resizeEvent(self, event: Any) -> None:
        """Let as many periods be named as there is room for."""
        super().resizeEvent(event)
        if self._answer is not None and self._answer.findings.groups:
            self._draw()
