"""BERT, RoBERTa and MPNet bodies in plain torch, loaded from their published safetensors.

The bundled models must load without transformers, whose import alone takes seconds. Numbers equal those of
the library's own classes (tests/ml/test_bert.py). Post-norm layers, absolute positions, exact or tanh GELU;
MPNet adds to every attention a bias by how far apart two tokens are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import groupby
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from sce_desktop.core.giving_way import give_way
from sce_desktop.ml.encoder.quantised import QuantisedTable
from sce_desktop.ml.hub.bounds import finite, whole

_ACTIVATIONS = {"gelu": "none", "gelu_new": "tanh", "gelu_pytorch_tanh": "tanh"}
_MODEL_TYPES = ("bert", "roberta", "xlm-roberta", "camembert", "mpnet")
_FARTHEST = 128
"""Tokens farther apart share MPNet's last bucket (its published code has this number too, not its config)."""


_BOUNDS = {
    "vocab_size": (1, 2_000_000),
    "hidden_size": (1, 16_384),
    "num_hidden_layers": (0, 200),
    "num_attention_heads": (1, 1_024),
    "intermediate_size": (1, 131_072),
    "max_position_embeddings": (1, 1_000_000),
    "type_vocab_size": (0, 1_000),
    "pad_token_id": (0, 2_000_000),
    "relative_attention_num_buckets": (0, 1_024),
}
"""The least and the most of each, far beyond what such encoders have: what is larger cannot be meant."""


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """The shape of a BERT-like encoder, in the keys of a published ``config.json``."""

    vocab_size: int = 30522
    hidden_size: int = 384
    num_hidden_layers: int = 6
    num_attention_heads: int = 12
    intermediate_size: int = 1536
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"
    pad_token_id: int = 0
    relative_attention_num_buckets: int = 0  # MPNet; 0: distance plays no part in attention
    model_type: str = "bert"
    token_bits: int = field(default=0, repr=False)  # 4: the token table is in 4-bit blocks

    def __post_init__(self) -> None:
        if self.model_type not in _MODEL_TYPES:
            raise ValueError(f"not a BERT-like encoder: {self.model_type}")
        for name, (least, most) in _BOUNDS.items():
            whole(getattr(self, name), least, most, name)
        finite(self.layer_norm_eps, "layer_norm_eps", least=0, most=1)
        if self.hidden_size % self.num_attention_heads or self.relative_attention_num_buckets % 4:
            raise ValueError(f"{self.num_attention_heads} heads do not share {self.hidden_size} directions")
        if self.max_position_embeddings <= self.first_position:
            raise ValueError(f"no position is left behind the padding's, {self.pad_token_id}")
        if self.hidden_act not in _ACTIVATIONS:
            raise ValueError(f"unknown activation: {self.hidden_act}")
        if self.token_bits not in (0, 4):
            raise ValueError(f"no token table of {self.token_bits} bits is known")

    @classmethod
    def from_dict(cls, config: Mapping[str, Any]) -> EncoderConfig:
        """Take the keys we know from a published config; raises ValueError for another architecture."""
        known = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in config.items() if k in known and v is not None})

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every weight of a `TextEncoder`, by its name there."""
        with torch.device("meta"):
            return {name: tuple(tensor.shape) for name, tensor in TextEncoder(self).state_dict().items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the keys to store."""
        return asdict(self)

    @property
    def first_position(self) -> int:
        """Row of the position table for the first token: RoBERTa counts from behind the padding id."""
        return 0 if self.model_type == "bert" else self.pad_token_id + 1


class EncoderLayer(nn.Module):
    """One post-norm Transformer block without any notion of position."""

    def __init__(self, config: EncoderConfig, dropout: float = 0.0) -> None:
        super().__init__()
        d = config.hidden_size
        self.heads = config.num_attention_heads
        self.approximate = _ACTIVATIONS[config.hidden_act]
        self.dropout = dropout
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)
        self.norm_attention = nn.LayerNorm(d, eps=config.layer_norm_eps)
        self.up = nn.Linear(d, config.intermediate_size)
        self.down = nn.Linear(config.intermediate_size, d)
        self.norm_output = nn.LayerNorm(d, eps=config.layer_norm_eps)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Attend within ``x`` (B, T, d).

        ``mask`` broadcasts to (B, heads, T, T): True = may be seen, or a number that is added to q k^T.
        """
        q, k, v = self.split(self.qkv(x))
        return self.finish(x, self.attend(q, k, v, mask))

    def split(self, projected: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Cut (B, T, 3d) into queries, keys and values (B, heads, T, d / heads)."""
        b, t, _ = projected.shape
        q, k, v = projected.view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        return q, k, v

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        """Return softmax(q k^T / sqrt(d_h)) v with the heads joined again, (B, T, d)."""
        p = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)
        return mixed.transpose(1, 2).flatten(2)

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """Apply what follows the attention: output map, residual, feed-forward, residual."""
        give_way_on_cpu(x)
        x = self.norm_attention(x + F.dropout(self.out(attended), self.dropout, self.training))
        h = F.gelu(self.up(x), approximate=self.approximate)
        give_way_on_cpu(x)
        h = self.down(h)
        return self.norm_output(x + F.dropout(h, self.dropout, self.training))


