"""Fine-tune an SCE on rows with the label that a person gave them: what is measured, chosen and made.

The strength is chosen by cross-validation on the training rows, a temperature comes from the same, and before
and after are compared on rows that the compared correction has not seen: held out where there are many rows,
out of fold where there are few. The model that is returned is fitted on all of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Epoch, OnEpoch, VectorCache
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.finetune.fitting import Examples, Fitted, Fitter
from sce_desktop.ml.finetune.heads import Heads, Opinions, decide
from sce_desktop.ml.finetune.held_out import (
    folds,
    parts_left_out,
    report_collapse,
    report_contradictions,
    text_groups,
)
from sce_desktop.ml.finetune.logistic import Logistic, fit_logistic
from sce_desktop.ml.finetune.recipes import CAUTIOUS, FEW, FOLDS, MANY, Recipe, choices
from sce_desktop.ml.finetune.temperature import fitted_temperature
from sce_desktop.ml.finetune.versions import in_way, with_correction, without_head
from sce_desktop.ml.sce.model import SCEModel

CAUTION = 2.0
"""How much better, in nats, another recipe must explain rows left out, for each squared unit of its logs."""
LEAST_ROWS_TO_CALIBRATE = 50
"""From so many rows on the temperature counts as fitted."""
SECONDS_AFTER_STOP = 1.0
"""How long the fit that is kept may still take once the user asked to stop and keep."""


class StopEarly(Exception):  # noqa: N818 - no error: the user wants what there is
    """The user asked to stop and keep."""


@dataclass(frozen=True, slots=True)
class Adapted:
    """What adapting the text embedder brought, on the rows that were measured.

    ``kept``: the model's embedder is the adapted one, trained for ``steps``; else the model is that of the
    fast way. ``fast``: the probabilities (m, K) of that, to compare with. ``sentence`` tells it.
    """

    kept: bool
    sentence: str
    fast: FloatArray
    steps: int = 0


@dataclass(frozen=True, slots=True)
class FineTuned:
    """A fine-tuned model, and what it was measured by.

    ``measured`` are places among the rows given; ``before`` and ``after`` their probabilities (m, K) over the
    labels given, by models that had not seen them; ``logistic`` those of a logistic regression on the same
    text vectors, fitted on the same rows as the correction. ``heads``: the ways in which the model could
    predict, and why it does as it does. ``losses``: of the last fit, by epoch.
    ``untested``: names of labels of which no row could be measured, for want of texts or of rows that may be.
    ``cut_short``: the user stopped it, so that fewer rows may have been measured than could have been.
    ``adapted``: None where the text embedder was left as it is from the start.
    """

    model: SCEModel
    measured: IdArray
    before: FloatArray
    after: FloatArray
    logistic: FloatArray
    heads: Heads
    cross_validated: bool
    train_rows: int  # rows that the compared correction was fitted on; all of them when cross-validated
    recipe: Recipe
    temperature: float
    calibrated: bool
    losses: list[float]
    stopped: str
    untested: tuple[str, ...] = ()
    cut_short: bool = False
    adapted: Adapted | None = None
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Strength:
    """A recipe and the temperature that goes with it, found on ``rows`` left out, with their summed loss.

    ``steps``: for how long the text embedder is trained before.
    """

    recipe: Recipe
    temperature: float
    rows: int
    loss: float
    steps: int = 0


class Trainer:
    """Fits one correction after the other under the same settings, and can be cancelled at every epoch."""

    def __init__(
        self, settings: FinetuneSettings, progress: Progress, on_epoch: OnEpoch | None = None
    ) -> None:
        self.settings = settings
        self.progress = progress
        self.random = np.random.default_rng(settings.seed)
        self._on_epoch = on_epoch
        self.fits, self.all_fits = 0, 0  # done and foreseen; 0: not reported

    def fit(
        self,
        examples: Examples,
        recipes: Sequence[Recipe],
        stage: Literal["choosing", "measuring", "keeping"] = "choosing",
        *,
        held_out: Examples | None = None,
        fold: int = 0,
        deadline: float | None = None,
    ) -> Fitted:
        """Fit to ``examples`` under each of ``recipes``.

        Args:
            examples: To learn from.
            recipes: How strongly.
            stage: What for; a stop ends what is kept where it is, and all other work at once.
            held_out: Rows to be watched.
            fold: Which ones these are, from 1.
            deadline: When to end, by `time.perf_counter`; nobody is asked any more then.
        """

        def watch(epoch: int, loss: float, apart: float | None) -> bool:
            self.progress.check()
            if deadline is not None:
                return time.perf_counter() < deadline
            if self._on_epoch is None or self._on_epoch(Epoch(stage, epoch, loss, apart, fold)):
                return True
            if stage != "keeping":
                raise StopEarly
            return False

        self.progress.check()
        fitter = Fitter(examples, balanced=self.settings.balanced)
        fitted = fitter.fit(
            recipes, epochs=self.settings.epochs, lr=self.settings.lr, on_epoch=watch, held_out=held_out
        )
        self.reached(self.fits + 1)
        return fitted

    def reached(self, fits: int) -> None:
        """Tell that so many fits are done."""
        self.fits = min(fits, self.all_fits)
        if self.all_fits:
            self.progress.report(self.fits, self.all_fits, stage=_("fine-tuning"))

    def choose(self, examples: Examples, groups: IdArray, may: NDArray[np.bool_] | None = None) -> Strength:
        """Return the recipe under which rows left out are most probable, by cross-validation.

        Only rows that ``may`` (n,) be measured on are left out; None: all.
        """
        tried = self.tried(examples, groups, may)
        return min(tried, key=lambda one: one.loss + CAUTION * distance(one.recipe))

    def tried(
        self, examples: Examples, groups: IdArray, may: NDArray[np.bool_] | None = None
    ) -> list[Strength]:
        """Return how well each recipe explains rows left out.

        Where none can be left out it is `FEW` alone, or `CAUTIOUS` if that is for want of rows that may be.
        """
        may = np.ones(len(groups), dtype=np.bool_) if may is None else may
        recipes, parts = choices(len(examples), len(examples.labels))
        fold_of = folds(examples.gold.numpy(), groups, parts, self.random, may)
        left_out = torch.from_numpy(np.flatnonzero(may & (fold_of >= 0)))
        if not len(left_out):
            return [Strength(FEW if may.all() else CAUTIOUS, 1.0, 0, 0.0)]
        scores = examples.scores.repeat(len(recipes), 1, 1)
        for fold in range(int(fold_of.max()) + 1):
            tested = np.flatnonzero(may & (fold_of == fold))
            if not len(tested):
                continue
            fitted = self.fit(examples.part(np.flatnonzero(fold_of != fold)), recipes)
            scores[:, torch.from_numpy(tested)] = examples.part(tested).corrected(fitted.weights)
        gold = examples.known[examples.gold[left_out]]
        tried = []
        for recipe, mine in zip(recipes, scores, strict=True):
            temperature, loss = fitted_temperature(mine[left_out], gold)
            tried.append(Strength(recipe, temperature, len(gold), len(gold) * loss))
        return tried


def distance(recipe: Recipe) -> float:
    """Return how far ``recipe`` is from the cautious one: squared, in logarithms."""
    return math.log(recipe.hold / CAUTIOUS.hold) ** 2 + math.log(recipe.ridge / CAUTIOUS.ridge) ** 2


def finetune(
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
    """Return ``model`` with a correction for every label that has examples; ``model`` stays as it is.

    Args:
        model: What to start from; it may be the result of a fine-tune.
        texts: Not blank.
        gold: The place of each text's label in ``labels``.
        labels: All of them, those without examples too: they keep their scores.
        measurable: (n,) which texts may be measured on; the others are learned from alone: neither the
            strength nor the temperature is chosen by them. None: all.
        settings: See `core.training.FinetuneSettings`.
        cache: Of text vectors.
        progress: Told of embedding and fitting; asked every epoch whether to go on.
        on_epoch: Told of every epoch; where it returns False no more is measured, and the model is fitted on
            all rows as well as a second allows.

    Raises:
        UserError: Fewer than two labels have examples, or the model gives no numbers for a text.
        Cancelled: The user stopped.
    """
    settings = settings or FinetuneSettings()
    answers = np.asarray(gold, dtype=np.int64)
    some = np.unique(answers)
    _check(settings, some, labels)
    may = np.ones(len(texts), dtype=np.bool_) if measurable is None else measurable
    groups = text_groups(texts)
    report_contradictions(groups, answers, progress)
    started = time.perf_counter()
    vectors = model.embed(texts, cache=cache, progress=progress)
    embedded = time.perf_counter()
    start = without_head(model)
    every, before = examples_of(start, vectors, answers, labels, progress)
    if start is not model:
        before = model.score(vectors, labels, progress=progress).probabilities
    trainer = Trainer(settings, progress, on_epoch)
    few, fold_of, tested = parts_left_out(answers, groups, may, trainer.random)
    trainer.all_fits = len(tested) * (FOLDS + 1) + few * FOLDS + 1
    sce, logistic = before.copy(), np.zeros((len(texts), len(some)), dtype=np.float32)
    strength = Strength(CAUTIOUS, 1.0, 0, 0.0)
    done: list[IdArray] = []
    deadline: float | None = None
    regression: Logistic | None = None  # of all rows, unless the user stops before
    gold_of = every.gold.numpy()
    # Threads that wait for one another cost more than they bring where there is little to do.
    with threadpool_limits(1 if len(texts) * len(some) < MANY else None):
        try:
            for number, rows in enumerate(tested, 1):
                others = np.flatnonzero(fold_of != fold_of[rows[0]])
                learned, apart = every.part(others), every.part(rows)
                strength = trainer.choose(learned, groups[others], may[others])
                fitted = trainer.fit(learned, [strength.recipe], "measuring", held_out=apart, fold=number)
                changed = apart.corrected(fitted.weights[0])
                sce[rows] = F.softmax(changed / strength.temperature, -1).numpy()
                learner = fit_logistic(vectors[others], gold_of[others], len(some), progress)
                logistic[rows] = learner.log_probabilities(vectors[rows])
                done.append(rows)
                trainer.reached(number * (FOLDS + 1))
            if few or not tested:  # what was chosen without the rows held out serves for all of them too
                strength = trainer.choose(every, groups, may)
            regression = fit_logistic(vectors, gold_of, len(some), progress)
        except StopEarly:
            deadline = time.perf_counter() + SECONDS_AFTER_STOP
        last = trainer.fit(every, [strength.recipe], "keeping", deadline=deadline)
        trainer.reached(trainer.all_fits)
    if last.stopped == "non-finite":
        progress.warn(
            _(
                "The training diverged (non-finite values) in epoch {epoch}. The best weights until then "
                "are kept: lower the learning rate.",
                epoch=len(last.losses) + 1,
            )
        )
    measured = np.concatenate(done) if done else np.empty(0, dtype=np.int64)
    corrected = with_correction(
        start,
        [labels[place].name for place in some],
        last.weights[0] * model.config.temperature,
        examples=torch.bincount(every.gold).tolist(),
        labels=labels,
        temperature=model.config.temperature * strength.temperature,
    )
    opinions = Opinions(answers[measured], before[measured], sce[measured], logistic[measured], some)
    judge = fold_of[measured] if few else groups[measured] % 2
    heads, after = decide(model, corrected, regression, opinions, judge, settings.head, blind=not may.any())
    tuned = in_way(model, heads.fitted, heads.way)
    report_collapse(opinions.gold, after.argmax(1), labels, progress)
    ended = time.perf_counter()
    alone = np.zeros_like(opinions.sce)
    alone[:, some] = np.exp(opinions.logistic)
    return FineTuned(
        model=tuned,
        measured=measured,
        before=opinions.base,
        after=after,
        logistic=alone,
        heads=heads,
        cross_validated=few,
        train_rows=len(texts) if few else len(texts) - len(measured),
        recipe=strength.recipe,
        temperature=strength.temperature,
        calibrated=strength.rows >= LEAST_ROWS_TO_CALIBRATE,
        losses=[float(loss[0]) for loss in last.losses],
        stopped=last.stopped,
        untested=tuple(labels[k].name for k in some if (fold_of[may & (answers == k)] < 0).all()),
        cut_short=deadline is not None,
        seconds={"embed": embedded - started, "train": ended - embedded},
    )


def examples_of(
    model: SCEModel, vectors: FloatArray, gold: IdArray, labels: Sequence[Label], progress: Progress
) -> tuple[Examples, FloatArray]:
    """Return rows (n, d_q) with their labels as what is learned from, and their probabilities (n, K) so far.

    Raises:
        UserError: The model gives no numbers for a text.
    """
    before = model.score(vectors, labels, progress=progress).probabilities
    if not (np.isfinite(vectors).all() and np.isfinite(before).all()):
        raise UserError(_("The model has no finite predictions for some texts: choose another base model."))
    some = np.unique(gold)
    sentences = model.label_vectors([labels[place] for place in some]).sentence
    assert sentences is not None
    examples = Examples(
        vectors=torch.from_numpy(vectors),
        gold=torch.from_numpy(np.searchsorted(some, gold)),
        known=torch.from_numpy(some),
        scores=torch.from_numpy(np.log(np.maximum(before, np.finfo(np.float32).tiny))),
        labels=sentences.cpu(),
        alpha=model.config.sce.alpha / model.config.temperature,
    )
    return examples, before


def _check(settings: FinetuneSettings, some: IdArray, labels: Sequence[Label]) -> None:
    if len(some) < 2:
        raise UserError(
            _(
                "Fine-tuning needs at least two labels with examples (only “{label}” has some): "
                "label more rows.",
                label=labels[some[0]].name,
            )
            if len(some)
            else _("Fine-tuning needs at least two labels with examples: label more rows.")
        )
    if not (math.isfinite(settings.lr) and settings.lr > 0):
        raise UserError(_("The learning rate must be above 0, not {lr}.", lr=settings.lr))
    if settings.epochs < 1:
        raise UserError(_("At least one epoch is needed, not {epochs}.", epochs=settings.epochs))
