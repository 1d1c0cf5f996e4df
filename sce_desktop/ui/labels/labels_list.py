"""How labels look in their list: square, name, two counts, key; and the list with its keys."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QMargins,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPalette,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from sce_desktop.controllers.labels_groups import Span, short_name
from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import _, number
from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.painting import SQUARE, draw_name, draw_square
from sce_desktop.ui.kit.theme import MARK_RADIUS, RADIUS, SPACE_S, font, px, row_height, tokens
from sce_desktop.ui.labels.labels_model import (
    ColourRole,
    FoldedRole,
    GroupRole,
    Index,
    KeyRole,
    LabelRole,
    LabelsModel,
    PredictedRole,
    YoursRole,
)

KEY_WIDTH = 18
HEADING = 28
INDENT = 12
FOLD_SIGN = 12
MARGIN = 18  # from the panel's edge to the square, as the heading


def margins(leading: int, trailing: int) -> QMargins:
    """Margins at the sides where lines of the language begin and end, in pixels."""
    if QGuiApplication.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        leading, trailing = trailing, leading
    return QMargins(leading, 0, trailing, 0)


def compact(count: int | None) -> str:
    """A count in at most five characters; a dash where it is not known."""
    if count is None:
        return "–"
    if count < 10_000:
        return number(count)
    return f"{count / 1000:.0f}k" if count < 1_000_000 else f"{number(count / 1e6, 1)}M"


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

    opened = Signal(object)  # the label whose name is being typed again
    closed = Signal()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows are as high, but for the heading above the first label of a group, or in its place."""
        heading = px(HEADING) if begins_group(index) else 0
        if index.data(FoldedRole):
            return QSize(px(120), heading)
        return QSize(px(120), row_height("normal") + heading)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.count_widths = (count_width(), count_width())

    def fit_counts(self, yours: Iterable[int | None], predicted: Iterable[int | None]) -> bool:
        """Make the columns of counts as wide as these need, so that names get the rest; say if so."""
        longest = (max((len(compact(count)) for count in column), default=1) for column in (yours, predicted))
        before, self.count_widths = self.count_widths, tuple(map(count_width, longest))  # type: ignore[assignment]
        return self.count_widths != before

    def name_rect(self, rect: QRect, indent: int = 0) -> QRect:
        """Where the name goes, from left to right."""
        left = px(MARGIN + SQUARE + SPACE_S) + indent
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
        group: Span | None = index.data(GroupRole)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if group is not None and index.data(FoldedRole):
            _draw_ground(painter, rect, option, before=px(6))  # below the sign too
            self._draw_heading(painter, rect, group, index)
            painter.restore()
            return
        if group is not None and begins_group(index):
            self._draw_heading(painter, rect, group, index)
            rect = below_heading(rect)
        indent = px(INDENT) if group is not None else 0
        _draw_ground(painter, rect, option)
        square = QRect(rect.left() + px(MARGIN) + indent, rect.top(), px(SQUARE), rect.height())
        square = QStyle.visualRect(option.direction, rect, square)
        draw_square(painter, square.left(), rect.center().y(), index.data(ColourRole))
        name = QStyle.visualRect(option.direction, rect, self.name_rect(rect, indent))
        painter.setFont(font("body"))
        painter.setPen(QColor(t.ink))
        draw_name(painter, name, short_name(label.name, group.parent if group else ""))
        self._draw_counts(painter, rect, index.data(YoursRole), index.data(PredictedRole))
        if key := index.data(KeyRole):
            draw_key(painter, QStyle.visualRect(option.direction, rect, key_rect(rect)), key)
        painter.restore()

    def _draw_heading(
        self, painter: QPainter, rect: QRect, group: Span, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw the name of a group, what its labels have together, and whether they are shown below."""
        line = QRect(rect.left(), rect.top(), rect.width(), px(HEADING))
        sign = QRect(0, 0, px(FOLD_SIGN), px(FOLD_SIGN))
        direction = painter.layoutDirection()
        sign.moveCenter(QStyle.visualRect(direction, line, fold_rect(line)).center())
        closed = "left" if direction is Qt.LayoutDirection.RightToLeft else "right"
        icon(closed if index.data(FoldedRole) else "down", "muted").paint(painter, sign)
        painter.setFont(font("strong"))
        painter.setPen(QColor(tokens().ink))
        names = self.name_rect(line)
        names.setLeft(line.left() + px(MARGIN))
        draw_name(painter, QStyle.visualRect(direction, line, names), group.parent)
        model = index.model()
        assert isinstance(model, LabelsModel)
        self._draw_counts(painter, line, *model.sums(group))

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
            box = QRect(right - width, rect.top(), width, rect.height())
            painter.drawText(QStyle.visualRect(painter.layoutDirection(), rect, box), flags, compact(count))
            right -= width

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        """A line to type the name in."""
        editor = QLineEdit(parent)
        editor.setAccessibleName(_("New name of “{name}”", name=index.data()))
        self.opened.emit(index.data(LabelRole))
        return editor

    def destroyEditor(self, editor: QWidget, index: QModelIndex | QPersistentModelIndex) -> None:
        """Let go of the line, whatever closed it."""
        super().destroyEditor(editor, index)
        self.closed.emit()

    def setEditorData(self, editor: QWidget, index: QModelIndex | QPersistentModelIndex) -> None:
        """Fill in the name once: the view asks for it again whenever the counts of a lone label change."""
        assert isinstance(editor, QLineEdit)
        if not editor.isModified() and editor.text() != index.data():
            super().setEditorData(editor, index)

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Cover name and counts: long names need the place."""
        rect = below_heading(option.rect) if begins_group(index) else option.rect
        field = rect.adjusted(px(MARGIN + SQUARE + 2), 1, -px(SPACE_S), -1)
        editor.setGeometry(QStyle.visualRect(option.direction, rect, field))


def _draw_ground(painter: QPainter, rect: QRect, option: QStyleOptionViewItem, *, before: int = 0) -> None:
    """Draw what shows that a row is chosen, is under the mouse, or has the keys; ``before``: more room."""
    t = tokens()
    ground = QStyle.visualRect(option.direction, rect, rect.adjusted(px(8) - before, 1, -px(4), -1))
    selected = bool(option.state & QStyle.StateFlag.State_Selected)
    if selected or option.state & QStyle.StateFlag.State_MouseOver:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.selection if selected else t.hover))
        painter.drawRoundedRect(ground, px(RADIUS), px(RADIUS))
    if option.state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QColor(t.accent))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(ground.adjusted(0, 0, -1, -1), px(RADIUS), px(RADIUS))


