"""A few systems and how they fare, one a line: lower than a list, for a panel that is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from sce_desktop.controllers.words import MEASURES
from sce_desktop.core.figures import Figures
from sce_desktop.core.i18n import _
from sce_desktop.core.text import exact_share_text, interval_text
from sce_desktop.ui.kit.painting import elided_name
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, font, px, set_role

_NAME_WIDTH = 190


class FiguresGrid(QWidget):
    """Accuracy with its interval, macro-F1 and calibration error of each system."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Before and after"))
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(px(SPACE_M))
        self._grid.setVerticalSpacing(px(SPACE_S) // 2)
        self._lines: list[list[QLabel]] = []
        for column, (heading, tip) in enumerate(MEASURES, 1):
            label = QLabel(heading)
            set_role(label, "muted")
            label.setToolTip(tip)
            self._grid.addWidget(label, 0, column, Qt.AlignmentFlag.AlignRight)
        self._grid.setColumnStretch(len(MEASURES) + 1, 1)

    @property
    def texts(self) -> list[list[str]]:
        """What the lines say."""
        return [[label.toolTip() or label.text() for label in line] for line in self._lines]

    def show_figures(self, lines: Sequence[tuple[str, Figures | None]], *, strong: int = -1) -> None:
        """Show a line for each system that was measured; ``strong`` is the place of the one that matters."""
        for line in self._lines:
            for label in line:
                self._grid.removeWidget(label)
                label.hide()
                label.deleteLater()
        shown = [(name, found) for name, found in lines if found is not None]
        self._lines = [self._line(place, *one) for place, one in enumerate(shown, 1)]
        if self._lines:
            for label in self._lines[strong]:
                label.setFont(font("strong"))

    def _line(self, place: int, name: str, found: Figures) -> list[QLabel]:
        title = QLabel(elided_name(self.fontMetrics(), name, px(_NAME_WIDTH)))
        title.setTextFormat(Qt.TextFormat.PlainText)
        title.setToolTip(name)
        cells = [
            exact_share_text(found.accuracy),
            interval_text(found.interval),
            exact_share_text(found.macro_f1),
            exact_share_text(found.ece),
        ]
        labels = [title, *map(QLabel, cells)]
        for column, (label, heading) in enumerate(
            zip(labels, ("", *(one.name for one in MEASURES)), strict=True)
        ):
            side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
            label.setAccessibleName(f"{name}, {heading}" if heading else name)
            self._grid.addWidget(label, place, column, side)
        return labels
