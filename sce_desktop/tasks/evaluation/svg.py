"""Two plain charts as SVG text: bars with intervals, and lines. They need no script and no font of ours.

Texts are escaped. Lines differ by dashes and marks too, never by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape as _escape

import numpy as np

from sce_desktop.core.i18n import number as format_number
from sce_desktop.core.i18n import percent

# Okabe and Ito's colours, distinct for colour-blind readers, on white: yellow left out, it is too pale.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#000000", "#e69f00")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "10 4")
_ROW, _LABELS, _BARS, _NUMBERS = 24, 220, 400, 170
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _RIGHT = 760, 360, 56, 34, 44, 190
_TICK_LETTERS = 60  # below all of the axis
_NAME_LENGTH = 32
_CONTROLS = dict.fromkeys(range(32), " ") | {0xFFFE: None, 0xFFFF: None}  # none of them is XML


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: ``value`` and the ends of its interval are fractions of 1, ``note`` stands behind it."""

    name: str
    value: float
    interval: tuple[float, float] | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a value for every place of the axis; None leaves a gap. ``intervals`` stand as whiskers."""

    name: str
    values: Sequence[float | None]
    intervals: Sequence[tuple[float, float] | None] = ()


def escape(text: str) -> str:
    """Return ``text`` for XML and HTML, in texts and attributes, without characters that XML has not."""
    return _escape(without_controls(text), {'"': "&quot;", "'": "&#39;"})


def without_controls(text: str) -> str:
    """Return ``text`` without the characters that XML cannot hold: controls, and halves of a pair."""
    return text.translate(_CONTROLS).encode("utf-8", "replace").decode("utf-8")


def bar_chart(bars: Sequence[Bar], *, title: str) -> str:
    """Return lying bars, one below the other, with their intervals as whiskers."""
    most = max([0.01, *(max(bar.value, *(bar.interval or (0,))) for bar in bars)])
    scale = _BARS / most
    height = _ROW * len(bars) + 10
    parts = [_open(_LABELS + _BARS + _NUMBERS, height, title)]
    for place, bar in enumerate(bars):
        middle = 5 + _ROW * place + _ROW / 2
        parts.append(
            f'<text x="{_LABELS - 8}" y="{middle + 4:.1f}" text-anchor="end" class="name">'
            f"{escape(_short(bar.name))}<title>{escape(bar.name)}</title></text>"
            f'<rect x="{_LABELS}" y="{middle - 7:.1f}" width="{bar.value * scale:.1f}" height="14" '
            f'fill="{COLOURS[0]}"/>'
        )
        if bar.interval is not None:
            low, high = (_LABELS + end * scale for end in bar.interval)
            parts.append(
                f'<path d="M{low:.1f} {middle:.1f}H{high:.1f}M{low:.1f} {middle - 4:.1f}v8'
                f'M{high:.1f} {middle - 4:.1f}v8" stroke="currentColor" fill="none"/>'
            )
        parts.append(f'<text x="{_LABELS + _BARS + 10}" y="{middle + 4:.1f}">{escape(bar.note)}</text>')
    return "".join([*parts, "</svg>"])


def scale_step(most: float, *, ticks: int, least: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least ``least``: ``most`` is at most ``ticks`` of it."""
    wanted = max(most / ticks, least)
    power = 10.0 ** np.floor(np.log10(wanted) + 1e-9)
    return float(next(power * step for step in (1, 2, 5, 10) if power * step >= wanted * (1 - 1e-9)))


def line_chart(
    lines: Sequence[Line],
    ticks: Sequence[str],
    *,
    title: str,
    background: str = "",
    counts: bool = False,
) -> str:
    """Return lines over the places that ``ticks`` names; the scale begins at 0.

    Values are fractions of 1, or with ``counts`` numbers of rows.
    """
    values = [value for line in lines for value in line.values if value is not None]
    ends = [ends[1] for line in lines for ends in line.intervals if ends is not None]
    most = max([1.0 if counts else 0.01, *values, *ends])
    step = scale_step(most, ticks=6, least=1 if counts else 0.01)
    top = step * np.ceil(most / step - 1e-9)
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(place: int) -> float:
        return _LEFT + (width / 2 if len(ticks) == 1 else width * place / (len(ticks) - 1))

    def y(value: float) -> float:
        return float(_TOP + height * (1 - value / top))

    parts = [_open(_WIDTH, max(_HEIGHT, _TOP + 18 * len(lines) + 10), title, background)]
    parts.append(f'<text x="{_LEFT}" y="18" font-weight="bold">{escape(title)}</text>')
    for number in range(round(top / step) + 1):
        at = y(number * step)
        parts.append(
            f'<path d="M{_LEFT} {at:.1f}h{width}" stroke="currentColor" opacity=".2"/>'
            f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">'
            f"{format_number(number * step) if counts else percent(number * step)}</text>"
        )
    longest = min(14, max((len(tick) for tick in ticks), default=1)) + 3
    every = -(-len(ticks) * longest // _TICK_LETTERS)
    for place, tick in enumerate(ticks):
        if place % every == 0:
            parts.append(
                f'<text x="{x(place):.1f}" y="{_TOP + height + 20}" text-anchor="middle">'
                f"{escape(_short(tick, 14))}</text>"
            )
    for number, line in enumerate(lines):
        look = (
            f'stroke="{COLOURS[number % len(COLOURS)]}" '
            f'stroke-dasharray="{_DASHES[number % len(_DASHES)]}" stroke-width="2" fill="none"'
        )
        path, pen = "", "M"
        for place, value in enumerate(line.values):
            if value is not None:
                path += f"{pen}{x(place):.1f} {y(value):.1f}"
                if pen == "M" and (place + 1 == len(line.values) or line.values[place + 1] is None):
                    path += "h.1"  # a point between two gaps would not be seen
            pen = "M" if value is None else "L"
        whiskers = "".join(
            f"M{x(place):.1f} {y(ends[1]):.1f}V{y(ends[0]):.1f}M{x(place) - 3:.1f} {y(ends[1]):.1f}h6"
            f"M{x(place) - 3:.1f} {y(ends[0]):.1f}h6"
            for place, ends in enumerate(line.intervals)
            if ends is not None
        )
        if whiskers:
            stroke = COLOURS[number % len(COLOURS)]
            parts.append(f'<path d="{whiskers}" stroke="{stroke}" opacity=".6" fill="none"/>')
        at = _TOP + 8 + 18 * number
        parts.append(
            f'<path d="{path}" {look} stroke-linecap="round"/>'
            f'<path d="M{_WIDTH - _RIGHT + 14} {at}h26" {look}/>'
            f'<text x="{_WIDTH - _RIGHT + 46}" y="{at + 4}">{escape(_short(line.name, 22))}</text>'
        )
    return "".join([*parts, "</svg>"])


def _open(width: float, height: float, title: str, background: str = "") -> str:
    style = f' style="background:{background}"' if background else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="currentColor"{style}><title>{escape(title)}</title>'
    )


def _short(text: str, most: int = _NAME_LENGTH) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
