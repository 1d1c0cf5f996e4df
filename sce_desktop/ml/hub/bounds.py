"""Numbers that a file states, held to bounds before anything of that size is made."""

from __future__ import annotations

import math
from typing import Any


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
