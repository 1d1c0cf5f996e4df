"""Label-order sensitivity: whether a prediction depends on the order of the labels; an SCE's never does."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import TextModel, VectorCache
from sce_desktop.tasks.progress import PartProgress

SEED = 0


@dataclass(frozen=True, slots=True)
class LabelOrderSensitivity:
    """``changed``: share of predictions, over rows and shuffles, that differ from those in the given order.

    ``rows`` is the share of rows of which at least one prediction differs.
    """

    shuffles: int
    changed: float
    rows: float


def label_order_sensitivity(
    model: TextModel,
    texts: Sequence[str],
    labels: Sequence[Label],
    probabilities: FloatArray,
    *,
    multi_label: bool = False,
    shuffles: int,
    cache: VectorCache | None,
    progress: Progress,
) -> LabelOrderSensitivity:
    """Score ``texts`` with ``labels`` in ``shuffles`` random orders, the same every time.

    Args:
        model: What is checked.
        texts: Non-blank.
        labels: In the given order.
        probabilities: What ``model`` gave in that order (n, K).
        multi_label: Several labels may fit a row.
        shuffles: How many other orders.
        cache: Of text vectors.
        progress: Of rows.
    """
    usual = probabilities.argmax(axis=1)
    generator = random.Random(SEED)
    differs = np.zeros((shuffles, len(texts)), dtype=np.bool_)
    for number in range(shuffles):
        order = generator.sample(range(len(labels)), len(labels))
        part = PartProgress(
            progress,
            start=number * len(texts),
            total=shuffles * len(texts),
            stage=_("scoring with reordered labels"),
        )
        given = [labels[i] for i in order]
        found = model.probabilities(texts, given, multi_label=multi_label, cache=cache, progress=part)
        differs[number] = np.asarray(order)[found.probabilities.argmax(axis=1)] != usual
    return LabelOrderSensitivity(shuffles, float(differs.mean()), float(differs.any(axis=0).mean()))
