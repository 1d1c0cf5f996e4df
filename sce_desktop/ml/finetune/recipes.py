"""Which strengths of a fine-tune are tried, on how many parts of the rows: needed for an estimate too.

Nothing here imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass

from sce_desktop.core.training import Recipe as Recipe

FEW = Recipe(hold=10.0, ridge=1.0)
"""Where every label has a single example, so that nothing can be chosen."""
CAUTIOUS = Recipe(hold=10.0, ridge=3.0)
RECIPES = tuple(Recipe(hold, ridge) for hold in (3.0, 10.0, 30.0) for ridge in (0.03, 0.1, 0.3, 1.0, 3.0))
RECIPES_FOR_MANY = tuple(Recipe(10.0, ridge) for ridge in (0.03, 0.1, 0.3, 1.0))
MANY = 20_000
"""From so many rows times labels on, fewer recipes are tried on fewer folds: they differ little by then."""
FOLDS, FOLDS_FOR_MANY = 5, 3
MOST_TO_MEASURE_BY_FOLDS = 400
"""With more rows a fifth is held out instead."""

ADAPTER_BATCH = 16
"""Rows in a step of training the text embedder (`ml.finetune.adapting`)."""
FEWEST_STEPS, MOST_STEPS, PASSES = 40, 400, 2
"""The embedder is trained for so many passes over the rows, within these numbers of steps."""


@dataclass(frozen=True, slots=True)
class AdapterPace:
    """What training the text embedder takes here: seconds a step and a text read, bytes at a step's peak."""

    step: float
    read: float
    step_bytes: int


def adapter_steps(rows: int, epochs: int = 100) -> tuple[int, ...]:
    """Return after how many steps an embedder that is trained on ``rows`` is looked at; the last one ends it.

    ``epochs``: passes over the rows at most.
    """
    each = -(-rows // ADAPTER_BATCH)
    last = min(max(PASSES * each, FEWEST_STEPS), MOST_STEPS, epochs * each)
    return tuple(sorted({max(1, last // 4), max(1, last // 2), last}))


def adapter_work(rows: int, measurable: int, epochs: int = 100) -> tuple[int, int]:
    """Return how many steps adapting the embedder to ``rows`` takes, and how many texts are read for it.

    It is done without each part of the rows that is measured, and then with all of them.
    """
    parts = FOLDS if measurable <= MOST_TO_MEASURE_BY_FOLDS else 1
    looks = adapter_steps(rows, epochs)
    return (parts + 1) * looks[-1], (parts * len(looks) + 1) * rows


def choices(rows: int, labels: int) -> tuple[tuple[Recipe, ...], int]:
    """Return the recipes to choose among for ``rows`` with ``labels`` labels, and the folds to do it on."""
    if rows * labels >= MANY:
        return RECIPES_FOR_MANY, FOLDS_FOR_MANY
    return RECIPES, FOLDS
