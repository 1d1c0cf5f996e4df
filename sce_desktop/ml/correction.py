"""What a fine-tune adds to the scores of labels that had examples: a linear map of the text vector."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from sce_desktop.core.types import Label


class Correction(nn.Module):
    """Adds w_k.q + b_k to the score of every label it knows by name, and nothing to any other.

    The rows of ``weight`` (C, d_q) and ``bias`` (C,) belong to ``names``. Each label is corrected by itself,
    so the order of the labels stays without effect, and a label without examples keeps its score.
    """

    def __init__(self, names: Sequence[str], width: int) -> None:
        super().__init__()
        self.names = tuple(names)
        self.weight = nn.Parameter(torch.zeros(len(self.names), width))
        self.bias = nn.Parameter(torch.zeros(len(self.names)))

    def forward(self, q: Tensor, labels: Sequence[Label]) -> Tensor:
        """Return what is added to the scores (B, K) of text vectors ``q`` (B, d_q)."""
        weight = q.new_zeros(len(labels), self.weight.shape[1])
        bias = q.new_zeros(len(labels))
        place = {name: i for i, name in enumerate(self.names)}
        here = [(k, place[label.name]) for k, label in enumerate(labels) if label.name in place]
        if here:
            to, of = (list(places) for places in zip(*here, strict=True))
            weight[to], bias[to] = self.weight[of], self.bias[of]
        return q @ weight.T + bias
