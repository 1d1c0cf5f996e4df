"""What several panels draw alike: the square of a label, bars, and text that is cut where it does not fit."""

from __future__ import annotations

import functools

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QTextLayout, QTextOption

from sce_desktop.controllers.rows_data import is_right_to_left
from sce_desktop.core.labels import PARENT_SIGN, parent_of
from sce_desktop.ui.kit.theme import MARK_RADIUS, px, tokens

SQUARE = 10
_MIDDLE_FROM = 110  # pixels of a name from which its end is shown beside its beginning


def draw_square(painter: QPainter, x: float, middle: float, colour: str, *, hollow: bool = False) -> None:
    """Draw the square of a label at ``x``, or of an answer that is none."""
    size = px(SQUARE)
    box = QRectF(x, middle - size / 2, size, size)
    if hollow:
        painter.setPen(QColor(tokens().muted))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        box.adjust(0.5, 0.5, -0.5, -0.5)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
    painter.drawRoundedRect(box, MARK_RADIUS, MARK_RADIUS)


def draw_bar(painter: QPainter, box: QRectF, share: float, colour: str, track: str | None) -> None:
    """Draw a bar that fills ``share`` (0 to 1) of ``box`` from its leading side."""
    radius = box.height() / 2
    painter.setPen(Qt.PenStyle.NoPen)
    if track is not None:
        painter.setBrush(QColor(track))
        painter.drawRoundedRect(box, radius, radius)
    filled = QRectF(box)
    filled.setWidth(max(box.height(), box.width() * share))
    if painter.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        filled.moveRight(box.right())
    painter.setBrush(QColor(colour))
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


def draw_name(painter: QPainter, area: QRect, name: str, *, mark: str = "") -> None:
    """Draw ``mark`` and a label's name at the leading side of ``area``, in its own direction, on one line."""
    metrics = painter.fontMetrics()
    shown = mark + elided_name(metrics, name, area.width() - metrics.horizontalAdvance(mark))
    mirrored = painter.layoutDirection() is Qt.LayoutDirection.RightToLeft
    painter.drawText(area, _flags(right_to_left=is_right_to_left(name), right=mirrored), shown)


def draw_lines(painter: QPainter, area: QRect, text: str, lines: int, *, right_to_left: bool = False) -> None:
    """Draw ``text`` on at most ``lines`` lines in its own direction, with "…" where it does not fit."""
    flags = _flags(right_to_left=right_to_left, right=right_to_left)
    for box, line in fitted_lines(painter, area, text, lines):
        painter.drawText(box, flags, line)


def fitted_lines(painter: QPainter, area: QRect, text: str, lines: int) -> list[tuple[QRect, str]]:
    """Return what `draw_lines` draws of ``text``, and where."""
    metrics = painter.fontMetrics()
    fitting = [text]
    if lines > 1 and metrics.horizontalAdvance(text) > area.width():
        fitting = _broken(text, painter.font(), area.width(), lines)
    height = metrics.lineSpacing()
    top = area.top() + (area.height() - height * len(fitting)) // 2
    return [
        (
            QRect(area.left(), top + number * height, area.width(), height),
            metrics.elidedText(line, Qt.TextElideMode.ElideRight, area.width()),
        )
        for number, line in enumerate(fitting)
    ]


@functools.cache
def _flags(*, right_to_left: bool, right: bool) -> int:
    """How a line is laid out: the direction decides on which side "…" stands."""
    force = Qt.TextFlag.TextForceRightToLeft if right_to_left else Qt.TextFlag.TextForceLeftToRight
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    place = side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
    return int(place) | int(force) | int(Qt.TextFlag.TextSingleLine)


def _broken(text: str, font: QFont, width: int, lines: int) -> list[str]:
    """Break ``text`` into ``lines`` lines; the last holds all the rest."""
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    result, start = [], 0
    for _ in range(lines - 1):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        end = start + line.textLength()
        result.append(_utf16(text, start, end).strip())
        start = end
    layout.endLayout()
    rest = _utf16(text, start, None).strip()
    return [*result, rest] if rest else result


def _utf16(text: str, start: int, end: int | None) -> str:
    """Cut ``text`` at places counted as Qt counts them, in UTF-16 units."""
    data = text.encode("utf-16-le", "surrogatepass")
    return data[2 * start : None if end is None else 2 * end].decode("utf-16-le", "replace")
