"""Matrices kept in int8, one scale a row, and made floats again when a model is loaded.

Weight-only: what is computed with are float32 weights, each of them a float16 number. So a folder in int8 and
one in float16 that was saved from it give the same numbers, and saving again loses nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

STEPS = 127
PEAKS = ".peaks"
"""Ends the name of what stands beside an int8 matrix: the largest weight of each row, without its sign."""


def rounded(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Return int8 steps (rows, width) and float16 peaks (rows,) of a float ``matrix`` (rows, width)."""
    peaks = matrix.float().abs().amax(1).half()
    step = peaks.float()[:, None] / STEPS
    steps = torch.where(step == 0, 0, matrix.float() / step).round().clamp(-STEPS, STEPS)
    return steps.to(torch.int8), peaks


def restored(steps: Tensor, peaks: Tensor) -> Tensor:
    """Return the float32 matrix (rows, width): steps / 127 of each row's peak, to float16's digits."""
    return (steps.float() * (peaks.float()[:, None] / STEPS)).half().float()


def pack(state: Mapping[str, Tensor], matrices: Collection[str]) -> dict[str, Tensor]:
    """Return ``state`` with those of its tensors that ``matrices`` names in int8, their peaks beside them."""
    packed = dict(state)
    for name in matrices:
        packed[name], packed[name + PEAKS] = rounded(state[name])
    return packed


def unpack(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return ``state`` with every int8 matrix as floats; raises KeyError where its peaks are missing."""
    peaks = {name for name in state if name.endswith(PEAKS)}
    return {
        name: restored(tensor, state[name + PEAKS]) if tensor.dtype == torch.int8 else tensor
        for name, tensor in state.items()
        if name not in peaks
    }
