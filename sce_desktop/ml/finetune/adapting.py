"""Training of the text embedder itself on labelled rows: LoRA on its attention, by PEFT.

Texts and labels go through the same embedder, so both move; the loss is the cross entropy of the scores over
the label set. The label encoder stays as it is (docs/research/fine-tune.md). What was
learned is two small matrices a map, A and B, whose product is added to the weights (`adapted`): the result is
an ordinary model.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.ml.encoder.bert import TextEncoder
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.finetune.recipes import ADAPTER_BATCH, AdapterPace
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.model_config import wordings_of
from sce_desktop.ml.sce.sce import LabelVectors

RANK = 8
SCALE = 2.0
"""Multiplies the product of the matrices: an alpha of twice the rank."""
TARGETS = ("qkv", "out")
"""What attention consists of in an `EncoderLayer`: queries, keys and values in one map, and its output."""
RATE = 1e-3
WARM_UP = 10  # steps
MOST_LABELS = 128
"""Of so many labels a step takes part; of a larger set those of its rows, and others at random."""

TRIALS = 2  # the first finds its buffers to be made, as many steps do: lengths differ
KEPT_WIDTHS = 15
"""Vectors of the model's width that a layer keeps of a token: what enters and leaves its maps and norms."""

MOST_TOKENS = 2048
"""Of texts that go through the encoder at once, for memory and so that a cancel need not wait long."""

Adapter = Mapping[str, tuple[Tensor, Tensor]]
"""A (r, in) and B (out, r) by the name of the map in the encoder; `SCALE` B A is added to its weight."""


def why_not(model: object) -> str:
    """Return why the embedder of ``model`` cannot be adapted, in one sentence; empty if it can."""
    if not isinstance(model, SCEModel) or model.tokenizer is None:
        return _("The text encoder of this model cannot be fine-tuned: choose sce-mini or another SCE.")
    if importlib.util.find_spec("peft") is None:
        return _("Fine-tuning the text encoder needs the package peft: install it (pip install peft).")
    if model.adapter:
        return _("The text encoder of this model is already fine-tuned: start from its base model.")
    return ""


@torch.no_grad()
def adapted(base: SCEModel, adapter: Adapter) -> SCEModel:
    """Return ``base`` with ``adapter`` added to the weights of its embedder; the two share all others.

    The sums are rounded to what a model folder keeps, from more digits than any order of adding changes: the
    numbers are the same on every machine and after an export, so that cached vectors are found again.

    Raises:
        ValueError: The adapter was made for another encoder, or ``base`` has one already: its weights are
            rounded with it, so that no adapter says what both have changed.
    """
    if base.adapter:
        raise ValueError("the embedder has been adapted already")
    encoder = _sharing(base.embedder)
    maps = dict(encoder.named_modules())
    for name, (a, b) in adapter.items():
        found = maps.get(name)
        if not isinstance(found, nn.Linear) or found.weight.shape != (b.shape[0], a.shape[1]):
            raise ValueError(f"no map {name} for the adapter")
        whole = found.weight.double().cpu() + SCALE * b.double().cpu() @ a.double().cpu()
        found.weight = nn.Parameter(whole.half().float().to(base.device), requires_grad=False)
    own = base.config.token_table == "own"
    model = SCEModel(
        replace(base.config, weight_bits=16),  # int8 would round away what was learned
        encoder,
        base.head,
        base.tokenizer,
        label_tokens=base.label_tokens if own else None,
        label_tokenizer=base.label_tokenizer if own else None,
        precision=base.precision,
    )
    model.correction = base.correction
    model.adapter = dict(adapter)
    return model.eval()


def _sharing(encoder: TextEncoder) -> TextEncoder:
    """Return an encoder of its own on the weights of ``encoder``."""
    with torch.device("meta"):
        copy = TextEncoder(encoder.config)
    copy.load_state_dict(encoder.state_dict(), assign=True)
    return copy.requires_grad_(False).eval()


