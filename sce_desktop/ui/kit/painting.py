"""What several panels draw alike: the square of a label, bars, and text that is cut where it does not fit."""

from __future__ import annotations

import functools

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter

from sce_desktop.controllers.rows_data import is_right_to_left
from sce_desktop.core.labels import PARENT_SIGN, parent_of
from sce_desktop.ui.kit.fitted import Face, advance, laid_out, lines_of
from sce_desktop.ui.kit.theme import MARK_RADIUS, colour_named, px, tokens
from sce_desktop.ui.kit.tokens import CONTRAST

SQUARE = 10
_NO_PEN, _NO_BRUSH = Qt.PenStyle.NoPen, Qt.BrushStyle.NoBrush  # looking them up takes as long as setting them
_MIRRORED = Qt.LayoutDirection.RightToLeft
_MIDDLE_FROM = 110  # pixels of a name from which its end is shown beside its beginning


def draw_square(painter: QPainter, x: float, middle: float, colour: str, *, hollow: bool = False) -> None:
    """Draw the square of a label at ``x``, or of an answer that is none."""
    size = px(SQUARE)
    box = QRectF(x, middle - size / 2, size, size)
    if hollow:
        painter.setPen(colour_named(tokens().muted))
        painter.setBrush(_NO_BRUSH)
        box.adjust(0.5, 0.5, -0.5, -0.5)
    else:
        _take_mark(painter, box)
        painter.setBrush(colour_named(colour))
    painter.drawRoundedRect(box, MARK_RADIUS, MARK_RADIUS)


def _take_mark(painter: QPainter, box: QRectF) -> None:
    """Give a mark its edge: in high contrast its own colour has 2:1 only on what is selected."""
    if (colours := tokens()) is CONTRAST:
        painter.setPen(colour_named(colours.ink))
        box.adjust(0.5, 0.5, -0.5, -0.5)
    else:
        painter.setPen(_NO_PEN)


def draw_bar(painter: QPainter, box: QRectF, share: float, colour: str, track: str | None) -> None:
    """Draw a bar that fills ``share`` (0 to 1) of ``box`` from its leading side."""
    radius = box.height() / 2
    painter.setPen(_NO_PEN)
    if track is not None:
        painter.setBrush(colour_named(track))
        painter.drawRoundedRect(box, radius, radius)
    filled = QRectF(box)
    filled.setWidth(max(box.height(), box.width() * share))
    if painter.layoutDirection() is _MIRRORED:
        filled.moveRight(box.right())
    if track is not None:
        _take_mark(painter, filled)
    painter.setBrush(colour_named(colour))
    painter.drawRoundedRect(filled, radius, radius)


def mixed(low: QColor, high: QColor, share: float) -> QColor:
    """Return the colour that is ``share`` (0 to 1) of the way from ``low`` to ``high``."""
    share = min(1.0, max(0.0, share))
    pairs = zip(low.getRgb()[:3], high.getRgb()[:3], strict=True)  # type: ignore[index]
    return QColor(*(round(a + (b - a) * share) for a, b in pairs))


def elided_name(metrics: QFontMetrics, name: str, width: int) -> str:
    """Return a label's name as it fits into ``width`` pixels.

    A name that loses a few letters loses its last ones; of one that loses more than half, the end is shown
    too where there is room, as long names of a set often begin alike. "Parent > Child" loses its parent
    first, with which all labels of its group begin, and the sign for it where the child fits only alone.
    """
    name = " ".join(name.split())
    parent = parent_of(name)
    if parent is not None and metrics.horizontalAdvance(name) > width:
        child = name.removeprefix(parent + PARENT_SIGN)
        name = f"…{PARENT_SIGN}{child}"
        if metrics.horizontalAdvance(name) > width:
            name = child
    long = width >= px(_MIDDLE_FROM) and metrics.horizontalAdvance(name) > 2 * width
    return metrics.elidedText(
        name, Qt.TextElideMode.ElideMiddle if long else Qt.TextElideMode.ElideRight, width
    )


def name_on_two_lines(metrics: QFontMetrics, name: str, width: int) -> str:
    """Return a label's name as it fits into ``width`` pixels on two lines, broken between words."""
    words = name.split()
    count = len(words)
    while count and metrics.horizontalAdvance(" ".join(words[:count])) > width:
        count -= 1
    if count in (0, len(words)):
        return elided_name(metrics, name, width)
    return f"{' '.join(words[:count])}\n{elided_name(metrics, ' '.join(words[count:]), width)}"


def draw_name(painter: QPainter, area: QRect, name: str, *, mark: str = "", face: Face | None = None) -> None:
    """Draw ``mark`` and a label's name at the leading side of ``area``, in its own direction, on one line.

    ``face``: what ``painter`` draws with, if that is known.
    """
    face = face or Face.of(painter)
    room = area.width() - (advance(face, mark) if mark else 0)
    shown, right_to_left = _fitting(face, name, room)
    mirrored = painter.layoutDirection() is _MIRRORED
    draw_line(painter, face, area, mark + shown, right_to_left=right_to_left, right=mirrored)


def draw_line(
    painter: QPainter,
    face: Face,
    area: QRect,
    words: str,
    *,
    right_to_left: bool = False,
    right: bool = False,
) -> None:
    """Draw ``words`` on one line in the middle of ``area``, at its left side or at its right one.

    ``face`` is what ``painter`` draws with. It looks as `QPainter.drawText` has it: that draws what is not
    from left to right, and what the area cuts off.
    """
    laid = None if right_to_left or right else laid_out(face, words)
    if laid is not None:
        text, width, height = laid
        if width <= area.width() and height <= area.height():
            painter.drawStaticText(QPointF(area.x(), area.y() + (area.height() - height) / 2), text)
            return
    painter.drawText(area, _flags(right_to_left=right_to_left, right=right), words)


@functools.lru_cache(maxsize=4096)
def _fitting(face: Face, name: str, width: int) -> tuple[str, bool]:
    """A name as it fits, and whether it is written from right to left."""
    return elided_name(face.metrics, name, width), is_right_to_left(name)


def draw_lines(
    painter: QPainter,
    area: QRect,
    text: str,
    lines: int,
    *,
    right_to_left: bool = False,
    face: Face | None = None,
) -> None:
    """Draw ``text`` on at most ``lines`` lines in its own direction, with "…" where it does not fit.

    ``face``: what ``painter`` draws with, if that is known.
    """
    face = face or Face.of(painter)
    for box, line in fitted_lines(face, area, text, lines):
        draw_line(painter, face, box, line, right_to_left=right_to_left, right=right_to_left)


def fitted_lines(face: Face, area: QRect, text: str, lines: int) -> list[tuple[QRect, str]]:
    """Return what `draw_lines` draws of ``text``, and where."""
    fitting = lines_of(face, text, area.width(), lines)
    height = face.metrics.lineSpacing()
    top = area.top() + (area.height() - height * len(fitting)) // 2
    return [
        (QRect(area.left(), top + number * height, area.width(), height), line)
        for number, line in enumerate(fitting)
    ]


@functools.cache
def _flags(*, right_to_left: bool, right: bool) -> int:
    """How a line is laid out: the direction decides on which side "…" stands."""
    force = Qt.TextFlag.TextForceRightToLeft if right_to_left else Qt.TextFlag.TextForceLeftToRight
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    place = side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
    return int(place) | int(force) | int(Qt.TextFlag.TextSingleLine)
