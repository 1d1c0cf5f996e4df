"""The design tokens: every colour, gap and size of text that the window uses; docs/design.md explains them.

No other module of `ui` has a colour of its own: a test looks for them. Label colours are data of a project
and come from `core.colours`. What is drawn on what, and how well it is seen: ``tests/ui/test_contrast.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ThemeName = Literal["light", "dark", "contrast"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Colours by purpose, "#rrggbb"."""

    name: ThemeName
    window: str
    pane: str
    line: str  # between zones and rows, and the track of a bar: decoration
    edge: str  # of a control: 3:1 and more beside every ground
    ink: str
    muted: str
    accent: str
    on_accent: str  # text on the accent colour
    selection: str
    selection_line: str  # what ``line`` and ``hover`` are elsewhere: empty marks on a selected row
    hover: str
    good: str
    warn: str
    hit: str  # the ground of what a search found


LIGHT = Tokens(
    name="light",
    window="#f6f7f9",
    pane="#ffffff",
    line="#e1e4ea",
    edge="#7d8594",
    ink="#1b2230",
    muted="#596275",
    accent="#2560cf",
    on_accent="#ffffff",
    selection="#e8f0fe",
    selection_line="#d3e1f8",
    hover="#eef1f5",
    good="#1f7557",
    warn="#a5481d",
    hit="#ffe58a",
)
DARK = Tokens(
    name="dark",
    window="#14171c",
    pane="#1b1f26",
    line="#2c323c",
    edge="#737c8c",
    ink="#e6e9ef",
    muted="#a3adbd",
    accent="#7dabff",
    on_accent="#10151d",
    selection="#223250",
    selection_line="#31456c",
    hover="#252b34",
    good="#5cc29c",
    warn="#e59267",
    hit="#6b5313",
)
CONTRAST = Tokens(
    name="contrast",
    window="#000000",
    pane="#000000",
    line="#5c5c5c",
    edge="#ffffff",
    ink="#ffffff",
    muted="#e2e2e2",
    accent="#ffd60a",
    on_accent="#000000",
    selection="#00347a",
    selection_line="#3f6fb5",
    hover="#2a2a2a",
    good="#6df0a8",
    warn="#ffb08a",
    hit="#6b4e00",
)
THEMES: dict[ThemeName, Tokens] = {one.name: one for one in (LIGHT, DARK, CONTRAST)}

SPACES = (4, 8, 12, 16, 24)
"""Gaps and margins, in pixels of the sketch."""
COMPACT_SPACES = {4: 3, 8: 6, 12: 8, 16: 11, 24: 16}
"""What they are at the compact density."""


class Space(int):
    """A gap or margin: one of `SPACES`, which the density makes smaller; sums of it are plain lengths."""

    __slots__ = ()


SPACE_XS, SPACE_S, SPACE_M, SPACE_L, SPACE_XL = (Space(length) for length in SPACES)
RADIUS = 6  # controls
MARK_RADIUS = 3  # label squares, bars, heat cells
BODY_SIZE = 13  # the sketch's text size, to which all its lengths belong
SMALL_SIZE = 11  # headings, and the headings of columns
LEAST_SIZE = 10  # no text is smaller, in pixels
TEXT_SIZE = 15  # the text of a row
ROW_HEIGHTS = {"compact": 24, "normal": 30, "comfortable": 42, "tall": 78}
COMPACT_ROW_HEIGHTS = {"compact": 22, "normal": 25, "comfortable": 38, "tall": 72}
