"""A second opinion that a fine-tuned model carries: logistic regression on the text vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from sce_desktop.core.annotations import Label
from sce_desktop.core.heads import Way
from sce_desktop.ml.hub.bounds import finite

_SHARES = {Way.SCE: 0.0, Way.LOGISTIC: 1.0}


@dataclass(frozen=True, slots=True)
class HeadConfig:
    """How a model combines its scores with a `LogisticHead` for the labels ``names``.

    ``share``: the weight of the logistic regression in the product, from 0 to 1.
    """

    way: Way
    share: float
    names: tuple[str, ...]

    @property
    def weight(self) -> float:
        """The weight of the logistic regression in what the model says."""
        return _SHARES.get(self.way, self.share)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> HeadConfig:
        """Read what `to_dict` gave. Raises KeyError, TypeError or ValueError for anything else."""
        share = finite(found["share"], "share", least=0, most=1)
        if not isinstance(found["labels"], list | tuple):
            raise TypeError("no list of labels")
        return cls(Way(found["way"]), share, tuple(map(str, found["labels"])))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"way": self.way.value, "share": self.share, "labels": list(self.names)}


class LogisticHead(nn.Module):
    """Multinomial logistic regression for the labels ``names``: ``weight`` (C, d_q) and ``bias`` (C,)."""

    def __init__(self, names: Sequence[str], width: int) -> None:
        super().__init__()
        self.names = tuple(names)
        self.weight = nn.Parameter(torch.zeros(len(self.names), width))
        self.bias = nn.Parameter(torch.zeros(len(self.names)))

    def mixed(self, log_p: Tensor, q: Tensor, labels: Sequence[Label], share: float) -> Tensor:
        """Return the log-probabilities ``log_p`` (B, K) with those of this head mixed in.

        Args:
            log_p: Of texts over ``labels``.
            q: Their vectors (B, d_q).
            labels: All K of them; those that this head does not know keep their probabilities.
            share: See `mix`.
        """
        place = {name: row for row, name in enumerate(self.names)}
        both = [(k, place[label.name]) for k, label in enumerate(labels) if label.name in place]
        if len(both) < 2:
            return log_p
        known, rows = (torch.tensor(places, device=q.device) for places in zip(*both, strict=True))
        own = torch.log_softmax(q @ self.weight[rows].T + self.bias[rows], -1)
        return mix(log_p, own, known, share)


def mix(log_p: Tensor, own: Tensor, known: Tensor, share: float) -> Tensor:
    """Return the geometric mean of two opinions, normalised.

    A logistic regression knows only labels that had examples. So both are compared among those, and the
    others keep what they had: no label is pushed out because nothing was labelled with it yet.

    Args:
        log_p: Log-probabilities (B, K) of all labels.
        own: Log-probabilities (B, C) of the other opinion, of the labels at the places ``known`` (C,) alone.
        known: See ``own``.
        share: Weight of the other opinion: 0 is ``log_p``, 1 is ``own`` among its labels.
    """
    among = log_p[:, known]
    total = among.logsumexp(1, keepdim=True)
    mixed = (1 - share) * (among - total) + share * own
    return log_p.index_copy(1, known, torch.log_softmax(mixed, 1) + total)
