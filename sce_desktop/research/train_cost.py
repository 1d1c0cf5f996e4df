"""Time both kinds of training of the paper on this machine, and set the ratio beside the formula's.

LoRA of a language model of Llama-3.2-1B's shape against the SCE of roberta-base's on ready text vectors.
Weights and tokens are random: what a step costs does not depend on them. Nothing is downloaded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention

from sce_desktop.core.progress import Progress
from sce_desktop.ml.encoder.bert import EncoderConfig
from sce_desktop.ml.llm.lora import Example, LoraSettings, Trainer, with_adapter
from sce_desktop.ml.sce.sce import SCE, LabelVectors, SCEConfig
from sce_desktop.research import flops

PAPER_RATIO = 0.006
"""Measured in the paper: an epoch of the SCE against an epoch of the LoRA."""
ANSWER_TOKENS = 2  # label and end token
SCE_BATCH = 512
SCE_LABELS = 10
WARM_UP = 3


@dataclass(frozen=True, slots=True)
class Shape:
    """What is timed. The defaults are the paper's; tests make everything small.

    ``steps`` optimiser steps of each kind: ``batch`` x ``accumulate`` samples of ``tokens`` tokens for the
    LoRA, 512 samples for the SCE.
    """

    llm: Mapping[str, Any]
    encoder: EncoderConfig
    text_width: int = 1024
    rank: int = flops.LORA_RANK
    tokens: int = flops.LLAMA_TOKENS
    batch: int = 2
    accumulate: int = 32
    steps: int = 50
    sce_batch: int = SCE_BATCH


PAPER = Shape(
    llm={
        "vocab_size": 128_256,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 64,
    },
    encoder=EncoderConfig(
        vocab_size=50_265,
        hidden_size=768,
        num_hidden_layers=12,
        num_attention_heads=12,
        intermediate_size=3072,
        max_position_embeddings=514,
        type_vocab_size=1,
        pad_token_id=1,
        layer_norm_eps=1e-5,
        model_type="roberta",
    ),
)


@dataclass(frozen=True, slots=True)
class Timing:
    """One kind of training: seconds a step and an epoch of 16,000 samples, memory at the peak (GPU)."""

    parameters: int
    trainable: int
    steps: int
    samples: int  # a step
    step_seconds: float
    epoch_seconds: float
    peak_bytes: int
    precision: str
    first_loss: float
    last_loss: float


def measure(shape: Shape, device: torch.device, progress: Progress) -> dict[str, Any]:
    """Time both and return plain values, with the ratio of an epoch beside the paper's and the formula's."""
    llm = time_lora(shape, device, progress)
    sce = time_sce(shape, device, progress)
    costs = flops.paper_costs()
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else str(device),
        "torch": torch.__version__,
        "llm_lora": asdict(llm),
        "sce": asdict(sce),
        "ratio": sce.epoch_seconds / llm.epoch_seconds,
        "paper_ratio": PAPER_RATIO,
        "formula_ratio": costs["sce"]["epoch"] / costs["llm_lora"]["epoch"],
    }


def time_lora(shape: Shape, device: torch.device, progress: Progress) -> Timing:
    """Train adapters of a random Llama for ``shape.steps`` optimiser steps."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(**shape.llm, max_position_embeddings=2048, tie_word_embeddings=True)
    with torch.device(device):
        model = LlamaForCausalLM(config)
    if device.type == "cuda":
        torch.nn.Module.to(model, torch.bfloat16)
    parameters = sum(p.numel() for p in model.parameters())
    settings = LoraSettings(rank=shape.rank, batch=shape.batch, accumulate=shape.accumulate)
    adapted = with_adapter(model, settings, device)
    trainer = Trainer(adapted, settings, device)
    quantised = bool(getattr(model, "is_loaded_in_4bit", False))
    generator = torch.Generator().manual_seed(0)

    def step() -> float:
        ids = torch.randint(
            0, config.vocab_size, (shape.accumulate, shape.batch, shape.tokens), generator=generator
        ).tolist()
        batches = [[Example(row, ANSWER_TOKENS) for row in batch] for batch in ids]
        return trainer.step(batches, progress)

    exact = "bfloat16" if device.type == "cuda" else "float32"
    return _timed(
        step,
        shape,
        device,
        progress,
        stage="LoRA of the LLM",
        parameters=parameters,
        trainable=sum(p.numel() for p in trainer.parameters),
        samples=shape.batch * shape.accumulate,
        precision=f"nf4, computed in {exact}" if quantised else exact,
    )


def time_sce(shape: Shape, device: torch.device, progress: Progress) -> Timing:
    """Train the paper's SCE on ready vectors for ``shape.steps`` steps."""
    torch.manual_seed(0)
    encoder = shape.encoder
    config = SCEConfig(
        architecture="paper",
        attention="joint",
        text_width=shape.text_width,
        layers=encoder.num_hidden_layers,
        encoder=encoder,
    )
    head = SCE(config, dropout=0.1).to(device).train()
    optimiser = torch.optim.AdamW(head.parameters(), lr=1e-5, weight_decay=1e-4)
    generator = torch.Generator().manual_seed(0)
    labels = torch.randn(SCE_LABELS, encoder.hidden_size, generator=generator).to(device)

    def step() -> float:
        q = torch.randn(shape.sce_batch, shape.text_width, generator=generator).to(device)
        gold = torch.randint(0, SCE_LABELS, (shape.sce_batch,), generator=generator).to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            loss = F.cross_entropy(head(q, LabelVectors(labels)).float(), gold)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        progress.check()
        return float(loss.detach())

    trainable = sum(p.numel() for p in head.parameters() if p.requires_grad)
    return _timed(
        step,
        shape,
        device,
        progress,
        stage="SCE",
        parameters=trainable,
        trainable=trainable,
        samples=shape.sce_batch,
        precision="float32 weights, computed in bfloat16" if device.type == "cuda" else "float32",
    )


def _timed(
    step: Callable[[], float],
    shape: Shape,
    device: torch.device,
    progress: Progress,
    *,
    stage: str,
    parameters: int,
    trainable: int,
    samples: int,
    precision: str,
) -> Timing:
    first = step()
    for _ in range(min(WARM_UP, shape.steps) - 1):
        step()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
    started = time.perf_counter()
    last = first
    for number in range(shape.steps):
        last = step()
        progress.report(number + 1, shape.steps, stage=stage)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    seconds = (time.perf_counter() - started) / shape.steps
    return Timing(
        parameters=parameters,
        trainable=trainable,
        steps=shape.steps,
        samples=samples,
        step_seconds=seconds,
        epoch_seconds=seconds * flops.SAMPLES / samples,
        peak_bytes=torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0,
        precision=precision,
        first_loss=first,
        last_loss=last,
    )


def with_steps(steps: int) -> Shape:
    """Return the paper's shape with so many steps of each kind."""
    return replace(PAPER, steps=steps)
