"""LoRA fine-tuning of a causal language model, as in the paper's ablation (arXiv 2601.03450).

Adapters of rank 180 on every projection of attention and feed-forward layers; the loss counts the label's
tokens and the end token alone; frozen weights in 4 bits (NF4) where CUDA and bitsandbytes are there. The
paper names neither learning rate nor alpha: we take 2e-4 and alpha = rank, which leaves the product unscaled.
"""

from __future__ import annotations

import importlib.util
import random
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.ml.llm.prompted import Frame, PromptedLLM, Tokens

if TYPE_CHECKING:
    from peft import PeftModel
    from transformers import PreTrainedModel

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
LARGE = 700_000_000
"""From this many parameters up the paper's batch of 2 with 32 accumulated steps is the default."""
IGNORED = -100


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """How to train. 0 for ``batch`` and ``accumulate``: by the size of the model."""

    rank: int = 180
    learning_rate: float = 2e-4
    epochs: int = 1
    batch: int = 0
    accumulate: int = 0
    quantise: Literal["auto", "nf4", "none"] = "auto"
    seed: int = 0

    def for_size(self, parameters: int) -> LoraSettings:
        """Return the settings with a batch that fits a model of so many parameters."""
        batch, accumulate = (2, 32) if parameters >= LARGE else (4, 4)
        return replace(self, batch=self.batch or batch, accumulate=self.accumulate or accumulate)


@dataclass(frozen=True, slots=True)
class Example:
    """A whole prompt with its answer; the last ``answer`` tokens are what is learnt."""

    ids: Tokens
    answer: int


@dataclass(slots=True)
class LoraTraining:
    """How training went: the mean loss of every optimiser step, and how many parameters learnt."""

    losses: list[float] = field(default_factory=list)
    trainable: int = 0
    seconds: float = 0.0
    quantised: bool = False


def examples(llm: PromptedLLM, frame: Frame, texts: Sequence[str], answers: Sequence[int]) -> list[Example]:
    """Return prompts with label and end token. ``answers`` (n,) are places in the frame's labels."""
    return [
        Example(
            [*frame.head, *llm.row(text, frame), *frame.labels[answer], llm.lm.end],
            len(frame.labels[answer]) + 1,
        )
        for text, answer in zip(texts, answers, strict=True)
    ]


def can_quantise(device: torch.device) -> bool:
    """Whether frozen weights can be kept in NF4 here."""
    return device.type == "cuda" and importlib.util.find_spec("bitsandbytes") is not None


def with_adapter(model: PreTrainedModel, settings: LoraSettings, device: torch.device) -> PeftModel:
    """Return ``model`` on ``device``, frozen, with untrained adapters.

    Raises:
        UserError: The model has none of the projections, or NF4 was asked for where it cannot be had.
    """
    from peft import LoraConfig, get_peft_model

    found = {
        name.rpartition(".")[2] for name, module in model.named_modules() if isinstance(module, nn.Linear)
    }
    targets = [name for name in TARGETS if name in found]
    if not targets:
        raise UserError(
            _(
                "LoRA finds no attention projections (q_proj, k_proj …) in this model: choose a "
                "Llama- or Qwen-like one."
            )
        )
    if settings.quantise == "nf4" and not can_quantise(device):
        raise UserError(_("NF4 needs an NVIDIA GPU and bitsandbytes: install it, or turn quantisation off."))
    if settings.quantise != "none" and can_quantise(device):
        _to_nf4(model, targets)
    nn.Module.to(model, device)
    torch.manual_seed(settings.seed)
    config = LoraConfig(
        r=settings.rank, lora_alpha=settings.rank, target_modules=targets, task_type="CAUSAL_LM"
    )
    return get_peft_model(model, config)


