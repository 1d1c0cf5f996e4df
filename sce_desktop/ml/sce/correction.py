"""What a fine-tune adds to the scores of labels that had examples: a linear map of the text vector."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from sce_desktop.core.annotations import Label


class Correction(nn.Module):
    """Adds w_k.q to the score of every label it knows by name, and nothing to any other.

    The rows of ``weight`` (C, d_q) belong to ``names``. Each label is corrected by itself, so the order of
    the labels stays without effect, and a label without examples keeps its score.
    """

    def __init__(self, names: Sequence[str], width: int) -> None:
        super().__init__()
        self.names = tuple(names)
        self.weight = nn.Parameter(torch.zeros(len(self.names), width))

    def forward(self, q: Tensor, labels: Sequence[Label]) -> Tensor:
        """Return what is added to the scores (B, K) of text vectors ``q`` (B, d_q)."""
        place = {name: i for i, name in enumerate(self.names)}
        known = [(k, place[label.name]) for k, label in enumerate(labels) if label.name in place]
        weight = q.new_zeros(len(labels), self.weight.shape[1])
        if known:
            columns, rows = (list(places) for places in zip(*known, strict=True))
            weight[columns] = self.weight[rows]
        return q @ weight.T
