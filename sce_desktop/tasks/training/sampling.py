"""Which of very many labelled rows a fine-tune learns from: a random sample, stratified by label.

More rows help less and less, but cost as much each. Beyond `MOST_SECONDS` as many are drawn as fit, so that a
fine-tune always comes to its end; the rest is counted and reported, and nobody's label is changed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import _, number
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import duration, size_text
from sce_desktop.tasks.training.cost import Cost

MOST_SECONDS = 420.0
"""That a fine-tune may take by the estimate: it lies below ten minutes where that is short by a third."""
LEAST_ROWS = 2_000
"""That are learned from however slow the machine is."""
LEAST_OF_A_LABEL = 20
"""Rows of each label in the sample, where it has as many."""
WORTH_SAYING = 60.0
"""Seconds from which on what a fine-tune will take is said before it starts."""
SAMPLED = "sampled"
"""Why rows were not learned from, among the reasons of `core.training.TrainingReport.left_out`."""


def rows_that_fit(rows: int, cost_of: Callable[[int], Cost], most_seconds: float = MOST_SECONDS) -> int:
    """Return how many of ``rows`` can be learned from within ``most_seconds``; all of them where they can.

    Args:
        rows: That are labelled.
        cost_of: What a fine-tune on so many takes; more rows never take less.
        most_seconds: By the estimate.
    """
    if rows <= LEAST_ROWS or cost_of(rows).seconds <= most_seconds:
        return rows
    low, high = LEAST_ROWS, rows
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if cost_of(middle).seconds <= most_seconds else (low, middle)
    return low if low < 10_000 else low // 1_000 * 1_000


def stratified(gold: IdArray, most: int, seed: int) -> IdArray:
    """Return the places of at most about ``most`` of the rows ``gold`` (n,), sorted; the same for a seed.

    Each label has the share that it has among all rows, but `LEAST_OF_A_LABEL` rows where it has as many:
    what is measured on the sample stands for the table as nearly as the rare labels allow.
    """
    if len(gold) <= most:
        return np.arange(len(gold))
    random = np.random.default_rng(seed)
    labels, counts = np.unique(gold, return_counts=True)
    wanted = np.minimum(counts, np.maximum(LEAST_OF_A_LABEL, np.floor(counts * most / len(gold))))
    spare = int(wanted.sum()) - most
    if spare > 0:  # what the rare ones have too much, the frequent ones lack
        above = np.maximum(wanted - LEAST_OF_A_LABEL, 0)
        if above.sum() > 0:
            wanted -= np.ceil(above * min(1.0, spare / above.sum()))
    chosen = [
        random.permutation(np.flatnonzero(gold == label))[: int(count)]
        for label, count in zip(labels, wanted, strict=True)
    ]
    return np.sort(np.concatenate(chosen))


def report(progress: Progress, cost: Cost, rows: int, labelled: int) -> None:
    """Say before the start what a fine-tune on ``rows`` of the ``labelled`` rows takes, if that is much."""
    if rows < labelled:
        progress.warn(
            _(
                "Learning from a random sample of {rows} of the {labelled} labelled rows, stratified by "
                "label: all of them would take too long.",
                rows=number(rows),
                labelled=number(labelled),
            )
        )
    if cost.seconds >= WORTH_SAYING or rows < labelled:
        progress.warn(
            _(
                "Fine-tuning takes about {seconds} here, and {memory} of memory.",
                seconds=duration(cost.seconds),
                memory=size_text(cost.peak),
            )
        )
