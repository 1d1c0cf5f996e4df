"""What joint prediction does under class imbalance: where one label has most of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sce_desktop.core.arrays import FloatArray, IdArray

LEADING_SHARE = 0.8
MOST_LEADING_LABELS = 20
FEWEST_ROWS = 20


@dataclass(frozen=True, slots=True)
class Imbalanced:
    """Mean accuracy over resamples in which one label has ``share`` of the rows, as it is and with the table.

    Each of ``resamples`` has another label in the lead; None where no label has enough rows for one.
    """

    share: float
    resamples: int
    plain: float
    with_table: float


def imbalanced(
    gold: IdArray,
    probabilities: FloatArray,
    with_table: Callable[[IdArray], FloatArray],
    *,
    share: float = LEADING_SHARE,
    seed: int = 0,
) -> Imbalanced | None:
    """Measure ``probabilities`` (n, K) of rows with the labels ``gold`` (n,) on imbalanced resamples.

    ``with_table`` gives the probabilities of the rows at some places as if they were the whole table.

    A resample has as many rows of its leading label as the set allows and of all others together what is
    left of its rows, drawn without replacement. At most `MOST_LEADING_LABELS` labels lead, by their rows.
    """
    random = np.random.default_rng(seed)
    sizes = np.bincount(gold, minlength=probabilities.shape[1])
    found = []
    for label in np.argsort(-sizes, kind="stable")[:MOST_LEADING_LABELS]:
        inside, others = np.flatnonzero(gold == label), np.flatnonzero(gold != label)
        rest = min(len(others), round(len(inside) * (1 - share) / share))
        lead = min(len(inside), round(rest * share / (1 - share)))
        if lead + rest < FEWEST_ROWS or not rest:
            continue
        rows = np.concatenate(
            [random.choice(inside, lead, replace=False), random.choice(others, rest, replace=False)]
        )
        both = probabilities[rows], with_table(rows)
        found.append([(p.argmax(1) == gold[rows]).mean() for p in both])
    if not found:
        return None
    plain, used = np.mean(found, axis=0)
    return Imbalanced(share, len(found), float(plain), float(used))
