"""How good models are on rows whose right label is known: on the user's table, and on the benchmark sets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sce_desktop.core.errors import UserError
from sce_desktop.core.labels import check_scorable, distinct_labels, look_alikes
from sce_desktop.core.metrics import Measures, measure
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import Label, TableOptions, VectorCache
from sce_desktop.data.tables import open_table
from sce_desktop.store.rows import Shape
from sce_desktop.tasks.columns import find_column, find_columns, tell_problems
from sce_desktop.tasks.models import Baseline, ModelSource, load_models
from sce_desktop.tasks.order_check import OrderCheck, order_check
from sce_desktop.tasks.progress import PartProgress
from sce_desktop.tasks.slow import tell_time
from sce_desktop.tasks.timing import TimedCache
from sce_desktop.tasks.whole_table import knowing

SAMPLE_SEED = 0


@dataclass(slots=True)
class EvaluationReport:
    """What `evaluate_table` found. ``seconds``: load, embed, score and total."""

    rows: int
    skipped: dict[str, int]  # rows not measured: blank, without a gold label, with one outside the labels
    labels: list[str]
    models: dict[str, Measures]
    seconds: dict[str, float]
    orders: dict[str, OrderCheck] = field(default_factory=dict)  # where it was asked for


def evaluate_table(
    path: Path,
    *,
    text_columns: Sequence[str | int],
    gold_column: str,
    labels: Sequence[Label] | None,
    source: ModelSource,
    models: Sequence[str],
    baselines: Sequence[Baseline] = (),
    options: TableOptions | None = None,
    max_rows: int | None = None,
    shuffles: int = 0,
    whole_table: bool = False,
    cache: VectorCache | None = None,
    progress: Progress,
) -> EvaluationReport:
    """Measure ``models``, the similarity baseline and ``baselines`` against the column ``gold_column``.

    Without ``labels`` those of the first model are taken if it carries some, else the distinct gold values.
    With ``shuffles`` the labels are scored in so many other orders too (`order_check`); with ``whole_table``
    the ``models`` count in what the table's other rows say, measured or not (`ml.in_table`).

    Raises:
        UserError: The table, a column, a label or a model is not right, or no row can be measured.
    """
    started = time.perf_counter()
    texts, gold = read_gold(path, text_columns, gold_column, options or TableOptions(), progress)
    loaded = load_models(source, models, with_similarity(baselines), progress)
    chosen = tuple(labels or loaded.models[0].model.labels or distinct_labels(gold))
    check_scorable(chosen, least=2)
    if alike := look_alikes(label.name for label in chosen):
        progress.warn(f"These labels look the same: {', '.join(map(repr, alike[0]))}.")
    index_of = {label.name: index for index, label in enumerate(chosen)}
    usable = [place for place, name in enumerate(gold) if name in index_of and texts[place].strip()]
    skipped = _skipped(texts, gold, index_of)
    if not usable:
        raise UserError(
            f"No row has a text and one of the labels in {gold_column!r}: check the columns and the labels."
        )
    if skipped["other_label"]:
        progress.warn(f"Rows left out, their gold label not among the labels: {skipped['other_label']:,}.")
    usable = sample(usable, max_rows)
    wanted = [texts[place] for place in usable]
    answers = np.asarray([index_of[gold[place]] for place in usable], dtype=np.int64)
    timed = TimedCache(cache)
    before = time.perf_counter()
    measured, orders = {}, {}
    tell_time(loaded.models, wanted, chosen, len(wanted) * (1 + shuffles), progress)
    if whole_table:
        for place, named in enumerate(loaded.models[: len(models)]):
            loaded.models[place] = knowing(named, texts, cache=timed, progress=progress)
    for done, named in enumerate(loaded.models):
        part = PartProgress(
            progress, start=done * len(wanted), total=len(wanted) * len(loaded.models), stage="scoring"
        )
        found = named.model.probabilities(wanted, chosen, cache=timed, progress=part).probabilities
        measured[named.name] = measure(answers, found)
        if shuffles:
            orders[named.name] = order_check(
                named.model, wanted, chosen, found, shuffles=shuffles, cache=timed, progress=progress
            )
    scoring = time.perf_counter() - before
    return EvaluationReport(
        rows=len(wanted),
        skipped=skipped,
        labels=[label.name for label in chosen],
        models=measured,
        seconds={
            "load": loaded.seconds,
            "embed": timed.seconds,
            "score": scoring - timed.seconds,
            "total": time.perf_counter() - started,
        },
        orders=orders,
    )


def read_gold(
    path: Path, text_columns: Sequence[str | int], gold_column: str, options: TableOptions, progress: Progress
) -> tuple[list[str], list[str]]:
    """Return text and gold value of every row of a table, "" where there is none. Raises UserError."""
    table = open_table(path, options)
    texts_at = find_columns(table.columns, text_columns, progress)
    gold_at = find_column(table.columns, gold_column, progress)
    shape = Shape(table.columns, texts_at)
    texts: list[str] = []
    gold: list[str] = []
    for batch in table.batches():
        texts += [shape.text_of(cells) for cells in batch]
        gold += [cells[gold_at] or "" for cells in batch]
        progress.report(len(texts), table.estimated_rows, stage="reading")
        progress.check()
    tell_problems(table.problems, table.problem_count, progress)
    return texts, gold


def _skipped(texts: Sequence[str], gold: Sequence[str], index_of: dict[str, int]) -> dict[str, int]:
    skipped = {"blank": 0, "no_gold": 0, "other_label": 0}
    for text, name in zip(texts, gold, strict=True):
        if not text.strip():
            skipped["blank"] += 1
        elif name not in index_of:
            skipped["other_label" if name.strip() else "no_gold"] += 1
    return skipped


def sample(items: list[int], most: int | None) -> list[int]:
    """Return a random sample of ``most`` items in their order, always the same; all if they are fewer."""
    if most is None or len(items) <= most:
        return items
    places = np.random.default_rng(SAMPLE_SEED).choice(len(items), most, replace=False)
    return [items[place] for place in np.sort(places)]


def with_similarity(baselines: Sequence[Baseline]) -> list[Baseline]:
    """Return ``baselines`` with the default similarity among them: no figure of ours stands alone."""
    default = Baseline("similarity")
    return list(baselines) if any(one.alias == default.alias for one in baselines) else [default, *baselines]
