"""Which columns of the user's table stand beside the text."""

from __future__ import annotations

from dataclasses import dataclass

MOST_SHOWN = 50
"""Columns beside the text: a row of the table is drawn while one scrolls."""
_MOST_WIDTH = 100_000


@dataclass(frozen=True, slots=True)
class OwnColumn:
    """A column of the table that is shown; ``width`` in pixels, 0: as the program thinks fit."""

    place: int  # 0-based, in the columns of the project
    width: int = 0


def read_columns(stored: object, count: int) -> tuple[OwnColumn, ...]:
    """Read a list of pairs of place and width; what is none of ``count`` columns is left out."""
    found: dict[int, OwnColumn] = {}
    for pair in stored if isinstance(stored, list) else ():
        match pair:
            case [int(place), int(width)] if 0 <= place < count and 0 <= width < _MOST_WIDTH:
                found.setdefault(place, OwnColumn(place, width))
    return tuple(found.values())[:MOST_SHOWN]
