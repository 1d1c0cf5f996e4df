"""What a version would predict with few labelled rows: the head that it chooses, beside each of its ways.

A draw is fine-tuned once, by the same code as a project's version, cross-validation and choice included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.heads import Way
from sce_desktop.core.progress import Progress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.finetune.standard import FineTuned, finetune
from sce_desktop.ml.finetune.versions import in_way
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.transductive import MAX_ROWS, TransductiveModel
from sce_desktop.research.few_shot_learning import Draw, Learner, Space

CHOSEN = "chosen head"
WAYS: Mapping[str, Way | None] = {
    CHOSEN: None,
    "SCE head": Way.SCE,
    "logistic regression": Way.LOGISTIC,
    "product": Way.PRODUCT,
}
"""Columns of the table; None: the way that is chosen."""


class EveryWay:
    """Fine-tunes once a draw and answers in every way.

    Args:
        model: Where to start from; it stays as it is.
        texts: Of the set, in the order of its space.
        labels: Of the set.
        joint: Answer jointly too.

    Attributes:
        chosen: How many draws chose each way.
    """

    def __init__(
        self, model: SCEModel, texts: Sequence[str], labels: Sequence[Label], *, joint: bool = False
    ) -> None:
        self.model, self.texts, self.labels, self.joint = model, texts, labels, joint
        self.chosen: Counter[str] = Counter()
        self._last: tuple[Draw, FineTuned] | None = None

    def learners(self) -> dict[str, Learner]:
        """Return what answers in each way, by the names of the table's columns."""
        found = {name: self._learner(way, joint=False) for name, way in WAYS.items()}
        if self.joint:
            found |= {f"{name}, whole table": self._learner(way, joint=True) for name, way in WAYS.items()}
        return found

    def _learner(self, way: Way | None, *, joint: bool) -> Learner:
        def answers(space: Space, draw: Draw, progress: Progress) -> IdArray:
            tuned = self._tuned(space, draw, progress)
            model = tuned.model if way is None else in_way(self.model, tuned.heads.fitted, way)
            scorer = TransductiveModel(model, _reference(space)) if joint else model
            best: IdArray = scorer.score(space.vectors[draw.test], self.labels).probabilities.argmax(1)
            return best

        return answers

    def _tuned(self, space: Space, draw: Draw, progress: Progress) -> FineTuned:
        if self._last is None or self._last[0] is not draw:
            tuned = finetune(
                self.model,
                [self.texts[row] for row in draw.train],
                draw.gold.tolist(),
                self.labels,
                settings=FinetuneSettings(seed=draw.seed),
                cache=_Known(self.texts, space.vectors),
                progress=progress,
            )
            self.chosen[tuned.heads.way.value] += 1
            self._last = draw, tuned
        return self._last[1]


class _Known:
    """A `core.runs.VectorCache` of vectors that are there already."""

    def __init__(self, texts: Sequence[str], vectors: FloatArray) -> None:
        self._place = {text: place for place, text in enumerate(texts)}
        self._vectors = vectors

    def get(self, embedder: str, texts: Sequence[str]) -> tuple[NDArray[np.bool_], FloatArray | None]:
        """Return what `VectorCache.get` does."""
        places = [self._place[text] for text in texts]
        return np.ones(len(texts), dtype=np.bool_), self._vectors[places]

    def put(self, embedder: str, texts: Sequence[str], vectors: FloatArray) -> None:
        """Keep nothing."""


def _reference(space: Space) -> FloatArray:
    """Return the vectors of the rows that stand for the table."""
    rows = len(space.vectors)
    if rows <= MAX_ROWS:
        return space.vectors
    places = np.random.default_rng(0).choice(rows, MAX_ROWS, replace=False)
    return space.vectors[np.sort(places)]
