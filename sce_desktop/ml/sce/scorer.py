"""Scoring many text vectors against one label set, with all that the labels alone decide done once.

The numbers are those of `SCE.forward` (tests/ml/test_scorer.py); the work is less. With attention "shared"
the labels pass once, and for few labels their keys and values are folded into the text's own maps, two small
matrix products a layer instead of four large ones. With attention "joint" the first layer's queries, keys
and values of the labels are the same for every text, and so is how labels attend to one another: a text only
mixes its own value in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor

from sce_desktop.ml.encoder.bert import EncoderLayer, give_way_on_cpu
from sce_desktop.ml.sce.sce import SCE, LabelVectors, Passed

TOKENS_PER_BATCH = {"cpu": 768, "cuda": 65536, "mps": 16384}
"""Vectors that go through a layer at once: on a CPU what stays in its cache."""


class Scorer(ABC):
    """Scores of texts over one label set; call it with text vectors (B, d_q) to get scores (B, K).

    ``rows`` is the number of texts that should come at once. Only for inference.
    """

    rows: int

    def __init__(self, head: SCE, labels: LabelVectors) -> None:
        self.head = head
        self.labels = labels
        self.plus = head.config.architecture == "plus"

    def __call__(self, q: Tensor) -> Tensor:
        """Return scores (B, K) of text vectors ``q`` (B, d_q)."""
        return self.passed(q).scores

    def passed(self, q: Tensor) -> Passed:
        """Return the scores (B, K) with e_0 (B, d), from which the head tells whether none fits."""
        scores, text = self.context(q)
        if self.plus:
            scores = self.head.cosine(q, self.labels) + self.head.scale * scores
        return Passed(scores, text)

    @abstractmethod
    def context(self, q: Tensor) -> Passed:
        """Return e_0.e_k (B, K) and e_0 (B, d)."""


def make_scorer(head: SCE, labels: LabelVectors) -> Scorer:
    """Return the scorer that fits the head's attention, for ``labels`` of one set (K, ·)."""
    return {"shared": SharedScorer, "joint": JointScorer}[head.config.attention](head, labels)


class _SeenLabels(NamedTuple):
    """One layer's labels as a text sees them: keys and values, or both folded into the text's maps."""

    keys: Tensor  # (1, heads, K, d_h)
    values: Tensor
    into: Tensor | None  # (heads K, d): text to attention logits
    into_bias: Tensor | None
    out_of: Tensor | None  # (d, heads K): attention weights to the layer's output map


class SharedScorer(Scorer):
    """Texts see labels, labels see each other: one label pass serves every text."""

    def __init__(self, head: SCE, labels: LabelVectors) -> None:
        super().__init__(head, labels)
        e = head.label_inputs(labels)[None]
        self.rows = max(1, TOKENS_PER_BATCH.get(e.device.type, 768))
        self.layers: list[tuple[EncoderLayer, _SeenLabels]] = []
        for layer in head.layers:
            assert isinstance(layer, EncoderLayer)
            q, k, v = layer.split(layer.qkv(e))
            self.layers.append((layer, _fold(layer, k, v)))
            e = layer.finish(e, layer.attend(q, k, v, None))
        self.labels_out = e[0]

    def context(self, q: Tensor) -> Passed:
        """Return e_0.e_k (B, K) and e_0 (B, d)."""
        x = self.head.query_input(q)
        for layer, seen in self.layers:
            give_way_on_cpu(x)
            if seen.into is None or seen.out_of is None:
                d = x.shape[-1]
                text = F.linear(x, layer.qkv.weight[:d], layer.qkv.bias[:d])
                text = text.view(1, len(x), layer.heads, -1).transpose(1, 2)
                x = layer.finish(x, layer.attend(text, seen.keys, seen.values, None)[0])
            else:
                logits = F.linear(x, seen.into, seen.into_bias).view(len(x), layer.heads, -1)
                weights = logits.softmax(-1).flatten(1)
                x = layer.norm_attention(x + F.linear(weights, seen.out_of, layer.out.bias))
                give_way_on_cpu(x)
                h = F.gelu(layer.up(x), approximate=layer.approximate)
                give_way_on_cpu(x)
                x = layer.norm_output(x + layer.down(h))
        return Passed(x @ self.labels_out.T, x)


