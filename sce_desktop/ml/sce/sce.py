"""The Soft Contextualized Encoder (arXiv 2601.03450) and SCE+, as modules over vectors.

Texts and labels come in as vectors; `model` makes them. Shapes: B texts, K labels, d_q width of the text
vectors, d width of the label encoder. No layer knows a label's place in the list, so permuting the labels
permutes the scores and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from sce_desktop.ml.encoder.bert import EncoderConfig, EncoderLayer
from sce_desktop.ml.encoder.quantised import QuantisedTable
from sce_desktop.ml.hub.bounds import finite, whole

MASKED = -1e9
"""Score of a label that is not in a row's set (padding)."""


@dataclass(frozen=True, slots=True)
class SCEConfig:
    """The shape of an SCE.

    ``architecture``: "paper" scores s_k = e_0.e_k from mean token embeddings alone (equations 1 and 2);
    "plus" adds A g(label) to each label vector and alpha cos(q, g(label)) to each score.
    ``attention``: "joint" lets labels see the text, as in the paper; "shared" lets labels see each other and
    the text see the labels, so that one label pass serves all rows and 200 labels cost little more than 4.
    """

    architecture: Literal["paper", "plus"] = "plus"
    attention: Literal["joint", "shared"] = "joint"
    text_width: int = 384
    layers: int = 2
    alpha: float = 20.0
    scale: float = 0.05
    says_none: bool = False  # has a null score and yes/no scores
    encoder: EncoderConfig = field(default_factory=EncoderConfig)

    def __post_init__(self) -> None:
        """Refuse what no model can mean, before anything of that size is made; raises ValueError."""
        if self.architecture not in ("paper", "plus") or self.attention not in ("joint", "shared"):
            raise ValueError(f"no architecture {self.architecture}, {self.attention} is known")
        whole(self.text_width, 1, 16_384, "text_width")
        whole(self.layers, 0, 64, "layers")
        finite(self.alpha, "alpha")
        finite(self.scale, "scale")
        if type(self.says_none) is not bool:
            raise ValueError("says_none is true or false")

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

    def one_group(self) -> LabelVectors:
        """Return the same labels as the only group, (1, K, ·)."""
        return LabelVectors(self.tokens[None], None if self.sentence is None else self.sentence[None])


class Passed(NamedTuple):
    """What one pass over texts and labels gives."""

    scores: Tensor  # (..., K)
    text: Tensor  # (..., d): e_0


