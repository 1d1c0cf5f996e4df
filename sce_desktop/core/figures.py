"""Figures that are kept of a model: how it fares on validation rows, and what differs from another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sce_desktop.core.comparison import Difference, from_counts

if TYPE_CHECKING:
    from sce_desktop.core.metrics import Measures


@dataclass(frozen=True, slots=True)
class Figures:
    """How one model fares on validation rows: fractions from 0 to 1, ``interval`` that of the accuracy."""

    accuracy: float
    interval: tuple[float, float]
    macro_f1: float
    ece: float

    @classmethod
    def of(cls, found: Measures) -> Figures:
        """Return the figures that are kept of ``found``."""
        return cls(found.accuracy, found.accuracy_interval, found.macro_f1, found.ece)


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """Of ``rows`` that two models were measured on, how many the newer alone gets right, and the older alone.

    What they show is tested where it is asked for: scipy takes a second to import.
    """

    rows: int = 0
    won: int = 0
    lost: int = 0

    @property
    def difference(self) -> Difference:
        """What the rows show."""
        return from_counts(self.rows, self.won, self.lost)


@dataclass(frozen=True, slots=True)
class LabelChange:
    """How one label fares; an F1 is None where macro-F1 leaves the label out."""

    label: str
    rows: int
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A measured row whose best label is another one after the fine-tune."""

    row_id: int
    before: str
    after: str
    gold: str
