"""What taking away a table's lean towards some labels does where the lean is real (MODEL.md 2.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sce_desktop.core.scoring import balance_labels
from sce_desktop.core.types import FloatArray, IdArray

SHARE = 0.8
MOST = 20
FEWEST_ROWS = 20


@dataclass(frozen=True, slots=True)
class Skewed:
    """Mean accuracy over resamples in which one label has ``share`` of the rows, as it is and balanced.

    Each of ``resamples`` has another label in the lead; None where no label has enough rows for one.
    """

    share: float
    resamples: int
    plain: float
    balanced: float


def skewed(gold: IdArray, probabilities: FloatArray, *, share: float = SHARE, seed: int = 0) -> Skewed | None:
    """Measure ``probabilities`` (n, K) of rows with the labels ``gold`` (n,) on skewed resamples.

    A resample has as many rows of its leading label as the set allows and of all others together what is
    left of its rows, drawn without replacement. At most `MOST` labels lead, those with the most rows.
    """
    random = np.random.default_rng(seed)
    sizes = np.bincount(gold, minlength=probabilities.shape[1])
    found = []
    for label in np.argsort(-sizes, kind="stable")[:MOST]:
        inside, others = np.flatnonzero(gold == label), np.flatnonzero(gold != label)
        rest = min(len(others), round(len(inside) * (1 - share) / share))
        lead = min(len(inside), round(rest * share / (1 - share)))
        if lead + rest < FEWEST_ROWS or not rest:
            continue
        rows = np.concatenate(
            [random.choice(inside, lead, replace=False), random.choice(others, rest, replace=False)]
        )
        here = probabilities[rows]
        found.append([(p.argmax(1) == gold[rows]).mean() for p in (here, balance_labels(here))])
    if not found:
        return None
    plain, balanced = np.mean(found, axis=0)
    return Skewed(share, len(found), float(plain), float(balanced))