def begins_group(index: QModelIndex | QPersistentModelIndex) -> bool:
    """Whether the heading of a group stands above a label."""
    group: Span | None = index.data(GroupRole)
    return group is not None and group.start == index.row()


def below_heading(rect: QRect) -> QRect:
    """The part of a row below the heading of its group."""
    return rect.adjusted(0, px(HEADING), 0, 0)


def fold_rect(heading: QRect) -> QRect:
    """Where the heading of a group is clicked to fold it: before its name; from left to right."""
    return QRect(heading.left(), heading.top(), px(MARGIN), px(HEADING))


def key_rect(rect: QRect) -> QRect:
    """Where the key cap of a row goes, from left to right."""
    width = px(KEY_WIDTH)
    return QRect(rect.right() - px(SPACE_S) - width, rect.center().y() - width // 2, width, width)


class LabelsList(QListView):
    """The labels.

    F2 renames, Delete removes, Return opens the details, Alt+Up and Alt+Down move, Left and Right fold and
    unfold a group. A folded group is one row, its heading, which stands for all its labels.
    """

    removeAsked = Signal()
    detailsAsked = Signal()
    stepAsked = Signal(int)  # -1 or 1
    renaming = Signal(object)  # the label whose name is being typed again, None: no more

    def __init__(self, model: LabelsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Labels"))
        self._model = model
        self.setModel(model)
        self._delegate = LabelDelegate(self)
        self.setItemDelegate(self._delegate)
        self._delegate.opened.connect(self.renaming)
        self._delegate.closed.connect(lambda: self.renaming.emit(None))
        model.dataChanged.connect(self._fit_counts)
        model.modelReset.connect(self._fit_counts)
        model.modelReset.connect(self._fit_rows)
        model.foldsChanged.connect(self._show_folds)
        self._fit_rows()
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

    def dataChanged(self, first: Index, last: Index, roles: Iterable[int] = ()) -> None:
        """Paint these rows alone again: a list lays out and paints all, as their heights might be others."""
        QAbstractItemView.dataChanged(self, first, last, list(roles))

    @Slot()
    def _fit_rows(self) -> None:
        self.setUniformItemSizes(not self._model.headings)
        self._hide_folded()

    def _hide_folded(self) -> None:
        hidden = self._model.hidden_rows()
        for row in range(self._model.rowCount()):
            self.setRowHidden(row, row in hidden)
        self.scheduleDelayedItemsLayout()

    @Slot()
    def _show_folds(self) -> None:
        """Fold or unfold; what was the current label in a folded group is its heading now."""
        self._hide_folded()
        current = self.currentIndex()
        if current.isValid() and self.isRowHidden(current.row()):
            self._choose_group(current.data(GroupRole))
        self.viewport().update()

    def _choose_group(self, group: Span) -> None:
        """Make a group the current one, and select all its labels."""
        first, last = self._model.index(group.start), self._model.index(group.end - 1)
        self.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
        self.selectionModel().select(
            QItemSelection(first, last), QItemSelectionModel.SelectionFlag.ClearAndSelect
        )

    def fold(self, group: Span | None, *, folded: bool) -> None:
        """Fold or unfold a group; None: there is nothing to fold."""
        if group is not None:
            self._model.fold([group.parent], folded=folded)

    def reveal(self, row: int) -> None:
        """Make a label the current one; its group is unfolded."""
        index = self._model.index(row)
        self.fold(index.data(GroupRole), folded=False)
        self.setCurrentIndex(index)
        self.scrollTo(index)

    def chosen(self) -> list[int]:
        """The rows that are selected; the heading of a folded group stands for all its rows."""
        rows: set[int] = set()
        for index in self.selectionModel().selectedIndexes():
            group: Span | None = index.data(GroupRole) if index.data(FoldedRole) else None
            rows.update(range(group.start, group.end) if group else (index.row(),))
        return sorted(rows)

    def full_height(self) -> int:
        """How high the list is with all its labels."""
        shown = [self._model.index(row) for row in range(self._model.rowCount()) if not self.isRowHidden(row)]
        labels = sum(not index.data(FoldedRole) for index in shown)
        height = labels * row_height("normal") + self._model.headings * px(HEADING)
        if shown:
            return height + px(4)
        return px(60) if self._model.rowCount() else 0  # room for why the filter leaves none

    @Slot()
    def _fit_counts(self) -> None:
        yours, predicted = zip(*self._model.all_counts(), strict=True) if self._model.rowCount() else ((), ())
        if self._delegate.fit_counts(yours, predicted):
            self.viewport().update()  # of all labels the names have more room now, or less

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The heading of a group selects its labels, the sign before it folds them."""
        group = self._heading_at(event)
        if group is None:
            super().mousePressEvent(event)
        elif self._is_before_name(event.position().x()):
            self.fold(group, folded=not self._model.is_folded(group))
        else:
            self._choose_group(group)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """A second click on a heading folds the group or unfolds it."""
        group = self._heading_at(event)
        if group is None:
            super().mouseDoubleClickEvent(event)
        else:
            self.fold(group, folded=not self._model.is_folded(group))

    def _is_before_name(self, x: float) -> bool:
        right_to_left = self.isRightToLeft()
        return x >= self.viewport().width() - px(MARGIN) if right_to_left else x < px(MARGIN)

    def _heading_at(self, event: QMouseEvent) -> Span | None:
        """The group whose heading was clicked."""
        index = self.indexAt(event.position().toPoint())
        if not index.isValid() or not begins_group(index) or event.button() is not Qt.MouseButton.LeftButton:
            return None
        below = below_heading(self.visualRect(index)).top()
        return index.data(GroupRole) if event.position().y() < below else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys of the list; none while a name is typed, as its field lets pass what it has no use for."""
        if self.state() is QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)
            return
        key, alt = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        current = self.currentIndex()
        group: Span | None = current.data(GroupRole) if current.isValid() else None
        folded = self._model.is_folded(group)
        if alt and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.stepAsked.emit(-1 if key == Qt.Key.Key_Up else 1)
        elif not alt and group is not None and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            back = Qt.Key.Key_Right if self.isRightToLeft() else Qt.Key.Key_Left
            self.fold(group, folded=key == back)
        elif folded and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
            self.fold(group, folded=False)  # which of its labels is meant cannot be seen
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removeAsked.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.detailsAsked.emit()
        else:
            super().keyPressEvent(event)
