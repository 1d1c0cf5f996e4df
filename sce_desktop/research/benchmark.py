"""The paper's table 1 on a folder of labelled sets: accuracy with interval by set, and means over sets."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.metrics import Measures, mean_interval, measure
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache
from sce_desktop.core.scoring import balance_labels
from sce_desktop.research.class_imbalance import Imbalanced, imbalanced
from sce_desktop.research.collections import LabelledSet, list_sets, load_set
from sce_desktop.tasks.evaluation.evaluation import with_similarity
from sce_desktop.tasks.evaluation.gold import sample
from sce_desktop.tasks.evaluation.label_order import LabelOrderSensitivity, label_order_sensitivity
from sce_desktop.tasks.progress import PartProgress
from sce_desktop.tasks.scoring.joint import can_be_transductive, score_jointly
from sce_desktop.tasks.scoring.models import Baseline, ModelSource, NamedModel, load_models, precision_of
from sce_desktop.tasks.scoring.slow import report_time

# Sets of the training part that carry a test fifth on which nothing is trained.
SEEN_SETS = ("bbc_news", "huffpost", "mind_news", "nyt_sections")
# Unseen as a whole, and reported once more on the split that others report on.
ALSO_BY_TEST_SPLIT = ("okite_arise_news",)
# Its label names occur in the training sets: the validation mean is given without it too.
NOT_QUITE_UNSEEN = "emotion6"
# A set of the multilingual part that ends so has label names in its texts' own language.
OWN_NAMES = "_own"


@dataclass(frozen=True, slots=True)
class SetResult:
    """How the models fare on one set. ``counted``: it enters the means. ``seconds``: of scoring, by model."""

    name: str
    part: str
    rows: int
    labels: list[str]
    models: dict[str, Measures]
    counted: bool = True
    seconds: dict[str, float] = field(default_factory=dict)
    orders: dict[str, LabelOrderSensitivity] = field(default_factory=dict)  # where it was asked for
    # Where ``models`` uses the table: accuracy of each row alone, and of both on imbalanced resamples.
    plain: dict[str, float] = field(default_factory=dict)
    imbalanced: dict[str, Imbalanced | None] = field(default_factory=dict)

    def table_check(self, name: str) -> dict[str, Any]:
        """Return what stands beside figures that use the table: the plain one, both under imbalance."""
        if name not in self.plain:
            return {}
        imbalanced = self.imbalanced[name]
        return {
            "plain": {"accuracy": self.plain[name]},
            "skewed": None if imbalanced is None else asdict(imbalanced),
        }


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """The results set by set. ``reference`` is the baseline that differences are taken to."""

    sets: list[SetResult]
    models: list[str]
    reference: str
    seconds: dict[str, float]
    baselines: dict[str, str] = field(default_factory=dict)  # the model behind each, by alias
    precision: str | None = None  # what the first model's text embedder multiplied in; None: it has none

    def as_json(self) -> dict[str, Any]:
        """Return plain values: every set, the means over the counted sets, and their intervals."""
        result: dict[str, Any] = {
            "sets": {
                one.name: {
                    "part": one.part,
                    "rows": one.rows,
                    "labels": one.labels,
                    **{
                        name: {
                            "accuracy": found.accuracy,
                            "interval": list(found.accuracy_interval),
                            "macro_f1": found.macro_f1,
                            "ece": found.ece,
                            "seconds": one.seconds[name],
                            **({"order_check": asdict(one.orders[name])} if one.orders else {}),
                            **one.table_check(name),
                        }
                        for name, found in one.models.items()
                    },
                }
                for one in self.sets
            },
            "baselines": self.baselines,
            "seconds": self.seconds,
            "precision": self.precision,
        }
        result |= self._means(lambda one: one.counted)
        result["rows_per_second"] = self.rows_per_second()
        parts = list(dict.fromkeys(one.part for one in self.sets))
        if len(parts) > 1:
            result["parts"] = {
                part: self._means(lambda one, part=part: one.counted and one.part == part)  # type: ignore[misc]
                for part in parts
            }
        result |= {kind: self._means(wanted) for kind, (_, wanted) in self._label_languages().items()}
        if any(one.name == NOT_QUITE_UNSEEN for one in self.sets):
            result[f"without_{NOT_QUITE_UNSEEN}"] = self._means(
                lambda one: one.counted and one.part == "validation" and one.name != NOT_QUITE_UNSEEN
            )
        return result

    def _label_languages(self) -> dict[str, tuple[str, Callable[[SetResult], bool]]]:
        """Return by key what to call the sets of one language of labels, and which they are."""
        if not any(one.part == "multilingual" for one in self.sets):
            return {}
        return {
            "own_label_names": (
                "mean, labels in the texts' language",
                lambda one: one.part == "multilingual" and one.name.endswith(OWN_NAMES),
            ),
            "english_label_names": (
                "mean, English labels",
                lambda one: one.part == "multilingual" and not one.name.endswith(OWN_NAMES),
            ),
        }

    def _means(self, wanted: Callable[[SetResult], bool]) -> dict[str, Any]:
        sets = [one for one in self.sets if wanted(one)]
        if not sets:
            return {"mean": {}, "mean_interval": {}, "mean_ece": {}, "difference": {}}
        accuracy = {name: [one.models[name].accuracy for one in sets] for name in self.models}
        gains = {
            name: np.subtract(values, accuracy[self.reference]).tolist()
            for name, values in accuracy.items()
            if name != self.reference
        }
        return {
            "mean": {name: float(np.mean(values)) for name, values in accuracy.items()},
            "mean_interval": {name: mean_interval(values) for name, values in accuracy.items()},
            "mean_ece": {
                name: float(np.mean([one.models[name].ece for one in sets])) for name in self.models
            },
            "difference": {
                name: {"mean": float(np.mean(gain)), "interval": mean_interval(gain)}
                for name, gain in gains.items()
            },
        }

    def rows_per_second(self) -> dict[str, float]:
        """Return how fast each model scored all sets; a text vector from the cache costs it nothing."""
        rows = sum(one.rows for one in self.sets)
        return {name: rows / max(sum(one.seconds[name] for one in self.sets), 1e-9) for name in self.models}

    def as_markdown(self) -> list[str]:
        """Return the lines of a markdown table, percent with 95% intervals."""
        lines = [
            f"| set | rows | labels | {' | '.join(self.models)} |",
            f"|---|---|---|{'---|' * len(self.models)}",
        ]
        for one in self.sets:
            cells = [
                f"{100 * found.accuracy:.1f} ({100 * found.accuracy_interval[0]:.1f} to "
                f"{100 * found.accuracy_interval[1]:.1f})"
                for found in one.models.values()
            ]
            lines.append(f"| {one.name} | {one.rows:,} | {len(one.labels)} | {' | '.join(cells)} |")
        means = self._means(lambda one: one.counted)["mean"]
        lines.append(f"| mean | | | {' | '.join(f'{100 * mean:.1f}' for mean in means.values())} |")
        for title, wanted in self._label_languages().values():
            if part := self._means(wanted)["mean"]:
                lines.append(f"| {title} | | | {' | '.join(f'{100 * mean:.1f}' for mean in part.values())} |")
        lines.append(f"| rows a second | | | {' | '.join(map(_rate, self.rows_per_second().values()))} |")
        if any(one.orders for one in self.sets):
            lines.append(f"| answers that change with the order of labels | | | {self._orders()} |")
        return lines + self._table_lines()

    def _table_lines(self) -> list[str]:
        """Return rows that say what using the table did, here and where one label has most of the rows."""
        sets = [one for one in self.sets if one.counted and one.plain and all(one.imbalanced.values())]
        if not sets:
            return []
        names = [name for name in self.models if name in sets[0].plain]  # an LLM uses no table
        rows = {
            "mean, each row alone": lambda one, name: one.plain[name],
            "mean, skewed, each row alone": lambda one, name: one.imbalanced[name].plain,
            "mean, skewed, with the table": lambda one, name: one.imbalanced[name].with_table,
        }
        return [
            f"| {title} | | |"
            + "".join(
                f" {100 * np.mean([value(one, name) for one in sets]):.1f} |" if name in names else " |"
                for name in self.models
            )
            for title, value in rows.items()
        ]

    def _orders(self) -> str:
        rows = sum(one.rows for one in self.sets)
        shares = (
            sum(one.rows * one.orders[name].changed for one in self.sets) / rows for name in self.models
        )
        return " | ".join(f"{share:.1%}" for share in shares)


def _rate(rows: float) -> str:
    return f"{rows:,.0f}" if rows >= 100 else f"{rows:.3g}"


def benchmark(
    data_dir: Path,
    *,
    source: ModelSource,
    models: Sequence[str],
    baselines: Sequence[Baseline] = (),
    part: str = "benchmark",
    sets: Sequence[str] | None = None,
    paper_labels: bool = False,
    max_rows: int | None = None,
    balance: bool = False,
    whole_table: bool = False,
    shuffles: int = 0,
    cache: VectorCache | None = None,
    progress: Progress,
) -> BenchmarkReport:
    """Measure ``models``, the similarity baseline and ``baselines`` on the sets of ``part``.

    Args:
        data_dir: Folder with ``train/``, ``validation/``, ``benchmark/`` and perhaps ``multilingual/``.
        source: Where models come from.
        models: Names or folders.
        baselines: Beside the similarity baseline, which is always there.
        part: benchmark, validation, train-test (the held-out fifths of training sets), all of these, or
            multilingual.
        sets: Only these sets of the part.
        paper_labels: The paper's label names; rows of the classes that it drops are left out.
        max_rows: A random sample of each set, the same every time.
        balance: Take away each table's lean towards some labels (`balance_labels`), and say beside it what
            that does where one label has 80 % of the rows (`research.class_imbalance`).
        whole_table: Predict rows jointly with all models but LLMs (`ml.transductive`); what
            that does where one label has 80 % of the rows is reported likewise.
        shuffles: Score the labels in so many other orders too and count the answers that change.
        cache: Of text vectors.
        progress: Told of rows, set by set.

    Raises:
        UserError: The folder, a set or a model is not there.
        Cancelled: The user stopped.
    """
    if balance and whole_table:
        raise UserError("--balance-labels and --joint cannot be combined: give one of them.")
    started = time.perf_counter()
    wanted = _wanted(data_dir, part, sets)
    loaded = load_models(source, models, with_similarity(baselines), progress)
    results = [
        _measured(
            one,
            load_set(data_dir, one.name, paper_labels=paper_labels, split=one.split),
            loaded.models,
            max_rows=max_rows,
            balance=balance,
            whole_table=whole_table,
            shuffles=shuffles,
            cache=cache,
            progress=progress,
        )
        for one in wanted
    ]
    return BenchmarkReport(
        sets=results,
        models=[named.name for named in loaded.models],
        reference="similarity",
        seconds={"load": loaded.seconds, "total": time.perf_counter() - started},
        baselines=loaded.baselines,
        precision=precision_of(loaded.models[0].model),
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A set to measure on. ``title`` is its key in the report."""

    title: str
    name: str
    part: str
    split: str | None = None
    counted: bool = True


