"""The slower fine-tune: the text embedder learns too, then what the fast way does on top.

The fast way is run first and measured. The embedder is then trained without each part of the rows that was
left out there, looked at after some steps, and a correction is fitted to its vectors under every recipe. How
many steps and which recipe, the rows left out say; each part is answered under what the others chose. Where
that is no better than the fast way on the same rows, the fast way's model is what is returned, unless the
fine-tuned text encoder is the way that was asked for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from numpy.typing import NDArray
from torch import Tensor

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.comparison import compare
from sce_desktop.core.errors import UserError
from sce_desktop.core.heads import NAMES, Way
from sce_desktop.core.i18n import _, ngettext, percent
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Epoch, OnEpoch, VectorCache
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.finetune.adapting import AdapterTrainer, adapted, why_not
from sce_desktop.ml.finetune.fitting import Examples
from sce_desktop.ml.finetune.heads import Heads
from sce_desktop.ml.finetune.held_out import parts_left_out, report_collapse, text_groups
from sce_desktop.ml.finetune.recipes import adapter_steps, choices
from sce_desktop.ml.finetune.standard import (
    CAUTION,
    LEAST_ROWS_TO_CALIBRATE,
    SECONDS_AFTER_STOP,
    Adapted,
    FineTuned,
    StopEarly,
    Strength,
    Trainer,
    distance,
    examples_of,
    finetune,
)
from sce_desktop.ml.finetune.temperature import fitted_temperature
from sce_desktop.ml.finetune.versions import with_correction, without_head
from sce_desktop.ml.sce.model import SCEModel


class _StoppableProgress:
    """Passes progress on, and raises `StopEarly` before a batch once the user asks to stop and keep."""

    def __init__(self, progress: Progress, go_on: Callable[[], bool]) -> None:
        self.report, self.warn = progress.report, progress.warn
        self._check, self._go_on = progress.check, go_on

    def check(self) -> None:
        self._check()
        if not self._go_on():
            raise StopEarly


def finetune_embedder(
    model: SCEModel,
    texts: Sequence[str],
    gold: Sequence[int],
    labels: Sequence[Label],
    *,
    measurable: NDArray[np.bool_] | None = None,
    settings: FinetuneSettings | None = None,
    cache: VectorCache | None = None,
    progress: Progress,
    on_epoch: OnEpoch | None = None,
) -> FineTuned:
    """Return what `ml.finetune.standard.finetune` does, the text embedder adapted where `_better` says so.

    Arguments are the same, and so is what it raises; ``on_epoch`` gets every step too. Where it returns
    False while rows are left out, the fast way's model is kept at once; while all rows are trained on, what
    there is by then, if as much was better on the rows left out: all of them are read once more for that.

    Raises:
        UserError: The model's embedder cannot be adapted, or PEFT is not installed.
    """
    if reason := why_not(model):
        raise UserError(reason)
    settings = settings or FinetuneSettings()

    def fast_epoch(epoch: Epoch) -> bool:  # what the fast way keeps is not the end yet
        return on_epoch is None or on_epoch(replace(epoch, stage="choosing"))

    fast = finetune(
        model,
        texts,
        gold,
        labels,
        measurable=measurable,
        settings=settings,
        cache=cache,
        progress=progress,
        on_epoch=fast_epoch,
    )
    started = time.perf_counter()
    work = _Work(model, texts, np.asarray(gold, dtype=np.int64), labels, settings, cache, progress, on_epoch)
    if fast.cut_short:
        result = work.unchanged(
            fast, _("Stopped before the text encoder was fine-tuned: the standard fine-tune is kept.")
        )
    elif not len(fast.measured):
        result = work.unchanged(
            fast, _("No validation rows for a fine-tuned text encoder: the standard fine-tune is kept.")
        )
    else:
        may = np.ones(len(texts), dtype=np.bool_) if measurable is None else measurable
        try:
            result = work.run(fast, may)
        except StopEarly:
            result = replace(
                work.unchanged(
                    fast,
                    _(
                        "Stopped before the text encoder was fine-tuned on all rows: the standard "
                        "fine-tune is kept."
                    ),
                ),
                cut_short=True,
            )
    return replace(result, seconds={**fast.seconds, "adapt": time.perf_counter() - started})


class _Work:
    """One fine-tune of the embedder; arguments as for `finetune_embedder`."""

    def __init__(
        self,
        model: SCEModel,
        texts: Sequence[str],
        gold: IdArray,
        labels: Sequence[Label],
        settings: FinetuneSettings,
        cache: VectorCache | None,
        progress: Progress,
        on_epoch: OnEpoch | None,
    ) -> None:
        self.model, self.texts, self.gold, self.labels = without_head(model), texts, gold, labels
        self.settings, self.cache, self.progress, self.on_epoch = settings, cache, progress, on_epoch
        self.looks = adapter_steps(len(texts), settings.epochs)
        self.recipes = choices(len(texts), len(np.unique(gold)))[0]
        self.done, self.all = 0, 0  # steps
        self.loss = 0.0  # of the last step

    def unchanged(self, fast: FineTuned, why: str) -> FineTuned:
        """Return the standard fine-tune; ``why``, in a sentence."""
        return replace(fast, adapted=Adapted(False, why, fast.after))

    def run(self, fast: FineTuned, may: NDArray[np.bool_]) -> FineTuned:
        """Return the better one of the fast way and the adapted embedder."""
        groups = text_groups(self.texts)
        random = np.random.default_rng(self.settings.seed)  # the parts are those of the fast way
        few, fold_of, parts = parts_left_out(self.gold, groups, may, random)
        measured = np.concatenate(parts)
        assert np.array_equal(measured, fast.measured)
        self.all = (len(parts) + 1) * self.looks[-1]
        by_part = [
            self._left_out(np.flatnonzero(fold_of != fold_of[rows[0]]), rows, number)
            for number, rows in enumerate(parts, 1)
        ]
        looks = min(len(one) for one in by_part)
        if not looks:
            return self.unchanged(
                fast,
                _("Training the text encoder diverged (non-finite values): the standard fine-tune is kept."),
            )
        scores = torch.stack([torch.cat([one[look] for one in by_part], 1) for look in range(looks)])
        gold = torch.from_numpy(self.gold[measured])
        judge = fold_of[measured] if few else groups[measured] % 2
        after = np.empty_like(fast.after)
        for part in np.unique(judge):
            others = judge != part if len(np.unique(judge)) > 1 else judge == part
            chosen = self._choose(scores[:, :, torch.from_numpy(others)], gold[others])[0]
            mine = torch.from_numpy(judge == part)
            after[judge == part] = self._answers(scores[:, :, mine], chosen)
        wanted = self.settings.head is Way.ADAPTED
        heads = replace(fast.heads, measured={**fast.heads.measured, Way.ADAPTED: after})
        fast = replace(fast, heads=heads)
        if not (wanted or _better(after, fast.after, self.gold[measured])):
            return self.unchanged(
                fast,
                _(
                    "A fine-tuned text encoder was no better on the validation rows: the standard "
                    "fine-tune is kept."
                ),
            )
        right, fast_right = (found.argmax(1) == self.gold[measured] for found in (after, fast.after))
        candidates = [
            one
            for one in self._choose(scores, gold)
            if wanted or _better(self._answers(scores, one), fast.after, self.gold[measured])
        ]
        made = self._keep(candidates, 0.0 if wanted else float(fast_right.mean()))
        if made is None:
            return self.unchanged(
                fast,
                _("The text encoder could not be fine-tuned on all rows: the standard fine-tune is kept."),
            )
        tuned, strength, losses, stopped = made
        report_collapse(self.gold[measured], after.argmax(1), self.labels, self.progress)
        beside = compare(fast_right, right).points
        used = wanted or self.settings.head is None
        return replace(
            fast,
            model=tuned if used else fast.model,
            after=after if used else fast.after,
            heads=self._heads(heads, tuned, fast.after, after, measured),
            recipe=strength.recipe,
            temperature=strength.temperature,
            calibrated=len(measured) >= LEAST_ROWS_TO_CALIBRATE,
            losses=losses,
            stopped=stopped,
            adapted=Adapted(
                True,
                ngettext(
                    "The text encoder was fine-tuned in {count} step. Against the standard "
                    "fine-tune: {difference}.",
                    "The text encoder was fine-tuned in {count} steps. Against the standard "
                    "fine-tune: {difference}.",
                    strength.steps,
                    difference=beside,
                ),
                fast.after,
                strength.steps,
            ),
        )

    def _heads(
        self, heads: Heads, tuned: SCEModel, fast: FloatArray, after: FloatArray, measured: IdArray
    ) -> Heads:
        """Return ``heads`` with the fine-tuned text encoder, chosen unless another way was asked for."""
        heads = replace(heads, adapted=tuned)
        if self.settings.head not in (None, Way.ADAPTED):
            return heads
        gold, name = self.gold[measured], _(NAMES[Way.ADAPTED])
        better = _better(after, fast, gold)
        why = _("{way}, as you asked for.", way=name)
        if self.settings.head is None:
            why = ngettext(
                "{way} ({accuracy}): no fewer of {count} validation row right than by {other} ({before}), "
                "and your labels more probable.",
                "{way} ({accuracy}): no fewer of {count} validation rows right than by {other} ({before}), "
                "and your labels more probable.",
                len(gold),
                way=name,
                accuracy=percent(float((after.argmax(1) == gold).mean()), 1),
                other=_(NAMES[heads.best]),
                before=percent(float((fast.argmax(1) == gold).mean()), 1),
            )
        return replace(heads, way=Way.ADAPTED, best=Way.ADAPTED if better else heads.best, reason=why)

    def _left_out(self, others: IdArray, rows: IdArray, number: int) -> list[Tensor]:
        """Return the scores (R, m, K) of ``rows`` after each look at an embedder that ``others`` train."""
        trainer = self._trainer(others)
        fits = Trainer(self.settings, self.progress, self.on_epoch)

        def go_on() -> bool:
            epoch = Epoch("choosing", trainer.steps, self.loss, None, number)
            return self.on_epoch is None or self.on_epoch(epoch)

        asking = _StoppableProgress(self.progress, go_on)
        found: list[Tensor] = []
        for look in self.looks:
            if not self._train(trainer, look, "adapting", number):
                break
            tuned = adapted(self.model, trainer.adapter())
            texts = [self.texts[row] for row in (*others, *rows)]
            vectors = tuned.text_embedder.encode(texts, progress=asking)
            both = np.concatenate([others, rows])
            examples = self._examples(tuned, vectors, both, trainer.steps)
            if examples is None:
                break
            places = np.arange(len(both))
            fitted = fits.fit(examples.part(places[: len(others)]), self.recipes)
            found.append(examples.part(places[len(others) :]).corrected(fitted.weights))
        self._reached(number * self.looks[-1])
        return found

    def _choose(self, scores: Tensor, gold: Tensor) -> list[Strength]:
        """Return the ways that explain ``gold`` (m,) by ``scores`` (looks, R, m, K), the best one first."""
        found = []
        for look, several in zip(self.looks, scores, strict=False):
            for recipe, one in zip(self.recipes, several, strict=True):
                self.progress.check()
                temperature, loss = fitted_temperature(one, gold)
                loss = len(gold) * loss + CAUTION * distance(recipe)
                found.append(Strength(recipe, temperature, len(gold), loss, look))
        return sorted(found, key=lambda one: one.loss)

    def _answers(self, scores: Tensor, strength: Strength) -> FloatArray:
        one = scores[self.looks.index(strength.steps), self.recipes.index(strength.recipe)]
        answers: FloatArray = F.softmax(one / strength.temperature, -1).numpy()
        return answers

    def _keep(
        self, candidates: Sequence[Strength], fast_right: float
    ) -> tuple[SCEModel, Strength, list[float], str] | None:
        """Return a model of all rows, made as the first of ``candidates`` that its training comes to."""
        if not candidates:
            return None
        strength, stopped = candidates[0], False
        trainer = self._trainer(np.arange(len(self.texts)))
        try:
            if not self._train(trainer, strength.steps, "keeping"):
                return None
        except StopEarly:
            reached = [one for one in candidates if one.steps <= trainer.steps]
            if not reached:
                raise
            strength, stopped = reached[0], True
        tuned = adapted(self.model, trainer.adapter())
        vectors = tuned.embed(self.texts, cache=self.cache, progress=self.progress)
        examples = self._examples(tuned, vectors, np.arange(len(self.texts)), trainer.steps)
        if examples is None:
            return None
        deadline = time.perf_counter() + SECONDS_AFTER_STOP if stopped else None
        last = Trainer(self.settings, self.progress).fit(
            examples, [strength.recipe], "keeping", deadline=deadline
        )
        found = examples.corrected(last.weights[0]).argmax(1).numpy()
        if (found == self.gold).mean() < fast_right:  # it learned from these: something went wrong
            return None
        known = [self.labels[place].name for place in np.unique(self.gold)]
        model = with_correction(
            tuned,
            known,
            last.weights[0] * tuned.config.temperature,
            examples=torch.bincount(examples.gold).tolist(),
            labels=self.labels,
            temperature=tuned.config.temperature * strength.temperature,
        )
        self._reached(self.all)
        return model, strength, [float(loss[0]) for loss in last.losses], last.stopped

    def _examples(self, tuned: SCEModel, vectors: FloatArray, rows: IdArray, steps: int) -> Examples | None:
        """Return ``rows`` as what is learned from; None where the embedder gives no numbers any more."""
        try:
            return examples_of(tuned, vectors, self.gold[rows], self.labels, self.progress)[0]
        except UserError:  # the base gave numbers: its weights have grown beyond what a model folder keeps
            self._warn(steps)
            return None

    def _warn(self, step: int) -> None:
        self.progress.warn(
            _(
                "Training the text encoder diverged (non-finite values) in step {step}: lower the "
                "learning rate.",
                step=step,
            )
        )

    def _trainer(self, rows: IdArray) -> AdapterTrainer:
        return AdapterTrainer(
            self.model,
            [self.texts[row] for row in rows],
            self.gold[rows],
            self.labels,
            rate=self.settings.lr,
            seed=self.settings.seed,
            balanced=self.settings.balanced,
        )

    def _train(
        self, trainer: AdapterTrainer, until: int, stage: Literal["adapting", "keeping"], fold: int = 0
    ) -> bool:
        """Train until so many steps are done; return False where the loss is no number any more."""
        while trainer.steps < until:
            self.progress.check()
            loss = trainer.step(self.progress)
            if not math.isfinite(loss):
                self._warn(trainer.steps + 1)
                return False
            self.loss = loss
            self._reached(self.done + 1)
            if self.on_epoch is not None and not self.on_epoch(Epoch(stage, trainer.steps, loss, None, fold)):
                raise StopEarly
        return True

    def _reached(self, steps: int) -> None:
        self.done = steps
        self.progress.report(min(steps, self.all), self.all, stage=_("fine-tuning the text encoder"))


def _better(after: FloatArray, fast: FloatArray, gold: IdArray) -> bool:
    """Whether ``after`` (m, K) is right no less often than ``fast``, and ``gold`` more probable by it.

    That is enough to prefer it and shows no difference: what is claimed says the exact test (`compare`).
    """
    rows = np.arange(len(gold))
    tiny = np.finfo(np.float32).tiny
    gain = np.log(np.maximum(after[rows, gold], tiny)) - np.log(np.maximum(fast[rows, gold], tiny))
    no_fewer = (after.argmax(1) == gold).sum() >= (fast.argmax(1) == gold).sum()
    return bool(no_fewer and gain.sum() > CAUTION)
