"""How good models are on rows whose right label is known: on the user's table, and on the benchmark sets."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.labels import check_scorable, distinct_labels, label_key, merged_names
from sce_desktop.core.metrics import Measures, measure
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.store.content.rows import Shape
from sce_desktop.tasks.evaluation.evidence import answer_arrays, right_answers
from sce_desktop.tasks.evaluation.label_order import LabelOrderSensitivity, label_order_sensitivity
from sce_desktop.tasks.insight.labels import report_merged, report_unmerged
from sce_desktop.tasks.progress import PartProgress
from sce_desktop.tasks.scoring.foreign import report_foreign
from sce_desktop.tasks.scoring.joint import check_joint, fit_transductive
from sce_desktop.tasks.scoring.models import Baseline, ModelSource, load_models, precision_of
from sce_desktop.tasks.scoring.slow import report_time
from sce_desktop.tasks.scoring.timing import TimedCache
from sce_desktop.tasks.tables.columns import (
    ListCells,
    elsewhere,
    find_column,
    find_columns,
    has_lists,
    report_alike,
    report_doubts,
    report_reading,
)

SAMPLE_SEED = 0


@dataclass(slots=True)
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
    path: Path,
    *,
    text_columns: Sequence[str | int],
    gold_column: str,
    lists: bool | None = None,
    merge_alike: bool = False,
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
    the ``models`` predict all rows of the table jointly, measured or not (`ml.transductive`).

    Where the cells of the column are ``lists`` of labels (None: if most are), several may fit a row: each
    is scored separately, and a model is right if it puts one of them first, as in a project. ``merge_alike``
    is as in `read_gold`.

    Raises:
        UserError: The table, a column, a label or a model is not right, or no row can be measured.
    """
    started = time.perf_counter()
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
    texts, gold, several = table.texts, table.names, table.lists
    loaded = load_models(source, models, with_similarity(baselines), progress)
    chosen = tuple(
        labels or loaded.models[0].model.labels or distinct_labels(itertools.chain.from_iterable(gold))
    )
    check_scorable(chosen, least=2)
    if whole_table:
        check_joint(chosen, multi_label=several)
    report_alike([*(label.name for label in chosen), *itertools.chain.from_iterable(gold)], progress)
    index_of = {label_key(label.name): index for index, label in enumerate(chosen)}
    known = [
        list(dict.fromkeys(index_of[key] for key in map(label_key, names) if key in index_of))
        for names in gold
    ]
    usable = [place for place, right in enumerate(known) if right and not is_blank(texts[place])]
    skipped = _skipped(texts, gold, known)
    if not usable:
        raise UserError(
            _(
                "No row has a text and one of the labels in “{column}”: check the columns and the labels.",
                column=gold_column,
            )
        )
    if skipped["other_label"]:
        progress.warn(
            ngettext(
                "{count} row was excluded: its gold label is not among the labels.",
                "{count} rows were excluded: their gold labels are not among the labels.",
                skipped["other_label"],
            )
        )
    usable = sample(usable, max_rows)
    wanted = [texts[place] for place in usable]
    right = {row: known[place] for row, place in enumerate(usable)}
    answers, hits = answer_arrays(right, len(usable), len(chosen))
    timed = TimedCache(cache)
    before = time.perf_counter()
    measured, orders = {}, {}
    for named in loaded.models[: len(models)]:
        report_foreign(named, wanted, progress, chosen)
    report_time(loaded.models, wanted, chosen, len(wanted) * (1 + shuffles), progress)
    if whole_table:
        for place, named in enumerate(loaded.models[: len(models)]):
            loaded.models[place] = fit_transductive(named, texts, cache=timed, progress=progress)
    for done, named in enumerate(loaded.models):
        part = PartProgress(
            progress, start=done * len(wanted), total=len(wanted) * len(loaded.models), stage=_("scoring")
        )
        found = named.model.probabilities(
            wanted, chosen, multi_label=several, cache=timed, progress=part
        ).probabilities
        gold_of = right_answers(
            answers, hits if several else (), np.arange(len(usable)), found.argmax(axis=1)
        )
        measured[named.name] = measure(gold_of, found)
        if shuffles:
            orders[named.name] = label_order_sensitivity(
                named.model,
                wanted,
                chosen,
                found,
                multi_label=several,
                shuffles=shuffles,
                cache=timed,
                progress=progress,
            )
    scoring = time.perf_counter() - before
    return EvaluationReport(
        rows=len(wanted),
        skipped=skipped,
        labels=[label.name for label in chosen],
        multi_label=several,
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


@dataclass(frozen=True, slots=True)
class GoldTable:
    """Text and right labels of every row of a table; several labels only where the column holds ``lists``."""

    texts: list[str]
    names: list[tuple[str, ...]]
    lists: bool

    @property
    def one_each(self) -> list[str]:
        """The right label of each row, "" where there is none.

        Raises:
            UserError: Rows have several.
        """
        if several := sum(len(names) > 1 for names in self.names):
            raise UserError(
                ngettext(
                    "Fine-tuning needs one label per row, but {count} row has several: "
                    "choose another column.",
                    "Fine-tuning needs one label per row, but {count} rows have several: "
                    "choose another column.",
                    several,
                )
            )
        return [names[0] if names else "" for names in self.names]


def read_gold(
    path: Path,
    text_columns: Sequence[str | int],
    gold_column: str,
    options: TableOptions,
    progress: Progress,
    *,
    lists: bool | None = None,
    merge_alike: bool = False,
    labels: Sequence[Label] = (),
) -> GoldTable:
    """Return text and right labels of every row of a table.

    Args:
        path: The table.
        text_columns: Headers or places of the text.
        gold_column: Header of the right labels.
        options: How to read the table.
        progress: Of rows; it is warned of what may be read otherwise than expected.
        lists: Whether the cells of ``gold_column`` are JSON lists of labels; None: if most of them are.
        merge_alike: Count gold labels that look the same as one; else a warning says how to.
        labels: Those to which the gold labels are compared: they stand for what looks like them.

    Raises:
        UserError: The table or a column is not right, or there is no label in it.
        Cancelled: The user stopped.
    """
    table = open_table(path, options)
    report_doubts(table, progress)
    texts_at = find_columns(table.columns, text_columns, progress, hint=elsewhere(table))
    gold_at = find_column(table.columns, gold_column, progress, hint=elsewhere(table))
    shape = Shape(table.columns, texts_at)
    texts: list[str] = []
    gold: list[str] = []
    for batch in table.batches():
        texts += [shape.text_of(cells) for cells in batch]
        gold += [cells[gold_at] or "" for cells in batch]
        progress.report(len(texts), table.estimated_rows, stage=_("reading"))
        progress.check()
    report_reading(table, progress)
    lists = has_lists(gold_column, gold, lists, progress)
    names = _names(gold_column, gold, lists, progress)
    if not any(names):
        raise UserError(
            _("Column “{column}” has no labels: choose the column of gold labels.", column=gold_column)
        )
    if merge_alike:
        counts = Counter(itertools.chain.from_iterable(names))
        merged = merged_names(counts, (label.name for label in labels))
        report_merged(merged, progress)
        names = [tuple(dict.fromkeys(merged.get(name, name) for name in right)) for right in names]
    else:
        report_unmerged(itertools.chain.from_iterable(names), progress)
    return GoldTable(texts, names, lists)


def _names(column: str, gold: Sequence[str], lists: bool, progress: Progress) -> list[tuple[str, ...]]:
    """Return the labels that each cell of a column names."""
    if not lists:
        return [() if is_blank(cell) else (cell,) for cell in gold]
    listed = ListCells(column)
    names = [listed.names(cell, row) or () for row, cell in enumerate(gold, start=1)]
    listed.report(progress)
    return names


def _skipped(
    texts: Sequence[str], gold: Sequence[Sequence[str]], known: Sequence[Sequence[int]]
) -> dict[str, int]:
    skipped = {"blank": 0, "no_gold": 0, "other_label": 0}
    for text, names, right in zip(texts, gold, known, strict=True):
        if is_blank(text):
            skipped["blank"] += 1
        elif not right:
            skipped["other_label" if names else "no_gold"] += 1
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
