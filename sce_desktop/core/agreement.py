"""How far two or more people agree, beyond what chance would give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.estimates import exact_interval

# scikit-learn takes a second to import: it comes with the first call.


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """Agreement of two coders on the same rows. Kappa and alpha: 1 agreement, 0 chance, None undefined."""

    rows: int  # that both decided
    same: float  # fraction of them with the same answer
    kappa: float | None  # Cohen 1960
    alpha: float | None  # Krippendorff's, nominal
    disagreements: IdArray  # (m,) places where they differ, in order
    confusion: NDArray[np.int64]  # (K, K): the first coder by row, the second by column


def compare_coders(first: IdArray, second: IdArray, answers: int) -> Agreement:
    """Compare two coders.

    Args:
        first: (n,) answers as indices from 0; -1 where the first coder did not decide.
        second: (n,) those of the second coder.
        answers: How many different answers there are.
    """
    both = np.flatnonzero((first >= 0) & (second >= 0))
    a, b = first[both], second[both]
    if not len(both):
        return Agreement(0, 0.0, None, None, both, np.zeros((answers, answers), dtype=np.int64))
    from sklearn.metrics import cohen_kappa_score

    confusion = np.zeros((answers, answers), dtype=np.int64)
    np.add.at(confusion, (a, b), 1)
    # Where both give one and the same answer throughout, chance agrees as often: kappa is 0/0.
    constant = len(np.union1d(a, b)) == 1
    return Agreement(
        rows=len(both),
        same=float((a == b).mean()),
        kappa=None if constant else float(cohen_kappa_score(a, b)),
        alpha=krippendorff_alpha(np.stack([a, b])),
        disagreements=both[a != b],
        confusion=confusion,
    )


def kappa_interval(found: Agreement) -> tuple[float, float] | None:
    """Return a 95% confidence interval of Cohen's kappa, None where kappa is undefined.

    The exact interval (Clopper and Pearson 1934) of the share of equal answers, with the agreement by chance
    held as it was observed. Unlike the asymptotic one (Fleiss, Cohen and Everitt 1969) it is no point where
    all answers are equal, as they are in many short checks.
    """
    if found.kappa is None:
        return None
    counts = found.confusion.astype(np.float64)
    chance = float((counts.sum(axis=1) * counts.sum(axis=0)).sum() / counts.sum() ** 2)
    low, high = exact_interval(round(found.same * found.rows), found.rows)
    return (low - chance) / (1 - chance), (high - chance) / (1 - chance)


def krippendorff_alpha(answers: IdArray) -> float | None:
    """Return Krippendorff's alpha for nominal data, None where it is undefined (no pair, or one answer only).

    By the coincidence matrix of Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C.
    The packages that compute it are under the GPL; tests compare this with one of them.

    Args:
        answers: (coders, n) indices from 0; -1 where a coder did not decide.
    """
    values = int(answers.max(initial=-1)) + 1
    counts = np.stack([(answers == value).sum(axis=0) for value in range(values)], axis=1) if values else None
    if counts is None:
        return None
    pairable = counts[counts.sum(axis=1) >= 2].astype(np.float64)
    weights = 1 / (pairable.sum(axis=1) - 1)
    totals = pairable.sum(axis=0)
    pairs = totals.sum()
    expected = pairs**2 - (totals**2).sum()
    if expected == 0:
        return None
    alike = (weights[:, None] * pairable * (pairable - 1)).sum()
    return float(1 - (pairs - 1) * (pairs - alike) / expected)
