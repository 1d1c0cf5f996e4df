"""How often the promised error of final labels holds, and how many rows the model labels for it.

The gold labels of a set are hidden; a user audits a random sample of 200 rows and asks for an error of at
most 5, 10 or 20%. The sample becomes the user's, and the error counts among the rows that the model labels
then. Under it the slider: the limit that is shown at a threshold that was fixed before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sce_desktop.core.selective import GRID, AuditedPredictions, Curve
from tests.benchmarks.labelled import ScoredSet
from tests.benchmarks.measure import print_table

MAX_ERRORS = (0.05, 0.10, 0.20)
THRESHOLDS = (0.9, 0.7, 0.5, 0.0)


def run(sets: Sequence[ScoredSet], *, sample: int, draws: int) -> None:
    """Simulate and print."""
    chosen, slider = [], []
    for scored in sets:
        confidence = scored.sce.max(axis=1).astype(np.float64)
        wrong = scored.sce.argmax(axis=1) != scored.gold
        rng = np.random.default_rng(0)
        drawn = []
        for _draw in range(draws):
            taken = np.zeros(len(scored), dtype=bool)
            taken[rng.choice(len(scored), sample, replace=False)] = True
            curve = Curve.of(
                AuditedPredictions(
                    confidence,
                    confidence[taken],
                    wrong[taken],
                    confidence[~taken],
                    confidence[taken & wrong],
                )
            )
            drawn.append((taken, curve))
        for max_error in MAX_ERRORS:
            chosen.append([scored.name, f"{max_error:.0%}", *_choices(confidence, wrong, drawn, max_error)])
        for threshold in THRESHOLDS:
            slider.append([scored.name, f"{threshold:.0%}", *_limits(confidence, wrong, drawn, threshold)])
    facts = [
        f"{s.name}: {len(s):,} rows, {len(s.labels)} labels, zero-shot accuracy "
        f"{(s.sce.argmax(axis=1) == s.gold).mean():.1%}."
        for s in sets
    ]
    print_table(
        f"Final labels from {sample} audited rows, {draws} draws: an error is promised and the lowest "
        "threshold chosen for it",
        ["set", "promised", "held", "refused", "true error", "worst", "by the model", "at best"],
        chosen,
        [*facts, "A draw in which nothing is promised breaks no promise. At best: were every label known."],
    )
    print_table(
        f"The slider at a threshold fixed before, {draws} draws",
        ["set", "threshold", "held", "shown at most", "expected", "true error", "by the model"],
        slider,
        [],
    )


Drawn = Sequence[tuple[np.ndarray, Curve]]


def _choices(confidence: np.ndarray, wrong: np.ndarray, drawn: Drawn, max_error: float) -> list[str]:
    errors, shares = [], []
    for taken, curve in drawn:
        point = curve.choose(max_error)
        labelled = np.zeros(len(wrong), dtype=bool)
        if point is not None:
            labelled = ~taken & (confidence >= point.threshold)
        shares.append(labelled.sum() / (~taken).sum())
        if labelled.any():
            errors.append(float(wrong[labelled].mean()))
    broken = sum(error > max_error for error in errors)
    best = [
        (confidence >= t).mean()
        for t in GRID
        if (confidence >= t).any() and wrong[confidence >= t].mean() <= max_error
    ]
    return [
        f"{len(drawn) - broken} of {len(drawn)}",
        str(len(drawn) - len(errors)),
        f"{np.mean(errors):.1%}" if errors else "-",
        f"{max(errors):.1%}" if errors else "-",
        f"{np.mean(shares):.0%}",
        f"{max(best, default=0.0):.0%}",
    ]


def _limits(confidence: np.ndarray, wrong: np.ndarray, drawn: Drawn, threshold: float) -> list[str]:
    held, limits, expected, true = 0, [], [], []
    for taken, curve in drawn:
        labelled = ~taken & (confidence >= threshold)
        error, point = float(wrong[labelled].mean()) if labelled.any() else 0.0, curve.at(threshold)
        held += error <= point.high
        limits.append(point.high)
        true.append(error)
        if point.error is not None:
            expected.append(point.error)
    return [
        f"{held} of {len(drawn)}",
        f"{np.mean(limits):.1%}",
        f"{np.mean(expected):.1%}" if expected else "-",
        f"{np.mean(true):.1%}",
        f"{(confidence >= threshold).mean():.0%}",
    ]
