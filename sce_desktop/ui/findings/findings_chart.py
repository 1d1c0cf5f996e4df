"""Shares, or numbers of rows, over time as lines; which labels are drawn is chosen beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, Qt, Signal, Slot
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QSplitter, QWidget

from sce_desktop.controllers.findings_work import Answer
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.text import exact_share_text, share_text
from sce_desktop.tasks.evaluation.svg import scale_step
from sce_desktop.ui.findings.findings_models import interval
from sce_desktop.ui.kit.line_chart import Line, LineChart, Point, Tick
from sce_desktop.ui.kit.preview_model import plain_tip
from sce_desktop.ui.kit.theme import px, tokens

MOST_MARKS = 60  # periods, of more a line is drawn without marks
MOST_LINES = 5  # drawn before anybody has chosen
_HEIGHTS = 5  # figures at the scale, at most
_APART = 0.05  # of a period, between two lines with whiskers, which else would cover one another
_PLACE = Qt.ItemDataRole.UserRole


class TimeChart(QWidget):
    """Lines over the periods, which differ by dashes and marks too; the labels to choose from beside them."""

    cellChosen = Signal(object, object)  # place of the answer, of the period

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer: Answer | None = None
        self._colours: Sequence[str] = ()
        self._chosen: set[str] | None = None  # names; None: nobody has chosen
        self.plot = _Periods()
        self.plot.setAccessibleName(_("Figures over time"))
        self.plot.clicked.connect(self.choose_near)
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

    def _draw(self) -> None:
        drawn = self.drawn()
        self._show_looks(drawn)
        if self._answer is None or not self._answer.findings.groups:
            self.plot.show_periods([], [], most=1.0, counts=False)
            return
        answer, groups = self._answer, self._answer.findings.groups
        lines = [self._line(answer, place, rank, len(drawn)) for rank, place in enumerate(drawn)]
        tops = [end for line in lines for point in line.there for end in (point.y, *(point.interval or ()))]
        counts = answer.wanted.counts
        most = max([1.0 if counts else 0.01, *tops])
        self.plot.show_periods(lines, [group.name for group in groups], most=most, counts=counts)

    def _line(self, answer: Answer, place: int, rank: int, count: int) -> Line:
        """The line of an answer; with whiskers it is put aside, or several would cover one another."""
        groups = answer.findings.groups
        figures = [answer.figure(place, part) if group.rows else None for part, group in enumerate(groups)]
        ends = [None if one is None or one.counted else one.interval for one in figures]
        aside = _APART * (rank - (count - 1) / 2) if any(ends) else 0.0
        points = [
            None
            if one is None
            else Point(part + aside, one.value, ends[part], self._tip(answer, place, part))
            for part, one in enumerate(figures)
        ]
        name = answer.findings.answers[place]
        return Line(name, tuple(points), self._colour_of(place), rank, marked=len(groups) <= MOST_MARKS)

    def _colour_of(self, place: int) -> str:
        return self._colours[place] if place < len(self._colours) else tokens().muted

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
                painter.setPen(Line("", (), self._colour_of(place), drawn.index(place)).pen)
                painter.drawLine(QPointF(0, height / 2), QPointF(width, height / 2))
                painter.end()
            item.setIcon(QIcon(picture))
        self.labels.blockSignals(False)

    @staticmethod
    def _tip(answer: Answer, place: int, part: int) -> str:
        found, counts = answer.findings, answer.wanted.counts
        figure = answer.figure(place, part)
        value = (
            ngettext("{count} row", "{count} rows", round(figure.value))
            if counts
            else exact_share_text(figure.value)
        )
        words = _(
            "{label}, {part}: {value}",
            label=found.answers[place],
            part=found.groups[part].name,
            value=value,
        )
        return plain_tip(f"{words}\n{interval(figure, counts=counts)}".rstrip())

    @Slot(object, object)
    def choose_near(self, x: float, y: float) -> None:
        """Choose the cell at period ``x`` whose figure is nearest to ``y``."""
        drawn = self.drawn()
        if self._answer is None or not drawn:
            return
        answer, groups = self._answer, self._answer.findings.groups
        part = min(max(round(x), 0), len(groups) - 1)
        if groups[part].rows:
            near = min(drawn, key=lambda place: abs(answer.figure(place, part).value - y))
            self.cellChosen.emit(near, part)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "labels"):
            self._draw()


class _Periods(LineChart):
    """Lines over named periods; the scale begins at 0."""

    def __init__(self) -> None:
        super().__init__()
        self._names: Sequence[str] = ()
        self._counts = False
        self._step = 1.0  # of the scale

    def show_periods(self, lines: Sequence[Line], names: Sequence[str], *, most: float, counts: bool) -> None:
        """Show ``lines``, whose x is the place of a name; ``counts``: of rows, else shares of 1."""
        self._names, self._counts = names, counts
        self._step = scale_step(most, ticks=_HEIGHTS, least=1 if counts else 0.002)
        top = self._step * np.ceil(most / self._step - 1e-9)
        self.set_lines(lines, x_range=(-0.3, max(1, len(names)) - 0.7), y_range=(-top * 0.03, top * 1.04))

    def ticks(self) -> tuple[Sequence[Tick], Sequence[Tick]]:
        """Return names of periods, as many as there is room for, and figures."""
        step = self._step
        heights = [place * step for place in range(int(self.y_range[1] / step + 1e-9) + 1)]
        fraction = exact_share_text if step < 0.01 else share_text
        marks = [number(at) if self._counts else fraction(at) for at in heights]
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(max(self._names, key=len, default="")) + px(14)
        room = max(width, self.width() - px(60) - width // 2)
        every = max(1, -(-len(self._names) * width // room))
        across = [(float(place), name) for place, name in enumerate(self._names) if place % every == 0]
        return across, list(zip(heights, marks, strict=True))
