"""The table itself: the text in half of the width at least, and selections that stay cheap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAccessible,
    QContextMenuEvent,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyle, QTableView, QToolButton, QWidget

from sce_desktop.controllers.answering import CalmTimer
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.theme import font, px, row_height
from sce_desktop.ui.rows.cell_drawing import (
    BAR_WIDTH,
    LABEL_INDENT,
    NUMBER_WIDTH,
    SIGNS_WIDTH,
    strip_width,
)
from sce_desktop.ui.rows.column_widths import OwnWidths, Steps, own_name, shared
from sce_desktop.ui.rows.filter_header import FilterHeader
from sce_desktop.ui.rows.own_order import OwnOrder
from sce_desktop.ui.rows.rows_columns import Index
from sce_desktop.ui.rows.rows_delegate import RowsDelegate
from sce_desktop.ui.rows.rows_model import HEADING_ROLE, Column, RowsModel
from sce_desktop.ui.rows.rows_painting import PADDING, RowsPainting

MOST_SELECTED = 10_000  # rows that are held one by one; of more the table holds where they are
AHEAD_MS = 10  # after a step, once what it changed is painted: the next key is still to come
_LEAST_TEXT = 150
_TEXT_SHARE = 0.5  # of the table, before names are shown whole
_LEAST_NAME = {
    Column.YOURS: 18,
    Column.SCE: 44,
    Column.FINAL: 44,
    Column.BASELINE: 0,
}  # of a label, in pixels
_MOST_NAME = 280
_LEAST_OWN, _OWN_WIDTH = 84, 150  # of a column of the user's table
_LINES = {"comfortable": 2, "tall": 4}  # of text in a row; one at other heights
# Whose turn it is when the other half is given away: names, then bars, and cells that inform least.
_SCE_NAME, _YOUR_NAME, _BAR, _HEADING, _BASELINE_NAME, _CELLS = range(1, 7)
_FAR_KEYS = (Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class RowsTable(QTableView):
    """Shows a `RowsModel`; knows no controller."""

    rowChosen = Signal(object)  # place of the row that is the current one now
    scrolled = Signal()  # other rows may be on the screen
    menuAsked = Signal(object)  # QPoint on the screen
    widthsChosen = Signal(object)  # of columns, by the user: pixels by name
    orderChosen = Signal(object)  # of the user's columns, by dragging a heading: their places
    filterAsked = Signal(int)  # by a column, with the keyboard

    def __init__(self, model: RowsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Rows"))
        self.setModel(model)
        self.painting = RowsPainting(self, model)
        self._cells = self.painting.cells
        self._delegate = RowsDelegate(model, self, self._cells)
        self._corner: QToolButton | None = None
        self._most = 0  # the highest number of a row
        self._decided = False
        self._name_width = 0  # of the longest name of a label
        self.setItemDelegate(self._delegate)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)  # for the hover
        # The viewport paints all of itself, so Qt moves what stays on the screen when it scrolls, and only
        # rows that come are painted.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        # Its place is kept, so that columns do not move with a filter; where all rows fit it is not seen.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.verticalScrollBar().rangeChanged.connect(self._on_range)
        self._on_range(0, 0)
        self.setTabKeyNavigation(False)
        self.verticalHeader().setVisible(False)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.header = FilterHeader(self)
        self.setHorizontalHeader(self.header)
        self.header.setAccessibleName(_("Headings"))
        # The headings would ask for the flags of every selected row to know how to draw themselves, which
        # takes a minute for a million rows; with a selection of their own they never do.
        self.header.setSelectionModel(QItemSelectionModel(model, self.header))
        self.header.setHighlightSections(False)
        self.header.setSectionsClickable(True)
        self.header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self._own = OwnWidths(self.header, self._name)
        self._own.changed.connect(self._share_width)
        self._own.changed.connect(lambda: self.widthsChosen.emit(dict(self._own.widths)))
        self.header.setMinimumSectionSize(px(24))
        self.header.setSortIndicatorShown(True)
        self.header.setStretchLastSection(False)
        self.header.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.header.setFixedHeight(px(31))
        self._ahead = CalmTimer(self, interval=AHEAD_MS)
        self._ahead.calm.connect(self._scroll_ahead)
        self.header.sectionCountChanged.connect(self.fit_columns)
        self.verticalScrollBar().valueChanged.connect(self.scrolled)
        self.selectionModel().currentRowChanged.connect(self._on_current)
        model.columnsInserted.connect(self._widen_selection)
        self._order = OwnOrder(self.header, model)
        self._order.chosen.connect(self.orderChosen)
        self.fit_columns()

    @Slot()
    def _widen_selection(self) -> None:
        """Take new columns into the selection, which is of whole rows and would end where they begin."""
        flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().select(self.selectionModel().selection(), flags)

    def set_corner(self, button: QToolButton) -> None:
        """Put ``button`` beside the first heading, which is short."""
        self._corner = button
        self._place_corner()

    def set_height(self, name: str) -> None:
        """Make rows as high as `ROW_HEIGHTS` says; the row at the top stays there."""
        top = self.indexAt(QPoint(0, 0))
        self._cells.lines = _LINES.get(name, 1)
        height = max(row_height(name), self.fontMetrics().lineSpacing() * self._cells.lines + px(6))
        self.verticalHeader().setMinimumSectionSize(height)
        self.verticalHeader().setDefaultSectionSize(height)
        if top.isValid():
            self.scrollTo(top, QAbstractItemView.ScrollHint.PositionAtTop)
        self.viewport().update()

    def mark(self, needles: tuple[str, ...]) -> None:
        """Mark ``needles`` in the texts."""
        if needles != self._cells.needles:
            self._cells.needles = needles
            self.viewport().update()

    def set_most(self, number: int) -> None:
        """Make room for row numbers up to ``number``."""
        if len(str(number)) != len(str(self._most)):
            self._most = number
            self.fit_columns()

    def show_sorting(self, column: int | None, descending: bool) -> None:
        """Show at which heading the order was chosen, if at any."""
        order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
        before, section = self.header.sortIndicatorSection(), -1 if column is None else column
        self.header.setSortIndicator(section, order)
        if section != before:  # its arrow takes room
            self._share_width()

    def set_decided(self, decided: bool) -> None:
        """Make room for decisions once there are some."""
        if decided != self._decided:
            self._decided = decided
            self._share_width()

    @Slot()
    def fit_columns(self) -> None:
        """Give the text its half, label names the width that they need, and bars and cells what is over."""
        metrics = self.fontMetrics()
        names = (metrics.horizontalAdvance(label.name) for label in self.rows_model().labels)
        self._name_width = max(names, default=0) + 1
        self._share_width()

    @Slot()
    def _share_width(self) -> None:
        model, room = self.rows_model(), self.viewport().width()
        shown = [c for c in range(model.columnCount()) if c != Column.TEXT and not self.isColumnHidden(c)]
        wanted = [self._wanted(column) for column in shown]
        # The user's own columns scroll rather than take from the text's half.
        pairs = zip(shown, wanted, strict=True)
        least = sum(steps[0][1] for column, steps in pairs if model.own_at(column) is None)
        for_text = min(ceil(room * _TEXT_SHARE), max(px(_LEAST_TEXT), room - least))
        for_text = self._own.widths.get(self._name(Column.TEXT), for_text)
        widths = shared(wanted, room - for_text)
        self._own.follow(False)
        for column, steps, width in zip(shown, wanted, widths, strict=True):
            self.header.resizeSection(column, width)
            if column == Column.SCE:
                self._cells.bars = width >= steps[-1][1]
        signs = [c for c, width in zip(shown, widths, strict=True) if width < self._heading_width(c)]
        model.set_signs(c for c in signs if c >= Column.BASELINE and model.own_at(c) is None)
        if self._name(Column.TEXT) not in self._own.widths:
            for_text = max(for_text, px(_LEAST_TEXT), room - sum(widths))
        self.header.resizeSection(Column.TEXT, for_text)
        self._own.follow(True)

    def _wanted(self, column: int) -> Steps:
        """Return the widths of a column from the least to the best, and in which turn it gets each."""
        if (own := self._own.widths.get(self._name(column))) is not None:
            return ((0, own),)
        around, heading = 2 * px(PADDING), self._heading_width(column)
        if self.rows_model().own_at(column) is not None:
            least = min(max(heading, px(_LEAST_OWN)), px(_OWN_WIDTH))
            return ((0, least), (_YOUR_NAME, max(least, px(_OWN_WIDTH))))
        if column == Column.NUMBER:
            digits = self.fontMetrics().horizontalAdvance("0" * len(str(max(99, self._most))))
            corner = heading + (0 if self._corner is None else self._corner.width())
            return ((0, max(corner, digits + around + px(SIGNS_WIDTH))),)
        if not self._is_not_empty(column):
            return ((0, heading),)
        if column == Column.CELLS:
            return ((0, heading), (_CELLS, strip_width(len(self.rows_model().labels)) + around))
        beside = around + px(LABEL_INDENT)
        if column == Column.SCE:
            beside += px(NUMBER_WIDTH)
        least = beside + px(_LEAST_NAME[Column(min(column, Column.BASELINE))])
        name = max(heading, beside + min(px(_MOST_NAME), self._name_width))
        if column == Column.SCE:
            least, bar = max(heading, least), px(BAR_WIDTH + PADDING)
            return ((0, least), (_SCE_NAME, name), (_BAR, name + bar))
        if column in (Column.YOURS, Column.FINAL):
            return ((0, max(heading, least)), (_YOUR_NAME, name))
        return ((0, least), (_HEADING, max(heading, least)), (_BASELINE_NAME, name))

    def _heading_width(self, column: int) -> int:
        words = self.model().headerData(column, Qt.Orientation.Horizontal, HEADING_ROLE)
        arrow = px(14) if column == self.header.sortIndicatorSection() else 0
        return QFontMetrics(font("column")).horizontalAdvance(str(words)) + 2 * px(PADDING) + px(8) + arrow

    def _is_not_empty(self, column: int) -> bool:
        """Whether there is more in a column than its heading: decisions, or scores."""
        if column == Column.YOURS:
            return self._decided
        if column == Column.FINAL:
            return True
        runs = len(self.rows_model().runs)
        return runs > (0 if column < Column.BASELINE else 1 + column - Column.BASELINE)

    def set_own_widths(self, widths: Mapping[str, int]) -> None:
        """Take the widths of columns that the user chose; the others share what is left."""
        if dict(widths) != self._own.widths:
            self._own.widths = dict(widths)
            self._share_width()

    def change_width(self, column: int, by: int | None) -> None:
        """Make a column wider or narrower, as dragging its edge does; None: as wide as its content needs."""
        name = self._name(column)
        if by is None:
            self._own.widths.pop(name, None)
        else:
            least = self.header.minimumSectionSize()
            self._own.widths[name] = max(least, self.header.sectionSize(column) + px(by))
        self._own.changed.emit()

    def setColumnHidden(self, column: int, hide: bool) -> None:
        """Hide or show a column; the text takes or gives the room."""
        super().setColumnHidden(column, hide)
        self._share_width()

    def _name(self, column: int) -> str:
        """What a column is called where widths are kept."""
        if (own := self.rows_model().own_at(column)) is not None:
            return own_name(own)
        if column >= Column.BASELINE:
            return f"baseline {column - Column.BASELINE + 1}"
        return Column(column).name.lower()

    def rows_model(self) -> RowsModel:
        """Return what the table shows."""
        model = self.model()
        assert isinstance(model, RowsModel)
        return model

    # --- rows ----------------------------------------------------------------------------------------------

    def choose(self, place: int, *, step_down: bool = False) -> None:
        """Make the row at ``place`` the only one selected, and bring it on the screen.

        Where it is not there yet the table scrolls half a page: one sees what comes, and most steps down the
        list repaint two rows and not all of them. The half page is painted a moment after a step, not in it:
        a key must not wait for that.
        """
        index = self.model().index(place, Column.TEXT)
        flags = (
            QItemSelectionModel.SelectionFlag.ClearAndSelect
            | QItemSelectionModel.SelectionFlag.Rows
            | QItemSelectionModel.SelectionFlag.Current
        )
        first, last = self.shown_places()
        if not first <= place < last:  # the last one may be cut
            near = step_down and first <= place <= last + 1
            hint = QAbstractItemView.ScrollHint
            self.scrollTo(index, hint.EnsureVisible if near else hint.PositionAtCenter)
        self.selectionModel().setCurrentIndex(index, flags)
        if step_down:
            self._ahead.start()

    def go_within(self, place: int) -> None:
        """Make the row at ``place`` the current one, and leave the selection as it is."""
        index = self.model().index(place, Column.TEXT)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        self.scrollTo(index)

    @Slot()
    def _scroll_ahead(self) -> None:
        """Scroll half a page if the next step down would have to scroll."""
        index = self.currentIndex()
        first, last = self.shown_places()
        if first <= index.row() <= last <= index.row() + 1:  # and not where the user has scrolled away
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def scrollTo(
        self,
        index: QModelIndex | QPersistentModelIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Bring a row on the screen; sideways nothing moves, as a row is one thing."""
        left = self.horizontalScrollBar().value()
        super().scrollTo(index, hint)
        self.horizontalScrollBar().setValue(left)

    def shown_places(self) -> tuple[int, int]:
        """The first and last row on the screen; (0, -1) if there is none."""
        first = self.rowAt(0)
        if first < 0:
            return 0, -1
        last = self.rowAt(self.viewport().height() - 1)
        return first, last if last >= 0 else self.model().rowCount() - 1

    def selected_places(self) -> list[int]:
        """The selected rows from top to bottom."""
        return [place for stretch in self.selected_stretches() for place in stretch]

    def selected_stretches(self) -> list[range]:
        """The selected rows from top to bottom, as stretches of places that do not touch each other."""
        found: list[range] = []
        for first, last in sorted((part.top(), part.bottom()) for part in self._parts()):
            if found and first <= found[-1].stop:
                found[-1] = range(found[-1].start, max(found[-1].stop, last + 1))
            else:
                found.append(range(first, last + 1))
        return found

    def _parts(self) -> list[QItemSelectionRange]:
        selection = self.selectionModel().selection()
        return [selection.at(place) for place in range(selection.count())]

    @Slot(QModelIndex, QModelIndex)
    def _on_current(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid():
            self.rowChosen.emit(current.row())

    @Slot(int, int)
    def _on_range(self, low: int, high: int) -> None:
        self.verticalScrollBar().setEnabled(high > low)

    def dataChanged(self, first: Index, last: Index, roles: Iterable[int] = ()) -> None:
        """Paint these rows again where they are seen: for rows read ahead Qt would paint the whole screen."""
        top, bottom = self.shown_places()
        if (first.row() <= bottom and last.row() >= top) or QAccessible.isActive():
            super().dataChanged(first, last, list(roles))

    # --- events --------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the ground, which is seen beside and below the rows, then the rows."""
        painter = QPainter(self.viewport())
        self.painting.paint(painter, event.region())
        painter.end()

    def viewportEvent(self, event: QEvent) -> bool:
        """Follow the mouse."""
        self.painting.follow(event)
        return super().viewportEvent(event)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Go to the first or last row by Home and End, and not to an end of the row, which is one thing."""
        ends = {
            QAbstractItemView.CursorAction.MoveHome: 0,
            QAbstractItemView.CursorAction.MoveEnd: self.model().rowCount() - 1,
        }
        if action in ends:
            return self.model().index(ends[action], Column.TEXT)
        return super().moveCursor(action, modifiers)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the selection along to where Home, End and the page keys lead, with Ctrl too.

        Alt+Down opens the filter of the current column.
        Qt leaves it behind with Ctrl; but the current row is the one that is shown and decided.
        """
        if event.key() == Qt.Key.Key_Down and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.filterAsked.emit(self.currentIndex().column())
            return
        control = Qt.KeyboardModifier.ControlModifier
        if event.key() in _FAR_KEYS and event.modifiers() & control:
            event = QKeyEvent(event.type(), event.key(), event.modifiers() & ~control)
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu at the mouse, or at the current row for the menu key."""
        at = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            at = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
        self.menuAsked.emit(at)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the corner button at its place."""
        super().resizeEvent(event)
        self._share_width()
        self._place_corner()
        self.scrolled.emit()

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: letters decide, and searching a column would read every row."""

    def _place_corner(self) -> None:
        if self._corner is not None:
            size = self.header.height() - px(6)
            self._corner.setFixedSize(size, size)
            box = QRect(self.header.sectionSize(Column.NUMBER) - size - px(3), px(3), size, size)
            self._corner.move(QStyle.visualRect(self.layoutDirection(), self.header.rect(), box).topLeft())
