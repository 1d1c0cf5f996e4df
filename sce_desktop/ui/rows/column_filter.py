"""Rows with certain values in a column of the table."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel, QWidget

from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.query import CellFilter
from sce_desktop.core.tables import Cell
from sce_desktop.ui.kit.checked_list import CheckedList
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import px, set_role

_MOST = 1000  # values that are listed


class ColumnFilterDialog(ProjectDialog):
    """OK adds the filter to the query, or takes it away where nothing is checked."""

    def __init__(self, workspace: Workspace, navigation: Navigation, parent: QWidget | None = None) -> None:
        super().__init__(workspace, _("Filter by column"), parent)
        self._navigation = navigation
        self.column = ComboBox()
        self.column.setAccessibleName(_("Column"))
        columns = workspace.project.columns if workspace.project is not None else ()
        self.column.addItems(columns)
        self.values = CheckedList("value")
        self.state = QLabel(wordWrap=True)
        self.state.setAccessibleName(_("Status"))
        set_role(self.state, "muted")
        layout = dialog_column(self)
        for widget in (self.column, self.values, self.state):
            layout.addWidget(widget)
        layout.addWidget(ok_and_cancel(self))
        self.resize(px(420), px(480))
        texts = workspace.project.text_columns if workspace.project is not None else ()
        filtered = navigation.query.cells[0].column if navigation.query.cells else None
        first = next((place for place in range(len(columns)) if place not in texts), 0)
        self.column.setCurrentIndex(first if filtered is None else filtered)
        self.column.currentIndexChanged.connect(self._read)
        self._read()

    @Slot()
    def _read(self) -> None:
        self._drop_job()
        self.values.list.clear()
        if self._workspace.project is None or self.column.currentIndex() < 0:
            return
        self.state.setText(_("Loading…"))
        job = self._watch(
            self._workspace.submit(
                in_worker("sce_desktop.tasks.insight.review", "column_values"),
                self._workspace.project,
                self.column.currentIndex(),
                most=_MOST,
                title=_("Reading a column"),
                quiet=True,
            )
        )
        job.finished.connect(self._show_values)

    @Slot(object)
    def _show_values(self, values: list[tuple[str, int]]) -> None:
        column = self.column.currentIndex()
        chosen = {
            value for cell in self._navigation.query.cells if cell.column == column for value in cell.values
        }
        for value, count in values:
            on = value in chosen or (not value and None in chosen)
            self.values.add(" ".join(value[:200].split()) or _("(empty)"), count, value, checked=on)
        cut = ngettext(
            "Only the {count} most frequent value is listed.",
            "Only the {count} most frequent values are listed.",
            _MOST,
        )
        self.state.setText(cut if len(values) == _MOST else "")
        self.values.narrow()

    def accept(self) -> None:
        """Filter by the checked values."""
        column = self.column.currentIndex()
        values: tuple[Cell, ...] = tuple(value or None for value in self.values.checked)
        query = self._navigation.query
        cells = tuple(cell for cell in query.cells if cell.column != column)
        if values:
            cells = (*cells, CellFilter(column, values))
        super().accept()
        self._navigation.set_query(replace(query, cells=cells))
