"""The training loop, readable from top to bottom."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.ml.sce.sce import MASKED, SCE, LabelVectors
from sce_desktop.research.pretrain.calibrate import null_logits
from sce_desktop.research.pretrain.config import OptimConfig, PretrainConfig
from sce_desktop.research.pretrain.dual_encoder import DualEncoder, TrainedDualEncoder, to_device
from sce_desktop.research.pretrain.prefetch import drawn
from sce_desktop.research.pretrain.ranks import Ranks
from sce_desktop.research.pretrain.sampler import UNKNOWN, Batch, Sampler
from sce_desktop.research.pretrain.sets import ValidationSet
from sce_desktop.research.pretrain.teacher import Teacher, distillation


@dataclass
class Trace:
    """What a training run leaves to read: one entry a validation, newest last."""

    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    accuracies: list[dict[str, dict[str, float]]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Before:
    """Vectors of all texts and labels before training, for the loss that keeps them near (float16)."""

    texts: Tensor
    labels: Tensor


class Average:
    """Moving average of the trained weights; evaluation and the saved model use it."""

    def __init__(self, parameters: list[nn.Parameter], decay: float) -> None:
        self.parameters, self.decay = parameters, decay
        self.values = [p.detach().clone() for p in parameters]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Move towards the present weights; early steps count more."""
        decay = min(self.decay, (1 + step) / (10 + step))
        torch._foreach_lerp_(self.values, [p.detach() for p in self.parameters], 1 - decay)

    @torch.no_grad()
    def swap(self) -> None:
        """Exchange the average and the present weights."""
        for value, parameter in zip(self.values, self.parameters, strict=True):
            keep = parameter.detach().clone()
            parameter.copy_(value)
            value.copy_(keep)


def learning_rate_factor(step: int, config: OptimConfig) -> float:
    """Return the share of the learning rate at ``step``: linear warm-up, then half a cosine to zero."""
    warm = min(1.0, (step + 1) / max(1, config.warmup))
    return warm * 0.5 * (1 + math.cos(math.pi * min(1.0, step / max(1, config.steps))))


