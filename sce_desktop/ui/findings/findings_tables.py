"""The tables of the findings panel: bars with whiskers beside the figures, and cells over a bar."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from sce_desktop.core.estimates import Share
from sce_desktop.core.i18n import _
from sce_desktop.ui.findings.findings_models import (
    BAR,
    INTERVAL,
    NAMES,
    PART,
    EndsRole,
    FigureRole,
    MostRole,
    PartsModel,
    SharesModel,
)
from sce_desktop.ui.kit.theme import ROW_HEIGHTS, SPACE_M, SPACE_S, font, px, set_role, tokens

Index = QModelIndex | QPersistentModelIndex
_BAR_HEIGHT = 10
_WHISKER = 4


class BarDelegate(QStyledItemDelegate):
    """Draws a share as a lying bar, its interval as a line with two ends."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the bar."""
        _fill(painter, option)
        share: Share | None = index.data(FigureRole)
        if share is None:
            return
        t = tokens()
        room = QRectF(option.rect).adjusted(px(SPACE_M), 0, -px(SPACE_M), 0)
        middle, scale = room.center().y(), room.width() / index.data(MostRole)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        mirrored = option.direction is Qt.LayoutDirection.RightToLeft

        def at(value: float) -> float:
            return room.right() - value * scale if mirrored else room.left() + value * scale

        bar = QRectF(at(0), middle - px(_BAR_HEIGHT) / 2, at(share.value) - at(0), px(_BAR_HEIGHT))
        painter.setBrush(QColor(t.accent))
        painter.drawRect(bar.normalized())
        if share.interval is not None and not share.counted:
            low, high = map(at, share.interval)
            half = px(_WHISKER)
            painter.setPen(QPen(QColor(t.ink), 1.4))
            painter.drawLine(QPointF(low, middle), QPointF(high, middle))
            for end in (low, high):
                painter.drawLine(QPointF(end, middle - half), QPointF(end, middle + half))
        painter.restore()


class PartDelegate(QStyledItemDelegate):
    """Draws a share as a number over a bar, and its interval small below where there is one."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the cell."""
        _fill(painter, option)
        t, rect = tokens(), option.rect
        share: Share | None = index.data(FigureRole)
        painter.save()
        text = rect.adjusted(px(SPACE_S), 0, -px(SPACE_S), 0)
        if share is not None:
            bar = QRect(rect.left() + px(4), rect.bottom() - px(4), rect.width() - px(8), px(3))
            painter.fillRect(bar, QColor(t.line))
            filled = QRect(bar)
            filled.setWidth(round(bar.width() * share.value / index.data(MostRole)))
            painter.fillRect(QStyle.visualRect(option.direction, bar, filled), QColor(t.accent))
            text.setBottom(rect.bottom() - px(4))
        middle = Qt.AlignmentFlag.AlignVCenter
        leading = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignLeft | middle)
        trailing = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignRight | middle)
        painter.setFont(font("body"))
        painter.setPen(QColor(t.muted if share is None else t.ink))
        painter.drawText(text, int(trailing), index.data())
        if share is not None and share.interval is not None:
            small = font("body")
            small.setPixelSize(px(10))
            painter.setFont(small)
            painter.setPen(QColor(t.muted))
            painter.drawText(text, int(leading), index.data(EndsRole))
        painter.restore()


def _fill(painter: QPainter, option: QStyleOptionViewItem) -> None:
    """Draw what lies below a cell, and a frame around the one that has the focus."""
    t = tokens()
    if option.state & QStyle.StateFlag.State_Selected:
        painter.fillRect(option.rect, QColor(t.selection))
    if option.state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QColor(t.accent))
        painter.drawRect(option.rect.adjusted(0, 0, -1, -1))


class SharesTable(QTableView):
    """A table of figures; names stay in sight beside them. Return, or a second click, shows the rows."""

    cellChosen = Signal(object, object)  # place of the answer, of the part (-1: all rows)
    rowsAsked = Signal()
    copyAsked = Signal()

    def __init__(self, model: SharesModel | PartsModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._figures = model
        self._whole = isinstance(model, SharesModel)
        self.setTabKeyNavigation(False)
        self.setModel(model)
        self.setAccessibleName(name)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        if self._whole:
            self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        side, head = self.verticalHeader(), self.horizontalHeader()
        side.setFixedWidth(px(NAMES))
        side.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        side.setDefaultSectionSize(px(ROW_HEIGHTS["compact"] if self._whole else ROW_HEIGHTS["normal"]))
        side.setHighlightSections(False)
        side.setAccessibleName(_("Labels"))
        set_role(side, "names")
        head.setHighlightSections(False)
        head.setSectionsClickable(True)
        head.setSortIndicatorShown(True)
        head.setSortIndicatorClearable(True)
        head.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        head.sortIndicatorChanged.connect(model.sort)
        if self._whole:
            self._bars = BarDelegate(self)
            self.setItemDelegateForColumn(BAR, self._bars)
            head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            head.setSectionResizeMode(BAR, QHeaderView.ResizeMode.Stretch)
            for column, width in ((0, 64), (1, 126), (3, 72), (4, 80)):
                self.setColumnWidth(column, px(width))
        else:
            self._cells = PartDelegate(self)
            self.setItemDelegate(self._cells)
            head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            head.setDefaultSectionSize(px(PART))
        self._chosen: tuple[int, int] | None = None
        model.modelReset.connect(self._choose_again)
        self.selectionModel().currentChanged.connect(self._on_current)
        self.doubleClicked.connect(self.rowsAsked)

    @Slot(QModelIndex, QModelIndex)
    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid():
            place = int(self._figures.order[current.row()])
            self._chosen = (place, -1 if self._whole else current.column())
            self.cellChosen.emit(*self._chosen)

    @Slot()
    def _choose_again(self) -> None:
        if self._chosen is not None:
            self.choose(*self._chosen)

    def forget(self) -> None:
        """Choose no cell and no order: other parts are to be shown."""
        self._chosen = None
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.DescendingOrder)

    def show_intervals(self, on: bool) -> None:
        """Show or hide the column of intervals of the shares."""
        self.setColumnHidden(INTERVAL, not on)

    def choose(self, answer: int, part: int) -> None:
        """Make a cell the current one, where it is still there."""
        column = 0 if self._whole else part
        if answer < self._figures.rowCount() and 0 <= column < self._figures.columnCount():
            self.setCurrentIndex(self._figures.index(self._figures.line_of(answer), column))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return shows the rows of the current cell, Ctrl+C copies all figures."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.rowsAsked.emit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copyAsked.emit()
        else:
            super().keyPressEvent(event)
