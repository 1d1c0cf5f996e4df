"""What processes that train one model together share: data parallel, the global batch stays what it was.

Every rank draws the same batch, which follows from its step, and takes its groups; gradients are averaged
over the ranks, so that all take the same step from the same weights. With equally many known answers per
rank, which groups of one size have, that is the step of one process; where answers are unknown, labels of
several groups are the same (``keep_loss``) or losses are balanced by counts (``none_loss``), the mean of the
ranks' means takes the place of the mean over all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from sce_desktop.research.pretrain.sampler import Batch

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Ranks:
    """One of ``count`` processes, which torch.distributed has joined."""

    rank: int
    count: int

    def share(self, batch: Batch) -> Batch:
        """Return this rank's groups of ``batch``."""
        mine = slice(self.rank, None, self.count)
        return Batch(
            batch.texts[mine], batch.labels[mine], batch.mask[mine], batch.right[mine], batch.kept[mine]
        )

    def part(self, items: Sequence[_T]) -> Sequence[_T]:
        """Return this rank's part of ``items``."""
        return items[self.rank :: self.count]

    def mean_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Put the mean over the ranks in the place of each gradient; a missing one counts as zero."""
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        flat = torch.cat([one.flatten() for one in gradients])
        dist.all_reduce(flat)
        flat /= self.count
        parts = flat.split([one.numel() for one in gradients])
        torch._foreach_copy_(
            gradients, [part.view_as(one) for part, one in zip(parts, gradients, strict=True)]
        )

    def mean(self, value: Tensor) -> Tensor:
        """Return the mean of ``value`` over the ranks."""
        total = value.clone()
        dist.all_reduce(total)
        return total / self.count

    def merged(self, results: Mapping[str, Any]) -> dict[str, Any]:
        """Return the results of all ranks in one mapping."""
        found: list[Any] = [None] * self.count
        dist.all_gather_object(found, dict(results))
        return {name: result for part in found for name, result in part.items()}

    def same_weights(self, parameters: Sequence[nn.Parameter]) -> None:
        """Give all ranks the weights of rank 0."""
        with torch.no_grad():
            for parameter in parameters:
                dist.broadcast(parameter.data, 0)
