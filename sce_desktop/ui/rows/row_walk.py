"""Going from row to row: the current one follows the table, and the table the current one."""

from __future__ import annotations

from typing import Final

import numpy as np
from PySide6.QtCore import QObject, Slot

from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import without_filters
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.ui.rows.rows_model import RowsModel
from sce_desktop.ui.rows.rows_table import RowsTable

LOOKED_AHEAD: Final = 100, 5_000  # rows that a key looks at for the next one without an answer


class RowWalk(QObject):
    """Knows where the current row was, and where the user wants to go while rows are being found."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        model: RowsModel,
        table: RowsTable,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._model = model
        self._table = table
        self._wanted: int | None = None  # the row to go to when all rows have their places
        self.kept_place = 0  # where the current row was before the list was found again

    def start_over(self) -> None:
        """Want to go nowhere: another list is there."""
        self._wanted = None

    def go_to(self, place: int) -> None:
        """Make the row at ``place`` the current one and select it alone."""
        self._table.choose(place)
        self.choose(place)

    @Slot(object)
    def choose(self, place: int) -> None:
        """Make the row at ``place`` the current one, once it is known which one that is."""
        if 0 <= place < len(self._model.ids):
            self.kept_place = place
            if row_id := int(self._model.ids[place]):  # else it is not known yet: see `catch_up`
                self._navigation.set_current_row(row_id)

    def catch_up(self) -> None:
        """Follow where the user has gone before the rows there were known."""
        if self._table.currentIndex().row() < 0:  # there was none yet
            self._table.choose(0)
        place = self._model.place_of(self._wanted) if self._wanted is not None else None
        self._wanted = None
        if place is not None:
            self._table.choose(place)
        self.choose(self._table.currentIndex().row())

    @Slot(object)
    def follow(self, row_id: int | None) -> None:
        """Show the current row, which somebody else has chosen."""
        place = self._model.place_of(row_id)
        if place is None or place == self._table.currentIndex().row():
            return
        if row_id in self._navigation.selected:  # as after an undo: the others stay selected with it
            self._table.go_within(place)
        else:
            self._table.choose(place)

    @Slot(object)
    def step(self, rows: int) -> None:
        """Go to a neighbour of the current row; at an end stay there."""
        count = len(self._model.ids)
        if not count:
            return
        here = self._model.place_of(self._navigation.current_row)
        place = self.kept_place if here is None else here + rows
        place = min(max(place, 0), count - 1)
        self._table.choose(place, step_down=rows > 0)
        self.choose(place)

    @Slot(object)
    def go_on(self, labelling: bool) -> None:
        """Go to the next row; who is ``labelling``, and not correcting, to the next one without an answer.

        Where there is none, and where one corrects, rows without text are passed over as far as they are
        read: they get no label.
        """
        here = self._model.place_of(self._navigation.current_row)
        project, steps = self._workspace.project, 1
        if labelling and here is not None and project is not None:
            for ahead in LOOKED_AHEAD:  # nearly always it is near
                below = self._model.ids[here + 1 : here + 1 + ahead]
                found = project.first_open(below)
                if found is not None:
                    self.step(int(np.argmax(below == found)) + 1)
                    return
        while here is not None and here + steps < len(self._model.ids):
            row = self._model.row_at(here + steps)
            if row is None or not row.blank:
                break
            steps += 1
        self.step(steps)

    @Slot(object)
    def show_row(self, row_id: int) -> None:
        """Go to a row; where the filters hide it they are cleared."""
        self._navigation.set_current_row(row_id)
        if self._model.place_of(row_id) is None:
            if not self._model.whole:
                self._wanted = row_id
                return
            self._navigation.set_query(without_filters(self._navigation.query))
