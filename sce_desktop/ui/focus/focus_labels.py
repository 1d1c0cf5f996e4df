"""The labels of a row side by side, below the text."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from sce_desktop.ui.kit.theme import SPACE_S, px
from sce_desktop.ui.rows.label_button import Density, LabelButton
from sce_desktop.ui.rows.row_labels import SURELY_SEEN, RowLabels

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

    def _arrange(self, order: list[QWidget]) -> None:
        for widget in self._order:
            if widget not in order:
                widget.hide()
        self._order = order
        self._lay_out()
        for widget in order:
            widget.show()

    def _show_legend(self) -> None:
        self.legend.set_titles(self._titles if len(self._titles) > 1 else ())  # one bar needs none
        self.order_button.setVisible(self._orders)

    def _lay_out(self) -> None:
        if self._holder is None:
            self._holder = QWidget()
            self._grid = QGridLayout(self._holder)
            self._grid.setContentsMargins(0, 0, 0, 0)
            self._grid.setHorizontalSpacing(px(SPACE_S))
            self._grid.setVerticalSpacing(px(2))
            self._layout.insertWidget(self._layout.indexOf(self.nothing) + 1, self._holder)
            self.finder.setFixedWidth(px(_FINDER))
            self._layout.setAlignment(self.finder, Qt.AlignmentFlag.AlignLeading)
        columns = self._columns()
        for column in range(_MOST_COLUMNS):
            self._grid.setColumnStretch(column, int(column < columns))
        line = column = 0
        for widget in self._order:
            wide = not isinstance(widget, LabelButton)  # the heading of a group has a line of its own
            if column and (wide or column == columns):
                line, column = line + 1, 0
            wanted = (line, column, 1, columns if wide else 1)
            place = self._grid.indexOf(widget)
            if place < 0 or self._grid.getItemPosition(place) != wanted:
                self._grid.addWidget(widget, *wanted)
            column = columns if wide else column + 1
        self._holder.setVisible(bool(self._order))

    def least_height(self, density: Density | None = None, most: int = SURELY_SEEN) -> int:
        """Return the height of all labels that are shown."""
        return self._layout.totalMinimumHeightForWidth(self.width()) if self._holder is not None else 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take as many columns as there is room for."""
        super().resizeEvent(event)
        self._lay_out()
