"""Logistic regression on text vectors: one of the ways in which a fine-tuned version can predict."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.progress import Progress

_STEPS, _MOST_STEPS = 25, 1000
NEVER = -1e4
"""Log-probability of a label that a regression was not fitted to."""


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """A fitted regression: ``weight`` (C, d_q) and ``bias`` (C,); both NaN for a class without a row."""

    weight: FloatArray
    bias: FloatArray

    def log_probabilities(self, vectors: FloatArray) -> FloatArray:
        """Return log-probabilities (m, C) float32 of text vectors (m, d_q)."""
        scores = vectors @ self.weight.T + self.bias
        scores[np.isnan(scores)] = NEVER
        top = scores.max(1, keepdims=True)
        found: FloatArray = scores - top - np.log(np.exp(scores - top).sum(1, keepdims=True))
        return np.maximum(found, NEVER).astype(np.float32)


def fit_logistic(vectors: FloatArray, gold: IdArray, classes: int, progress: Progress) -> Logistic:
    """Fit a regression that knows no label's name; rare classes count as much as frequent ones.

    Args:
        vectors: To learn from (n, d_q).
        gold: The class (n,) of each among ``classes``; two of them at least.
        classes: C.
        progress: Asked every 25 steps whether to go on.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    # A few steps at a time, each going on from the last, so that a cancel need not wait for all of them.
    learner = LogisticRegression(C=10, class_weight="balanced", max_iter=_STEPS, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(_MOST_STEPS // _STEPS):
            progress.check()
            learner.fit(vectors, gold)
            if learner.n_iter_.max() < _STEPS:
                break
    weight = np.full((classes, vectors.shape[1]), np.nan, dtype=np.float32)
    bias = np.full(classes, np.nan, dtype=np.float32)
    own, own_bias = learner.coef_, learner.intercept_
    if len(learner.classes_) == 2:  # one row stands for both
        own, own_bias = np.concatenate([-own, own]) / 2, np.concatenate([-own_bias, own_bias]) / 2
    weight[learner.classes_], bias[learner.classes_] = own, own_bias
    return Logistic(weight, bias)
