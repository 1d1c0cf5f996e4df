"""Texts that may be cut, each with the reason. What no walk meets any more is to go: the command names it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tests.fit.checks import Misfit


@dataclass(frozen=True)
class Allowed:
    """Misfits whose place and kind match regular expressions."""

    where: str
    kind: str
    reason: str
    least_percent: int = 100  # of the text's size, from which on it may be cut
    most_width: int = 10_000  # of the screen, in pixels

    def covers(self, misfit: Misfit, size: tuple[int, int], percent: int) -> bool:
        """Whether this is such a text."""
        return (
            percent >= self.least_percent
            and size[0] <= self.most_width
            and re.search(self.where, misfit.where) is not None
            and re.fullmatch(self.kind, misfit.kind) is not None
        )


ALLOWED: tuple[Allowed, ...] = (
    Allowed(
        "> RowsTable$",
        "cell",
        "Drawn otherwise than it is read out: a square, a name, a bar and a sign. The tip of the cell and "
        "the row panel have the whole of it.",
    ),
    Allowed(
        "^MainWindow$",
        "window larger than the screen",
        "Text twice as large needs 1440 to 2110 by 1030 pixels: eight lines of a text, seven labels, the "
        "table beside them. Scaling of all is another thing: 200 % of it on 2048x1400 pixels is 100 % here.",
        least_percent=200,
        most_width=1280,
    ),
    Allowed(
        "> FineTunePanel > VersionsPane",
        "(label|button) outside",
        "Text twice as large: three lists do not stand beside each other in the panel. A button in its title "
        "opens it in a window of its own.",
        least_percent=200,
        most_width=1280,
    ),
    Allowed(
        r"Dialog\b",
        "dialog larger than the screen|label's height|(button|box|label) outside",
        "Text twice as large on small screens: a tenth of some dialogs has no room.",
        least_percent=200,
        most_width=1280,
    ),
    Allowed(
        "> DuplicatesPanel > QPushButton$",
        "button outside",
        "Text twice as large: the last of its buttons lies below the edge of the panel on small screens; "
        "Tab and its menu reach it.",
        least_percent=200,
        most_width=1280,
    ),
)


def uncovered(
    misfits: Iterable[Misfit], size: tuple[int, int], percent: int, used: set[Allowed] | None = None
) -> list[Misfit]:
    """Return the misfits that no exception covers; those that cover one are added to ``used``."""
    left = []
    for misfit in misfits:
        found = next((one for one in ALLOWED if one.covers(misfit, size, percent)), None)
        if found is None:
            left.append(misfit)
        elif used is not None:
            used.add(found)
    return left
