"""Words as they fit into a width, measured once: most of what a key has painted was there before.

Shaping a text takes Qt longer than all else that a cell of a table is painted with. What was found is kept
for as long as it is among the last thousands, by the font's own description.
"""

from __future__ import annotations

import functools
from collections import deque
from math import ceil

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QPainter,
    QStaticText,
    QTextLayout,
    QTextOption,
    QTransform,
)

_MOST_NAMES = 4096
_MOST_TEXTS = 512  # of the rows of a table: some screens
_MOST_LAID_OUT = 2048  # lines as they are drawn: names, numbers and texts, some hundred bytes each


class Face:
    """A font with its measures; two of the same description are equal."""

    __slots__ = ("_key", "font", "metrics")

    def __init__(self, font: QFont, metrics: QFontMetrics) -> None:
        self.font, self.metrics = font, metrics
        self._key = font.key()

    @classmethod
    def of(cls, painter: QPainter) -> Face:
        """The one that ``painter`` draws with."""
        font = painter.font()
        for face in _faces:  # describing a font takes as long as drawing a word
            if font.isCopyOf(face.font) or font == face.font:
                return face
        face = cls(font, painter.fontMetrics())
        _faces.appendleft(face)
        return face

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Face) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


_faces: deque[Face] = deque(maxlen=4)  # asked for last


@functools.lru_cache(maxsize=_MOST_NAMES)
def advance(face: Face, words: str) -> int:
    """Return how wide ``words`` are on one line, in pixels."""
    return face.metrics.horizontalAdvance(words)


@functools.lru_cache(maxsize=_MOST_LAID_OUT)
def laid_out(face: Face, words: str) -> tuple[QStaticText, int, float] | None:
    """Return ``words`` on one line from left to right, ready to be drawn, with their width and height.

    Drawing that takes a third of what `QPainter.drawText` takes, which shapes the words each time. None where
    the two would not look alike: characters from another font, which is higher, tabs and line ends.
    """
    if not words.isprintable():
        return None
    result = QStaticText(words)
    result.setTextFormat(Qt.TextFormat.PlainText)
    result.setTextOption(_from_left())
    result.prepare(QTransform(), face.font)
    size, height = result.size(), QFontMetricsF(face.font).height()
    return (result, ceil(size.width()), height) if ceil(height) == ceil(size.height()) else None


def _from_left() -> QTextOption:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    option.setTextDirection(Qt.LayoutDirection.LeftToRight)
    return option


@functools.lru_cache(maxsize=_MOST_TEXTS)
def lines_of(face: Face, text: str, width: int, lines: int) -> tuple[str, ...]:
    """Return ``text`` on at most ``lines`` lines of ``width`` pixels, with "…" where it does not fit."""
    text = _beginning(face, text, width, lines)
    fitting = [text]
    if lines > 1 and face.metrics.horizontalAdvance(text) > width:
        fitting = _broken(text, face.font, width, lines)
    return tuple(face.metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in fitting)


def _beginning(face: Face, text: str, width: int, lines: int) -> str:
    """Return as much of ``text`` as fills the lines, and more: the rest would be shaped for nothing."""
    count = 2 * (lines + 1) * width // max(1, face.metrics.averageCharWidth())
    if len(text) <= count:
        return text
    part = text[:count]
    return part if face.metrics.horizontalAdvance(part) > (lines + 1) * width else text


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
