"""How labels look in their list: square, name, two counts, key; and the list with its keys."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from sce_desktop.core.types import Label
from sce_desktop.ui.colours import label_colour
from sce_desktop.ui.labels_model import KeyRole, LabelRole, LabelsModel, PredictedRole, YoursRole
from sce_desktop.ui.painting import SQUARE, draw_name, draw_square
from sce_desktop.ui.theme import MARK_RADIUS, RADIUS, ROW_HEIGHTS, SPACE_S, font, px, tokens

KEY_WIDTH = 18
MARGIN = 18  # from the panel's edge to the square, as the heading


def compact(count: int | None) -> str:
    """A count in at most five characters; a dash where it is not known."""
    if count is None:
        return "–"
    if count < 10_000:
        return str(count)
    return f"{count / 1000:.0f}k" if count < 1_000_000 else f"{count / 1e6:.1f}M"


def count_width(characters: int = 4) -> int:
    """How wide a column of counts with so many characters is, the gap before it included."""
    return QFontMetrics(font("body")).horizontalAdvance("0" * characters) + px(SPACE_S)


def draw_key(painter: QPainter, rect: QRect, key: str) -> None:
    """Draw a key cap with its name."""
    t = tokens()
    painter.setPen(QColor(t.line))
    painter.setBrush(QColor(t.window))
    painter.drawRoundedRect(rect, px(MARK_RADIUS), px(MARK_RADIUS))
    painter.setPen(QColor(t.muted))
    small = font("body")
    small.setPixelSize(px(11))
    painter.setFont(small)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, key)


class LabelDelegate(QStyledItemDelegate):
    """Draws one label; edits its name in place."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows are as high."""
        return QSize(px(120), px(ROW_HEIGHTS["normal"]))

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.count_widths = (count_width(), count_width())

    def fit_counts(self, yours: Iterable[int | None], predicted: Iterable[int | None]) -> None:
        """Make the columns of counts as wide as these need, so that names get the rest."""
        longest = (max((len(compact(count)) for count in column), default=1) for column in (yours, predicted))
        self.count_widths = tuple(map(count_width, longest))  # type: ignore[assignment]

    def name_rect(self, rect: QRect) -> QRect:
        """Where the name goes."""
        left = px(MARGIN + SQUARE + SPACE_S)
        right = key_rect(rect).left() - px(SPACE_S) - sum(self.count_widths)
        return rect.adjusted(left, 0, right - rect.right(), 0)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw square, name, counts and key."""
        t, rect = tokens(), option.rect
        label: Label = index.data(LabelRole)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hover = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if selected or hover:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.selection if selected else t.hover))
            painter.drawRoundedRect(rect.adjusted(px(8), 1, -px(4), -1), px(RADIUS), px(RADIUS))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(t.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(px(8), 1, -px(4) - 1, -2), px(RADIUS), px(RADIUS))
        middle = rect.center().y()
        colour = label.colour or label_colour(index.row())  # the command line gives none
        draw_square(painter, rect.left() + px(MARGIN), middle, colour)
        name = self.name_rect(rect)
        painter.setFont(font("body"))
        painter.setPen(QColor(t.ink))
        draw_name(painter, name, label.name)
        self._draw_counts(painter, rect, index.data(YoursRole), index.data(PredictedRole))
        if key := index.data(KeyRole):
            draw_key(painter, key_rect(rect), key)
        painter.restore()

    def _draw_counts(self, painter: QPainter, rect: QRect, yours: int | None, predicted: int | None) -> None:
        """Draw both counts, the user's in ink and the model's muted."""
        t = tokens()
        right = key_rect(rect).left() - px(SPACE_S)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(font("body"))
        for count, width, colour in (
            (predicted, self.count_widths[1], t.muted),
            (yours, self.count_widths[0], t.ink if yours else t.muted),
        ):
            painter.setPen(QColor(colour))
            painter.drawText(QRect(right - width, rect.top(), width, rect.height()), flags, compact(count))
            right -= width

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        """A line to type the name in."""
        editor = QLineEdit(parent)
        editor.setAccessibleName(f"New name of {index.data()}")
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Cover name and counts: long names need the place."""
        rect = option.rect
        editor.setGeometry(rect.adjusted(px(MARGIN + SQUARE + 2), 1, -px(SPACE_S), -1))


def key_rect(rect: QRect) -> QRect:
    """Where the key cap of a row goes."""
    width = px(KEY_WIDTH)
    return QRect(rect.right() - px(SPACE_S) - width, rect.center().y() - width // 2, width, width)


class LabelsList(QListView):
    """The labels. F2 renames, Delete removes, Return opens the details, Alt+Up and Alt+Down move."""

    removeAsked = Signal()
    detailsAsked = Signal()
    stepAsked = Signal(int)  # -1 or 1

    def __init__(self, model: LabelsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Labels")
        self.setModel(model)
        self._delegate = LabelDelegate(self)
        self.setItemDelegate(self._delegate)
        model.dataChanged.connect(self._fit_counts)
        model.modelReset.connect(self._fit_counts)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDropIndicatorShown(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setAutoFillBackground(False)
        self.viewport().setBackgroundRole(QPalette.ColorRole.Base)

    @Slot()
    def _fit_counts(self) -> None:
        model = self.model()
        indexes = [model.index(row, 0) for row in range(model.rowCount())]
        self._delegate.fit_counts(
            [index.data(YoursRole) for index in indexes], [index.data(PredictedRole) for index in indexes]
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys of the list."""
        key, alt = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if alt and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.stepAsked.emit(-1 if key == Qt.Key.Key_Up else 1)
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removeAsked.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.detailsAsked.emit()
        else:
            super().keyPressEvent(event)
