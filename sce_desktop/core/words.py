"""How counts and sizes are said, in the window and in the terminal."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """A number of things in words: "1 row", "2,000 rows"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def were(count: int, noun: str) -> str:
    """The same before what was done to them: "1 row was", "2,000 rows were"."""
    return f"{plural(count, noun)} {'was' if count == 1 else 'were'}"