class SCE(nn.Module):
    """Query adaptor, label encoder without positions, dot-product scores.

    With ``says_none`` the same pass also tells whether any label fits (`none`, from e_0 and the scores), and
    `yes` whether a label fits whatever the others are: what a softmax over the labels cannot say.
    """

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
        if config.says_none:
            self.none_text = nn.Linear(d, 1)
            self.none_scores = nn.Linear(2, 1)
            self.yes_score = nn.Linear(1, 1)
            self.yes_text = nn.Linear(config.text_width, 1, bias=False)
            self.yes_label = nn.Linear(config.text_width, 1, bias=False)
            self._begin_with_scores()

    @torch.no_grad()
    def _begin_with_scores(self) -> None:
        # None fits where the best score is low, a label where its own is high: training goes on from there.
        for layer in (self.none_text, self.none_scores, self.yes_score, self.yes_text, self.yes_label):
            nn.init.zeros_(layer.weight)
        self.none_scores.weight[0, 0] = -10.0
        self.none_scores.bias[0] = 4.0
        self.none_text.bias[0] = 0.0
        self.yes_score.weight[0, 0] = 0.5
        self.yes_score.bias[0] = -4.0

    @torch.no_grad()
    def scale_scores(self, factor: float) -> None:
        """Multiply e_0.e_k by ``factor`` > 0: both come out of the last normalisation."""
        last = self.layers[-1]
        assert isinstance(last, EncoderLayer)
        for parameter in last.norm_output.parameters():
            parameter.mul_(factor**0.5)

    def forward(self, q: Tensor, labels: LabelVectors, mask: Tensor | None = None) -> Tensor:
        """Return scores (B, K) of text vectors ``q`` (B, d_q).

        ``labels`` holds one set for all texts (K, ·) or one a text (B, K, ·). ``mask`` (B, K) is True where a
        label belongs to the row's set; other labels get the score `MASKED` and influence nothing.
        """
        if labels.tokens.dim() == 3:  # one set a text: as many groups as texts
            return self.grouped(q[:, None], labels, None if mask is None else mask[:, None])[:, 0]
        return self.grouped(q[None], labels.one_group(), None if mask is None else mask[None])[0]

    def grouped(self, q: Tensor, labels: LabelVectors, mask: Tensor | None = None) -> Tensor:
        """Return scores (P, T, K) of P groups of T texts, each group with its own K labels (P, K, ·).

        ``mask`` (P, T, K). With attention "shared", labels that any text of the group has see each other.
        """
        return self.passed(q, labels, mask).scores

    def passed(self, q: Tensor, labels: LabelVectors, mask: Tensor | None = None) -> Passed:
        """Return the scores of `grouped` with e_0 (P, T, d)."""
        run = self._joint if self.config.attention == "joint" else self._shared
        scores, text = run(q, labels, mask)
        if self.config.architecture == "plus":
            scores = self.cosine(q, labels) + self.scale * scores
        return Passed(scores if mask is None else scores.masked_fill(~mask, MASKED), text)

    def none(self, passed: Passed) -> Tensor:
        """Return the logit (...) that none of the labels fits."""
        scores = torch.stack([passed.scores.amax(-1), passed.scores.logsumexp(-1)], -1) / self.config.alpha
        return (self.none_text(passed.text) + self.none_scores(scores))[..., 0]

    def yes(self, q: Tensor, labels: LabelVectors, correction: Tensor | float = 0.0) -> Tensor:
        """Return the logit (..., K) that a label fits: its cosine, and how easily text and label match.

        ``correction`` is added to alpha cos. No label changes another's.
        """
        assert labels.sentence is not None
        own = self.yes_score((self.cosine(q, labels) + correction)[..., None])[..., 0]
        return own + self.yes_text(q) + self.yes_label(labels.sentence).transpose(-1, -2)

    def cosine(self, q: Tensor, labels: LabelVectors) -> Tensor:
        """Return alpha cos(q, g(label)) (..., K), the part of SCE+ that sees one label at a time."""
        assert labels.sentence is not None
        return self.alpha * (q @ labels.sentence.transpose(-1, -2))

    def label_inputs(self, labels: LabelVectors) -> Tensor:
        """Return the label vectors that enter the encoder (..., K, d), normalised as embeddings are."""
        h = labels.tokens
        if self.config.architecture == "plus":
            h = h + self.label_map(labels.sentence)
        return self.norm(h)

    def query_input(self, q: Tensor) -> Tensor:
        """Return q' = W q + b (..., d), normalised as embeddings are."""
        return self.norm(self.adapt(q))

    def _joint(self, q: Tensor, labels: LabelVectors, mask: Tensor | None) -> Passed:
        p, t, _ = q.shape
        e = self.label_inputs(labels)[:, None].expand(-1, t, -1, -1)
        x = torch.cat([self.query_input(q)[:, :, None], e], 2).flatten(0, 1)
        seen = None if mask is None else F.pad(mask.flatten(0, 1), (1, 0), value=True)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, seen)
        return Passed((x[:, 1:] @ x[:, 0, :, None]).view(p, t, -1), x[:, 0].view(p, t, -1))

    def _shared(self, q: Tensor, labels: LabelVectors, mask: Tensor | None) -> Passed:
        x, e = self.query_input(q), self.label_inputs(labels)
        seen = None if mask is None else mask[:, None]
        among = None if mask is None else mask.any(1)[:, None, None, :]
        for layer in self.layers:
            assert isinstance(layer, EncoderLayer)
            q_text, _, _ = layer.split(layer.qkv(x))
            q_label, k, v = layer.split(layer.qkv(e))
            x = layer.finish(x, layer.attend(q_text, k, v, seen))
            e = layer.finish(e, layer.attend(q_label, k, v, among))
        return Passed(x @ e.transpose(-1, -2), x)


def mean_token_embeddings(table: Tensor | QuantisedTable, ids: list[list[int]]) -> Tensor:
    """Return h_k (K, d), the mean of ``table`` rows over each label's token ids (paper, equation 1).

    A label that the tokenizer turns into nothing gets the zero vector.
    """
    flat = torch.tensor([i for one in ids for i in one], dtype=torch.long, device=table.device)
    starts = torch.tensor([0, *(len(one) for one in ids[:-1])], device=table.device).cumsum(0)
    if isinstance(table, QuantisedTable):
        used, flat = flat.unique(return_inverse=True)
        rows = table(used)
    else:
        rows = table
    return F.embedding_bag(flat, rows, starts, mode="mean")
