"""How the row panel shares out its height: the text first, then the likeliest labels, then all else."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, QTimer, Slot
from PySide6.QtWidgets import QBoxLayout, QScrollArea, QWidget

from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, SPACE_XS, px
from sce_desktop.ui.rows.label_button import Density
from sce_desktop.ui.rows.row_decision import DecisionBar
from sce_desktop.ui.rows.row_head import RowHead
from sce_desktop.ui.rows.row_labels import LEAST_SEEN, RowLabels
from sce_desktop.ui.rows.row_text import RowText

SURE_LINES = 8  # of the text, before bars may take height
WISHED_LINES = 12  # before bars may take much of it


def share_height(
    room: int, full: int, line: int, least: int, labels: Mapping[Density, int], wish: Mapping[Density, int]
) -> tuple[int, Density]:
    """Return the height of the text and how dense the labels are.

    Args:
        room: Pixels for the text and the labels.
        full: Height of the whole text.
        line: Height of a line of it.
        least: Lines of it that are seen however little room there is.
        labels: At each density, the height of the labels that must be seen without scrolling.
        wish: At each density, the height of all labels and what scrolls with them.
    """
    density = Density.LOW
    for density, lines in ((Density.FULL, WISHED_LINES), (Density.MEDIUM, SURE_LINES), (Density.LOW, 0)):
        if labels[density] + min(full, lines * line) <= room:
            break
    most = room - labels[density]  # the labels that must be seen are
    text = max(room - wish[density], min(full, SURE_LINES * line))  # what all labels leave
    return min(full, max(min(text, most), min(full, least * line))), density


def height_beside(column: QBoxLayout, flexible: Collection[QWidget]) -> int:
    """Return the pixels that everything in ``column`` takes but for the ``flexible`` widgets."""
    margins = column.contentsMargins()
    host = column.parentWidget()
    width = 0 if host is None else host.width() - margins.left() - margins.right()
    taken, shown = margins.top() + margins.bottom(), 0
    for place in range(column.count()):
        item = column.itemAt(place)
        if item is None or item.isEmpty():
            continue
        shown += 1
        if item.widget() not in flexible:
            taken += item.heightForWidth(width) if item.hasHeightForWidth() else item.sizeHint().height()
    return taken + column.spacing() * max(0, shown - 1)


class _Parts(Protocol):
    """What the row panel is made of."""

    head: RowHead
    text: RowText
    labels: RowLabels
    area: QScrollArea  # in which the labels scroll
    decision: DecisionBar

    def height(self) -> int: ...


class RowHeight(QObject):
    """Follows the height of the panel ``parts`` in its ``column``; ``inside`` is what scrolls in its area."""

    def __init__(self, parts: _Parts, column: QBoxLayout, inside: QWidget) -> None:
        host = column.parentWidget()
        super().__init__(host)
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self.share)
        if host is not None:
            host.installEventFilter(self)
        self._parts = parts
        self._column = column
        self._inside = inside
        self.low: bool | None = None  # nobody has looked yet

    def set_low(self, low: bool) -> bool:
        """Say whether the panel is low: all is closer then. Return whether that is new."""
        if low == self.low:
            return False
        self.low = low
        gap, end = (SPACE_XS, SPACE_XS) if low else (6, SPACE_S)
        self._column.setSpacing(px(gap))
        self._column.setContentsMargins(px(SPACE_M), px(gap), px(SPACE_M), px(end))
        self._parts.text.set_low(low)
        self._parts.decision.set_low(low)
        if low:
            self._parts.head.insertWidget(1, self._parts.decision.state_line, 1)
        else:
            self._parts.decision.take_state_line()
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Share again when something in the panel wants more height or less."""
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._soon.start()
        return super().eventFilter(watched, event)

    @Slot()
    def share(self) -> None:
        """Give the text and the labels what everything else leaves."""
        view, labels = self._parts.text.view, self._parts.labels
        room = self._parts.height() - height_beside(self._column, (view, self._parts.area))
        least = {density: labels.least_height(density) for density in Density}
        rest = max(0, self._inside.sizeHint().height() - labels.least_height())
        wish = {density: height + rest for density, height in least.items()}
        height, density = share_height(room, view.full, view.line_height, view.least_lines, least, wish)
        labels.set_density(density)
        view.give(height)
        few = labels.least_height(density, LEAST_SEEN)  # below that all scrolls
        self._parts.area.setMinimumHeight(max(few, min(least[density], room - height)))
