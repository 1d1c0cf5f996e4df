"""How times, sizes, shares and names are written in a sentence, in the chosen language."""

from __future__ import annotations

import unicodedata

from sce_desktop.core.i18n import _, number, percent, right_to_left

_ISOLATE, _END = "\u2068", "\u2069"  # Unicode: FIRST STRONG ISOLATE, POP DIRECTIONAL ISOLATE


def duration(seconds: float) -> str:
    """Write seconds: "8 s", "3 min", "1 h 20 min"."""
    if seconds < 90:
        return _("{seconds} s", seconds=max(0, round(seconds)))
    minutes = round(seconds / 60)
    if minutes < 90:
        return _("{minutes} min", minutes=minutes)
    return _("{hours} h {minutes} min", hours=minutes // 60, minutes=minutes % 60)


def size_text(count: float) -> str:
    """Write a number of bytes: "1.3 GB", "90 MB"."""
    if count >= 1e9:
        return _("{size} GB", size=number(count / 1e9, 1))
    return _("{size} MB", size=number(count / 1e6))


def rounded(count: int) -> int:
    """Return an estimated number to two digits, which say no more than is known: 310,000 for 309,629."""
    return round(count, 2 - len(str(abs(count))))


def share_text(value: float) -> str:
    """Write a fraction without digits: "52%"; what is not zero is never shown as such."""
    return f"< {percent(0.01)}" if 0 < value <= 0.005 else percent(value)


def exact_share_text(value: float) -> str:
    """Write a measured fraction with a digit behind the point: "81.2%"."""
    return percent(value, 1)


def interval_text(ends: tuple[float, float], digits: int = 1) -> str:
    """Write the ends of an interval of fractions: "46.3 to 66.2%"."""
    low, high = ends
    return _("{low} to {high}", low=number(100 * low, digits), high=percent(high, digits))


def isolated(name: str) -> str:
    """Set a name off in a sentence that runs the other way: it moves no number and no quote to its side."""
    other = ("L",) if right_to_left() else ("R", "AL", "AN")
    if any(unicodedata.bidirectional(character) in other for character in name):
        return f"{_ISOLATE}{name}{_END}"
    return name


def menu_text(name: str) -> str:
    """Write a name as the text of a menu entry, where "&" would vanish."""
    return name.replace("&", "&&")


def plural(count: int, noun: str) -> str:
    """A number of things in English, for the command line: "1 row", "2,000 rows"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
