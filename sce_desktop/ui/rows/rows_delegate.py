"""How a cell of the table is drawn: labels as a square with a name, probabilities as a bar or as cells."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from sce_desktop.controllers import rows_text
from sce_desktop.controllers.rows_data import RowData, is_right_to_left
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.colours import colour_of
from sce_desktop.core.labels import roll_up
from sce_desktop.core.query import FinalSource
from sce_desktop.ui.kit.fitted import Face, advance
from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.painting import SQUARE, draw_bar, draw_lines, draw_name, draw_square, mixed
from sce_desktop.ui.kit.theme import MARK_RADIUS, Tokens, colour_named, px, tokens
from sce_desktop.ui.rows.rows_model import Column, RowsModel
from sce_desktop.ui.rows.search_marks import draw_hits

Index = QModelIndex | QPersistentModelIndex
PADDING = 6  # as that of the headings
CELL_WIDTH, CELL_GAP = 8, 2
STRIP_WIDTH = 150  # of the most labels that are shown one by one
SIGN_SIZE, SIGN_GAP = 11, 1  # of what is marked beside a row's number
SIGNS_WIDTH = 3 * SIGN_SIZE + 2 * SIGN_GAP  # flag, unsure and note: each is seen whatever else there is
LABEL_INDENT = 16  # from a label's square to its name
NUMBER_WIDTH, BAR_WIDTH = 39, 26  # of the confidence
_DRAFT_OPACITY = 0.45  # of the cells of a draft
_LEAST_NAME = 24  # below that a sign says more than a name of which nothing is left
# Where words begin and end: Qt turns both round where the painter's layout is from right to left.
_START = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_END = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
# Looking them up takes as long as using them, and two rows are painted with every key.
_MIRRORED = Qt.LayoutDirection.RightToLeft
_SELECTED, _HOVERED = QStyle.StateFlag.State_Selected, QStyle.StateFlag.State_MouseOver
_SMOOTH = QPainter.RenderHint.Antialiasing
_FOCUSED = QStyle.StateFlag.State_HasFocus


def strip_width(labels: int) -> int:
    """Pixels that the cells of ``labels`` labels take."""
    cells = labels if labels <= rows_text.MOST_CELLS else rows_text.TOP_CELLS
    return min(px(STRIP_WIDTH), max(px(60), cells * px(CELL_WIDTH + CELL_GAP)))


def strip_cells(area: QRect, count: int) -> list[QRectF]:
    """Where the cells of a strip lie in ``area``; they become narrower where there are many."""
    if not count:
        return []
    step = min(px(CELL_WIDTH + CELL_GAP), area.width() / count)
    height = min(area.height() - px(8), px(18))
    top = area.top() + (area.height() - height) / 2
    width = max(1.5, step - (px(CELL_GAP) if step > px(6) else 1))
    return [QRectF(area.left() + place * step, top, width, height) for place in range(count)]


def mirrored(area: QRect, box: QRectF) -> QRectF:
    """Return where ``box`` of ``area``, laid out from the left, lies in a layout from the right."""
    return QRectF(
        area.left() + area.left() + area.width() - box.right(), box.top(), box.width(), box.height()
    )


class RowsDelegate(QStyledItemDelegate):
    """Draws every column of `RowsModel`; reads the model's cache and nothing else."""

    def __init__(self, model: RowsModel, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._model = model
        self.lines = 1  # of text in a row
        self.needles: tuple[str, ...] = ()  # marked in the texts: what is searched for
        self.bars = True  # whether confidence is a bar too, and not a number alone
        self._mirror = False  # the layout is from right to left

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Heights and widths are the view's."""
        return QSize(px(60), px(24))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the cell at ``index``."""
        colours = tokens()
        area: QRect = option.rect
        state, direction, column = option.state, option.direction, index.column()
        self._mirror = direction is _MIRRORED
        painter.setLayoutDirection(direction)
        selected, hovered = _SELECTED in state, _HOVERED in state
        painter.save()
        painter.setRenderHint(_SMOOTH)
        ground = colours.selection if selected else colours.hover if hovered else colours.pane
        painter.fillRect(area, colour_named(ground))
        painter.fillRect(area.x(), area.bottom(), area.width(), 1, colour_named(colours.line))
        padding = px(PADDING)
        if selected and column == 0:
            edge = QRect(area.x(), area.y(), px(3), area.height() - 1)
            painter.fillRect(QStyle.visualRect(direction, area, edge), colour_named(colours.accent))
        row = self._model.row_at(index.row())
        inner = area.adjusted(padding, 0, -padding, -1)
        painter.setClipRect(area)
        if row is None:
            if column == Column.TEXT:
                self._draw_placeholder(painter, inner, colours)
        else:
            self._draw(painter, inner, column, row, colours, selected=selected)
        if _FOCUSED in state:  # where Alt+Down and the menu of the column apply
            painter.setRenderHint(_SMOOTH, False)
            painter.setOpacity(1.0)
            painter.setPen(colour_named(colours.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(area.adjusted(0, 0, -1, -1))
        painter.restore()

    def _draw(
        self, painter: QPainter, area: QRect, column: int, row: RowData, colours: Tokens, *, selected: bool
    ) -> None:
        if column == Column.NUMBER:
            self._draw_number(painter, area, row, colours)
        elif column == Column.TEXT:
            self._draw_text(painter, area, row, colours)
        elif column == Column.YOURS:
            self._draw_yours(painter, area, row, colours)
        elif self._model.own_at(column) is not None:
            self._draw_own(painter, area, self._model.own_cell(row, column), colours)
        elif row.blank:
            return
        elif column == Column.SCE:
            self._draw_score(
                painter, area, row, colours, colours.selection_line if selected else colours.line
            )
        elif column == Column.CELLS:
            self._draw_cells(painter, area, row, colours.selection_line if selected else colours.hover)
        elif column == Column.FINAL:
            self._draw_final(painter, area, row, colours)
        else:
            self._draw_agreement(painter, area, row, column - Column.BASELINE + 1, colours)

    # --- columns -------------------------------------------------------------------------------------------

    def _draw_placeholder(self, painter: QPainter, area: QRect, colours: Tokens) -> None:
        box = QRectF(area.left(), area.center().y() - px(3), area.width() * 0.6, px(6))
        draw_bar(painter, mirrored(area, box) if self._mirror else box, 1.0, colours.hover, None)

    def _draw_number(self, painter: QPainter, area: QRect, row: RowData, colours: Tokens) -> None:
        painter.setPen(colour_named(colours.muted))
        painter.drawText(area, _START, f"{row.position + 1}")
        if row.marks is None:
            return
        size = px(SIGN_SIZE)
        x = area.right() + px(4) - size
        for name, on in (
            ("flag", row.marks.flag),
            ("unsure", row.marks.unsure),
            ("note", bool(row.marks.note)),
        ):
            if on:
                sign = QRect(x, area.center().y() - size // 2, size, size)
                icon(name, "muted").paint(painter, self._placed(area, sign))
                x -= size + px(SIGN_GAP)

    def _draw_text(self, painter: QPainter, area: QRect, row: RowData, colours: Tokens) -> None:
        if row.blank:
            painter.setPen(colour_named(colours.muted))
            font = QFont(painter.font())
            font.setItalic(True)
            painter.setFont(font)
            painter.drawText(area, _START, rows_text.NO_TEXT)
            return
        right = row.right_to_left
        if self.needles:
            draw_hits(painter, area, row.text, self.lines, self.needles, right_to_left=right)
        painter.setPen(colour_named(colours.ink))
        draw_lines(painter, area, row.text, self.lines, right_to_left=right)

    def _draw_own(self, painter: QPainter, area: QRect, words: str, colours: Tokens) -> None:
        painter.setPen(colour_named(colours.ink))
        draw_lines(painter, area, words, self.lines, right_to_left=is_right_to_left(words))

    def _draw_yours(self, painter: QPainter, area: QRect, row: RowData, colours: Tokens) -> None:
        if row.annotation is None:
            painter.setPen(colour_named(colours.muted))
            painter.drawText(area, _START, rows_text.NOT_YET)
            return
        words = rows_text.yours(row, self._model.labels)
        if row.annotation.decision is Decision.LABEL:
            first = rows_text.label_of(row.annotation.label_ids[0], self._model.labels)
            room = area.width() - px(LABEL_INDENT)
            same = rows_text.confirms(row)
            if room < advance(Face.of(painter), words) and (same or room < px(_LEAST_NAME)):
                sign = "" if same is None else "=" if same else "≠"
                self._draw_label(painter, area, sign, colour_of(first), colours.muted)
                return
            self._draw_label(painter, area, words, colour_of(first), colours.ink)
        else:
            self._draw_label(painter, area, words, None, colours.muted)

    def _draw_score(self, painter: QPainter, area: QRect, row: RowData, colours: Tokens, track: str) -> None:
        score = row.scores[0] if row.scores else None
        if score is None:
            painter.setPen(colour_named(colours.muted))
            painter.drawText(area, _START, rows_text.NOT_YET)
            return
        number, bar = px(NUMBER_WIDTH), px(BAR_WIDTH) if self.bars else 0
        middle = area.center().y() + 0.5
        none = score.says_none(self._model.threshold)
        name = area if none else area.adjusted(0, 0, -(number + bar + (px(6) if bar else 0)), 0)
        if score.stale or score.draft:
            size = px(12)
            sign = QRect(name.right() - size, int(middle - size / 2), size, size)
            icon("edit" if score.draft else "clock", "muted").paint(painter, self._placed(area, sign))
            name = name.adjusted(0, 0, -(size + px(4)), 0)
        if none:
            self._draw_label(painter, self._placed(area, name), rows_text.NONE_FITS, None, colours.muted)
            return
        label = rows_text.top_label(score, self._model.labels)
        low = score.confidence < self._model.threshold
        ink = colours.muted if score.stale or score.draft or low else colours.ink
        words = f"? {label.name}" if low else label.name
        if score.draft:
            slanted = QFont(painter.font())
            slanted.setItalic(True)
            painter.setFont(slanted)
        self._draw_label(painter, self._placed(area, name), words, colour_of(label), ink)
        box = QRectF(area.right() - number - bar, middle - px(2.5), bar, px(5))
        if bar:
            box = mirrored(area, box) if self._mirror else box
            draw_bar(painter, box, score.confidence, colour_of(label), track)
        painter.setPen(colour_named(colours.muted))
        painter.drawText(area, _END, rows_text.short_share(score.confidence))

    def _draw_cells(self, painter: QPainter, area: QRect, row: RowData, ground: str) -> None:
        score = row.scores[0] if row.scores else None
        if score is None:
            return
        places = rows_text.best_places(score)
        low, high = QColor(ground), QColor(tokens().accent)
        painter.setPen(Qt.PenStyle.NoPen)
        boxes = self._strip_cells(area, len(places))
        painter.setOpacity(_DRAFT_OPACITY if score.draft else 1.0)
        radius = MARK_RADIUS if boxes and boxes[0].width() > px(6) else 1
        for place, box in zip(places, boxes, strict=True):
            # One call a cell and not two, one over the other: each gives Python's lock away, which the
            # workers want too, and takes it back.
            painter.setBrush(mixed(low, high, float(score.probabilities[place])))
            painter.drawRoundedRect(box, radius, radius)

    def _draw_final(self, painter: QPainter, area: QRect, row: RowData, colours: Tokens) -> None:
        """Draw a filled square for your label, a ring for the model's, and words where there is neither."""
        threshold = self._model.threshold
        source = rows_text.final_source(row, threshold)
        if source is FinalSource.ANNOTATOR:
            self._draw_yours(painter, area, row, colours)
            return
        score = row.scores[0] if row.scores else None
        if source is FinalSource.NONE or score is None:
            painter.setPen(QColor(colours.warn))
            draw_name(painter, area, rows_text.TO_REVIEW)
            return
        colour = QColor(colour_of(rows_text.top_label(score, self._model.labels)))
        size = px(SQUARE)
        x = area.right() + 1 - size if self._mirror else area.left()
        painter.setPen(QPen(colour, px(2)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        ring = QRectF(x, area.center().y() + 0.5 - size / 2, size, size)
        painter.drawEllipse(ring.adjusted(px(1), px(1), -px(1), -px(1)))
        painter.setPen(QColor(colours.muted if score.stale else colours.ink))
        name = self._placed(area, area.adjusted(px(LABEL_INDENT), 0, 0, 0))
        draw_name(painter, name, rows_text.final_names(row, self._model.labels, threshold))

    def _draw_agreement(
        self, painter: QPainter, area: QRect, row: RowData, place: int, colours: Tokens
    ) -> None:
        score = row.scores[place] if place < len(row.scores) else None
        same = rows_text.agreement(row, place, self._model.threshold)
        if score is None or row.scores[0] is None:
            return
        if same is not None:
            mark = QFont(painter.font())
            painter.save()
            mark.setWeight(QFont.Weight.DemiBold)
            painter.setFont(mark)
            painter.setPen(QColor(colours.good if same else colours.warn))
            painter.drawText(area, _START, "=" if same else "≠")
            painter.restore()
        if not same and area.width() > px(LABEL_INDENT + _LEAST_NAME):
            name = self._placed(area, area.adjusted(px(LABEL_INDENT), 0, 0, 0))
            painter.setPen(colour_named(colours.muted))
            draw_name(painter, name, rows_text.top_label(score, self._model.labels).name)

    def _draw_label(self, painter: QPainter, area: QRect, words: str, colour: str | None, ink: str) -> None:
        x = area.right() + 1 - px(SQUARE) if self._mirror else area.left()
        draw_square(painter, x, area.center().y() + 0.5, colour or "", hollow=colour is None)
        painter.setPen(colour_named(ink))
        draw_name(painter, self._placed(area, area.adjusted(px(LABEL_INDENT), 0, 0, 0)), words)

    def _placed(self, area: QRect, box: QRect) -> QRect:
        """Return where ``box`` of ``area``, laid out from the left, lies in the layout of the table."""
        return QStyle.visualRect(Qt.LayoutDirection.RightToLeft, area, box) if self._mirror else box

    def _strip_cells(self, area: QRect, count: int) -> list[QRectF]:
        boxes = strip_cells(area, count)
        return [mirrored(area, box) for box in boxes] if self._mirror else boxes

    # --- under the mouse -----------------------------------------------------------------------------------

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        """Show which label a cell of the strip stands for; elsewhere the predictions."""
        if event.type() is QEvent.Type.ToolTip and index.column() == Column.CELLS:
            area: QRect = option.rect
            tip = self._cell_tip(event.pos(), area.adjusted(px(PADDING), 0, -px(PADDING), -1), index)
            if tip is not None:
                QToolTip.showText(event.globalPos(), tip, view)
                return True
        return super().helpEvent(event, view, option, index)

    def _cell_tip(self, at: QPoint, area: QRect, index: Index) -> str | None:
        row = self._model.row_at(index.row())
        score = row.scores[0] if row is not None and row.scores else None
        if score is None:
            return None
        places = rows_text.best_places(score)
        for place, box in zip(places, self._strip_cells(area, len(places)), strict=True):
            if box.left() <= at.x() < box.right() + 1:
                return rows_text.cell_tip(score, place, self._model.labels)
        return None


def colours_of_names(names: Sequence[str], labels: tuple[Label, ...]) -> list[str]:
    """The colour of each name: its label's, or that of its first child where labels are rolled up, or ""."""
    tops = roll_up(label.name for label in labels)
    by_name: dict[str, str] = {}
    for label in labels:
        by_name.setdefault(tops[label.name], colour_of(label))
    by_name |= {label.name: colour_of(label) for label in labels}
    return [by_name.get(name, "") for name in names]
