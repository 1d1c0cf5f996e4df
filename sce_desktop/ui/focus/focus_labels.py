"""The labels of a row side by side, below the text."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from sce_desktop.ui.kit.theme import SPACE_S, px
from sce_desktop.ui.rows.row_labels import LabelButton, RowLabels

_LEAST_COLUMN = 230  # pixels of the sketch
_MOST_COLUMNS = 3
_BESIDE_NAME = 105  # square, per cent, key
_FINDER = 320


class FocusLabels(RowLabels):
    """As `RowLabels`, line by line from the leading side; the likeliest label is the first."""

    _holder: QWidget | None = None  # the base class shows labels while it is made

    _widest = 0  # pixels of the longest name

    def set_names(self, names: Iterable[str]) -> None:
        """Take fewer columns where names would be cut: by all names, so that no row moves the labels."""
        self._widest = max(map(self.fontMetrics().horizontalAdvance, names), default=0)
        self._lay_out()

    def _columns(self) -> int:
        wanted = max(px(_LEAST_COLUMN), self._widest + px(_BESIDE_NAME))
        return max(1, min(_MOST_COLUMNS, max(2, self.width() // wanted), self.width() // px(_LEAST_COLUMN)))

    @Slot()
    def _show(self) -> None:
        super()._show()
        self._lay_out()

    def _show_legend(self) -> None:
        self.legend.set_titles(self._titles if len(self._titles) > 1 else ())  # one bar needs none

    def _lay_out(self) -> None:
        if self._holder is None:
            self._holder = QWidget()
            self._grid = QGridLayout(self._holder)
            self._grid.setContentsMargins(0, 0, 0, 0)
            self._grid.setHorizontalSpacing(px(SPACE_S))
            self._grid.setVerticalSpacing(px(2))
            self._layout.insertWidget(self._layout.count() - 2, self._holder)
            self.finder.setFixedWidth(px(_FINDER))
            self._layout.setAlignment(self.finder, Qt.AlignmentFlag.AlignLeading)
        columns = self._columns()
        for column in range(_MOST_COLUMNS):
            self._grid.setColumnStretch(column, int(column < columns))
        shown = [button for button in self.buttons if not button.isHidden()]
        wanted: list[tuple[LabelButton, int, int]] = [
            (button, *divmod(place, columns)) for place, button in enumerate(shown)
        ]
        for button, line, column in wanted:
            place = self._grid.indexOf(button)
            if place < 0 or self._grid.getItemPosition(place)[:2] != (line, column):  # type: ignore[index]
                self._layout.removeWidget(button)
                self._grid.addWidget(button, line, column)
        self._holder.setVisible(bool(shown))

    def least_height(self) -> int:
        """Return the height of all labels that are shown."""
        return self._layout.totalMinimumHeightForWidth(self.width()) if self._holder is not None else 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take as many columns as there is room for."""
        super().resizeEvent(event)
        self._lay_out()