def _wanted(data_dir: Path, part: str, sets: Sequence[str] | None) -> list[_Wanted]:
    available = []
    if part in ("benchmark", "all"):
        for name in list_sets(data_dir, "benchmark"):
            available.append(_Wanted(name, name, "benchmark"))
            if name in ALSO_BY_TEST_SPLIT:
                available.append(_Wanted(f"{name}_test", name, "benchmark", "test", counted=False))
    if part in ("train-test", "all"):
        present = list_sets(data_dir, "train")
        available += [_Wanted(name, name, "train-test", "test") for name in SEEN_SETS if name in present]
    if part in ("validation", "all"):
        available += [_Wanted(name, name, "validation") for name in list_sets(data_dir, "validation")]
    if part == "multilingual":
        available += [_Wanted(name, name, part) for name in list_sets(data_dir, part)]
    if sets is not None:
        names = {one.name for one in available}
        for name in sets:
            if name not in names:
                raise UserError(
                    f"There is no set “{name}” in this part: choose from {', '.join(sorted(names))}."
                )
        available = [one for one in available if one.name in sets]
    if not available:
        raise UserError(
            f"{data_dir} holds no sets of this part: give the folder with benchmark/ and the others."
        )
    return available


def _measured(
    wanted: _Wanted,
    labelled: LabelledSet,
    models: Sequence[NamedModel],
    *,
    max_rows: int | None,
    balance: bool,
    whole_table: bool,
    shuffles: int,
    cache: VectorCache | None,
    progress: Progress,
) -> SetResult:
    names = list(labelled.label_names)
    index_of = {name: index for index, name in enumerate(names)}
    places = sample(list(range(len(labelled.texts))), max_rows)
    texts = [labelled.texts[place] for place in places]
    gold = np.asarray([index_of[labelled.labels[place]] for place in places], dtype=np.int64)
    labels = [Label(name) for name in names]
    measured, seconds, orders = {}, {}, {}
    plain: dict[str, float] = {}
    imbalanced_by_model: dict[str, Imbalanced | None] = {}
    report_time(models, texts, labels, len(texts) * (1 + shuffles), progress)
    for number, named in enumerate(models):
        part = PartProgress(
            progress, start=number * len(texts), total=len(texts) * len(models), stage=wanted.title
        )
        before = time.perf_counter()
        probabilities = named.model.probabilities(texts, labels, cache=cache, progress=part).probabilities
        seconds[named.name] = time.perf_counter() - before
        with_table = _table_use(named, texts, labels, probabilities, balance, whole_table, cache, progress)
        if with_table is None:
            measured[named.name] = measure(gold, probabilities)
        else:
            measured[named.name] = measure(gold, with_table(np.arange(len(texts))))
            plain[named.name] = float((probabilities.argmax(1) == gold).mean())
            imbalanced_by_model[named.name] = imbalanced(gold, probabilities, with_table)
        if shuffles:
            orders[named.name] = label_order_sensitivity(
                named.model, texts, labels, probabilities, shuffles=shuffles, cache=cache, progress=progress
            )
    return SetResult(
        wanted.title,
        wanted.part,
        len(texts),
        names,
        measured,
        wanted.counted,
        seconds,
        orders,
        plain,
        imbalanced_by_model,
    )


def _table_use(
    named: NamedModel,
    texts: Sequence[str],
    labels: Sequence[Label],
    probabilities: FloatArray,
    balance: bool,
    whole_table: bool,
    cache: VectorCache | None,
    progress: Progress,
) -> Callable[[IdArray], FloatArray] | None:
    """Return what gives some rows' probabilities as if they were the whole table; None: not asked for."""
    if balance:
        return lambda rows: balance_labels(probabilities[rows])
    if whole_table and can_be_transductive(named):
        return score_jointly(named, texts, labels, cache=cache, progress=progress)
    return None
