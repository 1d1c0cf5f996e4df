"""Which rows are selected in the table, by their ids: those of very many stay where they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QObject, Slot

from sce_desktop.controllers.navigation import Navigation
from sce_desktop.core.arrays import ManyRows
from sce_desktop.ui.rows.rows_model import RowsModel
from sce_desktop.ui.rows.rows_table import MOST_SELECTED, RowsTable


class RowsSelection(QObject):
    """Follows the selection of a table, and tells the navigation."""

    def __init__(
        self, navigation: Navigation, model: RowsModel, table: RowsTable, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._navigation = navigation
        self._model = model
        self._table = table
        self._everything = False  # is selected, while nobody knows yet what that is
        table.selectionModel().selectionChanged.connect(self.tell)

    @Slot()
    def tell(self) -> None:
        """Tell the navigation; a reset of the list drops the selection without a signal."""
        stretches = self._table.selected_stretches()
        unknown = self._has_unknown(stretches)
        every = [range(len(self._model.ids))]
        self._everything = unknown and not self._model.counted and stretches == every
        self._navigation.set_selected(() if unknown else self._ids_at(stretches), unknown=unknown)

    def catch_up(self) -> None:
        """Select what was found meanwhile too, where everything is selected; then tell the navigation."""
        if self._everything and len(self._model.ids):
            self._table.selectAll()
        self.tell()

    def _has_unknown(self, stretches: Sequence[range]) -> bool:
        """Whether several rows are selected and the last one is still being found."""
        if self._model.whole or sum(map(len, stretches)) < 2:
            return False
        if not self._model.counted and stretches[-1].stop == len(self._model.ids):
            return True  # everything, and nobody knows yet what that is
        return not self._model.ids[stretches[-1].stop - 1]

    def ids(self) -> Sequence[int]:
        """The ids of the selected rows, none before all are known; those of very many stay in their array."""
        stretches = self._table.selected_stretches()
        return () if self._has_unknown(stretches) else self._ids_at(stretches)

    def _ids_at(self, stretches: Sequence[range]) -> Sequence[int]:
        parts = [self._model.ids[stretch.start : stretch.stop] for stretch in stretches]
        if sum(map(len, parts)) <= MOST_SELECTED:
            return [row_id for part in parts for row_id in part.tolist() if row_id]
        return ManyRows(parts[0] if len(parts) == 1 else np.concatenate(parts))
