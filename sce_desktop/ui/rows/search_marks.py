"""Hits of the search in a line of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QTextLayout, QTextLine, QTextOption

from sce_desktop.core.hits import hits
from sce_desktop.core.word_spans import Span
from sce_desktop.ui.kit.fitted import Face
from sce_desktop.ui.kit.painting import fitted_lines
from sce_desktop.ui.kit.theme import tokens


def hit_ground() -> QColor:
    """The ground of a hit, on the screen as it is now."""
    return QColor(tokens().hit)


def utf16_spans(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return ``spans``, which are in order, as Qt counts: start and end in UTF-16 units."""
    if text.isascii():
        return list(spans)
    found, at, units = [], 0, 0
    for start, end in spans:
        units += _units(text[at:start])
        long = _units(text[start:end])
        found.append((units, units + long))
        at, units = end, units + long
    return found


def _units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def draw_hits(
    painter: QPainter, area: QRect, text: str, lines: int, needles: Sequence[str], *, right_to_left: bool
) -> None:
    """Draw the ground of every hit of ``needles`` where `painting.draw_lines` puts it."""
    for box, line in fitted_lines(Face.of(painter), area, text, lines):
        if not (found := hits(line, needles)):
            continue
        layout = QTextLayout(line, painter.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        direction = Qt.LayoutDirection.RightToLeft if right_to_left else Qt.LayoutDirection.LeftToRight
        option.setTextDirection(direction)
        layout.setTextOption(option)
        layout.beginLayout()
        laid = layout.createLine()
        laid.setLineWidth(box.width())
        layout.endLayout()
        for start, end in utf16_spans(line, found):
            ends = [float(_x(laid, place)) for place in (start, end)]
            left, right = min(ends), max(ends)
            painter.fillRect(QRectF(box.left() + left, box.top(), right - left, box.height()), hit_ground())


def _x(line: QTextLine, place: int) -> float:
    """Return where in its layout a line has the cursor before the character at ``place``."""
    found: Any = line.cursorToX(place)  # a pair, whatever the stub says
    return float(found[0] if isinstance(found, tuple) else found)
