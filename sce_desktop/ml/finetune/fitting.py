"""How examples change the scores of labels: from text vectors and zero-shot scores alone.

The new score of label k, whose zero-shot score is s_k, is

    s_k + alpha q.(m_k - g_k) + q.w_k,

where m_k is the direction of ``hold`` g_k plus the sum of the vectors of its examples (the label's vector
drawn to them), and w_k is what is still missing: multinomial logistic regression whose offset are the scores
so far, with the ridge ``ridge`` |w|^2 / 2. An example's own vector is left out of its m_k while w is fitted.
All this is linear in q, so a `Correction` holds it. With few examples the ridge leaves the zero-shot scores
where they are; how strong it should be, cross-validation on the examples says (`ml.finetune`).

Labels without examples take part in the softmax with their scores as they are. What all corrections have in
common is taken off them in the end: it says no more than that the other labels had no examples, and would
push those out (docs/research/fine-tune.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor

from sce_desktop.core.arrays import IdArray
from sce_desktop.ml.finetune.recipes import Recipe

SETTLED = 3e-3
"""An epoch that moves no weight by more than this share of the largest is the last."""
NEGLIGIBLE = 1e-6
"""Directions in which the vectors have less than this share of their greatest extent are left out."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Rows with the label that a person gave them, one of the C labels that have some among all K.

    ``vectors`` (n, d_q), ``gold`` (n,) places among the C, ``known`` (C,) their places among the K;
    ``scores`` (n, K) before, already divided by the temperature; ``labels`` (C, d_q) vectors g_k of unit
    length; ``alpha`` of the model's cosine part, divided by the temperature too.
    """

    vectors: Tensor
    gold: Tensor
    known: Tensor
    scores: Tensor
    labels: Tensor
    alpha: float

    def __len__(self) -> int:
        return len(self.gold)

    def part(self, rows: IdArray) -> Examples:
        """Return the examples at ``rows``."""
        at = torch.from_numpy(rows)
        return replace(self, vectors=self.vectors[at], gold=self.gold[at], scores=self.scores[at])

    def corrected(self, weight: Tensor) -> Tensor:
        """Return the scores (..., n, K) with the correction ``weight`` (..., C, d_q)."""
        added = self.vectors @ weight.mT
        return self.scores.expand(*added.shape[:-1], -1).index_add(-1, self.known, added)

    def loss(self, weights: Tensor) -> float:
        """Return the mean cross entropy with the corrections ``weights`` (R, C, d_q)."""
        scores = self.corrected(weights)
        gold = self.known[self.gold].expand(len(weights), -1)
        return float(F.cross_entropy(scores.flatten(0, 1), gold.flatten()))


@dataclass(frozen=True, slots=True)
class Fitted:
    """``weights`` (R, C, d_q) of R corrections, one a recipe; ``losses`` (R,) by epoch.

    ``stopped``: early (nothing moved any more, or it was asked to), done (all epochs), non-finite.
    """

    weights: Tensor
    losses: list[Tensor]
    stopped: str


class Fitter:
    """Fits corrections to the same examples under several recipes at once.

    The steps are those of Böhning's bound on the Hessian ("Multinomial logistic regression algorithm", 1992),
    accelerated after Nesterov with restarts. Small problems cost little but the calls: hence all at once.

    Args:
        examples: At least one of every label.
        balanced: Rare labels count as much as frequent ones, as if all were drawn equally often.
    """

    def __init__(self, examples: Examples, *, balanced: bool = True) -> None:
        self.examples = examples
        counts = torch.bincount(examples.gold, minlength=len(examples.labels)).float()
        each = len(examples) / (len(counts) * counts) if balanced else torch.ones_like(counts)
        self.weights = each[examples.gold]  # (n,), their mean is 1
        self.basis, self.extents = _basis(examples.vectors * self.weights.sqrt()[:, None])
        self.x = examples.vectors @ self.basis
        self.target = F.one_hot(examples.gold, len(counts)).float()
        unknown = torch.ones(examples.scores.shape[1], dtype=torch.bool)
        unknown[examples.known] = False
        self.others = examples.scores[:, unknown].logsumexp(1, keepdim=True)  # (n, 1), -inf: there are none

    def fit(
        self,
        recipes: Sequence[Recipe],
        *,
        epochs: int = 100,
        lr: float = 1.0,
        on_epoch: Callable[[int, float, float | None], bool] | None = None,
        held_out: Examples | None = None,
    ) -> Fitted:
        """Fit a correction under each of ``recipes``.

        Args:
            recipes: How strongly to hold on to the zero-shot scores.
            epochs: Passes over the examples at most.
            lr: Multiplies the steps; 1 cannot overshoot, above 2 they may grow without bound.
            on_epoch: Told (epoch, mean loss, loss on ``held_out``) after each one; where it returns False the
                fits end.
            held_out: Rows to be watched and not fitted to; None: there are none.

        Returns:
            The last weights; the best ones where losses or weights were no numbers any more.
        """
        drawn, offset = zip(*(self._drawn_labels(recipe.hold) for recipe in recipes), strict=True)
        offsets = torch.stack(offset)
        others = self.others.expand(len(recipes), -1, -1)
        ridge = torch.tensor([recipe.ridge for recipe in recipes])[:, None, None]
        step = lr / (0.5 * self.extents[:, None] + ridge)  # (R, r, 1)
        w = ahead = best = self.x.new_zeros(len(recipes), self.x.shape[1], self.target.shape[1])
        best_loss = torch.full((len(recipes), 1, 1), math.inf)
        momentum = torch.ones_like(best_loss)
        losses: list[Tensor] = []
        stopped = "done"
        for epoch in range(epochs):
            scores = torch.cat([offsets + _product(self.x, ahead), others], -1)
            log_p = F.log_softmax(scores, -1)[..., :-1]  # (R, n, C)
            misses = -((log_p * self.target).sum(-1) @ self.weights)
            loss = (misses + 0.5 * ridge[:, 0, 0] * ahead.square().sum((1, 2))) / len(self.x)
            if not loss.isfinite().all():
                stopped = "non-finite"
                break
            better = loss[:, None, None] <= best_loss
            best, best_loss = (
                torch.where(better, ahead, best),
                torch.where(better, loss[:, None, None], best_loss),
            )
            losses.append(loss)
            apart = None if held_out is None else held_out.loss(self._correction(drawn, ahead))
            if on_epoch is not None and not on_epoch(epoch + 1, float(loss.mean()), apart):
                stopped = "early"
                break
            misfit = self.weights[:, None] * (log_p.exp() - self.target)
            slope = _product(self.x.T, misfit) + ridge * ahead
            new = ahead - step * slope
            moved = new - w
            overshot = ((ahead - new) * moved).sum((1, 2), keepdim=True) > 0
            momentum = torch.where(overshot, 1.0, momentum)
            following = 0.5 * (1 + (1 + 4 * momentum.square()).sqrt())
            ahead = new + (momentum - 1) / following * moved
            w, momentum = new, following
            if bool((moved.abs().amax((1, 2)) < SETTLED * new.abs().amax((1, 2))).all()):
                stopped = "early"
                break
        if not w.isfinite().all():
            stopped = "non-finite"
        last = best if stopped == "non-finite" else w
        return Fitted(self._correction(drawn, last), losses, stopped)

    def _correction(self, drawn: Sequence[Tensor], w: Tensor) -> Tensor:
        """Return the corrections (R, C, d_q) that go with w (R, r, C)."""
        pulled = self.examples.alpha * (torch.stack(list(drawn)) - self.examples.labels)
        weights = pulled + (self.basis @ w).mT
        return weights - weights.mean(1, keepdim=True)

    def _drawn_labels(self, hold: float) -> tuple[Tensor, Tensor]:
        """Return m_k (C, d_q), and the scores with it (n, C), each row's own vector left out of them."""
        q, gold, labels = self.examples.vectors, self.examples.gold, self.examples.labels
        summed = (hold * labels).index_add(0, gold, q)
        drawn = F.normalize(summed, dim=-1)
        cosines = q @ drawn.T
        others = F.normalize(summed[gold] - q, dim=-1)
        cosines[torch.arange(len(gold)), gold] = (q * others).sum(-1)
        before = self.examples.scores[:, self.examples.known]
        return drawn, before + self.examples.alpha * (cosines - q @ labels.T)


def _product(a: Tensor, b: Tensor) -> Tensor:
    """Return a (m, k) times each of b (R, k, C) by one product: a batched one copies ``a`` R times."""
    several, k, c = b.shape
    return (a @ b.transpose(0, 1).reshape(k, several * c)).view(len(a), several, c).transpose(0, 1)


def _basis(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the eigenvectors (d, r) and eigenvalues (r,) of x'x: with a ridge w has nothing outside them."""
    n, d = x.shape
    if n < d:
        extents, vectors = torch.linalg.eigh(x @ x.T)
        kept = extents > NEGLIGIBLE * extents[-1]
        return x.T @ (vectors[:, kept] / extents[kept].sqrt()), extents[kept]
    extents, vectors = torch.linalg.eigh(x.T @ x)
    kept = extents > NEGLIGIBLE * extents[-1]
    return vectors[:, kept], extents[kept]
