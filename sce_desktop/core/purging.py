"""What is to be deleted for good from a project, what that takes along, and what remains of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class PurgeScope:
    """What goes for good. Whatever it is, the undo history goes too: it holds how things were before.

    ``rows``, ``labels`` and ``annotators`` are ids; ``notes`` are all notes. Nothing: the history alone.
    """

    rows: tuple[int, ...] = ()
    notes: bool = False
    labels: tuple[int, ...] = ()
    annotators: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PurgeEffect:
    """What a purge takes along, counted before.

    ``annotations``: of the user and of other annotators. ``steps``: of the undo history. ``runs``: whose
    scores go as a whole. ``repeated``: rows that stay and have exactly the text of one that goes.
    ``versions``: names of the fine-tuned versions that learned from what goes; they stay. ``copies``: files
    with a copy of the project, as far as they were found.
    """

    rows: int = 0
    annotations: int = 0
    notes: int = 0
    labels: tuple[str, ...] = ()
    annotators: tuple[str, ...] = ()
    steps: int = 0
    runs: int = 0
    repeated: int = 0
    versions: tuple[str, ...] = ()
    copies: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """What a purge did. ``cleaned``: copies that lost the same; ``remains``: sentences about what is left."""

    effect: PurgeEffect
    cleaned: tuple[Path, ...] = ()
    remains: tuple[str, ...] = ()
