"""How counts are said, in the window and in the terminal."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """A number of things in words: "1 row", "2,000 rows"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
