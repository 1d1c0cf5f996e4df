"""How a cell of the table is drawn: labels as a square with a name, probabilities as a bar or as cells."""

from __future__ import annotations

import functools

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle

from sce_desktop.controllers import rows_text
from sce_desktop.controllers.rows_data import RowData, is_right_to_left
from sce_desktop.core.annotations import Decision
from sce_desktop.core.colours import colour_of
from sce_desktop.core.query import FinalSource
from sce_desktop.ui.kit.fitted import Face, advance
from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.painting import SQUARE, draw_bar, draw_line, draw_lines, draw_name, draw_square, mixed
from sce_desktop.ui.kit.theme import MARK_RADIUS, Tokens, colour_named, lengths, px, tokens
from sce_desktop.ui.rows.rows_model import Column, RowsModel
from sce_desktop.ui.rows.search_marks import draw_hits

CELL_WIDTH, CELL_GAP = 8, 2
STRIP_WIDTH = 150  # of the most labels that are shown one by one
SIGN_SIZE, SIGN_GAP = 11, 1  # of what is marked beside a row's number
SIGNS_WIDTH = 3 * SIGN_SIZE + 2 * SIGN_GAP  # flag, unsure and note: each is seen whatever else there is
LABEL_INDENT = 16  # from a label's square to its name
NUMBER_WIDTH, BAR_WIDTH = 39, 26  # of the confidence
# Of the confidence: number, bar, from bar to name, sign, beside it, half of the bar, its height.
_SCORE_LENGTHS = NUMBER_WIDTH, BAR_WIDTH, 6, 12, 4, 2.5, 5
_DRAFT_OPACITY = 0.45  # of the cells of a draft
_LEAST_NAME = 24  # below that a sign says more than a name of which nothing is left
# Looking them up takes as long as using them, and hundreds of cells are painted at once.
_MIRRORED = Qt.LayoutDirection.RightToLeft
_NO_PEN, _NO_BRUSH = Qt.PenStyle.NoPen, Qt.BrushStyle.NoBrush
# Where words begin and end: Qt turns both round where the painter's layout is from right to left.
_START = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_END = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


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


