"""The look: one set of design tokens for light and one for dark, and everything that is drawn with them.

    theme = Theme(app, "system")          # "light", "dark" or as the system says; theme.set_mode(...) later
    theme.changed.connect(...)            # after a switch; seldom needed, every widget is repainted anyway
    tokens().accent                       # "#rrggbb" of what is on the screen now: ask in paint, keep nothing
    set_role(button, "primary")           # how a widget looks: see ROLES
    px(30)                                # a length of the sketch in logical pixels, by the system's font
    font("heading")                       # body, heading, column (of a table), text (of a row), strong

Label colours are in `core.colours`, icons in `ui.kit.icons`, the style sheet in `ui.kit.stylesheet`.

`tokens` reads the application's palette, so there is no theme to pass around, and a widget opened alone in a
test is drawn right too.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetrics, QGuiApplication, QPalette
from PySide6.QtWidgets import QWidget

Mode = Literal["system", "light", "dark"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Colours by purpose, "#rrggbb"."""

    name: Literal["light", "dark"]
    window: str
    pane: str
    line: str
    ink: str
    muted: str
    accent: str
    on_accent: str  # text on the accent colour
    selection: str
    selection_line: str  # what ``line`` and ``hover`` are elsewhere: empty marks on a selected row
    hover: str
    good: str
    warn: str


LIGHT = Tokens(
    name="light",
    window="#f6f7f9",
    pane="#ffffff",
    line="#e1e4ea",
    ink="#1b2230",
    muted="#667085",
    accent="#2f6bde",
    on_accent="#ffffff",
    selection="#e8f0fe",
    selection_line="#d3e1f8",
    hover="#eef1f5",
    good="#2e8b6b",
    warn="#b8562a",
)
DARK = Tokens(
    name="dark",
    window="#14171c",
    pane="#1b1f26",
    line="#2c323c",
    ink="#e6e9ef",
    muted="#98a2b3",
    accent="#6ea0ff",
    on_accent="#10151d",
    selection="#223250",
    selection_line="#31456c",
    hover="#252b34",
    good="#5cc29c",
    warn="#e59267",
)

SPACE_XS, SPACE_S, SPACE_M, SPACE_L, SPACE_XL = 4, 8, 12, 16, 24
RADIUS = 6  # controls
MARK_RADIUS = 3  # label squares, bars, heat cells
ROW_HEIGHTS = {"compact": 24, "normal": 30, "comfortable": 42, "tall": 78}
BODY_SIZE = 13  # the sketch's text size, to which all its lengths belong

ROLES = {
    "primary": "the one filled button of a zone",
    "quiet": "a button without a frame",
    "chip": "a checkable filter, round",
    "heading": "a heading in small capitals",
    "title": "the name of what one looks at",
    "muted": "text that explains",
    "text": "the text of a row",
    "good": "text that says that something is well",
    "warn": "text that says that something is not",
    "key": "the key that does something, as a key cap",
    "pane": "a zone of the window",
    "card": "something that lies over the window",
    "strip": "the message strip",
    "dense": "tabs with little room beside their titles",
    "names": "a heading at the left of a table that names what the lines are about",
    "plain": "a text field without a frame",
    "dock": "the title of a panel below",
    "drop": "where files can be dropped",
}


_looked: tuple[int, Tokens] = (0, LIGHT)  # at which palette, and what it says: every painted cell asks


def tokens() -> Tokens:
    """The tokens of what is on the screen now."""
    global _looked
    palette = QGuiApplication.palette()
    key = palette.cacheKey()
    if key != _looked[0]:
        dark = palette.color(QPalette.ColorRole.Window).lightness() < 128
        _looked = (key, DARK if dark else LIGHT)
    return _looked[1]


_measured: tuple[QFont | None, float] = (
    None,
    1.0,
)  # the system's font, and how large it is beside the sketch's


def px(length: float) -> int:
    """A length of the sketch in logical pixels at the system's font size; the sketch's text is 13 high."""
    global _measured  # every painted cell asks several times
    now = QGuiApplication.font()
    if now != _measured[0]:
        _measured = (now, max(1.0, QFontInfo(now).pixelSize() / BODY_SIZE))
        lengths.cache_clear()
    return round(length * _measured[1])


@functools.cache
def lengths(*sketch: float) -> tuple[int, ...]:
    """`px` of several lengths at once, at the font that `px` has seen last: call it once before.

    For what is painted with every key: looking at the font takes longer than drawing a line.
    """
    return tuple(round(length * _measured[1]) for length in sketch)


@functools.lru_cache(maxsize=256)
def colour_named(name: str) -> QColor:
    """The colour ``name`` ("#rrggbb") to paint with. Shared: nobody changes it."""
    return QColor(name)


def font(role: Literal["body", "heading", "column", "text", "strong"] = "body") -> QFont:
    """The system's font in the size and weight of a purpose."""
    result = QFont(QGuiApplication.font())
    body = QFontInfo(result).pixelSize()
    if role in ("heading", "column"):
        result.setPixelSize(max(10, round(body * 11 / BODY_SIZE)))
        result.setWeight(QFont.Weight.DemiBold)
    if role == "heading":
        result.setCapitalization(QFont.Capitalization.AllUppercase)
        result.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, 0.5)
    elif role == "text":
        result.setPixelSize(round(body * 15 / BODY_SIZE))
    elif role == "strong":
        result.setWeight(QFont.Weight.DemiBold)
    return result


def chip_width(text: str) -> int:
    """The width of a chip with ``text``, which is bold while it is checked."""
    return QFontMetrics(font("strong")).horizontalAdvance(text) + 2 * px(SPACE_M) + 4


def set_role(widget: QWidget, role: str) -> None:
    """Give ``widget`` the look of one of `ROLES`; may be called again with another."""
    if role not in ROLES:
        raise ValueError(f"no such role: {role}")
    widget.setProperty("role", role)
    if role in ("heading", "text"):
        widget.setFont(font(role))  # type: ignore[arg-type]
    elif role == "title":
        widget.setFont(font("strong"))
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def palette_of(colours: Tokens) -> QPalette:
    """The tokens as a palette for everything that Qt draws itself."""
    palette = QPalette()
    role = QPalette.ColorRole
    for names, value in (
        ((role.Window, role.Button, role.AlternateBase), colours.window),
        ((role.Base, role.ToolTipBase), colours.pane),
        ((role.WindowText, role.Text, role.ButtonText, role.ToolTipText, role.BrightText), colours.ink),
        ((role.HighlightedText,), colours.ink),
        ((role.Highlight,), colours.selection),
        ((role.PlaceholderText,), colours.muted),
        ((role.Accent, role.Link, role.LinkVisited), colours.accent),
        ((role.Mid, role.Midlight, role.Light), colours.line),
        ((role.Dark, role.Shadow), colours.muted),
    ):
        for name in names:
            palette.setColor(name, QColor(value))
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, QColor(colours.muted))
    return palette