def _to_nf4(model: PreTrainedModel, targets: Sequence[str]) -> None:
    """Put 4-bit layers in the place of the targets; they are quantised when they move to the GPU."""
    import bitsandbytes as bnb

    linear = [(n, m) for n, m in model.named_modules() if isinstance(m, nn.Linear)]
    for name, module in linear:
        parent, _, last = name.rpartition(".")
        if last not in targets:
            continue
        small = bnb.nn.Linear4bit(
            module.in_features,
            module.out_features,
            bias=module.bias is not None,
            compute_dtype=torch.bfloat16,
            quant_type="nf4",
        )
        small.weight = bnb.nn.Params4bit(module.weight.data, requires_grad=False, quant_type="nf4")
        if module.bias is not None:
            small.bias = nn.Parameter(module.bias.data, requires_grad=False)
        setattr(model.get_submodule(parent), last, small)
    setattr(model, "is_loaded_in_4bit", True)  # noqa: B010 - what PEFT looks at to choose its 4-bit layer


class Trainer:
    """Runs optimiser steps over batches of examples; what is trained is whatever needs a gradient."""

    def __init__(self, model: nn.Module, settings: LoraSettings, device: torch.device) -> None:
        self.model, self.settings, self.device = model, settings, device
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.optimiser = torch.optim.AdamW(self.parameters, lr=settings.learning_rate, weight_decay=0.0)

    def step(self, batches: Sequence[Sequence[Example]], progress: Progress | None = None) -> float:
        """Take one optimiser step over ``batches``; return the mean loss.

        Raises:
            UserError: The loss is no longer finite.
        """
        self.model.train()
        total = 0.0
        for batch in batches:
            with self._precision():
                loss = self.loss(batch) / len(batches)
            loss.backward()
            total += float(loss.detach())
            if progress is not None:
                progress.check()
        if not total < float("inf"):
            raise UserError(_("Training diverged (non-finite values). Lower the learning rate."))
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return total

    def _precision(self) -> AbstractContextManager[Any]:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")

    def loss(self, batch: Sequence[Example]) -> Tensor:
        """Return the mean cross-entropy over answer tokens; prompts are padded at the left."""
        width, answer = max(len(one.ids) for one in batch), max(one.answer for one in batch)
        ids = torch.zeros(len(batch), width, dtype=torch.long)
        mask = torch.zeros(len(batch), width, dtype=torch.long)
        target = torch.full((len(batch), answer), IGNORED)
        for i, one in enumerate(batch):
            ids[i, width - len(one.ids) :] = torch.tensor(one.ids)
            mask[i, width - len(one.ids) :] = 1
            target[i, answer - one.answer :] = torch.tensor(one.ids[-one.answer :])
        positions = (mask.cumsum(1) - 1).clamp_min(0)
        logits = self.model(
            input_ids=ids.to(self.device),
            attention_mask=mask.to(self.device),
            position_ids=positions.to(self.device),
            logits_to_keep=answer + 1,
            use_cache=False,
        ).logits
        return F.cross_entropy(logits[:, :-1].float().flatten(0, 1), target.to(self.device).flatten())


def train_lora(
    model: PreTrainedModel,
    rows: Sequence[Example],
    settings: LoraSettings,
    *,
    device: torch.device,
    progress: Progress,
) -> tuple[PeftModel, LoraTraining]:
    """Train adapters on ``rows`` and return the model that carries them; ``model`` itself is used up.

    Raises:
        UserError: As `with_adapter` and `Trainer.step`.
        Cancelled: The user stopped; nothing is kept.
    """
    settings = settings.for_size(sum(p.numel() for p in model.parameters()))
    started = time.perf_counter()
    adapted = with_adapter(model, settings, device)
    trainer = Trainer(adapted, settings, device)
    training = LoraTraining(
        trainable=sum(p.numel() for p in trainer.parameters),
        quantised=bool(getattr(model, "is_loaded_in_4bit", False)),
    )
    random_ = random.Random(settings.seed)
    together = settings.batch * settings.accumulate
    done, total = 0, len(rows) * settings.epochs
    for _epoch in range(settings.epochs):
        order = random_.sample(range(len(rows)), len(rows))
        for start in range(0, len(order), together):
            part = [rows[i] for i in order[start : start + together]]
            part.sort(key=lambda one: len(one.ids))  # batches of one length waste nothing on padding
            batches = [part[i : i + settings.batch] for i in range(0, len(part), settings.batch)]
            training.losses.append(trainer.step(batches, progress))
            done += len(part)
            progress.report(done, total, stage=_("training"))
    adapted.eval()
    training.seconds = time.perf_counter() - started
    return adapted, training
