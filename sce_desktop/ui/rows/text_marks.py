"""What is marked in the text of a row: hits of the search, and words that speak for a label or against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QBrush, QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit

from sce_desktop.core.word_spans import Span
from sce_desktop.ui.kit.painting import mixed
from sce_desktop.ui.kit.theme import tokens
from sce_desktop.ui.rows.search_marks import hit_ground, utf16_spans

Look = Literal["hit", "strong", "for", "against"]
TINT = 0.22  # of a label's colour in the ground of a word that speaks for it most


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters ``start`` to ``end`` of the text, and how they look; ``colour`` is that of a label."""

    start: int
    end: int
    look: Look
    colour: str = ""


class TextMarks(QObject):
    """Marks in a text field, in layers that come and go on their own; later layers lie over earlier ones.

    What a mark means is told by its shape too, for those who see no colours: a word for the label is
    underlined, the strongest ones have a ground beside, a word against it is underlined by dots.
    """

    def __init__(self, view: QTextEdit) -> None:
        super().__init__(view)
        self._view = view
        self._text = ""
        self._shown = 0
        self._layers: dict[str, tuple[Mark, ...]] = {"reasons": (), "search": ()}
        view.installEventFilter(self)

    def set_text(self, text: str, shown: int) -> None:
        """Say which text the field has the first ``shown`` characters of."""
        if text != self._text:
            self._layers = dict.fromkeys(self._layers, ())
        self._text, self._shown = text, shown
        self._show()

    def set_layer(self, name: Literal["reasons", "search"], marks: Sequence[Mark]) -> None:
        """Show ``marks``, which do not overlap and are in order, in place of those of the layer."""
        if self._layers[name] != tuple(marks):
            self._layers[name] = tuple(marks)
            self._show()

    def layer(self, name: Literal["reasons", "search"]) -> tuple[Mark, ...]:
        """The marks of a layer."""
        return self._layers[name]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Draw again in the colours of another theme."""
        if event.type() is QEvent.Type.PaletteChange and any(self._layers.values()):
            self._show()
        return super().eventFilter(watched, event)

    def _show(self) -> None:
        made = []
        for marks in self._layers.values():
            kept = [mark for mark in marks if mark.end <= self._shown]
            places = self._places([(mark.start, mark.end) for mark in kept])
            made += [
                self._selection(start, end, mark) for mark, (start, end) in zip(kept, places, strict=True)
            ]
        self._view.setExtraSelections(made)

    def _places(self, spans: Sequence[Span]) -> list[Span]:
        """Return where ``spans`` are in the field, which takes each line break for one character."""
        if "\r\n" not in self._text:
            return utf16_spans(self._text, spans)
        before = [(self._text.count("\r\n", 0, a), self._text.count("\r\n", 0, b)) for a, b in spans]
        found = utf16_spans(self._text, spans)
        return [(a - x, b - y) for (a, b), (x, y) in zip(found, before, strict=True)]

    def _selection(self, start: int, end: int, mark: Mark) -> QTextEdit.ExtraSelection:
        cursor = QTextCursor(self._view.document())
        last = self._view.document().characterCount() - 1
        cursor.setPosition(min(start, last))
        cursor.setPosition(min(end, last), QTextCursor.MoveMode.KeepAnchor)
        found = QTextEdit.ExtraSelection()
        found.cursor = cursor
        found.format = _format(mark)
        return found


def _format(mark: Mark) -> QTextCharFormat:
    colours = tokens()
    look = QTextCharFormat()
    if mark.look == "hit":
        look.setBackground(QBrush(hit_ground()))
        return look
    if mark.look == "against":
        look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
        look.setUnderlineColor(QColor(colours.muted))
        return look
    look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
    look.setUnderlineColor(QColor(mark.colour))
    if mark.look == "strong":
        look.setBackground(QBrush(mixed(QColor(colours.pane), QColor(mark.colour), TINT)))
    return look
