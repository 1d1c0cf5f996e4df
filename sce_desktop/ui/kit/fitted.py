"""Words as they fit into a width, measured once: most of what a key has painted was there before.

Shaping a text takes Qt longer than all else that a cell of a table is painted with. What was found is kept
for as long as it is among the last thousands, by the font's own description.
"""

from __future__ import annotations

import functools
from collections import deque

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextLayout, QTextOption

_MOST_NAMES = 4096
_MOST_TEXTS = 512  # of the rows of a table: some screens


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
            if font.isCopyOf(face.font):
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


@functools.lru_cache(maxsize=_MOST_TEXTS)
def lines_of(face: Face, text: str, width: int, lines: int) -> tuple[str, ...]:
    """Return ``text`` on at most ``lines`` lines of ``width`` pixels, with "…" where it does not fit."""
    fitting = [text]
    if lines > 1 and face.metrics.horizontalAdvance(text) > width:
        fitting = _broken(text, face.font, width, lines)
    return tuple(face.metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in fitting)


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
