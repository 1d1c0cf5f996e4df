"""Numbers that a file states, held to bounds before anything of that size is made."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _


def whole(value: Any, least: int, most: int, name: str) -> int:
    """Return ``value``. Raises ValueError unless it is a whole number from ``least`` to ``most``."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{name} is {value!r:.40}, not a whole number from {least} to {most}")
    return value


def finite(value: Any, name: str, *, least: float = -1e9, most: float = 1e9) -> float:
    """Return ``value``. Raises ValueError unless it is a finite number from ``least`` to ``most``."""
    if type(value) not in (int, float) or not math.isfinite(value) or not least <= value <= most:
        raise ValueError(f"{name} is {value!r:.40}, not a number from {least:g} to {most:g}")
    return float(value)


def check_probabilities(found: FloatArray, model: str) -> None:
    """Refuse what is no finite number: weights may be finite and what is computed with them not.

    Raises:
        UserError: Some of ``found`` is not.
    """
    if not np.isfinite(found).all():
        raise UserError(
            _(
                "{model} gives no finite probabilities for some texts: copy or download the model again.",
                model=model,
            )
        )