class AdapterTrainer:
    """Trains an adapter for the embedder of ``model``, which stays as it is, step by step.

    Args:
        model: An SCE with a text encoder of its own (`why_not`).
        texts: To learn from; read as far as the model reads.
        gold: The place of each text's label (n,) in ``labels``.
        labels: All of them.
        rate: Multiplies `RATE`.
        seed: Of the adapter and of the order of the rows.
        balanced: Rare labels count as much as frequent ones.
        encoder: What is trained; None: the model's own with an adapter that PEFT puts in.
    """

    def __init__(
        self,
        model: SCEModel,
        texts: Sequence[str],
        gold: IdArray,
        labels: Sequence[Label],
        *,
        rate: float = 1.0,
        seed: int = 0,
        balanced: bool = True,
        encoder: TextEncoder | None = None,
    ) -> None:
        old = model.text_embedder
        assert isinstance(old, NativeEmbedder)
        self.model, self.labels, self.rate = model, labels, rate * RATE
        self.encoder = encoder or _with_adapter(_sharing(model.embedder), seed)
        self.reader = NativeEmbedder(
            self.encoder,
            old.tokenizer,
            name=old.name,
            max_tokens=old.max_tokens,
            prompt=old.prompt,
            lower_case=old.lower_case,
        )
        self.texts = self.reader.token_ids(texts)
        wordings = [wordings_of(label) for label in labels]
        self.wordings = [self.reader.token_ids(one) for one in wordings]
        self._tokens = model.label_vectors(labels).tokens.clone()  # out of inference mode
        self._gold = gold
        counts = np.bincount(gold, minlength=len(labels))
        some = np.count_nonzero(counts)
        each = len(gold) / (some * np.maximum(counts, 1)) if balanced else np.ones(len(labels))
        self._weights = torch.from_numpy(each[gold]).float().to(model.device)
        self._random = np.random.default_rng(seed)
        self._order: list[int] = []  # rows of this pass that are still to come
        self.trained = [p for p in self.encoder.parameters() if p.requires_grad]
        self._optimiser = torch.optim.AdamW(self.trained, lr=self.rate, weight_decay=0.0)
        self.steps = 0

    def step(self, progress: Progress | None = None) -> float:
        """Learn from the next rows and return their loss; where that is no number nothing is learned."""
        loss, slopes = self.slopes(progress)
        if not math.isfinite(loss):
            return loss
        for parameter, slope in zip(self.trained, slopes, strict=True):
            parameter.grad = slope
        nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.steps += 1
        self._optimiser.param_groups[0]["lr"] = self.rate * min(1.0, self.steps / WARM_UP)
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        return loss

    def slopes(self, progress: Progress | None = None) -> tuple[float, Sequence[Tensor]]:
        """Return the loss of the next rows and its slopes; none has the label encoder, which others use.

        Long texts go through in several parts, which bounds the memory; `Progress.check` before each.
        """
        rows = self._next_rows()
        columns = self.columns(rows)
        loss, slopes = 0.0, [torch.zeros_like(one) for one in self.trained]
        for part in self._parts(rows):
            if progress is not None:
                progress.check()
            with torch.enable_grad():
                share = self._loss(part, columns) * (len(part) / len(rows))
                for summed, one in zip(slopes, torch.autograd.grad(share, self.trained), strict=True):
                    summed += one
            loss += float(share.detach())
        return loss, slopes

    def _parts(self, rows: IdArray) -> list[IdArray]:
        """Cut ``rows`` into parts of about `MOST_TOKENS` each."""
        tokens = np.cumsum([len(self.texts[row]) for row in rows])
        cuts = np.flatnonzero(np.diff((tokens - 1) // MOST_TOKENS)) + 1
        return np.split(rows, cuts)

    def adapter(self) -> Adapter:
        """Return what was learned so far."""
        return {
            name: (
                module.lora_A["default"].weight.detach().clone(),
                module.lora_B["default"].weight.detach().clone(),
            )
            for name, module in self.encoder.named_modules()
            if hasattr(module, "lora_A")
        }

    def _loss(self, rows: IdArray, columns: IdArray) -> Tensor:
        wordings = [self.wordings[k] for k in columns]
        ids = [self.texts[row] for row in rows] + [one for several in wordings for one in several]
        order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
        vectors = self.reader.vectors([ids[i] for i in order])[np.argsort(order)]
        q, rest = vectors[: len(rows)], vectors[len(rows) :]
        sentences = [F.normalize(one.mean(0), dim=0) for one in rest.split([len(one) for one in wordings])]
        scores = self.model.head(q, LabelVectors(self._tokens[columns], torch.stack(sentences)))
        if self.model.correction is not None:
            scores = scores + self.model.correction(q, [self.labels[k] for k in columns])
        gold = torch.from_numpy(np.searchsorted(columns, self._gold[rows])).to(scores.device)
        losses = F.cross_entropy(scores / self.model.config.temperature, gold, reduction="none")
        return (losses * self._weights[rows]).mean()

    def _next_rows(self) -> IdArray:
        size = min(ADAPTER_BATCH, len(self.texts))
        while len(self._order) < size:
            self._order += self._random.permutation(len(self.texts)).tolist()
        taken, self._order = self._order[:size], self._order[size:]
        return np.unique(taken)

    def columns(self, rows: IdArray) -> IdArray:
        """Return the labels that take part in a step, in their order."""
        count = len(self.labels)
        if count <= MOST_LABELS:
            return np.arange(count)
        others = self._random.permutation(count)[:MOST_LABELS]
        return np.union1d(self._gold[rows], others)


def pace_of(
    model: SCEModel, texts: Sequence[str], labels: Sequence[Label], progress: Progress
) -> AdapterPace:
    """Time a step on rows such as ``texts``, and how long one is read. Nothing is learned.

    The maps themselves stand in for the adapter beside them: PEFT, which takes seconds to come in, need not.
    """
    encoder = _sharing(model.embedder)
    for layer in encoder.layers:
        for name in TARGETS:
            layer.get_submodule(name).requires_grad_(True)
    trainer = AdapterTrainer(model, texts, np.zeros(len(texts), dtype=np.int64), labels, encoder=encoder)
    steps, reads = [], []
    for _trial in range(TRIALS):
        begin = time.perf_counter()
        trainer.slopes(progress)
        steps.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        model.text_embedder.encode(texts)
        reads.append((time.perf_counter() - begin) / len(texts))
    longest = max(len(one) for one in trainer.texts)
    label_tokens = sum(len(one) for several in trainer.wordings[:MOST_LABELS] for one in several)
    tokens = min(ADAPTER_BATCH * longest, MOST_TOKENS + longest) + label_tokens
    return AdapterPace(
        sum(steps) / TRIALS,
        sum(reads) / TRIALS,
        tokens * encoder.config.num_hidden_layers * _token_bytes(encoder),
    )


def _token_bytes(encoder: TextEncoder) -> int:
    """Return what a layer keeps of a token for the way back."""
    config = encoder.config
    return 4 * (KEPT_WIDTHS * config.hidden_size + 2 * config.intermediate_size)


def _with_adapter(encoder: TextEncoder, seed: int) -> TextEncoder:
    """Put untrained matrices beside the maps of ``encoder``: as they are they change nothing."""
    from peft import LoraConfig, inject_adapter_in_model

    config = LoraConfig(r=RANK, lora_alpha=int(SCALE * RANK), lora_dropout=0.0, target_modules=list(TARGETS))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        result = inject_adapter_in_model(config, encoder)
    assert isinstance(result, TextEncoder)
    return result
