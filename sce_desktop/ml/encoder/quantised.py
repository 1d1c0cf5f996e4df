"""A token table kept in 4-bit blocks and read row by row: 250,000 tokens take 54 MB instead of 384."""

from __future__ import annotations

import torch
from torch import Tensor, nn

BLOCK = 32
"""Weights that share one scale, as in the Q4_0 blocks of GGML."""


class QuantisedTable(nn.Module):
    """A frozen `nn.Embedding` in Q4_0 blocks; only the rows that are looked up are ever unpacked.

    ``blocks`` (rows, width / 2) holds two weights a byte: byte i of a block has weight i in its low half and
    weight i + 16 in its high half, each 0 to 15. ``scales`` (rows, width / 32), float16. A weight is
    (half - 8) times its block's scale.
    """

    blocks: Tensor
    scales: Tensor

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        if width % BLOCK:
            raise ValueError(f"4-bit blocks hold {BLOCK} weights: {width} are no whole number of them")
        self.register_buffer("blocks", torch.zeros(rows, width // 2, dtype=torch.uint8))
        self.register_buffer("scales", torch.zeros(rows, width // BLOCK, dtype=torch.float16))

    @property
    def device(self) -> torch.device:
        """Where the table is."""
        return self.blocks.device

    def forward(self, ids: Tensor) -> Tensor:
        """Return the vectors (..., width) of token ``ids`` (...), float32."""
        return unpacked(self.blocks[ids], self.scales[ids])

    def _apply(self, fn, recurse: bool = True):  # type: ignore[no-untyped-def]
        # `half` and `float` of a whole model must not touch the scales: they are stored as they are.
        scales = self.scales
        super()._apply(fn, recurse)
        self.scales = scales.to(self.blocks.device)
        return self


def unpacked(blocks: Tensor, scales: Tensor) -> Tensor:
    """Return the weights (..., width), float32, of ``blocks`` (..., width / 2) and ``scales``."""
    packed = blocks.unflatten(-1, (-1, BLOCK // 2))
    halves = torch.cat([packed & 15, packed >> 4], -1).float() - 8
    return (halves * scales.float()[..., None]).flatten(-2)


def quantised(table: Tensor) -> tuple[Tensor, Tensor]:
    """Return the blocks and scales of a float ``table`` (rows, width), rounded as Q4_0 is."""
    grouped = table.float().unflatten(-1, (-1, BLOCK))
    place = grouped.abs().argmax(-1, keepdim=True)
    scales = (grouped.gather(-1, place)[..., 0] / -8).half()
    inverse = torch.where(scales == 0, 0, 1 / scales.float())
    halves = (grouped * inverse[..., None] + 8.5).floor().clamp(0, 15).to(torch.uint8)
    low, high = halves.split(BLOCK // 2, -1)
    return (low | high << 4).flatten(-2), scales
