"""Fine-tune a model on a table whose right labels are known, and say by how much it is better."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache
from sce_desktop.core.text import duration, size_text
from sce_desktop.core.training import FinetuneSettings, TrainingReport
from sce_desktop.store.runs.training_json import encoder_json, head_json, result_json
from sce_desktop.tasks.evaluation.card import Origins, tuned_card
from sce_desktop.tasks.evaluation.gold import GoldSource, check_usable, read_gold, usable_rows
from sce_desktop.tasks.scoring.foreign import report_foreign
from sce_desktop.tasks.scoring.models import Loaded, ModelSource, load_models
from sce_desktop.tasks.tables.replaceable import check_tuned
from sce_desktop.tasks.training.cost import Cost, adapter_pace, adapting, cost
from sce_desktop.tasks.training.results import method, results
from sce_desktop.tasks.training.sampling import SAMPLED, report, rows_that_fit, stratified
from sce_desktop.tasks.training.training import unread_share

if TYPE_CHECKING:
    from sce_desktop.ml.sce.model import SCEModel


@dataclass(frozen=True, slots=True)
class FineTuneReport:
    """What `finetune_table` did. ``skipped``: rows not used, by reason.

    ``train_rows``: that the compared model was fitted on; all of them when cross-validated: then each is
    measured once and none is ``held_out``. ``expected``: what fine-tuning the text encoder was to take; None
    where that was not asked for.
    """

    model: str
    labels: list[str]
    skipped: dict[str, int]
    train_rows: int
    held_out: int
    cross_validated: bool
    result: TrainingReport
    seconds: dict[str, float]
    expected: Cost | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        fit, recipe, encoder = self.result.fit, self.result.fit.recipe, self.result.encoder
        more: dict[str, Any] = {}
        if encoder is not None and self.expected is not None:
            estimate = {"seconds": self.expected.seconds, "memory": self.expected.peak}
            more = {"embedder": {**encoder_json(encoder), "estimate": estimate}}
        if self.result.head is not None:
            more["head"] = head_json(self.result.head)
        return {
            "model": self.model,
            "labels": self.labels,
            "rows": {"train": self.train_rows, "held_out": self.held_out, **self.skipped},
            "cross_validated": self.cross_validated,
            **result_json(self.result),
            "untested_labels": list(self.result.untested),
            "temperature": fit.temperature,
            "calibrated": fit.calibrated,
            "recipe": None if recipe is None else {"hold": recipe.hold, "ridge": recipe.ridge},
            "seconds": self.seconds,
            "epochs": len(fit.losses),
            "stopped": fit.stopped,
            **more,
        }


def finetune_table(
    gold: GoldSource,
    output: Path,
    settings: FinetuneSettings,
    *,
    source: ModelSource,
    model: str,
    force: bool = False,
    cache: VectorCache | None = None,
    progress: Progress,
) -> FineTuneReport:
    """Fine-tune ``model`` on a table and write it to the folder ``output``.

    How long it takes, and with how much memory, is estimated and said first, for adapting the text embedder
    by a trial; where that is too long, it learns from a sample (`sampling`). Without labels those of the
    model are taken if it carries some, else the distinct gold values; no row may have several. Nothing is
    left at ``output`` if it cannot be finished. See `check_tuned` for what is replaced, and ``force``.

    Raises:
        UserError: The table, a column, the labels, the model or the output is not right, or there is not
            enough memory for adapting.
        Cancelled: The user stopped; nothing was written.
    """
    started = time.perf_counter()
    check_tuned(output, model, force=force)  # not only once all is learned
    table = read_gold(gold, progress)
    table.check_one_each()
    loaded = load_models(source, [model], [], progress)
    base = _base(loaded, model, progress)
    rows = usable_rows(table, gold.labels, base.labels, progress)
    check_usable(rows, gold.column)
    if others := rows.skipped["other_label"]:
        progress.warn(
            _("Rows excluded, their gold label not among the labels: {count}.", count=number(others))
        )
    texts = [table.texts[place] for place in rows.places]
    answers = np.array(rows.first(rows.places), dtype=np.int64)
    report_foreign(loaded.models[0], texts, progress, rows.labels)
    expected, places = _within_time(base, texts, answers, rows.labels, settings, cache, progress)
    skipped = dict(rows.skipped)
    if len(places) < len(texts):
        skipped[SAMPLED] = len(texts) - len(places)
        texts, answers = [texts[place] for place in places], answers[places]
    tuned = method(settings)(
        base,
        texts,
        answers.tolist(),
        rows.labels,
        settings=settings,
        cache=cache,
        progress=progress,
    )
    names = [label.name for label in rows.labels]
    left_out = {SAMPLED: skipped[SAMPLED]} if SAMPLED in skipped else None
    result = results(names, answers[tuned.measured], tuned, left_out=left_out)
    held_out = 0 if tuned.cross_validated else len(tuned.measured)
    card = tuned_card(
        tuned.model,
        Origins(
            base=loaded.models[0].name,
            base_key=base.identity,
            made=datetime.now(UTC).date().isoformat(),
            rows=tuned.train_rows,
            labels=len(rows.labels),
            held_out=held_out,
        ),
        settings,
        result,
    )
    tuned.model.save_pretrained(output, card=card)
    return FineTuneReport(
        model=str(output),
        labels=names,
        skipped=skipped,
        train_rows=tuned.train_rows,
        held_out=held_out,
        cross_validated=tuned.cross_validated,
        result=result,
        seconds={"load": loaded.seconds, **tuned.seconds, "total": time.perf_counter() - started},
        expected=expected if settings.adapt_embedder else None,
    )


def _base(loaded: Loaded, model: str, progress: Progress) -> SCEModel:
    """Return the model to start from, with a warning if it may know the table already."""
    from sce_desktop.ml.sce.model import SCEModel

    base = loaded.models[0].model
    if not isinstance(base, SCEModel):
        raise UserError(
            _("{model} is not an SCE and cannot be fine-tuned: choose another model.", model=model)
        )
    if base.config.corrected:
        progress.warn(
            _(
                "{model} is itself fine-tuned. If it was trained on rows of this table, the figures below "
                "are too high.",
                model=model,
            )
        )
    return base


def _within_time(
    base: SCEModel,
    texts: Sequence[str],
    answers: IdArray,
    labels: Sequence[Label],
    settings: FinetuneSettings,
    cache: VectorCache | None,
    progress: Progress,
) -> tuple[Cost, IdArray]:
    """Return what the fine-tune is to take, and the places of the rows to learn from; both are reported.

    Raises:
        UserError: There is not enough memory.
    """
    known, unread = len(np.unique(answers)), unread_share(cache, base.text_embedder.key, texts)
    pace = adapter_pace(base, texts, labels, progress) if settings.adapt_embedder else None

    def cost_of(rows: int) -> Cost:
        found = cost(rows, known, len(labels), unread=round(unread * rows), epochs=settings.epochs)
        if pace is None:
            return found
        return adapting(found, pace, rows=rows, measurable=rows, epochs=settings.epochs)

    rows = len(texts) if settings.all_rows else rows_that_fit(len(texts), cost_of)
    places = stratified(answers, rows, settings.seed)
    expected = cost_of(len(places))
    if expected.too_large:
        raise UserError(expected.too_large)
    report(progress, expected, len(places), len(texts))
    if pace is not None:
        progress.warn(
            _(
                "Fine-tuning the text encoder takes about {seconds} here, and {memory} of memory.",
                seconds=duration(expected.seconds),
                memory=size_text(expected.peak),
            )
        )
    return expected, places
