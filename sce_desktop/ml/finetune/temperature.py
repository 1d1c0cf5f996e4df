"""How sure a fine-tuned model may be: one temperature, by which its scores are divided."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention

TEMPERATURE_PRIOR = 10.0
"""Draws the logarithm of the temperature to 0, as hard as so many rows would."""


def fitted_temperature(scores: torch.Tensor, gold: torch.Tensor) -> tuple[float, float]:
    """Return the temperature that makes ``gold`` (n,) most probable under ``scores`` (n, C), and its loss.

    The loss is the mean cross entropy. `TEMPERATURE_PRIOR` keeps few rows from saying too much.
    """
    from scipy.optimize import minimize_scalar

    def loss(logarithm: float) -> float:
        return float(F.cross_entropy(scores / math.exp(logarithm), gold))

    found = minimize_scalar(
        lambda x: len(gold) * loss(x) + 0.5 * TEMPERATURE_PRIOR * x * x, bounds=(-3, 3), method="bounded"
    )
    return math.exp(found.x), loss(found.x)
