"""The compute costs of the paper's appendices, with its symbols (arXiv 2601.03450).

A FLOP is one multiplication with its addition, as there. Every cost of a block or model is a polynomial in m,
the number of tokens of one sample: its `Cost`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Cost:
    """``m`` * m + ``m2`` * m^2 + ``const`` FLOPs for a sample of m tokens."""

    m: int
    m2: int
    const: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.m + other.m, self.m2 + other.m2, self.const + other.const)

    def __rmul__(self, times: int) -> Cost:
        return Cost(times * self.m, times * self.m2, times * self.const)

    def at(self, tokens: float) -> float:
        """Return the FLOPs of one sample of ``tokens`` tokens."""
        return self.m * tokens + self.m2 * tokens**2 + self.const


@dataclass(frozen=True, slots=True)
class Transformer:
    """Hidden size d, feed-forward size d_ff, L blocks, n_f1 expanding and n_f2 contracting layers in each."""

    d: int
    d_ff: int
    L: int
    n_f1: int = 1
    n_f2: int = 1


def forward_block(t: Transformer) -> Cost:
    """4 m d^2 + 2 m^2 d + m d d_ff (n_f1 + n_f2): forward pass of one block."""
    return Cost(m=4 * t.d**2 + t.d * t.d_ff * (t.n_f1 + t.n_f2), m2=2 * t.d)


def backward_block(t: Transformer) -> Cost:
    """8 m d^2 + 4 m^2 d + 2 m d d_ff (n_f1 + n_f2): gradients of weights and of inputs of one block."""
    return 2 * forward_block(t)


def forward_block_lora(t: Transformer, r: int) -> Cost:
    """4 m (d^2 + 2 d r) + 2 m^2 d + m (d d_ff + d r + d_ff r)(n_f1 + n_f2): with adapters of rank r."""
    feed_forward = (t.d * t.d_ff + t.d * r + t.d_ff * r) * (t.n_f1 + t.n_f2)
    return Cost(m=4 * (t.d**2 + 2 * t.d * r) + feed_forward, m2=2 * t.d)


def backward_block_lora(t: Transformer, r: int) -> Cost:
    """4 m (d^2 + 4 d r) + 4 m^2 d + m (d d_ff + 2 d r + 2 d_ff r)(n_f1 + n_f2): frozen weights get none."""
    feed_forward = (t.d * t.d_ff + 2 * t.d * r + 2 * t.d_ff * r) * (t.n_f1 + t.n_f2)
    return Cost(m=4 * (t.d**2 + 4 * t.d * r) + feed_forward, m2=4 * t.d)


def sce_training(encoder: Transformer, d_ext: int) -> Cost:
    """One step on one sample: L blocks forward and backward, 3 d d_ext to project the text vector."""
    return encoder.L * (forward_block(encoder) + backward_block(encoder)) + Cost(0, 0, 3 * encoder.d * d_ext)


def inference(model: Transformer) -> Cost:
    """One forward pass of one sample through all blocks."""
    return model.L * forward_block(model)


def lora_training(model: Transformer, r: int) -> Cost:
    """One step on one sample: L blocks forward and backward with adapters of rank ``r``."""
    return model.L * (forward_block_lora(model, r) + backward_block_lora(model, r))


def transformer_of(config: Mapping[str, Any]) -> Transformer:
    """Return the shape that a published model's config.json describes.

    As in the paper, keys and values count as d to d even where they are narrower (grouped queries).

    Raises:
        KeyError: It does not say how large it is.
    """
    gated = config.get("model_type") not in UNGATED
    return Transformer(
        d=int(config["hidden_size"]),
        d_ff=int(config["intermediate_size"]),
        L=int(config["num_hidden_layers"]),
        n_f1=2 if gated else 1,
    )


UNGATED = (
    "bert",
    "roberta",
    "xlm-roberta",
    "mpnet",
    "jina_embeddings_v3",
    "gpt_neox",
    "phi",
    "opt",
    "nomic_bert",
)
"""Model types whose feed-forward layers expand once; the Llama-like ones have a gate besides."""

# The paper's parts (appendices "Model details") and its averages (appendix "Theoretical training time").
ROBERTA_BASE = Transformer(d=768, d_ff=3072, L=12)
JINA_V3 = Transformer(d=1024, d_ff=4096, L=24)
LLAMA_1B = Transformer(d=2048, d_ff=8192, L=16, n_f1=2, n_f2=1)
LORA_RANK = 180
SAMPLES = 16_000
SCE_TOKENS = 11  # 10 label tokens and the text vector
JINA_TOKENS = 84.17
LLAMA_TOKENS = 225


def paper_costs() -> dict[str, dict[str, float]]:
    """Return the paper's coefficients and its costs of one epoch over 16,000 samples."""
    sce = sce_training(ROBERTA_BASE, d_ext=JINA_V3.d)
    embedder = inference(JINA_V3)
    llm = lora_training(LLAMA_1B, LORA_RANK)
    return {
        "sce": {"m": sce.m, "m2": sce.m2, "const": sce.const, "epoch": SAMPLES * sce.at(SCE_TOKENS)},
        "embedder": {"m": embedder.m, "m2": embedder.m2, "once": SAMPLES * embedder.at(JINA_TOKENS)},
        "llm_lora": {"m": llm.m, "m2": llm.m2, "epoch": SAMPLES * llm.at(LLAMA_TOKENS)},
    }