class Trainer:
    """Holds what a step needs. ``encoder`` is None where the embedder stays frozen."""

    def __init__(
        self,
        config: PretrainConfig,
        head: SCE,
        dual_encoder: DualEncoder,
        sampler: Sampler,
        *,
        encoder: nn.Module | None,
        validation: list[ValidationSet],
        before: Before | None = None,
        teacher: Teacher | None = None,
        device: torch.device,
    ) -> None:
        self.config, self.head, self.dual_encoder, self.sampler = config, head, dual_encoder, sampler
        self.encoder, self.validation, self.before, self.device = encoder, validation, before, device
        self.teacher = teacher if config.optim.teacher_loss else None
        c = config.optim
        groups = [{"params": _trained(head), "lr": c.head_learning_rate}]
        if encoder is not None:
            groups.append({"params": _trained(encoder), "lr": c.learning_rate})
        self.optimizer = torch.optim.AdamW(
            groups, weight_decay=c.weight_decay, fused=device.type == "cuda", betas=(0.9, 0.98)
        )
        self.rates = [g["lr"] for g in self.optimizer.param_groups]
        self.parameters = [p for g in self.optimizer.param_groups for p in g["params"]]
        self.average = Average(self.parameters, c.average) if c.average else None
        self.half = use_half(config, device)
        self.step_number = 0
        self.batches: Iterator[Batch] = iter(())
        self.trace = Trace()
        self.ranks: Ranks | None = None  # the processes that train together with this one

    def run(
        self,
        progress: Progress,
        *,
        save: Callable[[], None] | None = None,
        log: Callable[[str], None] = lambda line: None,
    ) -> bool:
        """Train to the end or until time or patience is over. Returns whether training is finished.

        Raises UserError at the first look after a loss that is not finite: looking at each would make the
        GPU wait for every step.
        """
        workers = self.config.run.workers if self.device.type == "cuda" else 0
        with drawn(self.sampler, start=self.step_number, workers=workers) as self.batches:
            return self._run(progress, save, log)

    def _run(self, progress: Progress, save: Callable[[], None] | None, log: Callable[[str], None]) -> bool:
        run, steps = self.config.run, self.config.optim.steps
        started, best, stale = time.monotonic(), -1.0, 0
        recent: list[Tensor] = []
        while self.step_number < steps:
            progress.check()
            recent.append(self.step())
            n = self.step_number
            if n % run.validate_every == 0 or n == steps:
                mean_loss = torch.stack(recent).mean()
                loss = (mean_loss if self.ranks is None else self.ranks.mean(mean_loss)).item()
                recent = []
                if not math.isfinite(loss):
                    raise UserError(f"Training stopped at step {n}: the loss is no longer a finite number.")
                result = self.validate()
                self.trace.steps.append(n)
                self.trace.losses.append(loss)
                self.trace.accuracies.append(result)
                self.trace.seconds.append(time.monotonic() - started)
                log(f"step {n} loss {loss:.4f} {summary(result)} {time.monotonic() - started:.0f} s")
                mean = mean_accuracy(result)
                stale = 0 if mean > best else stale + 1
                best = max(best, mean)
                if run.patience and stale >= run.patience:
                    log(f"no better for {stale} validations: stopped at step {n}")
                    return True
            progress.report(n, steps, stage="Training")
            if save is not None and n % run.save_every == 0 and n < steps:
                save()
            leads = self.ranks is None or self.ranks.rank == 0
            if leads and run.stop_after_minutes and time.monotonic() - started > 60 * run.stop_after_minutes:
                if save is not None:
                    save()
                return self.step_number >= steps
        return True

    def step(self) -> Tensor:
        """Draw a batch, step once, return the loss (on the device, so that nothing waits)."""
        c = self.config.optim
        batch = next(self.batches)
        if self.ranks is not None:
            batch = self.ranks.share(batch)
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * learning_rate_factor(self.step_number, c)
        self.head.train()
        if self.encoder is not None:
            self.encoder.train()
        loss = self.loss(batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if self.ranks is not None:
            self.ranks.mean_gradients(self.parameters)
        for group in self.optimizer.param_groups:
            nn.utils.clip_grad_norm_(group["params"], c.clip, foreach=True)
        self.optimizer.step()
        self.step_number += 1
        if self.average is not None:
            self.average.update(self.step_number)
        return loss.detach()

    def loss(self, batch: Batch) -> Tensor:
        """Cross-entropy of the SCE's scores, and of its cosine part, and what keeps vectors near."""
        c = self.config.optim
        p, t = batch.texts.shape
        flat = batch.texts.reshape(-1)
        used, place = np.unique(np.maximum(batch.labels, 0), return_inverse=True)
        mask = to_device(batch.mask, self.device)
        right = to_device(batch.right, self.device).flatten()
        at = to_device(place.reshape(batch.labels.shape), self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            q, each = self.dual_encoder.vectors(flat, self._lengths(batch), used)
        q, kept = q.float(), self._keep_loss(q, flat, each, used)
        if c.noise:
            q = F.normalize(q + c.noise * torch.randn_like(q) / q.shape[1] ** 0.5, dim=-1)
        q = q.view(p, t, -1)
        sentence = None if each.sentence is None else each.sentence.float()[at]
        labels = LabelVectors(each.tokens.float()[at], sentence)
        scores = self.head.grouped(q, labels, mask)
        judged = [(1.0, scores)]
        if c.cosine_loss and self.config.model.architecture == "plus":
            judged.append((c.cosine_loss, self.head.cosine(q, labels).masked_fill(~mask, MASKED)))
        loss = sum((w * _cross_entropy(s, right) for w, s in judged), start=torch.as_tensor(kept))
        if self.teacher is not None:
            targets = self.teacher.scores(batch, temperature=c.teacher_temperature)
            for weight, own in judged:
                apart = distillation(own, targets, mask, temperature=c.teacher_temperature)
                loss = loss + c.teacher_loss * weight * apart
        if self.config.model.says_none and c.none_loss:
            loss = loss + c.none_loss * (
                self._none_loss(q, labels, mask, right) + self._yes_loss(q, labels, mask, right)
            )
        return loss

    def _none_loss(self, q: Tensor, labels: LabelVectors, mask: Tensor, right: Tensor) -> Tensor:
        # Some labels of each group are taken away; texts that lose theirs fit none.
        gone = torch.rand(mask.shape[0], 1, mask.shape[2], device=self.device) < 0.4
        left = mask & ~gone
        known = right.view(mask.shape[:2]) != UNKNOWN
        none = ~left.gather(2, right.clamp_min(0).view(*mask.shape[:2], 1))[..., 0]
        judged = left.any(2) & known
        left = left | ~left.any(2, keepdim=True)
        logit = self.head.none(self.head.passed(q, labels, left))
        return _balanced(logit, none, judged)

    def _yes_loss(self, q: Tensor, labels: LabelVectors, mask: Tensor, right: Tensor) -> Tensor:
        places = right.view(mask.shape[:2])
        yes = F.one_hot(places.clamp_min(0), mask.shape[2]).bool()
        return _balanced(self.head.yes(q, labels), yes, mask & (places != UNKNOWN)[..., None])

    def _lengths(self, batch: Batch) -> np.ndarray | None:
        # Some texts are read to a shorter length, as a title or a first sentence would be.
        if not isinstance(self.dual_encoder, TrainedDualEncoder):
            return None
        whole = self.dual_encoder.tokens.lengths[batch.texts.reshape(-1)]
        least = np.minimum(whole, 8)
        return least + ((whole - least) * batch.kept.reshape(-1)).astype(np.int64)

    def _keep_loss(self, q: Tensor, rows: np.ndarray, each: LabelVectors, used: np.ndarray) -> Tensor | float:
        weight = self.config.optim.keep_loss
        if not weight or self.before is None or each.sentence is None:
            return 0.0
        old_q = self.before.texts[to_device(rows, self.device)].float()
        old_g = self.before.labels[to_device(used, self.device)].float()
        apart = 2 - (q.float() * old_q).sum(-1).mean() - (each.sentence.float() * old_g).sum(-1).mean()
        return weight * apart

    @torch.no_grad()
    def validate(self) -> dict[str, dict[str, float]]:
        """Return accuracy in per cent by set, of the SCE and of its cosine part, with averaged weights."""
        self.head.eval()
        if self.encoder is not None:
            self.encoder.eval()
        if self.average is not None:
            self.average.swap()
        try:
            if self.ranks is None:
                return {one.name: self._accuracy(one) for one in self.validation}
            part = {one.name: self._accuracy(one) for one in self.ranks.part(self.validation)}
            found = self.ranks.merged(part)
            return {one.name: found[one.name] for one in self.validation}
        finally:
            if self.average is not None:
                self.average.swap()

    def _none_measures(self, q: Tensor, labels: LabelVectors, right: Tensor) -> dict[str, float]:
        # AUROC in per cent of texts without their own label against the same texts with it; of a text's right
        # label against its others by yes/no alone.
        from sklearn.metrics import roc_auc_score

        fits, lacks = null_logits(self.head, q, labels, right)
        yes, own = self.head.yes(q, labels), F.one_hot(right, len(labels.tokens))
        found = {
            "none": (torch.cat([lacks, fits]), torch.arange(2).repeat_interleave(len(q)) == 0),
            "yes": (yes.ravel(), own.ravel()),
        }
        return {
            name: 100 * float(roc_auc_score(positive.cpu(), logits.cpu()))
            for name, (logits, positive) in found.items()
        }

    def _accuracy(self, one: ValidationSet) -> dict[str, float]:
        right = torch.tensor(one.right, device=self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            q, labels = self.dual_encoder.vectors(np.array(one.texts), None, np.array(one.labels))
        sentence = None if labels.sentence is None else labels.sentence.float()
        labels, q = LabelVectors(labels.tokens.float(), sentence), q.float()
        scores = torch.cat([self.head(part, labels) for part in q.split(256)])
        found = {"sce": 100 * (scores.argmax(1) == right).float().mean().item()}
        if self.config.model.says_none:
            found |= self._none_measures(q, labels, right)
        if self.config.model.architecture == "plus":
            cosine = self.head.cosine(q, labels)
            found["cosine"] = 100 * (cosine.argmax(1) == right).float().mean().item()
        return found


def _cross_entropy(scores: Tensor, right: Tensor) -> Tensor:
    """Return the mean over texts whose right label is known, 0 where there is none."""
    whole = F.cross_entropy(scores.flatten(0, 1), right, ignore_index=UNKNOWN, reduction="sum")
    return whole / (right != UNKNOWN).sum().clamp_min(1)


def _balanced(logit: Tensor, target: Tensor, judged: Tensor) -> Tensor:
    """Return the binary cross-entropy over ``judged`` entries, as if half of them were positive."""
    each = F.binary_cross_entropy_with_logits(logit, target.float(), reduction="none")
    sides = (target & judged, ~target & judged)
    return torch.stack([(each * side).sum() / side.sum().clamp_min(1) for side in sides]).mean()


def use_half(config: PretrainConfig, device: torch.device) -> bool:
    """Return whether the encoder computes in bfloat16: on a GPU, unless the configuration says otherwise."""
    wanted = config.optim.precision
    return wanted == "bfloat16" or (wanted == "auto" and device.type == "cuda")


def mean_accuracy(result: Mapping[str, Mapping[str, float]], kind: str = "sce") -> float:
    """Return the mean over sets, 0 where there are none."""
    return float(np.mean([r[kind] for r in result.values()])) if result else 0.0


def summary(result: Mapping[str, Mapping[str, float]]) -> str:
    """Return the means over validation sets in one line."""
    kinds = dict.fromkeys(k for r in result.values() for k in r)
    return " ".join(f"{k} {mean_accuracy(result, k):.2f}" for k in kinds)


def _trained(module: nn.Module) -> list[nn.Parameter]:
    return [p for p in module.parameters() if p.requires_grad]
