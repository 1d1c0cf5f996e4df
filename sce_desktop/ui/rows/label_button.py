"""One label of the current row as a button: name, per cent, key, and a bar for each model."""

from __future__ import annotations

import functools
from enum import IntEnum
from typing import NamedTuple

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QFocusEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QStyle, QWidget

from sce_desktop.controllers.rows_text import NOT_SCORED
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.text import share_text
from sce_desktop.ui.kit.fitted import Face, advance
from sce_desktop.ui.kit.painting import SQUARE, draw_bar, draw_name, draw_square
from sce_desktop.ui.kit.theme import RADIUS, Tokens, colour_named, lengths, px, tokens
from sce_desktop.ui.rows.label_line import LabelLine
from sce_desktop.ui.rows.row_legend import grey, visual_box

INDENT = 10  # of a label below the heading of its group
_LENGTHS = (6, 8, SQUARE, 16, INDENT, 3)
_MIDDLE = Qt.AlignmentFlag.AlignVCenter


class Density(IntEnum):
    """How much height a label takes."""

    LOW = 0
    MEDIUM = 1
    FULL = 2


class _Look(NamedTuple):
    """Lengths from top to bottom, in pixels of the sketch; ``most``: bars that are shown."""

    name: int  # height of the line with the name
    bars: int  # top of the first bar
    step: int  # from bar to bar
    main: int  # thickness of the bar of the model
    other: int  # thickness of the others
    end: int  # below the bars
    key: int  # height of the key cap
    most: int


_LOOKS = {
    Density.LOW: _Look(22, 19, 0, 2, 2, 0, 16, 1),
    Density.MEDIUM: _Look(21, 20, 5, 4, 3, 2, 16, 9),
    Density.FULL: _Look(28, 26, 8, 5, 4, 4, 18, 9),
}


def height_of(density: Density, bars: int) -> int:
    """Return how high a label with so many bars is, in pixels."""
    look = _LOOKS[density]
    if density is Density.LOW or not bars:
        return px(look.name)
    return px(look.bars) + bars * px(look.step) + px(look.end)


