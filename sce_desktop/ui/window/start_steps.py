"""The way from a table to labels in three steps, side by side: what the start page says first."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from sce_desktop.core.i18n import _, number
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_S, px, set_role

STEPS: Final = (
    (_("Drop a table"), _("CSV, Excel, JSON or Parquet; one text per row.")),
    (_("Type labels"), _("Plain words. No examples are needed.")),
    (_("Check and export"), _("Correct what is wrong, then save the table with its labels.")),
)
"""What the steps are called, and one line about each."""
_LEAST_WIDTH: Final = 70  # pixels; Qt would ask for more, which the window has not at its smallest


class StartSteps(QWidget):
    """Three columns of the same width: a number, a title, a line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("The three steps"))
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(px(SPACE_S))
        grid.setVerticalSpacing(0)
        for place, (title, line) in enumerate(STEPS):
            mark = QLabel(number(place + 1), alignment=Qt.AlignmentFlag.AlignCenter)
            mark.setAccessibleName(_("Step {number}", number=number(place + 1)))
            set_role(mark, "key")
            name = QLabel(title, wordWrap=True)
            name.setAccessibleName(title)
            set_role(name, "title")
            words = QLabel(line, wordWrap=True)
            words.setAccessibleName(line)
            set_role(words, "muted")
            for label in (name, words):
                label.setMinimumWidth(px(_LEAST_WIDTH))
            column = 3 * place
            top = Qt.AlignmentFlag.AlignTop
            grid.addWidget(mark, 0, column, top)
            grid.addWidget(name, 0, column + 1)
            grid.addWidget(words, 1, column + 1, top)
            grid.setColumnStretch(column + 1, 1)
            if place:
                grid.setColumnMinimumWidth(column - 1, px(SPACE_L))