def give_way_on_cpu(x: Tensor) -> None:
    """Leave the processor to the window while it answers a key: a batch takes as long as several keys.

    Torch lets go of Python's lock, but two threads of one core slow each other down as well.
    """
    if x.device.type == "cpu":
        give_way()


def embedding_table(rows: int, width: int) -> nn.Embedding:
    """Return a table of ``rows`` vectors, random unless it is made on the meta device.

    There, drawing normal numbers would import torch's compiler, which takes two seconds.
    """
    weight = torch.empty(rows, width)
    return nn.Embedding.from_pretrained(weight if weight.is_meta else weight.normal_(), freeze=False)


class TextEncoder(nn.Module):
    """A whole BERT-like body: token, position and type embeddings, layers, mean pooling, unit length."""

    def __init__(self, config: EncoderConfig, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        d = config.hidden_size
        self.tokens: nn.Embedding | QuantisedTable
        if config.token_bits:
            self.tokens = QuantisedTable(config.vocab_size, d)
        else:
            self.tokens = embedding_table(config.vocab_size, d)
        self.positions = embedding_table(config.max_position_embeddings, d)
        self.types = embedding_table(max(config.type_vocab_size, 1), d)
        self.norm = nn.LayerNorm(d, eps=config.layer_norm_eps)
        self.layers = nn.ModuleList(EncoderLayer(config, dropout) for _ in range(config.num_hidden_layers))
        if config.relative_attention_num_buckets:
            self.distances = embedding_table(
                config.relative_attention_num_buckets, config.num_attention_heads
            )

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.positions.weight.device

    def seen(self, length: int, mask: Tensor | None = None) -> Tensor | None:
        """Return what every layer's attention over ``length`` tokens gets as its mask.

        ``mask`` (B, T), True = token. None where all may be seen and distance plays no part.
        """
        may = None if mask is None else mask[:, None, None, :]
        if not self.config.relative_attention_num_buckets:
            return may
        place = torch.arange(length, device=self.device)
        buckets = distance_buckets(place[None] - place[:, None], self.config.relative_attention_num_buckets)
        bias = self.distances(buckets).permute(2, 0, 1)[None]  # (1, heads, T, T)
        return bias if may is None else bias.masked_fill(~may, -math.inf)

    def hidden(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the last hidden states (B, T, d) of token ``ids`` (B, T); ``mask`` (B, T) True = token."""
        start = self.config.first_position
        place = self.positions.weight[start : start + ids.shape[1]]
        x = self.norm(self.tokens(ids) + place + self.types.weight[0])
        seen = self.seen(ids.shape[1], mask)
        if seen is not None and seen.is_floating_point() and torch.is_autocast_enabled(seen.device.type):
            seen = seen.to(torch.get_autocast_dtype(seen.device.type))  # once, not again in every layer
        for layer in self.layers:
            x = layer(x, seen)
        return x

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return text vectors (B, d) of unit length: the mean of the last hidden states over tokens."""
        x = self.hidden(ids, mask)
        if mask is None:
            pooled = x.mean(1)
        else:
            weight = mask.to(x.dtype)[..., None]
            pooled = (x * weight).sum(1) / weight.sum(1).clamp_min(1.0)
        return F.normalize(pooled, dim=-1)

    def packed(self, ids: Tensor, lengths: Sequence[int]) -> Tensor:
        """Return text vectors (B, d) of texts laid end to end, token ``ids`` (sum of ``lengths``,), unpadded.

        Equal to `forward`, and on a CPU the faster the more texts of equal length are neighbours.
        """
        runs = [(length, len(list(same))) for length, same in groupby(lengths)]
        cuts = [length * count for length, count in runs]
        start = self.config.first_position
        place = torch.cat([torch.arange(start, start + length).repeat(count) for length, count in runs])
        x = self.norm(self.tokens(ids) + self.positions(place.to(ids.device)) + self.types.weight[0])
        masks = [self.seen(length) for length, _ in runs]
        for layer in self.layers:
            assert isinstance(layer, EncoderLayer)
            give_way_on_cpu(x)
            parts = layer.qkv(x).split(cuts)
            attended = [
                layer.attend(*layer.split(part.view(count, length, -1)), mask).flatten(0, 1)
                for part, (length, count), mask in zip(parts, runs, masks, strict=True)
            ]
            x = layer.finish(x, torch.cat(attended))
        pooled = [
            part.view(count, length, -1).mean(1)
            for part, (length, count) in zip(x.split(cuts), runs, strict=True)
        ]
        return F.normalize(torch.cat(pooled), dim=-1)


def distance_buckets(distance: Tensor, buckets: int) -> Tensor:
    """Return MPNet's bucket of each signed ``distance`` between a token and one it looks at.

    Half of the buckets for each direction; of these the first half hold one distance each, the rest grow
    logarithmically (arXiv 1910.10683, section 2.1, as T5 has them).
    """
    half = buckets // 2
    exact = half // 2
    ahead, far = (distance > 0).long() * half, distance.abs()
    grown = torch.log(far.clamp_min(1) / exact) / math.log(_FARTHEST / exact) * (half - exact)
    return ahead + torch.where(far < exact, far, (exact + grown.long()).clamp_max(half - 1))


_MPNET_NAMES = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
}


def _as_bert(name: str) -> str:
    for theirs, ours in _MPNET_NAMES.items():
        name = name.replace(theirs, ours)
    return name


def _strip(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    # Checkpoints of task models carry the body under a prefix ("bert.", "roberta.", "0.auto_model.").
    key = next((k for k in state if k.endswith("embeddings.position_embeddings.weight")), None)
    prefix = key[: -len("embeddings.position_embeddings.weight")] if key else ""
    return {_as_bert(k[len(prefix) :]): v for k, v in state.items() if k.startswith(prefix)}


def layer_state(state: Mapping[str, Tensor], index: int, prefix: str = "encoder.layer.") -> dict[str, Tensor]:
    """Translate one published layer's weights to the names of `EncoderLayer`. Raises KeyError if absent."""
    at = f"{prefix}{index}."
    out: dict[str, Tensor] = {}
    for kind in ("weight", "bias"):
        parts = [state[f"{at}attention.self.{n}.{kind}"] for n in ("query", "key", "value")]
        out[f"qkv.{kind}"] = torch.cat([p.float() for p in parts])
        for ours, theirs in (
            ("out", "attention.output.dense"),
            ("norm_attention", "attention.output.LayerNorm"),
            ("up", "intermediate.dense"),
            ("down", "output.dense"),
            ("norm_output", "output.LayerNorm"),
        ):
            out[f"{ours}.{kind}"] = state[f"{at}{theirs}.{kind}"].float()
    return out


def text_encoder_state(state: Mapping[str, Tensor], config: EncoderConfig) -> dict[str, Tensor]:
    """Translate a published BERT-like checkpoint to the names of `TextEncoder` (float32)."""
    state = _strip(state)
    out = {
        **_tokens(state, config),
        "positions.weight": state["embeddings.position_embeddings.weight"].float(),
        "types.weight": _types(state, config),
        "norm.weight": state["embeddings.LayerNorm.weight"].float(),
        "norm.bias": state["embeddings.LayerNorm.bias"].float(),
    }
    if config.relative_attention_num_buckets:
        out["distances.weight"] = state["encoder.relative_attention_bias.weight"].float()
    for i in range(config.num_hidden_layers):
        out |= {f"layers.{i}.{k}": v for k, v in layer_state(state, i).items()}
    return out


def _tokens(state: Mapping[str, Tensor], config: EncoderConfig) -> dict[str, Tensor]:
    at = "embeddings.word_embeddings."
    if config.token_bits:
        return {f"tokens.{part}": state[at + part] for part in ("blocks", "scales")}
    return {"tokens.weight": state[at + "weight"].float()}


def _types(state: Mapping[str, Tensor], config: EncoderConfig) -> Tensor:
    if config.model_type == "mpnet":  # has no token types
        return torch.zeros(max(config.type_vocab_size, 1), config.hidden_size)
    return state["embeddings.token_type_embeddings.weight"].float()


def label_encoder_state(state: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Take the first ``layers`` layers and the embedding LayerNorm, without positions (paper 2.2)."""
    state = _strip(state)
    out = {
        "norm.weight": state["embeddings.LayerNorm.weight"].float(),
        "norm.bias": state["embeddings.LayerNorm.bias"].float(),
    }
    for i in range(layers):
        out |= {f"layers.{i}.{k}": v for k, v in layer_state(state, i).items()}
    return out
