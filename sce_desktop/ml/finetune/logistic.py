"""Logistic regression on text vectors: the baseline that every fine-tune is shown beside."""

from __future__ import annotations

import warnings

import numpy as np

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.progress import Progress

_STEPS, _MOST_STEPS = 25, 1000


def logistic_probabilities(
    vectors: FloatArray, gold: IdArray, train: IdArray, test: IdArray, labels: int, progress: Progress
) -> FloatArray:
    """Return the probabilities (m, K) of the rows ``test`` by a learner that knows no label's name.

    Args:
        vectors: Of all rows (n, d_q).
        gold: The place of each row's label (n,) among K ``labels``.
        train: Rows to learn from.
        test: Rows to answer for.
        labels: K; those without a row in ``train`` get 0.
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
            learner.fit(vectors[train], gold[train])
            if learner.n_iter_.max() < _STEPS:
                break
    result = np.zeros((len(test), labels), dtype=np.float32)
    result[:, learner.classes_] = learner.predict_proba(vectors[test])
    return result
