"""The look as it is now: the tokens of the theme on the screen, and lengths and fonts at the system's size.

    theme = Theme(app, "system")          # "light", "dark", "contrast" or as the system says
    theme.changed.connect(...)            # after a switch; seldom needed, every widget is repainted anyway
    tokens().accent                       # "#rrggbb" of what is on the screen now: ask in paint, keep nothing
    set_role(button, "primary")           # how a widget looks: see ROLES
    px(30)                                # a length of the sketch in logical pixels, by the system's font
    font("heading")                       # body, heading, column (of a table), text (of a row), strong

Tokens are in `ui.kit.tokens`, label colours in `core.colours`, icons in `ui.kit.icons`, the style sheet in
`ui.kit.stylesheet`.

`tokens` reads the application's palette, so there is no theme to pass around, and a widget opened alone in a
test is drawn right too.
"""

from __future__ import annotations

import functools
from typing import Literal

from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetrics, QGuiApplication, QPalette
from PySide6.QtWidgets import QWidget

from sce_desktop.ui.kit.tokens import (
    BODY_SIZE,
    COMPACT_ROW_HEIGHTS,
    COMPACT_SPACES,
    DARK,
    LEAST_SIZE,
    LIGHT,
    MARK_RADIUS,
    RADIUS,
    ROW_HEIGHTS,
    SMALL_SIZE,
    SPACE_L,
    SPACE_M,
    SPACE_S,
    SPACE_XL,
    SPACE_XS,
    TEXT_SIZE,
    THEMES,
    Space,
    Tokens,
)

__all__ = [
    "DARK",
    "LIGHT",
    "MARK_RADIUS",
    "RADIUS",
    "ROLES",
    "ROW_HEIGHTS",
    "SPACE_L",
    "SPACE_M",
    "SPACE_S",
    "SPACE_XL",
    "SPACE_XS",
    "Density",
    "Mode",
    "Tokens",
    "chip_width",
    "colour_named",
    "density",
    "font",
    "lengths",
    "palette_of",
    "px",
    "row_height",
    "set_density",
    "set_role",
    "tokens",
]

Mode = Literal["system", "light", "dark", "contrast"]
Density = Literal["comfortable", "compact"]

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


_BY_WINDOW = {QColor(one.window).rgb(): one for one in THEMES.values()}
_looked: tuple[int, Tokens] = (0, LIGHT)  # at which palette, and what it says: every painted cell asks


def tokens() -> Tokens:
    """The tokens of what is on the screen now."""
    global _looked
    palette = QGuiApplication.palette()
    key = palette.cacheKey()
    if key != _looked[0]:
        window = palette.color(QPalette.ColorRole.Window)
        ours = _BY_WINDOW.get(window.rgb())
        _looked = (
            key,
            ours or (DARK if window.lightness() < 128 else LIGHT),
        )  # or a palette that is not ours
    return _looked[1]


class _State:
    density: Density = "comfortable"
    # The system's font, and how large it is beside the sketch's; every painted cell asks several times.
    measured: tuple[QFont | None, float] = (None, 1.0)


def density() -> Density:
    """How much room there is around things."""
    return _State.density


def set_density(chosen: Density) -> None:
    """Have gaps, margins and rows that are made from here on wide or narrow; see `appearance.Theme`."""
    _State.density = chosen
    lengths.cache_clear()


def px(length: float) -> int:
    """A length of the sketch in logical pixels at the system's font size; the sketch's text is 13 high.

    Gaps and margins (``SPACE_…``) are smaller at the compact density.
    """
    now = QGuiApplication.font()
    if now != _State.measured[0]:
        _State.measured = (now, max(1.0, QFontInfo(now).pixelSize() / BODY_SIZE))
        lengths.cache_clear()
        _made_font.cache_clear()
    return round(_now(length) * _State.measured[1])


def _now(length: float) -> float:
    """A length of the sketch at the density that is chosen."""
    return COMPACT_SPACES[length] if type(length) is Space and _State.density == "compact" else length


def row_height(name: str) -> int:
    """The height of a row in logical pixels; ``name`` is one of the setting “Row height”."""
    return px((COMPACT_ROW_HEIGHTS if _State.density == "compact" else ROW_HEIGHTS)[name])


@functools.lru_cache(maxsize=256, typed=True)  # a gap is no plain length
def lengths(*sketch: float) -> tuple[int, ...]:
    """`px` of several lengths at once, at the font that `px` has seen last: call it once before.

    For what is painted with every key: looking at the font takes longer than drawing a line.
    """
    return tuple(round(_now(length) * _State.measured[1]) for length in sketch)


@functools.lru_cache(maxsize=256)
def colour_named(name: str) -> QColor:
    """The colour ``name`` ("#rrggbb") to paint with. Shared: nobody changes it."""
    return QColor(name)


FontRole = Literal["body", "heading", "column", "text", "strong"]


def font(role: FontRole = "body") -> QFont:
    """The system's font in the size and weight of a purpose."""
    px(0)  # looks whether the system has another font now
    return QFont(_made_font(role))


@functools.lru_cache(maxsize=8)
def _made_font(role: FontRole) -> QFont:
    """The font of a purpose at the font that `px` has seen last: measuring that takes as long as drawing."""
    result = QFont(QGuiApplication.font())
    body = QFontInfo(result).pixelSize()
    if role in ("heading", "column"):
        result.setPixelSize(max(LEAST_SIZE, round(body * SMALL_SIZE / BODY_SIZE)))
        result.setWeight(QFont.Weight.DemiBold)
    if role == "heading":
        result.setCapitalization(QFont.Capitalization.AllUppercase)
        result.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, 0.5)
    elif role == "text":
        result.setPixelSize(round(body * TEXT_SIZE / BODY_SIZE))
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
        ((role.Mid, role.Midlight, role.Light), colours.edge),
        ((role.Dark, role.Shadow), colours.muted),
    ):
        for name in names:
            palette.setColor(name, QColor(value))
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, QColor(colours.muted))
    return palette
