"""Fine-tune a model on a table whose right labels are known, and say by how much it is better."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.comparison import Difference, compare
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.labels import check_scorable, distinct_labels, label_key
from sce_desktop.core.metrics import LabelMeasures, Measures, measure
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache
from sce_desktop.core.tables import TableOptions
from sce_desktop.core.text import duration, size_text
from sce_desktop.tasks.evaluation.card import tuned_card
from sce_desktop.tasks.evaluation.evaluation import read_gold
from sce_desktop.tasks.scoring.foreign import report_foreign
from sce_desktop.tasks.scoring.models import ModelSource, load_models
from sce_desktop.tasks.tables.columns import report_alike
from sce_desktop.tasks.tables.replaceable import check_tuned
from sce_desktop.tasks.training.training import adapter_pace, adapting, cost

if TYPE_CHECKING:
    from sce_desktop.ml.finetune.standard import FineTuned, Settings


def measures_json(found: Measures) -> dict[str, Any]:
    """Return plain values of how one model fares."""
    return {
        "accuracy": found.accuracy,
        "interval": list(found.accuracy_interval),
        "macro_f1": found.macro_f1,
        "ece": found.ece,
    }


def _f1(found: LabelMeasures) -> float | None:
    return found.f1 if found.counted else None  # the mean leaves it out, too


def difference_json(found: Difference) -> dict[str, Any]:
    """Return plain values of a difference."""
    return {
        "mean": found.mean,
        "interval": list(found.interval),
        "won": found.won,
        "lost": found.lost,
        "p_value": found.p_value,
        "sentence": found.sentence,
    }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a fine-tune changed on the rows that it was measured by; ``before`` is None where there are none.

    ``logistic`` is a logistic regression on the text vectors alone, fitted on the same rows.
    """

    difference: Difference
    before: Measures | None = None
    after: Measures | None = None
    logistic: Measures | None = None

    def as_json(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return plain values."""
        result: dict[str, Any] = {
            "measured": self.difference.rows,
            "difference": difference_json(self.difference),
            "before": None,
            "after": None,
        }
        if self.before is None or self.after is None or self.logistic is None:
            return result
        for name, found in (
            ("before", self.before),
            ("after", self.after),
            ("logistic_regression", self.logistic),
        ):
            result[name] = measures_json(found)
        result["labels_changed"] = {
            label: {"rows": old.rows, "before": {"f1": _f1(old)}, "after": {"f1": _f1(new)}}
            for label, old, new in zip(labels, self.before.labels, self.after.labels, strict=True)
        }
        return result


def embedder_json(tuned: FineTuned, gold: IdArray) -> dict[str, Any]:
    """Return plain values of what adapting the embedder brought on the rows measured, of labels ``gold``."""
    found = tuned.adapted
    assert found is not None
    return {
        "kept": found.kept,
        "steps": found.steps,
        "sentence": found.sentence,
        "seconds": tuned.seconds["adapt"],
        "fast": measures_json(measure(gold, found.fast)) if len(gold) else None,
    }


@dataclass(frozen=True, slots=True)
class FineTuneReport:
    """What `finetune_table` did. ``skipped``: rows not used, by reason.

    ``embedder`` is what `embedder_json` says of an adapted text embedder, with the estimate that was shown
    before; None where none was asked for.
    """

    model: str
    labels: list[str]
    skipped: dict[str, int]
    tuned: FineTuned
    outcome: Outcome
    seconds: dict[str, float]
    embedder: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values. When cross-validated, all rows are trained on and each is measured once."""
        tuned = self.tuned
        held_out = 0 if tuned.cross_validated else len(tuned.measured)
        return {
            "model": self.model,
            "labels": self.labels,
            "rows": {"train": tuned.train_rows, "held_out": held_out, **self.skipped},
            "cross_validated": tuned.cross_validated,
            **self.outcome.as_json(self.labels),
            "untested_labels": list(tuned.untested),
            "temperature": tuned.temperature,
            "calibrated": tuned.calibrated,
            "recipe": {"hold": tuned.recipe.hold, "ridge": tuned.recipe.ridge},
            "seconds": self.seconds,
            "epochs": len(tuned.losses),
            "stopped": tuned.stopped,
            **({"embedder": self.embedder} if self.embedder else {}),
        }


def finetune_table(
    path: Path,
    output: Path,
    *,
    text_columns: Sequence[str | int],
    gold_column: str,
    lists: bool | None = None,
    merge_alike: bool = False,
    labels: Sequence[Label] | None,
    source: ModelSource,
    model: str,
    epochs: int = 100,
    lr: float = 1.0,
    seed: int = 0,
    adapt_embedder: bool = False,
    force: bool = False,
    options: TableOptions | None = None,
    cache: VectorCache | None = None,
    progress: Progress,
) -> FineTuneReport:
    """Fine-tune ``model`` on the labels in ``gold_column`` and write it to the folder ``output``.

    ``adapt_embedder`` lets the text embedder learn too; how long that takes, and with how much memory, is
    estimated by a trial and reported first. Without ``labels`` those of the model are taken if it carries
    some, else the distinct gold values. ``lists`` and ``merge_alike`` are as in `read_gold`, but no row may
    have several labels. Nothing is left at ``output`` if it cannot be finished. See `check_tuned` for what is
    replaced, and ``force``.

    Raises:
        UserError: The table, a column, the labels, the model or the output is not right, or there is not
            enough memory for adapting.
        Cancelled: The user stopped; nothing was written.
    """
    started = time.perf_counter()
    check_tuned(output, model, force=force)  # not only once all is learned
    table = read_gold(
        path,
        text_columns,
        gold_column,
        options or TableOptions(),
        progress,
        lists=lists,
        merge_alike=merge_alike,
        labels=labels or (),
    )
    texts, gold = table.texts, table.one_each
    loaded = load_models(source, [model], [], progress)

    from sce_desktop.ml.finetune.standard import Settings
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
    chosen = tuple(labels or base.labels or distinct_labels(gold))
    check_scorable(chosen, least=2)
    report_alike([*(label.name for label in chosen), *filter(None, gold)], progress)
    place_of = {label_key(label.name): place for place, label in enumerate(chosen)}
    gold = list(map(label_key, gold))
    used = [row for row, name in enumerate(gold) if name in place_of and not is_blank(texts[row])]
    skipped = {
        "blank": sum(map(is_blank, texts)),
        "no_gold": sum(not is_blank(t) and not name for t, name in zip(texts, gold, strict=True)),
    }
    skipped["other_label"] = len(texts) - len(used) - sum(skipped.values())
    if not used:
        raise UserError(
            _(
                "No row has a text and one of the labels in “{column}”: check the columns and the labels.",
                column=gold_column,
            )
        )
    if skipped["other_label"]:
        progress.warn(
            _(
                "Rows excluded, their gold label not among the labels: {count}.",
                count=number(skipped["other_label"]),
            )
        )
    answers = np.array([place_of[gold[row]] for row in used], dtype=np.int64)
    used_texts = [texts[row] for row in used]
    report_foreign(loaded.models[0], used_texts, progress, chosen)
    expected = None
    if adapt_embedder:
        pace = adapter_pace(base, used_texts, chosen, progress)
        known = len(np.unique(answers))
        fast = cost(len(used), known, len(chosen), epochs=epochs)
        expected = adapting(fast, pace, rows=len(used), measurable=len(used), epochs=epochs)
        if expected.too_large:
            raise UserError(expected.too_large)
        progress.warn(
            _(
                "Fine-tuning the text encoder takes about {seconds} here, and {memory} of memory.",
                seconds=duration(expected.seconds),
                memory=size_text(expected.memory),
            )
        )
    settings = Settings(epochs=epochs, lr=lr, seed=seed, adapt_embedder=adapt_embedder)
    tuned = method(settings)(
        base,
        used_texts,
        answers.tolist(),
        chosen,
        settings=settings,
        cache=cache,
        progress=progress,
    )
    embedder = None
    if expected is not None:
        estimate = {"seconds": expected.seconds, "memory": expected.memory}
        embedder = {**embedder_json(tuned, answers[tuned.measured]), "estimate": estimate}
    names = [label.name for label in chosen]
    changed = outcome(answers[tuned.measured], tuned.before, tuned.after, tuned.logistic)
    card = tuned_card(
        tuned.model,
        base=loaded.models[0].name,
        base_key=base.identity,
        made=datetime.now(UTC).date().isoformat(),
        rows=tuned.train_rows,
        labels=len(chosen),
        held_out=0 if tuned.cross_validated else len(tuned.measured),
        settings={
            **asdict(settings),
            "recipe": asdict(tuned.recipe),
            **({"embedder": True} if tuned.adapted is not None and tuned.adapted.kept else {}),
        },
        found=changed.as_json(names),
    )
    tuned.model.save_pretrained(output, card=card)
    return FineTuneReport(
        model=str(output),
        labels=names,
        skipped=skipped,
        tuned=tuned,
        outcome=changed,
        seconds={"load": loaded.seconds, **tuned.seconds, "total": time.perf_counter() - started},
        embedder=embedder,
    )


def method(settings: Settings) -> Callable[..., FineTuned]:
    """Return what fine-tunes as ``settings`` say: the fast way, or the one that adapts the embedder too."""
    from sce_desktop.ml.finetune.finetune_embedder import finetune_embedder
    from sce_desktop.ml.finetune.standard import finetune

    return finetune_embedder if settings.adapt_embedder else finetune


def outcome(gold: IdArray, before: FloatArray, after: FloatArray, logistic: FloatArray) -> Outcome:
    """Return what the probabilities (m, K) say of rows whose labels ``gold`` (m,) are known."""
    difference = compare(before.argmax(1) == gold, after.argmax(1) == gold)
    if not len(gold):
        return Outcome(difference)
    return Outcome(difference, measure(gold, before), measure(gold, after), measure(gold, logistic))