class LabelButton(QAbstractButton):
    """One label: name, per cent, key, and a bar for each model."""

    pointedAt = Signal(object)  # the id of its label when the mouse comes, None when it goes

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._line: LabelLine | None = None
        self._key = ""
        self._density = Density.FULL
        self._typing = False
        self._many = 0
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    @property
    def line(self) -> LabelLine | None:
        """What it shows."""
        return self._line

    def show_line(self, line: LabelLine, digit: str = "") -> None:
        """Show another label, which ``digit`` chooses."""
        keys = " ".join(filter(None, (digit, line.key)))
        if (line, keys) == (self._line, self._key):
            return
        bars = len(self._line.bars) if self._line else -1
        self._line, self._key = line, keys
        self.setAccessibleName(line.name)
        self._describe(line)
        if bars != len(line.bars):
            self.updateGeometry()
        self.update()

    def set_many(self, count: int) -> None:
        """Show that it applies to ``count`` rows; 0: to the one that is shown."""
        if count != self._many:
            self._many = count
            if self._line is not None:
                self._describe(self._line)

    def _describe(self, line: LabelLine) -> None:
        parts = [line.in_words or NOT_SCORED]
        if self._key:
            first, _space, second = self._key.partition(" ")
            parts.append(
                _("key {first} or {second}", first=first, second=second)
                if second
                else _("key {key}", key=first)
            )
        if line.decided:
            parts.append(_("chosen"))
        tips = [line.name, *(f"{bar.title}: {share_text(bar.share)}" for bar in line.bars)]
        applies = ""
        if self._many:
            applies = ngettext(
                "Applies to {count} selected row", "Applies to all {count} selected rows", self._many
            )
            tips.append(applies)
        said = ", ".join(parts)
        self.setAccessibleDescription(f"{said}. {applies}" if applies else said)
        self.setToolTip("\n".join(tips))

    def set_density(self, density: Density) -> None:
        """Show the bars high, low, or no more than that of the first model as a line below the name."""
        if density != self._density:
            self._density = density
            self.updateGeometry()
            self.update()

    def set_typing(self, typing: bool) -> None:
        """Show no key cap while one is ``typing`` into a field; its place stays free."""
        self._typing = typing
        self.update()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Say that the mouse has come."""
        super().enterEvent(event)
        self.pointedAt.emit(self._line.label_id if self._line is not None else None)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Let Tab do what the mouse does by coming."""
        super().focusInEvent(event)
        self.pointedAt.emit(self._line.label_id if self._line is not None else None)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Let the focus do what the mouse does by going."""
        super().focusOutEvent(event)
        self.pointedAt.emit(None)

    def leaveEvent(self, event: QEvent) -> None:
        """Say that the mouse has gone."""
        super().leaveEvent(event)
        self.pointedAt.emit(None)

    def sizeHint(self) -> QSize:
        """Return the height of a name and its bars."""
        return QSize(px(180), height_of(self._density, len(self._line.bars) if self._line else 0))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw name, per cent, key and bars."""
        line, colours = self._line, tokens()
        if line is None:
            return
        px(0)  # looks at the font, for `lengths`
        look = _look(self._density)
        gap, inset, square, first, indent, low = lengths(*_LENGTHS)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_frame(painter, line, colours)
        face = Face.of(painter)
        left, right = inset, self.width() - inset
        middle = look.name / 2
        mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        if self._key:
            right = self._draw_key(painter, face, right, middle, look.key)
        if line.bars:
            painter.setPen(colour_named(colours.muted))
            text = share_text(line.bars[0].share)
            width = advance(face, text)
            share = QRectF(right - width, 0, width + 1, look.name)
            painter.drawText(visual_box(self, share) if mirrored else share, _MIDDLE, text)
            right -= width + gap
        left += indent if line.short else 0
        at = visual_box(self, QRectF(left, 0, square, 1)).left() if mirrored else left
        draw_square(painter, at, middle, line.colour)
        painter.setPen(colour_named(colours.ink))
        area = QRect(left + first, 0, right - left - first, look.name)
        if mirrored:
            area = QStyle.visualRect(self.layoutDirection(), self.rect(), area)
        draw_name(painter, area, line.short or line.name, mark="✓ " if line.decided else "")
        y = self.height() - low if self._density is Density.LOW else look.bars
        for place, bar in enumerate(line.bars[: look.most]):
            strip = QRectF(inset, y, self.width() - 2 * inset, look.main if bar.main else look.other)
            colour = line.colour if bar.main else grey(colours, place - 1).name(QColor.NameFormat.HexArgb)
            draw_bar(painter, strip, bar.share, colour, colours.hover)
            y += look.step
        painter.end()

    def _draw_frame(self, painter: QPainter, line: LabelLine, colours: Tokens) -> None:
        border = colours.accent if self.hasFocus() or line.decided else None
        fill = colours.selection if line.decided or self.isDown() else None
        if fill is None and self.underMouse() and self.isEnabled():
            fill = colours.hover
        if border is None and fill is None:
            return
        painter.setPen(colour_named(border) if border else Qt.PenStyle.NoPen)
        painter.setBrush(colour_named(fill) if fill else Qt.BrushStyle.NoBrush)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(box, px(RADIUS), px(RADIUS))

    def _draw_key(self, painter: QPainter, face: Face, right: int, middle: float, high: int) -> int:
        """Draw the key cap and return where there is room left of it."""
        least, around, gap = lengths(18, 8, 6)
        width = max(least, advance(face, self._key) + around)
        left = right - width - gap
        if not self._typing:
            cap = visual_box(self, QRectF(right - width, middle - high / 2, width, high))
            drawn = _key_cap(face, self._key, width, high, self.devicePixelRatioF(), tokens())
            painter.drawPixmap(cap.topLeft(), drawn)
        return left


def _look(density: Density) -> _Look:
    """The lengths at a density, in pixels of the screen; see `lengths`."""
    *sketch, most = _LOOKS[density]
    name, bars, step, main, other, end, key = lengths(*sketch)
    return _Look(name, bars, step, main, other, end, key, most)


@functools.lru_cache(maxsize=256)
def _key_cap(face: Face, key: str, width: int, high: int, ratio: float, colours: Tokens) -> QPixmap:
    """Return the cap of a key: every label has one, and they never change."""
    drawn = QPixmap(QSize(width, high) * ratio)
    drawn.setDevicePixelRatio(ratio)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(face.font)
    painter.setPen(QPen(QColor(colours.line)))
    painter.setBrush(QColor(colours.window))
    cap = QRectF(0.5, 0.5, width - 1, high - 1)
    painter.drawRoundedRect(cap, 3, 3)
    painter.setPen(QColor(colours.muted))
    painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, key)
    painter.end()
    return drawn
