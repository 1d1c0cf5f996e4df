"""How good models are on rows whose right label is known: on the user's table, and on the benchmark sets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.metrics import Measures, measure
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache
from sce_desktop.tasks.evaluation.evidence import answer_arrays, right_answers
from sce_desktop.tasks.evaluation.gold import (
    GoldSource,
    UsableRows,
    check_usable,
    read_gold,
    sample,
    usable_rows,
)
from sce_desktop.tasks.evaluation.label_order import LabelOrderSensitivity, label_order_sensitivity
from sce_desktop.tasks.progress import PartProgress
from sce_desktop.tasks.scoring.foreign import report_foreign
from sce_desktop.tasks.scoring.joint import check_joint, fit_transductive
from sce_desktop.tasks.scoring.models import Baseline, ModelSource, NamedModel, load_models, precision_of
from sce_desktop.tasks.scoring.slow import report_time
from sce_desktop.tasks.scoring.timing import TimedCache


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """Which models are measured, and how.

    ``models``: names or folders; the similarity baseline and ``baselines`` are measured beside them.
    ``max_rows``: a random sample of so many, the same every time; None: all. ``shuffles``: in how many other
    orders the labels are scored too (`order_check`). ``whole_table``: the ``models`` predict all rows of the
    table jointly, measured or not (`ml.transductive`).
    """

    models: tuple[str, ...]
    baselines: tuple[Baseline, ...] = ()
    max_rows: int | None = None
    shuffles: int = 0
    whole_table: bool = False


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """What `evaluate_table` found. ``seconds``: load, embed, score and total."""

    rows: int
    skipped: dict[str, int]  # rows not measured: blank, without a gold label, with one outside the labels
    labels: list[str]
    multi_label: bool  # a row may have several: an answer is right if it is one of them
    models: dict[str, Measures]
    seconds: dict[str, float]
    orders: dict[str, LabelOrderSensitivity] = field(default_factory=dict)  # where it was asked for
    baselines: dict[str, str] = field(default_factory=dict)  # the model behind each, by alias
    precision: str | None = None  # what the first model's text embedder multiplied in; None: it has none


def evaluate_table(
    gold: GoldSource,
    settings: EvaluationSettings,
    *,
    source: ModelSource,
    cache: VectorCache | None = None,
    progress: Progress,
) -> EvaluationReport:
    """Measure models against a column of right labels.

    Without labels those of the first model are taken if it carries some, else the distinct gold values. Where
    the cells of the column are lists of labels, several may fit a row: each is scored separately, and a model
    is right if it puts one of them first, as in a project.

    Raises:
        UserError: The table, a column, a label or a model is not right, or no row can be measured.
    """
    started = time.perf_counter()
    table = read_gold(gold, progress)
    loaded = load_models(source, settings.models, with_similarity(settings.baselines), progress)
    rows = usable_rows(table, gold.labels, loaded.models[0].model.labels, progress)
    if settings.whole_table:
        check_joint(rows.labels, multi_label=table.lists)
    check_usable(rows, gold.column)
    if others := rows.skipped["other_label"]:
        progress.warn(
            ngettext(
                "{count} row was excluded: its gold label is not among the labels.",
                "{count} rows were excluded: their gold labels are not among the labels.",
                others,
            )
        )
    wanted = _Wanted.of(rows, sample(rows.places, settings.max_rows), table.texts, several=table.lists)
    timed = TimedCache(cache)
    before = time.perf_counter()
    ours = range(len(settings.models))
    for place in ours:
        report_foreign(loaded.models[place], wanted.texts, progress, wanted.labels)
    passes = len(wanted.texts) * (1 + settings.shuffles)
    report_time(loaded.models, wanted.texts, wanted.labels, passes, progress)
    if settings.whole_table:
        for place in ours:
            loaded.models[place] = fit_transductive(
                loaded.models[place], table.texts, cache=timed, progress=progress
            )
    measured, orders = _measure_all(loaded.models, wanted, settings.shuffles, timed, progress)
    scoring = time.perf_counter() - before
    return EvaluationReport(
        rows=len(wanted.texts),
        skipped=rows.skipped,
        labels=[label.name for label in rows.labels],
        multi_label=table.lists,
        models=measured,
        seconds={
            "load": loaded.seconds,
            "embed": timed.seconds,
            "score": scoring - timed.seconds,
            "total": time.perf_counter() - started,
        },
        orders=orders,
        baselines=loaded.baselines,
        precision=precision_of(loaded.models[0].model),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """The n rows that are measured: ``right`` by row, places among the ``labels``."""

    texts: list[str]
    labels: tuple[Label, ...]
    right: dict[int, list[int]]
    several: bool

    @classmethod
    def of(cls, rows: UsableRows, places: Sequence[int], texts: Sequence[str], *, several: bool) -> _Wanted:
        return cls(
            [texts[place] for place in places],
            rows.labels,
            {row: rows.known[place] for row, place in enumerate(places)},
            several,
        )


def _measure_all(
    models: Sequence[NamedModel], wanted: _Wanted, shuffles: int, cache: TimedCache, progress: Progress
) -> tuple[dict[str, Measures], dict[str, LabelOrderSensitivity]]:
    """Score the rows with every model, and say how each fares and how much the order of labels matters."""
    answers, hits = answer_arrays(wanted.right, len(wanted.texts), len(wanted.labels))
    measured, orders, rows = {}, {}, len(wanted.texts)
    for done, named in enumerate(models):
        part = PartProgress(progress, start=done * rows, total=rows * len(models), stage=_("scoring"))
        found = named.model.probabilities(
            wanted.texts, wanted.labels, multi_label=wanted.several, cache=cache, progress=part
        ).probabilities
        right = right_answers(answers, hits if wanted.several else (), np.arange(rows), found.argmax(axis=1))
        measured[named.name] = measure(right, found)
        if shuffles:
            orders[named.name] = label_order_sensitivity(
                named.model,
                wanted.texts,
                wanted.labels,
                found,
                multi_label=wanted.several,
                shuffles=shuffles,
                cache=cache,
                progress=progress,
            )
    return measured, orders


def with_similarity(baselines: Sequence[Baseline]) -> list[Baseline]:
    """Return ``baselines`` with the default similarity among them: no figure of ours stands alone."""
    default = Baseline("similarity")
    return list(baselines) if any(one.alias == default.alias for one in baselines) else [default, *baselines]
