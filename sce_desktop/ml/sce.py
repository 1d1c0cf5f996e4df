"""The Soft Contextualized Encoder (arXiv 2601.03450) and SCE+, as modules over vectors.

Texts and labels come in as vectors; `ml.model` makes them. Shapes: B texts, K labels, d_q width of the text
vectors, d width of the label encoder. No layer knows a label's place in the list, so permuting the labels
permutes the scores and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from sce_desktop.ml.bert import EncoderConfig, EncoderLayer

MASKED = -1e9
"""Score of a label that is not in a row's set (padding)."""


@dataclass(frozen=True, slots=True)
class SCEConfig:
    """The shape of an SCE.

    ``architecture``: "paper" scores s_k = e_0.e_k from mean token embeddings alone (equations 1 and 2);
    "plus" adds A g(label) to each label vector and alpha cos(q, g(label)) to each score (MODEL.md 2.2).
    ``attention``: "joint" lets labels see the text, as in the paper; "shared" lets labels see each other and
    the text see the labels, so that one label pass serves all rows and 200 labels cost little more than 4.
    """

    architecture: Literal["paper", "plus"] = "plus"
    attention: Literal["joint", "shared"] = "joint"
    text_width: int = 384
    layers: int = 2
    alpha: float = 20.0
    scale: float = 0.05
    encoder: EncoderConfig = EncoderConfig()

    @classmethod
    def from_dict(cls, config: Mapping[str, Any]) -> SCEConfig:
        """Read what `to_dict` wrote; unknown keys are left alone."""
        known = {f.name for f in fields(cls)} - {"encoder"}
        encoder = EncoderConfig.from_dict(config.get("encoder", {}))
        return cls(**{k: v for k, v in config.items() if k in known}, encoder=encoder)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for config.json."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LabelVectors:
    """What the SCE knows of a label set before it sees a text.

    ``tokens`` (..., K, d): mean token embeddings h_k; ``sentence`` (..., K, d_q): g(label), unit length,
    None for the paper's architecture. Leading dimensions, where present, are one label set a text.
    """

    tokens: Tensor
    sentence: Tensor | None = None


class SCE(nn.Module):
    """Query adaptor, label encoder without positions, dot-product scores."""

    def __init__(self, config: SCEConfig, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        d = config.encoder.hidden_size
        self.adapt = nn.Linear(config.text_width, d)  # W, b
        self.norm = nn.LayerNorm(d, eps=config.encoder.layer_norm_eps)
        self.layers = nn.ModuleList(EncoderLayer(config.encoder, dropout) for _ in range(config.layers))
        if config.architecture == "plus":
            self.label_map = nn.Linear(config.text_width, d)  # A
            self.alpha = nn.Parameter(torch.tensor(config.alpha), requires_grad=False)
            self.scale = nn.Parameter(torch.tensor(config.scale))

    def forward(self, q: Tensor, labels: LabelVectors, mask: Tensor | None = None) -> Tensor:
        """Return scores (B, K) of text vectors ``q`` (B, d_q).

        ``labels`` holds one set for all texts (K, ·) or one a text (B, K, ·); ``mask`` (B, K) is True where a
        label belongs to the row's set, other labels get the score `MASKED` and influence nothing.
        """
        own = labels.tokens if labels.tokens.dim() == 3 else labels.tokens.expand(len(q), -1, -1)
        sentence = labels.sentence
        if sentence is not None and sentence.dim() == 2:
            sentence = sentence.expand(len(q), -1, -1)
        each = LabelVectors(own, sentence)
        e0, e = (self._joint if self.config.attention == "joint" else self._shared)(q, each, mask)
        context = (e0[:, None] * e).sum(-1)
        scores = context
        if self.config.architecture == "plus":
            assert sentence is not None
            scores = self.cosine(q, each) + self.scale * context
        return scores if mask is None else scores.masked_fill(~mask, MASKED)

    def cosine(self, q: Tensor, labels: LabelVectors) -> Tensor:
        """Return alpha cos(q, g(label)) (B, K), the part of SCE+ that sees one label at a time."""
        assert labels.sentence is not None
        if labels.sentence.dim() == 2:
            return self.alpha * (q @ labels.sentence.T)
        return self.alpha * torch.einsum("bd,bkd->bk", q, labels.sentence)

    def label_inputs(self, labels: LabelVectors) -> Tensor:
        """Return the label vectors that enter the encoder, (..., K, d), normalised as embeddings are."""
        h = labels.tokens
        if self.config.architecture == "plus":
            h = h + self.label_map(labels.sentence)
        return self.norm(h)

    def query_input(self, q: Tensor) -> Tensor:
        """Return q' = W q + b (B, d), normalised as embeddings are."""
        return self.norm(self.adapt(q))

    def _joint(self, q: Tensor, labels: LabelVectors, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        x = torch.cat([self.query_input(q)[:, None], self.label_inputs(labels)], 1)
        seen = None if mask is None else F.pad(mask, (1, 0), value=True)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, seen)
        return x[:, 0], x[:, 1:]

    def _shared(self, q: Tensor, labels: LabelVectors, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        x, e = self.query_input(q)[:, None], self.label_inputs(labels)
        among = None if mask is None else mask[:, None, None, :]
        seen = None if mask is None else F.pad(mask, (1, 0), value=True)[:, None, None, :]
        for layer in self.layers:
            x, e = _query_step(layer, x, e, seen, among)
        return x[:, 0], e


def _query_step(
    layer: EncoderLayer, x: Tensor, e: Tensor, seen: Tensor | None, among: Tensor | None
) -> tuple[Tensor, Tensor]:
    # Texts x (B, T, d) see themselves alone and the labels e (B, K, d); labels see only labels.
    q, k, v = layer.split(layer.qkv(x))
    lq, lk, lv = layer.split(layer.qkv(e))
    attended = layer.attend(q, torch.cat([k, lk], 2), torch.cat([v, lv], 2), seen)
    return layer.finish(x, attended), layer.finish(e, layer.attend(lq, lk, lv, among))


def mean_token_embeddings(table: Tensor, ids: list[list[int]]) -> Tensor:
    """Return h_k (K, d), the mean of ``table`` rows over each label's token ids (paper, equation 1).

    A label that the tokenizer turns into nothing gets the zero vector.
    """
    flat = torch.tensor([i for one in ids for i in one], dtype=torch.long, device=table.device)
    starts = torch.tensor([0, *(len(one) for one in ids[:-1])], device=table.device).cumsum(0)
    return F.embedding_bag(flat, table, starts, mode="mean")
