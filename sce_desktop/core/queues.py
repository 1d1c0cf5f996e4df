"""The orders in which rows are offered for a decision, by name, and the one to begin with."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Queue(StrEnum):
    """The orders by name, as it is stored with each decision."""

    FILE = "file"
    LEAST_CERTAIN = "least certain"
    SMALLEST_MARGIN = "smallest margin"
    DISAGREE = "models disagree"
    RARE_LABEL = "rare label first"
    DIVERSE = "diverse"
    RANDOM = "random"


DEFAULT_QUEUE: Final = Queue.DIVERSE
"""Highest mean in the simulation of `docs/research/honest-figures.md`, within chance of random."""
