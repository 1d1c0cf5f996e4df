"""What can be learned from few rows, by our fine-tune and by the simple ways that it must beat.

Everything works on vectors that were made once: ``Space`` is one model's view of one labelled set.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from threadpoolctl import threadpool_limits

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Scores, VectorCache
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.encoder.embedder import cached_encode
from sce_desktop.ml.finetune.finetune_embedder import finetune_embedder
from sce_desktop.ml.finetune.fitting import Examples
from sce_desktop.ml.finetune.standard import Trainer
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.sce import LabelVectors
from sce_desktop.ml.similarity import SCALE, SimilarityModel
from sce_desktop.ml.transductive import (
    answers_by,
    neighbour_weight,
    refine_prototypes,
    smooth_with_neighbours,
)

STRENGTHS = (1.0, 10.0, 100.0)
"""C of the logistic regression: the best by cross-validation is taken."""


@dataclass(frozen=True, slots=True)
class Space:
    """Text vectors (n, d), label vectors (K, d), zero-shot scores (n, K), and what multiplies cosines."""

    vectors: FloatArray
    labels: FloatArray
    scores: FloatArray
    alpha: float


@dataclass(frozen=True, slots=True)
class Draw:
    """Rows to learn from with their labels (m,), and rows to measure by."""

    train: IdArray
    gold: IdArray
    test: IdArray
    seed: int


Learner = Callable[[Space, Draw, Progress], IdArray]
"""Returns the labels of the rows to measure by."""
Scorer = Callable[[Space, Draw, IdArray, Progress], FloatArray]
"""Returns the probabilities (m, K) of the rows (m,) asked for."""


def alone(scorer: Scorer) -> Learner:
    """Answer as ``scorer`` does, by each row alone."""

    def answers(space: Space, draw: Draw, progress: Progress) -> IdArray:
        return scorer(space, draw, draw.test, progress).argmax(1)

    return answers


def in_table(scorer: Scorer) -> Learner:
    """Predict jointly by ``scorer``: all rows are there, few have a label (`ml.transductive`).

    Prototypes are refined where `TransductiveModel` would: by a model that has label vectors of its own.
    """

    def answers(space: Space, draw: Draw, progress: Progress) -> IdArray:
        own = scorer(space, draw, np.arange(len(space.scores)), progress)
        q, known = torch.from_numpy(space.vectors), torch.from_numpy(own)
        if scorer in (zero_shot, fine_tune):
            taught = np.bincount(draw.gold, minlength=own.shape[1]) * (scorer is fine_tune)
            names, examples = torch.from_numpy(space.labels), torch.from_numpy(taught)
            drawn, level = refine_prototypes(Scores(own, None), q, names, examples, space.alpha)
            known = answers_by(Scores(own, None), slice(None), q, drawn, level)
        found = smooth_with_neighbours(known[draw.test], q[draw.test], q, known, neighbour_weight(known))
        best: IdArray = found.argmax(1).numpy()
        return best

    return answers


def space_of(
    model: SCEModel | SimilarityModel,
    texts: Sequence[str],
    labels: Sequence[Label],
    *,
    cache: VectorCache | None,
    progress: Progress,
) -> Space:
    """Embed ``texts`` and ``labels`` and score them as they are."""
    if isinstance(model, SimilarityModel):
        vectors = cached_encode(model.embedder, texts, cache, progress)
        known = model.label_vectors(labels)
        scores: FloatArray = SCALE * (vectors @ known.T)
        return Space(vectors, known, scores, SCALE)
    vectors = model.embed(texts, cache=cache, progress=progress)
    probabilities = model.score(vectors, labels, progress=progress).probabilities
    sentence = model.label_vectors(labels).sentence
    assert sentence is not None
    return Space(
        vectors,
        sentence.cpu().numpy(),
        np.log(np.maximum(probabilities, np.finfo(np.float32).tiny)),
        model.config.sce.alpha / model.config.temperature,
    )


def zero_shot(space: Space, draw: Draw, rows: IdArray, progress: Progress) -> FloatArray:
    """Score without looking at the rows to learn from."""
    return _softmax(space.scores[rows])


def fine_tune(space: Space, draw: Draw, rows: IdArray, progress: Progress) -> FloatArray:
    """Score as our fine-tune does, the strength chosen by cross-validation on the rows to learn from."""
    return _softmax(space.scores[rows] + correction(space, draw, rows, progress))


def correction(space: Space, draw: Draw, rows: IdArray, progress: Progress) -> FloatArray:
    """Return what our fine-tune adds to the scores (m, K) of ``rows``."""
    known = np.unique(draw.gold)
    examples = Examples(
        vectors=torch.from_numpy(space.vectors[draw.train]),
        gold=torch.from_numpy(np.searchsorted(known, draw.gold)),
        known=torch.from_numpy(known),
        scores=torch.from_numpy(space.scores[draw.train]),
        labels=torch.from_numpy(space.labels[known]),
        alpha=space.alpha,
    )
    trainer = Trainer(FinetuneSettings(seed=draw.seed), progress)
    with threadpool_limits(1):
        recipe = trainer.choose(examples, np.arange(len(draw.train))).recipe
        weight = trainer.fit(examples, [recipe]).weights[0].numpy()
    added = np.zeros((len(rows), len(space.labels)), dtype=np.float32)
    added[:, known] = space.vectors[rows] @ weight.T
    return added


def mix(space: Space, draw: Draw, rows: IdArray, progress: Progress) -> FloatArray:
    """Score by the cosine with label vector plus sum of example vectors."""
    drawn = space.labels.copy()
    np.add.at(drawn, draw.gold, space.vectors[draw.train])
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return _softmax(SCALE * (space.vectors[rows] @ drawn.T))


def _softmax(scores: FloatArray) -> FloatArray:
    found: FloatArray = torch.softmax(torch.from_numpy(scores), 1).numpy()
    return found


class Logistic:
    """Scores by scikit-learn's logistic regression; C is chosen once a size, on the first draw."""

    def __init__(self) -> None:
        self.best: float | None = None

    def __call__(self, space: Space, draw: Draw, rows: IdArray, progress: Progress) -> FloatArray:
        """Return the probabilities of ``rows``; 0 for labels without examples."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV

        x, y = space.vectors[draw.train], draw.gold
        with threadpool_limits(1):
            if self.best is None:
                fewest = int(np.bincount(y)[np.unique(y)].min())
                self.best = STRENGTHS[1]
                if fewest > 1:
                    search = GridSearchCV(
                        LogisticRegression(max_iter=300, tol=1e-3), {"C": STRENGTHS}, cv=min(3, fewest)
                    )
                    self.best = float(search.fit(x, y).best_params_["C"])
                progress.check()
            learner = LogisticRegression(C=self.best, max_iter=300, tol=1e-3).fit(x, y)
        found = np.zeros((len(rows), space.scores.shape[1]), dtype=np.float32)
        found[:, learner.classes_] = learner.predict_proba(space.vectors[rows])
        return found


class TrainedHead:
    """Answers by an SCE whose own weights, those of the label encoder, are trained on the rows.

    What the fine-tune does without; kept to be measured beside it (docs/research/fine-tune.md).

    Args:
        model: Where to start from; it stays as it is.
        labels: Of the set.
        corrected: Train above the correction of our fine-tune.
    """

    RATE, STEPS, BATCH = 1e-4, 60, 256

    def __init__(self, model: SCEModel, labels: Sequence[Label], *, corrected: bool) -> None:
        self.head = model.head
        found = model.label_vectors(labels)
        assert found.sentence is not None
        self.labels = LabelVectors(found.tokens.clone(), found.sentence.clone())  # out of inference mode
        self.corrected = corrected

    def __call__(self, space: Space, draw: Draw, progress: Progress) -> IdArray:
        """Return the labels of the rows to measure by."""
        head = copy.deepcopy(self.head).requires_grad_(True)
        rows = np.concatenate([draw.train, draw.test])
        q = torch.from_numpy(space.vectors[rows])
        gold = torch.from_numpy(draw.gold)
        added = torch.zeros(len(rows), len(space.labels))
        if self.corrected:
            added = torch.from_numpy(correction(space, draw, rows, progress))
        each = 1 / torch.bincount(gold, minlength=added.shape[1]).clamp(min=1).float()
        optimiser = torch.optim.AdamW(head.parameters(), lr=self.RATE, weight_decay=1e-4)
        random = torch.Generator().manual_seed(draw.seed)
        with torch.enable_grad():
            for _ in range(self.STEPS):
                batch = torch.randperm(len(gold), generator=random)[: self.BATCH]
                loss = F.cross_entropy(head(q[batch], self.labels) + added[batch], gold[batch], each)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                progress.check()
        with torch.inference_mode():
            tested = slice(len(gold), None)
            answers: IdArray = (head(q[tested], self.labels) + added[tested]).argmax(1).numpy()
        return answers


class AdaptedEmbedder:
    """Answers as the slower fine-tune does, which adapts the text embedder.

    Args:
        model: Where to start from; it stays as it is.
        texts: Of the set, in the order of its space.
        labels: Of the set.
    """

    def __init__(self, model: SCEModel, texts: Sequence[str], labels: Sequence[Label]) -> None:
        self.model, self.texts, self.labels = model, texts, labels

    def __call__(self, space: Space, draw: Draw, progress: Progress) -> IdArray:
        """Return the labels of the rows to measure by."""
        tuned = finetune_embedder(
            self.model,
            [self.texts[row] for row in draw.train],
            draw.gold.tolist(),
            self.labels,
            settings=FinetuneSettings(seed=draw.seed),
            progress=progress,
        )
        assert tuned.adapted is not None
        if not tuned.adapted.kept:
            return alone(fine_tune)(space, draw, progress)
        tested = [self.texts[row] for row in draw.test]
        answers: IdArray = tuned.model.probabilities(
            tested, self.labels, progress=progress
        ).probabilities.argmax(1)
        return answers


def learners(*, whole_table: bool = False) -> Mapping[str, Learner]:
    """Return what is compared on one model's vectors, by name; new ones for every set and size.

    ``whole_table``: each of them in the whole table too.
    """
    scorers: dict[str, Scorer] = {
        "zero-shot": zero_shot,
        "fine-tune": fine_tune,
        "logistic": Logistic(),
        "mix": mix,
    }
    found = {name: alone(scorer) for name, scorer in scorers.items()}
    if whole_table:
        found |= {f"{name}, whole table": in_table(scorer) for name, scorer in scorers.items()}
    return found
