"""How wide the columns of the table are: half of it for the text, then label names, then bars and cells."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QHeaderView

Steps = Sequence[tuple[int, int]]
"""The widths of a column from the least to the best, each with its turn: the lowest turn is served first."""


def shared(columns: Sequence[Steps], room: int) -> list[int]:
    """Give every column its least width, and what is over to one step after the other.

    Args:
        columns: The steps of each column, in pixels; the first one is its least width, whatever its turn.
        room: Pixels for all of them; where that is less than the least, the least stands.
    """
    widths = [steps[0][1] for steps in columns]
    spare = max(0, room - sum(widths))
    later = sorted((turn, column, width) for column, steps in enumerate(columns) for turn, width in steps[1:])
    for _turn, column, width in later:
        more = max(0, min(width - widths[column], spare))
        widths[column] += more
        spare -= more
    return widths


def own_widths(stored: str) -> dict[str, int]:
    """Read the widths that the user gave columns, in pixels by the names of the columns."""
    try:
        found = json.loads(stored or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: width for name, width in found.items() if type(width) is int and 0 < width < 100_000}


def own_name(place: int) -> str:
    """What a column of the user's table is called among widths; its width is kept with the project."""
    return f"own {place}"


def stored_widths(widths: Mapping[str, int]) -> str:
    """Write what `own_widths` reads; empty where no width is the user's."""
    return json.dumps(dict(widths), sort_keys=True) if widths else ""


class OwnWidths(QObject):
    """The widths that the user gives columns by the edges of their headings, in pixels by ``name``."""

    changed = Signal()

    def __init__(self, header: QHeaderView, name: Callable[[int], str]) -> None:
        super().__init__(header)
        self.widths: dict[str, int] = {}
        self._header = header
        self._name = name
        self._follows = True
        self._dragged = False
        header.sectionResized.connect(self._on_resized)
        header.sectionHandleDoubleClicked.connect(self._forget)
        header.viewport().installEventFilter(self)

    def follow(self, on: bool) -> None:
        """Take what is resized for a wish of the user, or not: the program resizes columns too."""
        self._follows = on

    @Slot(int, int, int)
    def _on_resized(self, column: int, _before: int, width: int) -> None:
        if self._follows and width > 0 and not self._header.isSectionHidden(column):
            self.widths[self._name(column)] = width
            self._dragged = True

    @Slot(int)
    def _forget(self, column: int) -> None:
        """Let a column be as wide as its content needs, as a double click on its edge is known to do."""
        self.widths.pop(self._name(column), None)
        self._end()

    @Slot()
    def _end(self) -> None:
        self._dragged = False
        self.changed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Have the width shared again when the edge of a column is let go."""
        if self._dragged and event.type() is QEvent.Type.MouseButtonRelease:
            QTimer.singleShot(0, self, self._end)  # when the heading has done with it
        return super().eventFilter(watched, event)
