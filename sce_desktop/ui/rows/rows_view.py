"""The rows in the centre of the window: the table, or what to do where there is nothing to show.

Which rows, in which order, is the query of `Navigation`; a click on a heading changes it. The list stays as
it was found while one works down it: where a change would move rows, a line at the bottom says so.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer, Slot
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.queries import (
    depends_on_people,
    depends_on_scores,
    has_filters,
    order_by_column,
    order_by_own,
    sorted_column,
    starts_over,
    without_filters,
)
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.core.scored import other_runs
from sce_desktop.core.search_terms import needles
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_M, px, set_role
from sce_desktop.ui.rows.column_actions import ColumnActions
from sce_desktop.ui.rows.column_widths import own_name, own_widths
from sce_desktop.ui.rows.filter_words import why_empty
from sce_desktop.ui.rows.row_actions import RowActions
from sce_desktop.ui.rows.row_keys import takes_text
from sce_desktop.ui.rows.row_walk import RowWalk
from sce_desktop.ui.rows.rows_model import Column, RowsModel
from sce_desktop.ui.rows.rows_selection import RowsSelection
from sce_desktop.ui.rows.rows_table import RowsTable
from sce_desktop.ui.rows.table_looks import WIDTHS, add_table_looks, view_button

SLOW_MS = 200  # from then on a hint says what takes so long: laying the table out for it takes time too
_SHOWN_IF: dict[int, str] = {Column.CELLS: "label_cells", Column.FINAL: "final_column"}  # settings


class RowsView(QWidget):
    """Follows the navigation; selecting a row makes it the current one."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        scorer: Scorer,
        preferences: Preferences,
        messages: Messages,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._scorer = scorer
        self._preferences = preferences
        self._messages = messages
        self._answered: RowQuery | None = None  # the query that the present list answers
        self._aliases: list[str] = []  # of the runs that the columns have room for
        self._problem = ""  # why what was asked last has no answer
        self._searching = False  # for rows, in a worker
        self.setAccessibleName(_("Rows of the project"))
        self.model = RowsModel(workspace, navigation, messages, self)
        self.table = RowsTable(self.model)
        self.walk = RowWalk(workspace, navigation, self.model, self.table, self)
        self.selection = RowsSelection(navigation, self.model, self.table, self)
        self.columns = ColumnActions(workspace, navigation, preferences, self.table, self)
        self.actions_menu = RowActions(workspace, navigation, edits, messages, self)
        self.empty = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.empty.setAccessibleName(_("Message"))
        set_role(self.empty, "muted")
        self.clear_button = QPushButton(_("Clear filters"))
        self.clear_button.clicked.connect(self._clear_filters)
        self.pages = QStackedWidget()
        self.pages.setAccessibleName(_("Rows or message"))
        self.pages.addWidget(self.table)
        self.pages.addWidget(self._empty_page())
        self.hint = QLabel()
        self.hint.setAccessibleName(_("Hint"))
        self.hint.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.hint, "muted")
        self.refresh_button = QPushButton(_("Refresh list"))
        self.refresh_button.setToolTip(_("Apply filters and order again"))
        set_role(self.refresh_button, "quiet")
        set_icon(self.refresh_button, "refresh", "muted")
        self.refresh_button.clicked.connect(self.refresh)
        self.footer = QWidget()
        foot = QHBoxLayout(self.footer)
        foot.setContentsMargins(px(SPACE_M), px(2), px(SPACE_M), px(2))
        foot.addWidget(self.hint, 1)
        self.footer.setMinimumHeight(px(32))
        foot.addWidget(self.refresh_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.pages, 1)
        layout.addWidget(self.footer)
        self.table.set_corner(view_button(self.table.header, preferences, self.columns.choose_columns))

        self._slow_soon = QTimer(self, singleShot=True, interval=SLOW_MS)
        self._slow_soon.timeout.connect(self._show_state)
        self._visible_soon = QTimer(self, singleShot=True, interval=50)
        self._visible_soon.timeout.connect(self._emit_visible)
        self._aged = False
        self._connect()
        self._apply_settings()
        self._show_state()

    def _connect(self) -> None:
        table = self.table
        table.scrolled.connect(self._navigation.answering.begin)  # a frame is an answer as a key's is
        table.scrolled.connect(self._visible_soon.start)
        table.scrolled.connect(lambda: self.model.read_ahead(*self.table.shown_places()))
        table.rowChosen.connect(self.walk.choose)
        table.header.sectionClicked.connect(self._sort)
        table.menuAsked.connect(self._show_menu)
        self._navigation.ownColumnsChanged.connect(self._apply_settings)
        self.model.idsChanged.connect(self._on_ids)
        self.model.completed.connect(self._on_completed)
        self.model.searching.connect(self._on_searching)
        self.model.aged.connect(self._on_aged)
        self.model.dataChanged.connect(self._show_state)
        self.model.columnsInserted.connect(self._apply_settings)
        self._navigation.stepAsked.connect(self.walk.step)
        self._navigation.nextAsked.connect(self.walk.go_on)
        self._navigation.queryFailed.connect(self._on_failed)
        self._workspace.projectOpened.connect(self._mark_hits)
        self._navigation.rowsFocusAsked.connect(self.table.setFocus)
        self._navigation.rowAsked.connect(self.walk.show_row)
        self._navigation.currentRowChanged.connect(self.walk.follow)
        self._workspace.labelsChanged.connect(self._on_labels)
        self._workspace.projectOpened.connect(self._on_rows)
        self._workspace.rowsChanged.connect(self._on_rows)
        self._workspace.projectOpened.connect(self._on_labels)
        self._workspace.scoresChanged.connect(self._on_scores)
        self._scorer.modelsChanged.connect(self._on_models)
        self._preferences.settingsChanged.connect(self._apply_settings)
        self._workspace.thresholdChanged.connect(self._on_threshold)
        self._workspace.countsChanged.connect(self._on_counts)

    def _empty_page(self) -> QWidget:
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(px(SPACE_L), 0, px(SPACE_L), 0)
        layout.setSpacing(px(SPACE_M))
        layout.addStretch(2)
        layout.addWidget(self.empty)
        layout.addWidget(self.clear_button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(3)
        return page

    # --- rows ----------------------------------------------------------------------------------------------

    @Slot()
    def refresh(self) -> None:
        """Find the rows of the query again."""
        self.model.find()

    @Slot()
    def _on_ids(self) -> None:
        """Stay at the row, or at its place where it is gone; the first time at the top."""
        self._navigation.answering.begin()  # until they are painted: work beside it would hold that up
        self._aged, self._problem = False, ""
        self.walk.start_over()
        ids = self.model.ids
        query = self._navigation.query
        self._mark_hits()  # not before: the rows that were there would be painted for nothing
        plain = query.order is RowOrder.FILE and not query.descending
        own = query.order_column
        sorted_by = sorted_column(query) if own is None else self.model.section_of(own)
        self.table.show_sorting(None if plain else sorted_by, query.descending)
        if own is not None:
            self.columns.learn_kind(own)
        self._navigation.rows_found(len(ids) if self.model.counted else None)
        self.selection.tell()
        self._show_state()
        if not len(ids):
            self._answered = None
            self._navigation.set_current_row(None)
            return
        place = self.model.place_of(self._navigation.current_row)
        if starts_over(query, self._answered):
            place = self.model.start
        if place is None:
            place = min(self.walk.kept_place, len(ids) - 1) if self._answered == query else 0
        if self._answered is None and self._workspace.labels and not takes_text(QApplication.focusWidget()):
            self.table.setFocus()  # where the keys that decide work
        self._answered = self._navigation.query
        self.walk.go_to(place)
        self._visible_soon.start()

    @Slot()
    def _on_rows(self) -> None:
        """Make room for the numbers of all rows: columns that follow what is found move all others.

        Each move of them is a second layout and a second paint of all that was found.
        """
        project = self._workspace.project
        self.table.set_most(project.last_row_id() if project is not None else 0)

    @Slot(object)
    def _on_failed(self, problem: str) -> None:
        """The list stays as it was; where it is empty, it shows what is wrong and not the rows of before."""
        self._problem = problem
        self._show_state()

    @Slot()
    def _on_completed(self) -> None:
        """Follow where the user has gone before the rows there were known."""
        self._navigation.rows_found(len(self.model.ids))
        self._show_state()
        if not len(self.model.ids):
            return
        self.walk.catch_up()
        self.selection.catch_up()
        self._visible_soon.start()

    @Slot()
    def _emit_visible(self) -> None:
        first, last = self.table.shown_places()
        self.model.set_shown(first, last)
        self._navigation.set_visible_rows(
            int(row_id) for row_id in self.model.ids[first : last + 1] if row_id
        )

    @Slot()
    def _on_aged(self) -> None:
        query = self.model.query
        if query is not None and (depends_on_people(query) or depends_on_scores(query)):
            self._aged = True
        self._show_state()

    @Slot()
    def _on_models(self) -> None:
        """Scoring began or ended: at the end the order by scores is made again."""
        self._show_state()
        query = self.model.query
        if self._scorer.job is None and self._aged and query is not None and depends_on_scores(query):
            self.refresh()

    @Slot(object)
    def _on_searching(self, searching: bool) -> None:
        """Say that rows are being found where that is not done in a moment, at once where that is known."""
        self._searching = searching
        if searching and not self.model.finder.long:
            self._slow_soon.start()
        else:
            self._slow_soon.stop()
            self._show_state()

    # --- messages -----------------------------------------------------------------------------------------

    @Slot()
    def _show_state(self) -> None:
        model = self.model
        slow = self._searching and not self._slow_soon.isActive()
        if len(model.ids) or model.query is None:
            self.pages.setCurrentIndex(0)
        elif not model.counted and self._searching:
            self.empty.setText(_("Finding rows…"))
            self.clear_button.setVisible(True)
            self.pages.setCurrentIndex(1)
        else:
            filtered = has_filters(model.query)
            why = (
                why_empty(model.query)
                if filtered
                else _("This project has no rows. Choose File > Add rows… to add a table.")
            )
            self.empty.setText(self._problem or why)
            self.clear_button.setVisible(filtered)
            self.pages.setCurrentIndex(1)
        hint = ""
        if model.query is not None and len(model.ids):
            if not self._workspace.labels:
                hint = _("No labels yet. Type them under Labels, then press Score.")
            elif not self._workspace.runs and self._scorer.job is None:
                hint = _("Not scored yet. Press Score to see the probability of every label.")
            elif not model.counted and not self._searching:
                hint = _("Stopped: more rows may match.")
            elif not model.counted and slow:
                hint = _("These rows come first. Finding the others…")
            elif slow and model.finding:
                hint = _("Ordering and filtering…")
            elif self._aged:
                hint = _("Some rows may no longer match.")
        self.hint.setText(hint)
        self.refresh_button.setVisible(self._aged or not (model.counted or self._searching))
        self.footer.setVisible(bool(hint))

    @Slot()
    def _on_labels(self) -> None:
        self._aliases = [run.alias for run in self._workspace.runs]
        self.table.fit_columns()
        self._show_state()

    @Slot()
    def _on_counts(self) -> None:
        counts = self._workspace.counts
        if counts is not None:
            self.table.set_decided(counts.labelled + counts.states[RowState.SKIPPED] > 0)

    @Slot(object)
    def _on_scores(self, change: object) -> None:
        """Make room for the scores of runs that were not there before."""
        if not other_runs(change):
            return
        aliases = [run.alias for run in self._workspace.runs]
        if aliases != self._aliases:
            self._aliases = aliases
            self.table.fit_columns()
        self._show_state()

    # --- how it looks --------------------------------------------------------------------------------------

    @Slot()
    def _apply_settings(self) -> None:
        settings = self._preferences.settings
        self.table.set_height(str(settings["row_height"]))
        chosen = {own_name(c.place): c.width for c in self._navigation.own_columns if c.width}
        self.table.set_own_widths(own_widths(str(settings[WIDTHS])) | chosen)
        for column in range(Column.SCE, self.model.columnCount()):
            if self.model.own_at(column) is not None:
                self.table.setColumnHidden(column, False)
                continue
            wanted = bool(settings[_SHOWN_IF[column]]) if column in _SHOWN_IF else True
            self.table.setColumnHidden(column, self._navigation.blind or not wanted)
        self.columns.show_filters()
        self._visible_soon.start()

    @Slot()
    def _on_threshold(self) -> None:
        """Show final labels and low confidence as they are now; find rows again that are found by it."""
        self.table.viewport().update()
        if self.model.query is not None and self.model.query.final is not None:
            self.refresh()

    @Slot(object)
    def _show_menu(self, at: QPoint) -> None:
        ids = self.selection.ids()
        if not ids:
            return
        menu = self.actions_menu.menu(ids)
        view = menu.addMenu(_("View"))
        add_table_looks(view, self._preferences)
        self.columns.add_menu(menu, self.table.currentIndex().column())
        menu.popup(at)

    # --- the query -----------------------------------------------------------------------------------------

    @Slot(int)
    def _sort(self, column: int) -> None:
        if (own := self.model.own_at(column)) is not None:
            self._navigation.set_query(order_by_own(self._navigation.query, own))
            return
        query = order_by_column(self._navigation.query, column, self._workspace.runs)
        if query is None:
            self._messages.notify(_("No scores to order by yet. Press Score."))
        else:
            self._navigation.set_query(query)

    @Slot()
    def _mark_hits(self) -> None:
        project = self._workspace.project
        searched = self._navigation.query.search if project is not None else ""
        self.table.mark(needles(searched, project.columns) if project is not None and searched else ())

    @Slot()
    def _clear_filters(self) -> None:
        self._navigation.set_query(without_filters(self._navigation.query))
