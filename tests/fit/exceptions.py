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

    def covers(self, misfit: Misfit) -> bool:
        """Whether this is such a text."""
        return (
            re.search(self.where, misfit.where) is not None
            and re.fullmatch(self.kind, misfit.kind) is not None
        )


ALLOWED: tuple[Allowed, ...] = (
    Allowed(
        "> RowsTable$",
        "cell with other words in its tip",
        "Drawn otherwise than it is read out: a square, a name, a bar and a sign. The tip of the cell and "
        "the row panel have the whole of it.",
    ),
    Allowed(
        "> FindingsPanel > FindingsBar > ComboBox$",
        "choice outside",
        "Text of twice the size on 1024x700: a third line of its bar has no room in a low panel. Tab reaches "
        "it, its tip says what it is, and F8 makes the panel higher.",
    ),
)


def uncovered(misfits: Iterable[Misfit], used: set[Allowed] | None = None) -> list[Misfit]:
    """Return the misfits that no exception covers; those that cover one are added to ``used``."""
    left = []
    for misfit in misfits:
        found = next((one for one in ALLOWED if one.covers(misfit)), None)
        if found is None:
            left.append(misfit)
        elif used is not None:
            used.add(found)
    return left
