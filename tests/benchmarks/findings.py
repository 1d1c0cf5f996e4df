"""How often the interval of a label's share holds, and how wide it is, against the sample alone.

The gold labels of a set are hidden; a user decides a random sample of 200 rows, and the share of every label
is estimated as the findings panel does, with the zero-shot probabilities of the model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.estimates import Z
from sce_desktop.tasks.evaluation.evidence import Evidence, Source
from sce_desktop.tasks.insight.findings import find
from tests.benchmarks.labelled import ScoredSet
from tests.benchmarks.measure import print_table

METHODS = ("this program", "sample alone", "usual interval")
RARE = 0.02


def drawn(scored: ScoredSet, sample: IdArray) -> Evidence:
    """Return what a project would know once ``sample`` is decided."""
    answer = np.full(len(scored), -1, dtype=np.int64)
    answer[sample] = scored.gold[sample]
    return Evidence(
        np.arange(1, len(scored) + 1),
        tuple(Label(name) for name in scored.labels),
        False,
        answer,
        np.where(answer >= 0, Source.AUDIT, Source.UNDECIDED).astype(np.int8),
        tuple(np.flatnonzero(answer == place) for place in range(len(scored.labels) + 1)),
        sample,
        frame=np.ones(len(scored), dtype=bool),
        probabilities={"sce": scored.sce},
    )


def usual(hits: np.ndarray, predicted: np.ndarray, mean: float, rows: int) -> tuple[float, float]:
    """Return the interval of prediction-powered inference with its tuned weight (arXiv 2311.01453)."""
    n = len(hits)
    weight = float(np.clip(np.cov(hits, predicted)[0, 1] / max(float(predicted.var()), 1e-12), 0, 1))
    apart = hits - weight * predicted
    value = weight * mean + apart.mean()
    half = Z * float(np.sqrt(apart.var(ddof=1) / n * (1 - n / rows)))
    return value - half, value + half


def run(sets: Sequence[ScoredSet], *, sample: int, draws: int) -> None:
    """Simulate and print."""
    table = []
    for scored in sets:
        true = np.bincount(scored.gold, minlength=len(scored.labels)) / len(scored)
        ends = np.zeros((len(METHODS), draws, len(true), 2))
        rng = np.random.default_rng(0)
        for draw in range(draws):
            places = np.sort(rng.choice(len(scored), sample, replace=False))
            evidence = drawn(scored, places)
            for label in range(len(true)):
                guess = scored.sce[:, label].astype(np.float64)
                ends[2, draw, label] = usual(
                    scored.gold[places] == label, guess[places], guess.mean(), len(scored)
                )
            for method, alias in enumerate(("sce", "")):
                for label, share in enumerate(find(evidence, alias=alias).whole.shares[: len(true)]):
                    ends[method, draw, label] = share.share.interval or (0, 1)
        held = (ends[..., 0] <= true) & (true <= ends[..., 1])
        widths = ends[..., 1] - ends[..., 0]
        rare = true < RARE
        for method, name in enumerate(METHODS):
            by_label = held[method].mean(axis=0)
            table.append(
                [
                    f"{scored.name}, {name}",
                    f"{held[method].mean():.1%}",
                    f"{by_label.min():.0%}",
                    f"{held[method][:, rare].mean():.1%}" if rare.any() else "-",
                    f"{widths[method].mean() * 100:.2f}",
                ]
            )
    print_table(
        f"Shares from {sample} rows drawn at random, {draws} draws: how often a 95 % interval holds",
        ["set, method", "held", "worst label", f"labels under {RARE:.0%}", "mean width, points"],
        table,
        [
            *(
                f"{s.name}: {len(s):,} rows, {len(s.labels)} labels, zero-shot accuracy "
                f"{(s.sce.argmax(axis=1) == s.gold).mean():.1%}."
                for s in sets
            ),
            f"One label in {draws} draws: 95 % has a standard error of {np.sqrt(0.0475 / draws):.1%}.",
        ],
    )
