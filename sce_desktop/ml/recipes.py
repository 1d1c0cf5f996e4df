"""Which strengths of a fine-tune are tried, on how many parts of the rows: needed for an estimate too.

Nothing here imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """How strongly the zero-shot scores are held on to: both grow with it."""

    hold: float
    ridge: float


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


def choices(rows: int, labels: int) -> tuple[tuple[Recipe, ...], int]:
    """Return the recipes to choose among for ``rows`` with ``labels`` labels, and the folds to do it on."""
    if rows * labels >= MANY:
        return RECIPES_FOR_MANY, FOLDS_FOR_MANY
    return RECIPES, FOLDS
