"""Where training gets its text and label vectors from: an embedder that is trained too, or a frozen one.

On a GPU all texts and labels of a step go through the encoder as one packed sequence without padding; on
the CPU, and where attention has a bias by distance, in padded chunks of similar length. Both give the same
vectors.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from sce_desktop.ml.encoder.bert import EncoderLayer, TextEncoder
from sce_desktop.ml.sce.sce import LabelVectors
from sce_desktop.research.pretrain.training_data import Ints

KERNELS = [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]
"""Of attention in padded chunks. cuDNN, which torch prefers for a bias, makes a plan for every new shape:
a step over all-mpnet-base-v2 alone took 1.02 s on an H200 instead of 0.22."""


@dataclass(frozen=True)
class Packed:
    """n token lists one after the other, N tokens in all."""

    ids: Tensor  # (N,)
    positions: Tensor  # (N,) place within its list
    owner: Tensor  # (N,) number of its list
    lengths: Tensor  # (n,)
    bounds: Tensor  # (n + 1,) int32, cumulative lengths
    longest: int


class TokenLists:
    """Token ids of many strings on the device, one after the other."""

    def __init__(self, ids: Sequence[Sequence[int]], *, device: torch.device) -> None:
        self.lengths: Ints = np.array([len(one) for one in ids], dtype=np.int64)
        self.starts: Ints = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])
        flat = np.concatenate([np.asarray(one, dtype=np.int32) for one in ids])
        self.flat = torch.from_numpy(flat).to(device)
        self.device = device

    def packed(self, rows: Ints, lengths: Ints) -> Packed:
        """Return ``rows`` end to end, each cut to its entry of ``lengths``."""
        both = to_device(np.stack([self.starts[rows], lengths]), self.device)
        total, longest = int(lengths.sum()), int(lengths.max())
        bounds = F.pad(both[1].cumsum(0), (1, 0))
        owner = torch.repeat_interleave(
            torch.arange(len(rows), device=self.device), both[1], output_size=total
        )
        positions = torch.arange(total, device=self.device) - bounds[owner]
        ids = self.flat[both[0][owner] + positions].long()
        return Packed(ids, positions, owner, both[1], bounds.int(), longest)

    def padded(self, rows: Ints, lengths: Ints) -> tuple[Tensor, Tensor]:
        """Return ids (n, T) and mask (n, T) of ``rows``, each cut to its entry of ``lengths``."""
        both = to_device(np.stack([self.starts[rows], lengths]), self.device)
        place = torch.arange(int(lengths.max()), device=self.device)[None]
        mask = place < both[1][:, None]
        return self.flat[(both[0][:, None] + place) * mask].long() * mask, mask


def to_device(array: np.ndarray, device: torch.device) -> Tensor:
    """Copy to the device without waiting for it: only pinned memory goes over by itself."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor


class DualEncoder(Protocol):
    """Text vectors and label vectors by their numbers in the tables."""

    def vectors(self, texts: Ints, lengths: Ints | None, labels: Ints) -> tuple[Tensor, LabelVectors]:
        """Return unit text vectors (n, d_q) and label vectors (m, ·), float32.

        ``lengths`` may cut texts short, where the encoder can.
        """


