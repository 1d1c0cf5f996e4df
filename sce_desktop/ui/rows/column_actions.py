"""What one does to columns by the headings of the table: show, order, widen, sort and filter by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from sce_desktop.controllers import review_work
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.queries import order_by_own
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.core.text import menu_text
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.rows.column_filter import ColumnFilterDialog
from sce_desktop.ui.rows.column_widths import own_name, stored_widths
from sce_desktop.ui.rows.columns_dialog import ColumnsDialog
from sce_desktop.ui.rows.filter_forms import BASELINE, MARKS, SCE, TEXT, YOURS, Target, cleared, filtered
from sce_desktop.ui.rows.rows_model import HEADING_ROLE, Column
from sce_desktop.ui.rows.rows_table import RowsTable
from sce_desktop.ui.rows.table_looks import WIDTHS

WIDEN = 24  # pixels of the sketch: by how much a key changes the width of a column


def _add(menu: QMenu, text: str, do: Callable[[], object]) -> QAction:
    action = menu.addAction(text)
    action.triggered.connect(lambda _on=False: do())
    return action


class ColumnActions(QObject):
    """Follows the headings of ``table``."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        preferences: Preferences,
        table: RowsTable,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._preferences = preferences
        self._table = table
        self._model = table.rows_model()
        self._view = parent
        table.widthsChosen.connect(self._keep_widths)
        table.orderChosen.connect(self._keep_order)
        table.filterAsked.connect(self.filter_by_section)
        table.header.filterAsked.connect(self.filter_by_section)
        table.header.menuAsked.connect(self._show_heading_menu)
        navigation.queryChanged.connect(self.show_filters)

    @Slot(object)
    def _keep_widths(self, widths: dict[str, int]) -> None:
        """Keep the widths of the user's columns with the project, all others in the settings."""
        own = self._navigation.own_columns
        names = {own_name(column.place) for column in own}
        ours = {name: width for name, width in widths.items() if name not in names}
        self._navigation.show_columns(replace(c, width=widths.get(own_name(c.place), 0)) for c in own)
        self._preferences.change_setting(WIDTHS, stored_widths(ours))

    @Slot(object)
    def _keep_order(self, places: list[int]) -> None:
        self._navigation.show_columns(
            sorted(self._navigation.own_columns, key=lambda column: places.index(column.place))
        )

    def target_of(self, section: int) -> Target:
        """Return what one filters by at a heading."""
        own = self._model.own_at(section)
        if own is not None:
            return own
        known: dict[int, Target] = {
            Column.NUMBER: MARKS,
            Column.TEXT: TEXT,
            Column.YOURS: YOURS,
            Column.SCE: SCE,
            Column.CELLS: SCE,
        }
        return known.get(section, BASELINE)

    @Slot(int)
    def filter_by_section(self, section: int) -> None:
        """Open the filter of a heading below it."""
        if self._workspace.project is None or not 0 <= section < self._model.columnCount():
            return
        dialog = ColumnFilterDialog(
            self._workspace, self._navigation, self._view.window(), target=self.target_of(section)
        )
        dialog.open_at(self._table.header.below(section))

    @Slot()
    def show_filters(self) -> None:
        """Mark the headings of columns that rows are filtered by."""
        wanted = filtered(self._navigation.query)
        sections = range(self._model.columnCount())
        marked = {section for section in sections if self.target_of(section) in wanted}
        self._table.header.set_filtered(marked - {Column.NUMBER}, plain=(Column.NUMBER,))

    def learn_kind(self, place: int) -> None:
        """Find out what a column reads as that is in memory by now: the heading says it."""
        job = self._workspace.submit(
            review_work.column_kinds,
            self._workspace.project,
            (place,),
            title=_("Reading a column"),
            worker="reads",
            quiet=True,
        )
        job.finished.connect(self._model.set_kinds)

    @Slot(int, QPoint)
    def _show_heading_menu(self, section: int, at: QPoint) -> None:
        if self._workspace.project is None:
            return
        menu = QMenu(self._view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._fill(menu, section)
        menu.popup(at)

    def add_menu(self, menu: QMenu, section: int) -> None:
        """Add to ``menu`` what the mouse does at a heading: sort, filter, move, widen."""
        if self._workspace.project is None or not 0 <= section < self._model.columnCount():
            return
        heading = self._model.headerData(section, Qt.Orientation.Horizontal, HEADING_ROLE)
        inside = menu.addMenu(_("Column “{name}”", name=menu_text(str(heading))))
        if not isinstance(self.target_of(section), int):
            _add(inside, _("Sort by this column"), lambda: self._table.header.sectionClicked.emit(section))
        self._fill(inside, section)

    def _fill(self, menu: QMenu, section: int) -> None:
        """Put into ``menu`` what can be done with the column of a heading; -1: none, beside the headings."""
        if section >= 0:
            target, query = self.target_of(section), self._navigation.query
            if isinstance(target, int):
                for text, down in ((_("Sort ascending"), False), (_("Sort descending"), True)):
                    ordered = order_by_own(query, target, descending=down)
                    _add(menu, text, partial(self._navigation.set_query, ordered))
            _add(menu, _("Filter…"), lambda: self.filter_by_section(section))
            clear = _add(menu, _("Clear filter"), lambda: self._navigation.set_query(cleared(target, query)))
            clear.setEnabled(target in filtered(query))
            if isinstance(target, int):
                _add(menu, _("Hide column"), lambda: self._navigation.toggle_column(target))
                self._add_moves(menu, target)
            menu.addSeparator()
            for text, change in (
                (_("Wider"), WIDEN),
                (_("Narrower"), -WIDEN),
                (_("Automatic width"), None),
            ):
                _add(menu, text, partial(self._table.change_width, section, change))
            menu.addSeparator()
        _add(menu, _("Columns…"), self.choose_columns)

    def _add_moves(self, menu: QMenu, target: int) -> None:
        """Offer to exchange a column of the user's with the one before or behind it."""
        places = [column.place for column in self._navigation.own_columns]
        at = places.index(target) if target in places else -1
        for text, other in (
            (_("Move before the previous column"), at - 1),
            (_("Move behind the next column"), at + 1),
        ):
            move = _add(menu, text, partial(self._exchange, at, other))
            move.setEnabled(at >= 0 and 0 <= other < len(places))

    def _exchange(self, one: int, other: int) -> None:
        columns = list(self._navigation.own_columns)
        columns[one], columns[other] = columns[other], columns[one]
        self._navigation.show_columns(columns)

    @Slot()
    def choose_columns(self) -> None:
        """Let the user choose which columns of the table stand beside the text."""
        if self._workspace.project is not None:
            open_dialog(ColumnsDialog(self._workspace, self._navigation, self._view.window()))