class CellDrawing:
    """Draws what stands in the cells of `RowsModel`; reads the model's cache and nothing else.

    `begin` it with the painter of a paint event; then it draws any number of cells.
    """

    def __init__(self, model: RowsModel) -> None:
        self._model = model
        self.lines = 1  # of text in a row
        self.needles: tuple[str, ...] = ()  # marked in the texts: what is searched for
        self.bars = True  # whether confidence is a bar too, and not a number alone
        self.mirror = False  # the layout is from right to left
        self._colours: Tokens = tokens()
        self._face: Face | None = None
        self._indent = self._square = self._least_name = 0  # in pixels, as they are now
        self._threshold = 0.0

    def begin(self, painter: QPainter) -> None:
        """Look at what is the same for all cells: asking for it at each takes longer than drawing it."""
        self._colours = tokens()
        self._face = Face.of(painter)
        self._indent, self._square = px(LABEL_INDENT), px(SQUARE)  # `px` looks at the font, for `lengths`
        self._least_name = px(_LEAST_NAME)
        self._threshold = self._model.threshold
        self.mirror = painter.layoutDirection() is _MIRRORED

    def draw(self, painter: QPainter, area: QRect, column: int, row: RowData, *, selected: bool) -> None:
        """Draw a cell of ``row`` into ``area``, on a ground that is there. Its font is left as it was."""
        colours = self._colours
        if column == Column.NUMBER:
            self._draw_number(painter, area, row)
        elif column == Column.TEXT:
            self._draw_text(painter, area, row)
        elif column == Column.YOURS:
            self._draw_yours(painter, area, row)
        elif self._model.own_at(column) is not None:
            self._draw_own(painter, area, self._model.own_cell(row, column))
        elif row.blank:
            return
        elif column == Column.SCE:
            self._draw_score(painter, area, row, colours.selection_line if selected else colours.line)
        elif column == Column.CELLS:
            self._draw_cells(painter, area, row, colours.selection_line if selected else colours.hover)
        elif column == Column.FINAL:
            self._draw_final(painter, area, row)
        else:
            self._draw_agreement(painter, area, row, column - Column.BASELINE + 1)

    def draw_placeholder(self, painter: QPainter, area: QRect) -> None:
        """Draw what stands for a text that is not here yet."""
        box = QRectF(area.left(), area.center().y() - px(3), area.width() * 0.6, px(6))
        draw_bar(painter, mirrored(area, box) if self.mirror else box, 1.0, self._colours.hover, None)

    # --- columns -------------------------------------------------------------------------------------------

    def _draw_number(self, painter: QPainter, area: QRect, row: RowData) -> None:
        painter.setPen(colour_named(self._colours.muted))
        self._draw_words(painter, area, f"{row.position + 1}")
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

    def _draw_text(self, painter: QPainter, area: QRect, row: RowData) -> None:
        if row.blank:
            painter.setPen(colour_named(self._colours.muted))
            painter.save()
            painter.setFont(slanted(self.face).font)
            self._draw_words(painter, area, rows_text.NO_TEXT, slanted(self.face))
            painter.restore()
            return
        right = row.right_to_left
        if self.needles:
            draw_hits(painter, area, row.text, self.lines, self.needles, right_to_left=right)
        painter.setPen(colour_named(self._colours.ink))
        draw_lines(painter, area, row.text, self.lines, right_to_left=right, face=self.face)

    def _draw_own(self, painter: QPainter, area: QRect, words: str) -> None:
        painter.setPen(colour_named(self._colours.ink))
        right = is_right_to_left(words)
        draw_lines(painter, area, words, self.lines, right_to_left=right, face=self.face)

    def _draw_yours(self, painter: QPainter, area: QRect, row: RowData) -> None:
        colours = self._colours
        if row.annotation is None:
            painter.setPen(colour_named(colours.muted))
            self._draw_words(painter, area, rows_text.NOT_YET)
            return
        words = rows_text.yours(row, self._model.labels)
        if row.annotation.decision is Decision.LABEL:
            first = rows_text.label_of(row.annotation.label_ids[0], self._model.labels)
            room = area.width() - self._indent
            same = rows_text.confirms(row)
            if room < advance(self.face, words) and (same or room < self._least_name):
                sign = "" if same is None else "=" if same else "≠"
                self._draw_label(painter, area, sign, colour_of(first), colours.muted)
                return
            self._draw_label(painter, area, words, colour_of(first), colours.ink)
        else:
            self._draw_label(painter, area, words, None, colours.muted)

    def _draw_score(self, painter: QPainter, area: QRect, row: RowData, track: str) -> None:
        colours, score = self._colours, row.scores[0] if row.scores else None
        if score is None:
            painter.setPen(colour_named(colours.muted))
            self._draw_words(painter, area, rows_text.NOT_YET)
            return
        number, bar, gap, size, beside, half, high = lengths(*_SCORE_LENGTHS)
        bar = bar if self.bars else 0
        middle = area.center().y() + 0.5
        none = score.says_none(self._threshold)
        name = area if none else area.adjusted(0, 0, -(number + bar + (gap if bar else 0)), 0)
        if score.stale or score.draft:
            sign = QRect(name.right() - size, int(middle - size / 2), size, size)
            icon("edit" if score.draft else "clock", "muted").paint(painter, self._placed(area, sign))
            name = name.adjusted(0, 0, -(size + beside), 0)
        if none:
            self._draw_label(painter, self._placed(area, name), rows_text.NONE_FITS, None, colours.muted)
            return
        label = rows_text.top_label(score, self._model.labels)
        low = score.confidence < self._threshold
        ink = colours.muted if score.stale or score.draft or low else colours.ink
        words = f"? {label.name}" if low else label.name
        face = self.face
        if score.draft:
            painter.save()
            face = slanted(face)
            painter.setFont(face.font)
        self._draw_label(painter, self._placed(area, name), words, colour_of(label), ink, face)
        if bar:
            box = QRectF(area.right() - number - bar, middle - half, bar, high)
            box = mirrored(area, box) if self.mirror else box
            draw_bar(painter, box, score.confidence, colour_of(label), track)
        painter.setPen(colour_named(colours.muted))
        painter.drawText(area, _END, rows_text.short_share(score.confidence))
        if score.draft:
            painter.restore()

    def _draw_cells(self, painter: QPainter, area: QRect, row: RowData, ground: str) -> None:
        score = row.scores[0] if row.scores else None
        if score is None:
            return
        places = rows_text.best_places(score)
        low, high = colour_named(ground), colour_named(self._colours.accent)
        painter.setPen(_NO_PEN)
        boxes = self.strip_cells(area, len(places))
        painter.setOpacity(_DRAFT_OPACITY if score.draft else 1.0)
        radius = MARK_RADIUS if boxes and boxes[0].width() > px(6) else 1
        for place, box in zip(places, boxes, strict=True):
            # One call a cell and not two, one over the other: each gives Python's lock away, which the
            # workers want too, and takes it back.
            painter.setBrush(mixed(low, high, float(score.probabilities[place])))
            painter.drawRoundedRect(box, radius, radius)
        painter.setOpacity(1.0)

    def _draw_final(self, painter: QPainter, area: QRect, row: RowData) -> None:
        """Draw a filled square for your label, a ring for the model's, and words where there is neither."""
        threshold, colours = self._threshold, self._colours
        source = rows_text.final_source(row, threshold)
        if source is FinalSource.ANNOTATOR:
            self._draw_yours(painter, area, row)
            return
        score = row.scores[0] if row.scores else None
        if source is FinalSource.NONE or score is None:
            painter.setPen(colour_named(colours.warn))
            draw_name(painter, area, rows_text.TO_REVIEW, face=self.face)
            return
        colour = QColor(colour_of(rows_text.top_label(score, self._model.labels)))
        size = self._square
        x = area.right() + 1 - size if self.mirror else area.left()
        painter.setPen(QPen(colour, px(2)))
        painter.setBrush(_NO_BRUSH)
        ring = QRectF(x, area.center().y() + 0.5 - size / 2, size, size)
        painter.drawEllipse(ring.adjusted(px(1), px(1), -px(1), -px(1)))
        painter.setPen(colour_named(colours.muted if score.stale else colours.ink))
        name = self._placed(area, area.adjusted(self._indent, 0, 0, 0))
        words = rows_text.final_names(row, self._model.labels, threshold)
        draw_name(painter, name, words, face=self.face)

    def _draw_agreement(self, painter: QPainter, area: QRect, row: RowData, place: int) -> None:
        colours, score = self._colours, row.scores[place] if place < len(row.scores) else None
        same = rows_text.agreement(row, place, self._threshold)
        if score is None or row.scores[0] is None:
            return
        if same is not None:
            face = strong(self.face)
            painter.save()
            painter.setFont(face.font)
            painter.setPen(colour_named(colours.good if same else colours.warn))
            self._draw_words(painter, area, "=" if same else "≠", face)
            painter.restore()
        if not same and area.width() > px(LABEL_INDENT + _LEAST_NAME):
            name = self._placed(area, area.adjusted(self._indent, 0, 0, 0))
            painter.setPen(colour_named(colours.muted))
            words = rows_text.top_label(score, self._model.labels).name
            draw_name(painter, name, words, face=self.face)

    # --- parts of cells ------------------------------------------------------------------------------------

    @property
    def face(self) -> Face:
        """What the painter draws with."""
        assert self._face is not None  # `begin` comes first
        return self._face

    def _draw_words(self, painter: QPainter, area: QRect, words: str, face: Face | None = None) -> None:
        """Draw words of the program, in its language, where a cell begins."""
        if self.mirror:
            painter.drawText(area, _START, words)
        else:
            draw_line(painter, face or self.face, area, words)

    def _draw_label(
        self,
        painter: QPainter,
        area: QRect,
        words: str,
        colour: str | None,
        ink: str,
        face: Face | None = None,
    ) -> None:
        x = area.right() + 1 - self._square if self.mirror else area.left()
        draw_square(painter, x, area.center().y() + 0.5, colour or "", hollow=colour is None)
        painter.setPen(colour_named(ink))
        name = self._placed(area, area.adjusted(self._indent, 0, 0, 0))
        draw_name(painter, name, words, face=face or self.face)

    def _placed(self, area: QRect, box: QRect) -> QRect:
        """Return where ``box`` of ``area``, laid out from the left, lies in the layout of the table."""
        return QStyle.visualRect(_MIRRORED, area, box) if self.mirror else box

    def strip_cells(self, area: QRect, count: int) -> list[QRectF]:
        """Where the cells of a strip lie in ``area``, in the layout of the table."""
        boxes = strip_cells(area, count)
        return [mirrored(area, box) for box in boxes] if self.mirror else boxes


@functools.lru_cache(maxsize=4)
def strong(face: Face) -> Face:
    """The bold one of a face, for signs."""
    font = QFont(face.font)
    font.setWeight(QFont.Weight.DemiBold)
    return Face(font, QFontMetrics(font))


@functools.lru_cache(maxsize=4)
def slanted(face: Face) -> Face:
    """The italic one of a face, for drafts and for what is not there."""
    font = QFont(face.font)
    font.setItalic(True)
    return Face(font, QFontMetrics(font))
