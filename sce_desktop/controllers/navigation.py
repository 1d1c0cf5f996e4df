"""What the window shows of the open project: which rows in which order, and the row that one looks at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from sce_desktop.controllers.answering import Answering
from sce_desktop.controllers.own_columns import MOST_SHOWN, OwnColumn
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.queries import in_audit
from sce_desktop.core.annotations import USER
from sce_desktop.core.arrays import ManyRows
from sce_desktop.core.query import AUDIT, OPEN_AUDIT, RowOrder, RowQuery


class Navigation(QObject):
    """The query of the table, the current row, and what is selected and on the screen."""

    queryChanged = Signal(object)  # RowQuery
    queryFailed = Signal(object)  # why the query has no answer: an invalid regular expression
    foundChanged = Signal()  # ``found`` is: the table shows the rows of a query
    currentRowChanged = Signal(object)  # row id or None
    selectionChanged = Signal()  # ``selected`` is
    visibleRowsChanged = Signal()
    rowAsked = Signal(object)  # show this row, and clear the filters that hide it
    rowsFocusAsked = Signal()  # go back to the table, where the keys that decide work
    stepAsked = Signal(object)  # go that many rows down the table's order; negative: up
    nextAsked = Signal(object)  # go to the next row that can be decided; True: to one without an answer
    guideAsked = Signal(object)  # the widget whose page of the guide is to be shown
    foldsChanged = Signal()  # ``folded`` is
    ownColumnsChanged = Signal()  # ``own_columns`` are
    purgeAsked = Signal(object)  # `PurgeScope` that is to be deleted for good, or None: what is selected
    panelAsked = Signal(object)  # title of a panel below that is to be shown

    def __init__(self, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self.answering = Answering(self)
        self.query = RowQuery()
        self.found: int | None = 0  # rows that the query leaves in the table; None: not counted yet
        self.current_row: int | None = None
        self.selected_unknown = (
            False  # whether selected rows are still being found; ``selected`` is empty then
        )
        self.selected: (
            tuple[int, ...] | ManyRows
        ) = ()  # where more than one row is: keys are about all of them
        self.visible_rows: tuple[int, ...] = ()  # on the screen, top first: they are scored first
        self.own_columns: tuple[OwnColumn, ...] = ()  # of the user's table, beside the text
        self.folded: frozenset[str] = frozenset()  # groups of labels, by their parents' names

    @property
    def blind(self) -> bool:
        """Whether what models say is hidden from the user, who decides without it."""
        return bool(self._preferences.settings["blind"]) or (
            in_audit(self.query) and self.query.name == AUDIT
        )

    def toggle_blind(self) -> None:
        """Hide what models say, or show it; decisions of an audit sample are kept apart by that."""
        on = not self.blind
        if in_audit(self.query):
            self.set_query(replace(self.query, name=AUDIT if on else OPEN_AUDIT))
        if not (on and in_audit(self.query)):
            self._preferences.change_setting("blind", on)

    def set_query(self, query: RowQuery) -> None:
        """Show the rows of ``query`` in the table."""
        if query != self.query:
            self.answering.begin()
            self.take_query(query)
            self.queryChanged.emit(query)

    def take_query(self, query: RowQuery) -> None:
        """Take ``query`` before the table follows; what is to be hidden is hidden before a row is shown."""
        blind, self.query = self.blind, query
        if self.blind != blind:
            self._preferences.settingsChanged.emit({"blind"})

    def show_ids(self, ids: Iterable[int], *, name: str = "") -> None:
        """Show these rows alone, in this order; ``name`` says what they are (see `RowQuery.name`)."""
        rows = tuple(int(row_id) for row_id in ids)
        self.set_query(RowQuery(among=rows, order=RowOrder.GIVEN, given=rows, name=name))

    def show_disagreements(self, coder_id: int) -> None:
        """Show the rows on which another annotator and the user differ."""
        self.set_query(RowQuery(disagreeing=(USER, coder_id)))

    def fold(self, parents: str | Iterable[str], folded: bool) -> None:
        """Show of groups of labels the heading alone, or all their labels again."""
        wanted = frozenset((parents,) if isinstance(parents, str) else parents)
        after = self.folded | wanted if folded else self.folded - wanted
        if after != self.folded:
            self.folded = after
            self.foldsChanged.emit()

    def show_columns(self, columns: Iterable[OwnColumn]) -> None:
        """Show these columns of the user's table beside the text, in this order."""
        shown = tuple(columns)[:MOST_SHOWN]
        if shown != self.own_columns:
            self.own_columns = shown
            self.ownColumnsChanged.emit()

    def toggle_column(self, place: int) -> None:
        """Show a column of the user's table behind the others, or hide it."""
        rest = tuple(column for column in self.own_columns if column.place != place)
        self.show_columns(rest if len(rest) < len(self.own_columns) else (*rest, OwnColumn(place)))

    def set_current_row(self, row_id: int | None) -> None:
        """Make ``row_id`` the row that the panel at the right shows."""
        if row_id != self.current_row:
            self.answering.begin()
            self.current_row = row_id
            self.currentRowChanged.emit(row_id)

    def set_selected(self, row_ids: Iterable[int], *, unknown: bool = False) -> None:
        """Say which rows are selected; ``unknown``: others are too, which are still being found."""
        self.selected_unknown = unknown
        ids = row_ids if isinstance(row_ids, ManyRows) else tuple(row_ids)
        ids = ids if len(ids) > 1 else ()
        if ids != self.selected:
            self.selected = ids
            self.selectionChanged.emit()

    def set_visible_rows(self, row_ids: Iterable[int]) -> None:
        """Say which rows are on the screen, top first."""
        rows = tuple(row_ids)
        if rows != self.visible_rows:
            self.visible_rows = rows
            self.visibleRowsChanged.emit()

    def rows_found(self, count: int | None) -> None:
        """Say how many rows the table shows, scrolled to or not."""
        if count != self.found:
            self.found = count
            self.foundChanged.emit()
