"""Where one was in the table, to come back to it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QItemSelectionModel

from sce_desktop.ui.rows.rows_model import Column
from sce_desktop.ui.rows.rows_table import MOST_SELECTED
from sce_desktop.ui.rows.rows_view import RowsView


@dataclass(frozen=True, slots=True)
class TablePlace:
    """What the table showed: how far it was scrolled, the current row, and all rows that were selected."""

    scroll: int
    row_id: int | None
    selected: tuple[int, ...]

    @classmethod
    def of(cls, view: RowsView) -> TablePlace:
        """Note where a table is, and leave only the current row selected."""
        table, ids = view.table, view.model.ids
        stretches = table.selected_stretches()
        few = sum(map(len, stretches)) <= MOST_SELECTED
        places = table.selected_places() if few else []
        place = table.currentIndex().row()
        row_id = int(ids[place]) if 0 <= place < len(ids) else None
        found = cls(table.verticalScrollBar().value(), row_id, tuple(int(ids[one]) for one in places))
        if (not few or len(places) > 1) and row_id is not None:
            table.choose(place)
        return found

    def restore(self, view: RowsView) -> None:
        """Scroll the table to where it was, and further if its current row is not seen there.

        Where that is still the same row, the others that were selected are so again.
        """
        table = view.table
        place = table.currentIndex().row()
        here = int(view.model.ids[place]) if 0 <= place < len(view.model.ids) else None
        if here is not None and here == self.row_id and len(self.selected) > 1:
            flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
            for row_id in self.selected:
                if (other := view.model.place_of(row_id)) is not None:
                    table.selectionModel().select(table.model().index(other, Column.TEXT), flags)
        table.verticalScrollBar().setValue(self.scroll)
        first, last = table.shown_places()
        if here is not None and not first <= place < last:
            table.scrollTo(table.currentIndex())
