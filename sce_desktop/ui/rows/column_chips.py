"""A chip for every filter by a column of the user's table: a click clears it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.core.query import CellFilter
from sce_desktop.core.text import menu_text
from sce_desktop.ui.kit.flow_layout import FlowLayout
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import chip_width, px, set_role
from sce_desktop.ui.rows.filter_words import cell_in_words

_MOST_CHIPS = 6  # more filters than these are in the tip of the last one
_WIDTH = 190
_ICON = 18  # beside the words


class ColumnChips(QObject):
    """Lives in the line of the filter bar's own chips."""

    cleared = Signal(object)  # the columns whose filter goes, by place

    def __init__(self, flow: FlowLayout, parent: QWidget) -> None:
        super().__init__(parent)
        self._flow = flow
        self._filters: tuple[CellFilter, ...] = ()
        self._columns: tuple[str, ...] = ()
        self.chips: list[QPushButton] = []

    def show_filters(self, filters: Sequence[CellFilter], columns: Sequence[str]) -> None:
        """Have a chip for each of ``filters``; the last one stands for all that there is no room for.

        Whoever lays out the line shows them.
        """
        if (tuple(filters), tuple(columns)) == (self._filters, self._columns):
            return
        self._filters, self._columns = tuple(filters), tuple(columns)
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        groups = [[one] for one in filters[: _MOST_CHIPS - 1]]
        if rest := list(filters[_MOST_CHIPS - 1 :]):
            groups.append(rest)
        self.chips = [self._chip(group) for group in groups]

    def _chip(self, group: Sequence[CellFilter]) -> QPushButton:
        words = [cell_in_words(one, self._columns) for one in group]
        chip = QPushButton()
        chip.setCheckable(True)
        chip.setChecked(True)
        set_role(chip, "chip")
        set_icon(chip, "close", "muted")
        elided = chip.fontMetrics().elidedText(words[0], Qt.TextElideMode.ElideRight, px(_WIDTH))
        chip.setText(menu_text(elided))
        chip.setMinimumWidth(chip_width(elided) + px(_ICON))
        chip.setAccessibleName("\n".join(words))
        chip.setAccessibleDescription(_("Click to clear this filter."))
        chip.setToolTip("\n".join((*(word[:400] for word in words), _("Click to clear this filter."))))
        places = tuple(one.column for one in group)
        chip.clicked.connect(lambda _on=False: self.cleared.emit(places))
        self._flow.addWidget(chip)
        return chip
