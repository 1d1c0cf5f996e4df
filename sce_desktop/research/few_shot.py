"""How good models get with few labelled rows: many draws of labelled sets, by size."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache
from sce_desktop.research.collections import list_sets, load_set
from sce_desktop.tasks.evaluation.gold import sample
from sce_desktop.tasks.scoring.models import Baseline, ModelSource, beside, default_of

SETS = ("ag_news", "okite_arise_news", "yahoo_answers", "snips", "emotion6", "banking77")
"""The sets of the few-shot table; emotion6 is a validation set."""
SIZES = (1, 2, 4, 8, 16, 32, 64)
DRAWS = 10
MAX_ROWS = 4000
LEAST_TEST_ROWS = 50
SETFIT_SIZES = (8, 16)
SETFIT_DRAWS = 3
"""Where SetFit is measured: it trains for minutes where the others take less than seconds."""


@dataclass(slots=True)
class FewShotReport:
    """Accuracies by set, size and method, one a draw."""

    rows: dict[str, int] = field(default_factory=dict)
    accuracies: dict[str, dict[int, dict[str, list[float]]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    baselines: dict[str, str] = field(default_factory=dict)  # the model behind each, by alias
    chosen: dict[str, dict[int, dict[str, int]]] = field(default_factory=dict)  # draws by the way chosen

    @property
    def methods(self) -> list[str]:
        """All methods, in the order in which they were measured."""
        return list(
            dict.fromkeys(m for sizes in self.accuracies.values() for by in sizes.values() for m in by)
        )

    @property
    def sizes(self) -> list[int]:
        """Rows a label for which some set has enough."""
        return sorted({size for sizes in self.accuracies.values() for size in sizes})

    def mean(self, size: int, method: str) -> float:
        """Return the mean over the sets that have ``size``; NaN where ``method`` was not measured on all."""
        found = [one[size].get(method) for one in self.accuracies.values() if size in one]
        return float(np.mean([np.nan if values is None else np.mean(values) for values in found]))

    def as_json(self) -> dict[str, Any]:
        """Return plain values: mean and spread (standard deviation) over the draws, and means over sets."""
        return {
            "sets": {
                name: {
                    "rows": self.rows[name],
                    "sizes": {
                        str(size): {
                            method: {"mean": float(np.mean(found)), "spread": float(np.std(found))}
                            for method, found in by.items()
                        }
                        for size, by in sizes.items()
                    },
                }
                for name, sizes in self.accuracies.items()
            },
            "mean": {
                str(size): {
                    method: mean for method in self.methods if not np.isnan(mean := self.mean(size, method))
                }
                for size in self.sizes
            },
            "baselines": self.baselines,
            **({"chosen": self.chosen} if self.chosen else {}),
            "seconds": self.seconds,
        }

    def as_markdown(self) -> list[str]:
        """Return the lines of a markdown table: percent with the spread over draws."""
        lines = [
            f"| set | rows per label | {' | '.join(self.methods)} |",
            f"|---|---|{'---|' * len(self.methods)}",
        ]
        for name, sizes in self.accuracies.items():
            for size, by in sizes.items():
                cells = [
                    f"{100 * np.mean(by[m]):.1f} ± {100 * np.std(by[m]):.1f}" if m in by else ""
                    for m in self.methods
                ]
                lines.append(f"| {name} | {size} | {' | '.join(cells)} |")
        for size in self.sizes:
            means = [self.mean(size, method) for method in self.methods]
            cells = ["" if np.isnan(mean) else f"{100 * mean:.1f}" for mean in means]
            lines.append(f"| mean | {size} | {' | '.join(cells)} |")
        return lines


def few_shot(
    data_dir: Path,
    *,
    source: ModelSource,
    model: str,
    baselines: Sequence[Baseline] = (),
    part: str | None = None,
    sets: Sequence[str] | None = None,
    sizes: Sequence[int] = SIZES,
    draws: int = DRAWS,
    max_rows: int | None = None,
    trained_head: bool = False,
    setfit: bool = False,
    adapt_embedder: bool = False,
    whole_table: bool = False,
    heads: bool = False,
    cache: VectorCache | None = None,
    progress: Progress,
) -> FewShotReport:
    """Measure our fine-tune beside zero-shot, logistic regression and mix, by our vectors and the baseline's.

    Every draw takes ``size`` rows of each label and measures by all others of the set.

    Args:
        data_dir: Folder with ``train/``, ``validation/``, ``benchmark/`` and perhaps ``multilingual/``.
        source: Where models come from.
        model: The SCE, by name or folder.
        baselines: What stands beside it: one similarity, under its alias; none: the usual one.
        part: All sets of this part instead of `SETS`.
        sets: These sets instead.
        sizes: Rows a label; a set is left out where a label has fewer or under 50 rows would remain.
        draws: Draws a size.
        max_rows: A random sample of each set (default `MAX_ROWS`).
        setfit: Measure SetFit too, on MiniLM, at `SETFIT_SIZES` in the first
            `SETFIT_DRAWS` draws.
        adapt_embedder: Measure the slower fine-tune too, which adapts the text embedder.
        whole_table: Measure every way also where it counts in what the rows without a label say.
        heads: Instead of the simpler ways, measure the head that a version chooses beside each of its own
            (`research.few_shot_heads`).
        trained_head: Measure training the SCE's own weights too, instead of the correction and above it.
        cache: Of text vectors.
        progress: Told of draws; asked at every step whether to go on.

    Raises:
        UserError: A set or the model is not there, or no set has enough rows.
        Cancelled: The user stopped.
    """
    from sce_desktop.ml.sce.model import SCEModel
    from sce_desktop.ml.similarity import SimilarityModel
    from sce_desktop.research.few_shot_heads import EveryWay
    from sce_desktop.research.few_shot_learning import AdaptedEmbedder, Draw, TrainedHead, learners, space_of

    if setfit:
        from sce_desktop.ml.hub import catalog, known_models
        from sce_desktop.research.setfit_learner import SetFit, check_setfit

        check_setfit()
    started = time.perf_counter()
    names = list(sets) if sets is not None else list(list_sets(data_dir, part)) if part else list(SETS)
    if len(baselines) > 1:
        raise UserError("--few-shot evaluates one baseline at a time: give one --baseline.")
    baseline = beside(baselines[0] if baselines else Baseline("similarity"), model)
    ours = source.model(model)
    if not isinstance(ours, SCEModel):
        raise UserError(f"{model} is not an SCE model: give another one.")
    compared: dict[str, SCEModel | SimilarityModel] = {ours.name: ours}
    report = FewShotReport()
    if not heads:
        theirs = source.baseline(baseline.spec)
        if not isinstance(theirs, SimilarityModel):
            raise UserError(f"{baseline.spec} is not a similarity baseline: give another one.")
        compared[baseline.alias] = theirs
        report.baselines[baseline.alias] = baseline.model or default_of(baseline.kind)
    spent: dict[str, float] = defaultdict(float)
    for name in names:
        labelled = load_set(data_dir, name)
        places = sample(list(range(len(labelled))), max_rows or MAX_ROWS)
        texts = [labelled.texts[place] for place in places]
        labels = [Label(name) for name in dict.fromkeys(labelled.labels[place] for place in places)]
        index_of = {label.name: index for index, label in enumerate(labels)}
        gold = np.array([index_of[labelled.labels[place]] for place in places], dtype=np.int64)
        possible_sizes = [size for size in sizes if _has_enough_rows(gold, size)]
        if not possible_sizes:
            progress.warn(f"The set {name} was excluded: it has too few rows for any size.")
            continue
        before = time.perf_counter()
        spaces = {
            title: space_of(one, texts, labels, cache=cache, progress=progress)
            for title, one in compared.items()
        }
        spent["embed"] += time.perf_counter() - before
        report.rows[name] = len(texts)
        report.accuracies[name] = {}
        for size in possible_sizes:
            ways = {
                (title, way): learner
                for title in spaces
                for way, learner in learners(whole_table=whole_table).items()
                if (title == ours.name or not way.startswith("fine-tune"))
                and (way.startswith("zero-shot") or not heads)
            }
            every_way = None
            if heads:
                every_way = EveryWay(ours, texts, labels, joint=whole_table)
                ways |= {(ours.name, way): learner for way, learner in every_way.learners().items()}
            if trained_head:
                ways[ours.name, "head"] = TrainedHead(ours, labels, corrected=False)
                ways[ours.name, "fine-tune and head"] = TrainedHead(ours, labels, corrected=True)
            if adapt_embedder:
                ways[ours.name, "fine-tune, embedder adapted"] = AdaptedEmbedder(ours, texts, labels)
            if setfit and size in SETFIT_SIZES:
                ways[baseline.alias, "SetFit"] = SetFit(catalog.resolve(known_models.MINILM), texts)
            found: dict[str, list[float]] = {f"{title} {way}": [] for title, way in ways}
            for number, (train, test) in enumerate(drawn(gold, size, draws)):
                progress.report(number, draws, stage=f"{name}, {size} per label")
                draw = Draw(train, gold[train], test, number)
                for (title, way), learner in ways.items():
                    if way == "SetFit" and number >= SETFIT_DRAWS:
                        continue
                    progress.check()
                    before = time.perf_counter()
                    answers = learner(spaces[title], draw, progress)
                    spent[f"{title} {way}"] += time.perf_counter() - before
                    found[f"{title} {way}"].append(float((answers == gold[test]).mean()))
            report.accuracies[name][size] = found
            if every_way is not None:
                report.chosen.setdefault(name, {})[size] = dict(every_way.chosen)
    if not report.accuracies:
        raise UserError("No set has enough rows for any size: give other sets or smaller sizes.")
    report.seconds = {**spent, "total": time.perf_counter() - started}
    return report


def drawn(gold: IdArray, size: int, draws: int) -> Iterator[tuple[IdArray, IdArray]]:
    """Yield rows to learn from, ``size`` of every label, and all others; the same ones every time."""
    for number in range(draws):
        random = np.random.default_rng([number, size])
        train = np.concatenate(
            [random.permutation(np.flatnonzero(gold == label))[:size] for label in np.unique(gold)]
        )
        yield np.sort(train), np.setdiff1d(np.arange(len(gold)), train)


def _has_enough_rows(gold: IdArray, size: int) -> bool:
    counts = np.bincount(gold)
    return bool(counts.min() >= size and len(gold) - size * len(counts) >= LEAST_TEST_ROWS)