def _fold(layer: EncoderLayer, keys: Tensor, values: Tensor) -> _SeenLabels:
    """Fold the labels into the text's maps where that is less work: heads K <= d + K."""
    _, heads, count, d_h = keys.shape
    d = heads * d_h
    if heads * count > d + count:
        return _SeenLabels(keys, values, None, None, None)
    k, v = keys[0] * d_h**-0.5, values[0]
    into = torch.einsum("hcd,hkc->hkd", layer.qkv.weight[:d].view(heads, d_h, d), k).flatten(0, 1)
    into_bias = torch.einsum("hc,hkc->hk", layer.qkv.bias[:d].view(heads, d_h), k).flatten()
    out_of = torch.einsum("ohc,hkc->ohk", layer.out.weight.view(d, heads, d_h), v).flatten(1)
    return _SeenLabels(keys, values, into, into_bias, out_of)


class JointScorer(Scorer):
    """Labels see the text too: every text carries its own labels through the layers."""

    def __init__(self, head: SCE, labels: LabelVectors) -> None:
        super().__init__(head, labels)
        self.label_in = head.label_inputs(labels)
        self.rows = max(1, TOKENS_PER_BATCH.get(self.label_in.device.type, 768) // (len(self.label_in) + 1))
        self.layers = [layer for layer in head.layers if isinstance(layer, EncoderLayer)]
        first = self.layers[0]
        q, self.keys, self.values = (x[0] for x in first.split(first.qkv(self.label_in[None])))
        self.queries = q * q.shape[-1] ** -0.5  # (heads, K, d_h)
        among = self.queries @ self.keys.transpose(1, 2)
        self.mass = among.logsumexp(-1)[:, None]  # (heads, 1, K)
        self.mixed = (among.softmax(-1) @ self.values).transpose(0, 1)  # (K, heads, d_h)

    def context(self, q: Tensor) -> Passed:
        """Return e_0.e_k (B, K) and e_0 (B, d)."""
        text = self.head.query_input(q)
        first, *others = self.layers
        x = torch.cat([text[:, None], self.label_in.expand(len(text), -1, -1)], 1)
        x = first.finish(x, self._attend_first(first, text))
        for layer in others:
            x = layer(x)
        return Passed((x[:, 1:] @ x[:, 0, :, None])[..., 0], x[:, 0])

    def _attend_first(self, layer: EncoderLayer, text: Tensor) -> Tensor:
        """Return the first layer's attention output (B, K + 1, d).

        A label attends to the other labels, which is the same for all texts, and to the text: its output lies
        between the two, by the share of the text in the softmax.
        """
        b, heads, d_h = len(text), layer.heads, self.keys.shape[-1]
        q, k, v = layer.qkv(text).view(b, 3, heads, d_h).permute(1, 2, 0, 3).unbind(0)  # (heads, B, d_h)
        out = text.new_empty(b, self.label_in.shape[0] + 1, heads, d_h)
        share = torch.sigmoid(k @ self.queries.transpose(1, 2) - self.mass)  # (heads, B, K)
        out[:, 1:] = torch.lerp(self.mixed, v.transpose(0, 1)[:, None], share.permute(1, 2, 0)[..., None])
        own = (q * k).sum(-1, keepdim=True)
        weights = (torch.cat([own, q @ self.keys.transpose(1, 2)], -1) * d_h**-0.5).softmax(-1)
        out[:, 0] = (weights[..., :1] * v + weights[..., 1:] @ self.values).transpose(0, 1)
        return out.flatten(2)
