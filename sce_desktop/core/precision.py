"""The precisions that text models multiply in; `ml.encoder.precision` knows what a machine is fast in."""

from __future__ import annotations

from typing import Final

AUTO: Final = "auto"
FLOAT32: Final = "float32"
FLOAT16: Final = "float16"
BFLOAT16: Final = "bfloat16"
INT8: Final = "int8"
PRECISIONS: Final = (FLOAT32, FLOAT16, BFLOAT16, INT8)
"""The most exact first."""


def keyed(key: str, precision: str) -> str:
    """Return the ``key`` or fingerprint that numbers have in ``precision``; in float32 it is ``key``."""
    return key if precision == FLOAT32 else f"{key}:{precision}"
