"""Token vectors whose mean comes as near as it can to what a text encoder makes of the text.

In three steps, by texts and their vectors from the encoder:

1. The encoder's vector of each token by itself, weighted by a / (a + p) where p is the token's share of all
   tokens: model2vec's recipe (https://github.com/MinishLab/model2vec, MIT) with the weights of Arora et al.
   2017, "A simple but tough-to-beat baseline for sentence embeddings".
2. A linear map from the means of these to the texts' vectors, by ridge regression in closed form. Tokens that
   no text has get what the map makes of them.
3. Their r largest directions over the texts are kept, and both token vectors and the map from there are
   trained on the same texts for as long as it helps on a part held out, as model2vec's "tokenlearn" does.

A vocabulary of many languages has tokens that these texts lack. Where the shares of all tokens are known
from elsewhere they weight the tokens of step 1, and the map is left as it is in step 3: under another map
the vectors of tokens that no text has would mean something else.

Token vectors are kept in int8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from numpy.typing import NDArray
from torch import Tensor

SIF = 1e-3
"""The a of the weights."""
RIDGE = (1e-4, 1e-3, 1e-2)
"""Strengths that are tried, as shares of the mean eigenvalue."""
HELD_OUT = 0.05
LEARNING_RATE = 2e-3
BATCH = 1024
MOST_EPOCHS = 40
PATIENCE = 2
"""Epochs without a nearer one before training ends."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as tokens: ``numbers`` of all behind one another, where each text's begin; their vectors."""

    numbers: NDArray[np.int64]
    starts: NDArray[np.int64]  # (n,)
    vectors: Tensor  # (n, d), of unit length

    def __len__(self) -> int:
        return len(self.starts)

    def part(self, places: NDArray[np.int64]) -> Texts:
        """Return some of the texts."""
        ends = np.append(self.starts[1:], len(self.numbers))
        sizes = (ends - self.starts)[places]
        begin = np.cumsum(sizes) - sizes
        at = np.repeat(self.starts[places] - begin, sizes) + np.arange(int(sizes.sum()))
        return Texts(self.numbers[at], begin, self.vectors[torch.from_numpy(places)])

    def means(self, table: Tensor) -> Tensor:
        """Return the mean of each text's token vectors (n, ·)."""
        return F.embedding_bag(
            torch.from_numpy(self.numbers), table, torch.from_numpy(self.starts), mode="mean"
        )


@dataclass(frozen=True, slots=True)
class Fitted:
    """Token vectors of r numbers (V, r) in int8 with scales (V,), and the map (r, d) to text vectors.

    ``cosines``: mean cosine with the encoder's vectors on the held-out texts, after each step.
    """

    tokens: Tensor
    scales: Tensor
    to_text: Tensor
    cosines: dict[str, float]


def fit(
    alone: Tensor,
    texts: Texts,
    *,
    width: int,
    shares: Tensor | None = None,
    seed: int = 0,
    log: Callable[[str], None],
) -> Fitted:
    """Return token vectors fitted to ``texts``.

    Args:
        alone: (V, d), what the encoder makes of each token by itself.
        texts: With the encoder's vectors.
        width: r, numbers that are kept of a token's vector.
        shares: (V,), of each token in all languages of the encoder, where ``texts`` are in few of them.
        seed: Of the part held out and of the order of training.
        log: Gets a line for each step.
    """
    order = np.random.default_rng(seed).permutation(len(texts))
    held_out = texts.part(order[: max(1, int(HELD_OUT * len(texts)))])
    taught = texts.part(order[max(1, int(HELD_OUT * len(texts))) :])
    counts = torch.bincount(torch.from_numpy(taught.numbers), minlength=len(alone)).float()
    found = counts / counts.sum()
    share = counts.clamp(min=0.5) / counts.sum() if shares is None else shares
    table = alone * (SIF / (SIF + share))[:, None]
    cosines = {"tokens": cosine(held_out, table)}
    table = max((table @ mapped for mapped in _ridges(taught, table)), key=lambda t: cosine(held_out, t))
    cosines["ridge"] = cosine(held_out, table)
    log(f"held-out cosine of token means {cosines['tokens']:.3f}, mapped {cosines['ridge']:.3f}")
    weights = counts + 1 if shares is None else found + shares
    tokens, to_text = _reduced(table, weights, width)
    tokens, to_text = _trained(tokens, to_text, taught, held_out, seed, log, with_map=shares is None)
    cosines["trained"] = cosine(held_out, tokens, to_text)
    scales = tokens.abs().amax(1).clamp(min=1e-8) / 127
    tokens = (tokens / scales[:, None]).round().to(torch.int8)
    cosines["int8"] = cosine(held_out, tokens * scales.half().float()[:, None], to_text.half().float())
    log(f"held-out cosine trained {cosines['trained']:.3f}, in int8 {cosines['int8']:.3f}")
    return Fitted(tokens, scales, to_text, cosines)


@torch.no_grad()
def cosine(texts: Texts, table: Tensor, to_text: Tensor | None = None) -> float:
    """Return the mean cosine of the texts' own vectors with the means of token vectors, mapped."""
    means = texts.means(table) if to_text is None else texts.means(table) @ to_text
    return float(F.cosine_similarity(means, texts.vectors, dim=1).mean())


def _ridges(texts: Texts, table: Tensor) -> list[Tensor]:
    means = texts.means(table)
    gram, right = means.T @ means, means.T @ texts.vectors
    level = gram.diagonal().mean()
    return [torch.linalg.solve(gram + one * level * torch.eye(len(gram)), right) for one in RIDGE]


def _trained(
    tokens: Tensor,
    to_text: Tensor,
    texts: Texts,
    held_out: Texts,
    seed: int,
    log: Callable[[str], None],
    *,
    with_map: bool,
) -> tuple[Tensor, Tensor]:
    """Return both after training on ``texts``, as they were when the held-out ones were nearest."""
    learned = [
        torch.nn.Parameter(tokens / tokens.norm(dim=1).mean()),
        torch.nn.Parameter(to_text.clone(), requires_grad=with_map),
    ]
    optimiser = torch.optim.Adam([one for one in learned if one.requires_grad], lr=LEARNING_RATE)
    generator = np.random.default_rng(seed)
    best, nearest, worse = [one.detach().clone() for one in learned], cosine(held_out, tokens, to_text), 0
    for epoch in range(MOST_EPOCHS):
        order = generator.permutation(len(texts))
        for start in range(0, len(texts), BATCH):
            batch = texts.part(order[start : start + BATCH])
            means = batch.means(learned[0]) @ learned[1]
            loss = 1 - F.cosine_similarity(means, batch.vectors, dim=1).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        now = cosine(held_out, *(one.detach() for one in learned))
        log(f"epoch {epoch + 1}: held-out cosine {now:.4f}")
        if now > nearest:
            best, nearest, worse = [one.detach().clone() for one in learned], now, 0
        elif (worse := worse + 1) == PATIENCE:
            break
    return best[0], best[1]


def _reduced(table: Tensor, weights: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Return the vectors in their ``width`` largest directions over the texts (V, r), and the map back."""
    weighted = table * weights.sqrt()[:, None]
    _values, directions = torch.linalg.eigh(weighted.T @ weighted)
    kept = directions[:, -width:].flip(1)
    return table @ kept, kept.T.contiguous()
