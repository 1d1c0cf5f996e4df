"""A user who labels in each order: accuracy on other rows against rows labelled.

A logistic regression on the text vectors is fitted at every stop; the model whose scores make the next
stretch of the queue is the zero-shot SCE at first and that regression afterwards, as after a fine-tune.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.queues import Queue
from sce_desktop.core.scoring import rare_label
from sce_desktop.tasks.evaluation.svg import Line, line_chart
from sce_desktop.tasks.insight.queues import (
    diverse,
    least_certain,
    models_disagree,
    shuffled,
    smallest_margin,
)
from tests.benchmarks.labelled import ScoredSet
from tests.benchmarks.measure import print_table

STOPS = (20, 40, 80, 160, 320)
QUEUES = tuple(queue for queue in Queue if queue is not Queue.FILE)


def fitted(vectors: FloatArray, gold: IdArray, wanted: FloatArray, labels: int) -> FloatArray:
    """Return probabilities (n, K) for ``wanted`` from a regression on labelled ``vectors``."""
    from sklearn.linear_model import LogisticRegression

    # With 20 rows of 30 labels scikit-learn wonders whether the labels are numbers.
    warnings.filterwarnings("ignore", "The number of unique classes")
    found = np.zeros((len(wanted), labels), dtype=np.float32)
    if len(np.unique(gold)) == 1:
        found[:, gold[0]] = 1
        return found
    model = LogisticRegression(C=10, max_iter=300).fit(vectors, gold)
    found[:, model.classes_] = model.predict_proba(wanted)
    return found


def simulate(scored: ScoredSet, queue: Queue, seed: int) -> list[float]:
    """Return the accuracy on the held-out half after each of `STOPS` rows labelled in the order ``queue``."""
    halves = np.random.default_rng(seed).permutation(len(scored))
    pool, test = halves[: len(halves) // 2], halves[len(halves) // 2 :]
    labels = len(scored.labels)
    done = np.zeros(0, dtype=np.int64)
    open_ = pool
    now = scored.sce[open_]
    accuracies = []
    for stop in STOPS:
        match queue:
            case Queue.LEAST_CERTAIN:
                order = least_certain(now)
            case Queue.SMALLEST_MARGIN:
                order = smallest_margin(now)
            case Queue.DISAGREE:
                order = models_disagree(now, scored.similarity[open_])
            case Queue.RARE_LABEL:
                counts = np.bincount(scored.gold[done], minlength=labels)
                order = rare_label(now.argmax(axis=1), now.max(axis=1), counts)
            case Queue.DIVERSE:
                order = diverse(scored.vectors[open_], near=scored.vectors[done], seed=seed)
            case _:
                order = shuffled(len(open_), seed=seed)
        next_ = open_[order[: stop - len(done)]]
        done, open_ = np.concatenate([done, next_]), open_[~np.isin(open_, next_)]
        answers = fitted(
            scored.vectors[done], scored.gold[done], scored.vectors[np.concatenate([test, open_])], labels
        )
        accuracies.append(float((answers[: len(test)].argmax(axis=1) == scored.gold[test]).mean()))
        now = answers[len(test) :]
    return accuracies


def run(sets: Sequence[ScoredSet], *, seeds: int, plot: Path | None) -> None:
    """Simulate and print; ``plot`` is where the chart of the mean goes."""
    found = {
        queue: np.asarray([[simulate(scored, queue, seed) for seed in range(seeds)] for scored in sets])
        for queue in QUEUES
    }  # (sets, seeds, stops)
    baseline = found[Queue.RANDOM]
    table = []
    for queue, accuracies in sorted(found.items(), key=lambda item: -item[1].mean()):
        gain = (accuracies - baseline).mean(axis=2)  # the same halves: compared pair by pair
        error = gain.std(ddof=1) / np.sqrt(gain.size) if gain.size > 1 else 0.0
        table.append(
            [
                queue.value,
                *(f"{value:.1%}" for value in accuracies.mean(axis=(0, 1))),
                *(f"{value:.1%}" for value in accuracies.mean(axis=(1, 2))),
                f"{accuracies.mean():.2%}",
                f"{gain.mean() * 100:+.2f} ± {1.96 * error * 100:.2f}",
            ]
        )
    print_table(
        f"Accuracy of a logistic regression after rows labelled in each order, {seeds} seeds",
        ["queue", *map(str, STOPS), *(scored.name for scored in sets), "mean", "points over random"],
        table,
        [
            "Columns with a number: mean over sets after that many rows; with a name: mean over the stops.",
            *(f"{s.name}: {len(s):,} rows, {len(s.labels)} labels, half of them held out." for s in sets),
        ],
    )
    if plot is not None:
        lines = [Line(queue.value, list(values.mean(axis=(0, 1)))) for queue, values in found.items()]
        chart = line_chart(
            lines, [str(stop) for stop in STOPS], title="Accuracy after rows labelled", background="#fff"
        )
        plot.write_text(chart + "\n", encoding="utf-8")