class TrainedDualEncoder:
    """Encodes with the module that is being trained. E is the encoder's own token table (tied).

    ``tokens`` holds all texts, then all labels; ``texts`` is the number of texts.
    """

    def __init__(self, encoder: TextEncoder, tokens: TokenLists, texts: int) -> None:
        self.encoder, self.tokens, self.text_count = encoder, tokens, texts
        self.pack = (
            tokens.device.type == "cuda"
            and not encoder.config.relative_attention_num_buckets  # packed attention takes no bias
            and bool(importlib.util.find_spec("torch.nn.attention.varlen"))
        )

    def vectors(self, texts: Ints, lengths: Ints | None, labels: Ints) -> tuple[Tensor, LabelVectors]:
        """Encode texts and labels in one go; label tokens are averaged without the two special ones."""
        rows = np.concatenate([texts, labels + self.text_count])
        cut = self.tokens.lengths[rows]
        if lengths is not None:
            cut[: len(texts)] = np.minimum(lengths, cut[: len(texts)])
        encoded = self.encode(rows, cut)
        sentence = encoded[len(texts) :] if len(labels) else None
        return encoded[: len(texts)], LabelVectors(self.label_tokens(labels), sentence)

    def label_tokens(self, labels: Ints) -> Tensor:
        """Return mean token embeddings h_k (m, d)."""
        rows = labels + self.text_count
        ids, mask = self.tokens.padded(rows, np.maximum(self.tokens.lengths[rows] - 1, 1))
        inner = mask.float()[:, 1:, None]  # neither the first token nor the last, which is cut off
        return (self.encoder.tokens(ids[:, 1:]) * inner).sum(1) / inner.sum(1).clamp_min(1.0)

    def encode(self, rows: Ints, lengths: Ints) -> Tensor:
        """Return unit vectors (n, d) of ``rows`` of the token lists."""
        if self.pack:
            return encode_packed(self.encoder, self.tokens.packed(rows, lengths))
        order = np.argsort(-lengths, kind="stable")
        with sdpa_kernel(KERNELS):
            parts = [
                self.encoder(*self.tokens.padded(rows[chunk], lengths[chunk])).float()
                for chunk in np.array_split(order, max(1, min(8, len(order) // 16)))
            ]
        return torch.cat(parts)[to_device(np.argsort(order), self.tokens.device)]


def encode_packed(encoder: TextEncoder, p: Packed) -> Tensor:
    """Run ``encoder`` over lists packed end to end; each attends within itself (flash attention)."""
    from torch.nn.attention.varlen import varlen_attn

    place = p.positions + encoder.config.first_position
    x = encoder.norm(encoder.tokens(p.ids) + encoder.positions(place) + encoder.types.weight[0])
    for layer in encoder.layers:
        assert isinstance(layer, EncoderLayer)
        q, k, v = layer.qkv(x).view(len(x), 3, layer.heads, -1).unbind(1)
        mixed = varlen_attn(q, k, v, p.bounds, p.bounds, p.longest, p.longest)
        assert isinstance(mixed, Tensor)
        x = layer.finish(x, mixed.flatten(1))
    pooled = torch.zeros(len(p.lengths), x.shape[1], device=x.device).index_add(0, p.owner, x.float())
    return F.normalize(pooled / p.lengths[:, None], dim=-1)


class FrozenDualEncoder:
    """Vectors computed once and reused in every epoch, as in the paper: only f, W and b are trained."""

    def __init__(self, texts: Tensor, label_tokens: Tensor, label_sentences: Tensor | None) -> None:
        self.text_vectors, self.label_tokens, self.label_sentences = texts, label_tokens, label_sentences

    def vectors(self, texts: Ints, lengths: Ints | None, labels: Ints) -> tuple[Tensor, LabelVectors]:
        """Look the vectors up; a frozen vector cannot be cut short."""
        device = self.text_vectors.device
        at = to_device(labels, device)
        sentence = None if self.label_sentences is None else self.label_sentences[at].float()
        q = self.text_vectors[to_device(texts, device)].float()
        return q, LabelVectors(self.label_tokens[at].float(), sentence)


@torch.no_grad()
def encode_all(dual_encoder: TrainedDualEncoder, *, half: bool, batch: int = 4096) -> tuple[Tensor, Tensor]:
    """Return float16 vectors of every text and of every label, in their order."""
    lengths = dual_encoder.tokens.lengths
    order = np.argsort(-lengths, kind="stable")
    out = torch.zeros(
        len(order),
        dual_encoder.encoder.config.hidden_size,
        dtype=torch.half,
        device=dual_encoder.tokens.device,
    )
    with torch.autocast(out.device.type, torch.bfloat16, enabled=half):
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            out[to_device(rows, out.device)] = dual_encoder.encode(rows, lengths[rows]).half()
    return out[: dual_encoder.text_count], out[dual_encoder.text_count :]
