"""From what `ml.finetune` measured to the report that is kept and shown: one way for tables and projects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.figures import ChangedRow, Figures, LabelChange, PairedCounts
from sce_desktop.core.heads import HeadReport, Way, WayReport
from sce_desktop.core.metrics import LabelMeasures, Measures, measure
from sce_desktop.core.training import EncoderReport, FinetuneSettings, Fit, SinceVersion, TrainingReport

if TYPE_CHECKING:
    from sce_desktop.ml.finetune.standard import FineTuned

ChangedRows = Callable[[FloatArray], tuple[ChangedRow, ...]]
"""Which rows change their label under probabilities (m, K)."""


def method(settings: FinetuneSettings) -> Callable[..., FineTuned]:
    """Return what fine-tunes as ``settings`` say: the standard way, or with the text encoder."""
    from sce_desktop.ml.finetune.finetune_embedder import finetune_embedder
    from sce_desktop.ml.finetune.standard import finetune

    return finetune_embedder if settings.adapt_embedder else finetune


def results(
    labels: Sequence[str],
    gold: IdArray,
    tuned: FineTuned,
    *,
    fit: Fit | None = None,
    baselines: Mapping[str, Figures] | None = None,
    since: SinceVersion | None = None,
    left_out: Mapping[str, int] | None = None,
    changed_rows: ChangedRows | None = None,
) -> TrainingReport:
    """Return what the probabilities of ``tuned`` say of the rows that were measured.

    Args:
        labels: Names of the K labels.
        gold: (m,) the place of each measured row's label among them.
        tuned: What was made.
        fit: As `fit_of` gives it, where more is known of it.
        baselines: See `TrainingReport`, as the others.
        since: Likewise.
        left_out: Likewise.
        changed_rows: Which rows change their label under the probabilities (m, K) given; None: not kept.
    """
    before = after = logistic = standard = None
    by_label: tuple[LabelChange, ...] = ()
    if len(gold):
        old, new = measure(gold, tuned.before), measure(gold, tuned.after)
        before, after = Figures.of(old), Figures.of(new)
        logistic = Figures.of(measure(gold, tuned.logistic))
        by_label = _by_label(labels, old, new)
    encoder = None
    if (adapted := tuned.adapted) is not None:
        if len(gold):
            standard = Figures.of(measure(gold, adapted.fast))
        encoder = EncoderReport(
            adapted.kept, adapted.sentence, adapted.steps, tuned.seconds["adapt"], standard
        )
    return TrainingReport(
        paired=paired_counts(gold, tuned.before, tuned.after),
        before=before,
        after=after,
        logistic=logistic,
        by_label=by_label,
        baselines=baselines or {},
        since=since,
        left_out=left_out or {},
        untested=tuple(tuned.untested),
        changed_rows=changed_rows(tuned.after) if changed_rows is not None else (),
        encoder=encoder,
        head=_head(labels, gold, tuned, changed_rows),
        fit=fit or fit_of(tuned),
    )


def _head(
    labels: Sequence[str], gold: IdArray, tuned: FineTuned, changed_rows: ChangedRows | None
) -> HeadReport:
    """Return the way that was chosen, and how each one fares."""
    heads, old = tuned.heads, measure(gold, tuned.before) if len(gold) else None
    ways = []
    for way, found in heads.measured.items():
        if old is not None:
            new = measure(gold, found)
            ways.append(
                WayReport(
                    way,
                    Figures.of(new),
                    paired_counts(gold, tuned.before, found),
                    _by_label(labels, old, new),
                    changed_rows(found) if changed_rows is not None else (),
                    heads.usable(way),
                )
            )
    key = heads.adapted.text_embedder.weights_key if heads.adapted is not None else ""
    return HeadReport(heads.way, heads.reason, heads.best, heads.share, tuple(ways), key)


def _by_label(labels: Sequence[str], old: Measures, new: Measures) -> tuple[LabelChange, ...]:
    return tuple(
        LabelChange(name, one.rows, _f1(one), _f1(other))
        for name, one, other in zip(labels, old.labels, new.labels, strict=True)
    )


def fit_of(
    tuned: FineTuned,
    *,
    expected_seconds: float = 0.0,
    labels: Mapping[str, int] | None = None,
    row_ids: Sequence[int] = (),
) -> Fit:
    """Return how the model of ``tuned`` was fitted; the rest is known of a project's rows alone."""
    adapted = tuned.heads.way is Way.ADAPTED
    return Fit(
        recipe=tuned.recipe,
        temperature=tuned.temperature,
        calibrated=tuned.calibrated,
        stopped=tuned.stopped,
        cut_short=tuned.cut_short,
        losses=tuple(tuned.losses),
        expected_seconds=expected_seconds,
        encoder_key=tuned.model.text_embedder.weights_key if adapted else "",
        labels=labels or {},
        row_ids=tuple(row_ids),
    )


def paired_counts(gold: IdArray, before: FloatArray, after: FloatArray) -> PairedCounts:
    """Return how many rows (m,) each of two models alone gets right, by their probabilities (m, K)."""
    old, new = before.argmax(1) == gold, after.argmax(1) == gold
    return PairedCounts(len(gold), int(np.sum(new & ~old)), int(np.sum(old & ~new)))


def _f1(found: LabelMeasures) -> float | None:
    return found.f1 if found.counted else None  # the mean leaves it out, too
