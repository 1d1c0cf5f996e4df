"""Which rows a fine-tune leaves out to be measured by, and warnings about rows and answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import _, number
from sce_desktop.core.progress import Progress
from sce_desktop.ml.finetune.recipes import FOLDS, MOST_TO_MEASURE_BY_FOLDS


def parts_left_out(
    gold: IdArray, groups: IdArray, may: NDArray[np.bool_], random: np.random.Generator
) -> tuple[bool, IdArray, list[IdArray]]:
    """Return whether the rows are few, a fold (n,) for every row, and the rows of each part to measure by.

    Of few rows every one that ``may`` be is left out once; of many a fifth is, and that is the only part.
    """
    few = int(may.sum()) <= MOST_TO_MEASURE_BY_FOLDS
    fold_of = folds(gold, groups, FOLDS, random, may)
    parts = [np.flatnonzero(may & (fold_of == fold)) for fold in range(FOLDS if few else 1)]
    return few, fold_of, [rows for rows in parts if len(rows)]


def folds(
    gold: IdArray,
    groups: IdArray,
    count: int,
    random: np.random.Generator,
    may: NDArray[np.bool_] | None = None,
) -> IdArray:
    """Return a fold (n,) for every row, -1 for rows that are always trained on.

    Each label's rows that ``may`` (n,) be left out are spread evenly; None: all. Rows of one group (equal
    texts) share a fold, whether they may or not, and a label with a single group is not measured: without it
    the label would have no example.
    """
    may = np.ones(len(gold), dtype=np.bool_) if may is None else may
    fold_of = np.full(len(gold), -1, dtype=np.int64)
    group_fold: dict[int, int] = {}
    start = 0
    for label in np.unique(gold):
        here = random.permutation(np.unique(groups[may & (gold == label)]))
        if len(np.unique(groups[gold == label])) < 2:
            continue
        for place, group in enumerate(here.tolist()):
            group_fold.setdefault(group, (start + place) % count)
        start += len(here)
    for label in np.unique(gold):
        rows = gold == label
        mine = [group_fold.get(group, -1) for group in groups[rows].tolist()]
        if len(set(mine)) > 1:  # else two labels share all their texts
            fold_of[rows] = mine
    return fold_of


def text_groups(texts: Sequence[str]) -> IdArray:
    """Return a number for each text, the same for equal ones."""
    place: dict[str, int] = {}
    return np.array([place.setdefault(text, len(place)) for text in texts], dtype=np.int64)


def report_contradictions(groups: IdArray, gold: IdArray, progress: Progress) -> None:
    """Warn where equal texts bear different labels."""
    pairs = np.unique(np.stack([groups, gold]), axis=1)
    contradicted = int((np.bincount(pairs[0]) > 1).sum())
    if contradicted:
        progress.warn(
            _(
                "Texts with different labels in different rows: {contradicted}. All are used.",
                contradicted=number(contradicted),
            )
        )


def report_collapse(gold: IdArray, found: IdArray, labels: Sequence[Label], progress: Progress) -> None:
    """Warn where nearly everything gets one label though the labels are mixed."""
    if len(gold) < 20:
        return
    counts = np.bincount(found, minlength=len(labels))
    if counts.max() > 0.95 * len(gold) and np.bincount(gold).max() < 0.8 * len(gold):
        progress.warn(
            _(
                "The fine-tuned model predicts “{label}” for nearly every row: check the labels of your "
                "examples before you use it.",
                label=labels[int(counts.argmax())].name,
            )
        )
