"""From scores and probabilities to what is shown: the best label, how sure, and what that means for a row."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.runs import Scores

MULTI_LABEL_THRESHOLD = 0.5
"""With independent probabilities a label is given from here up, unless the user says otherwise."""
NONE_THRESHOLD = 0.5
"""From this probability up, "no label fits" is the answer."""


class Status(StrEnum):
    """What the program says about a row's result."""

    SCORED = "scored"
    UNSURE = "unsure"  # the best probability is below the user's threshold
    NONE = "none"  # no label fits
    BLANK = "blank"  # there is no text


def softmax(scores: FloatArray) -> FloatArray:
    """Return the softmax over the last axis, in the dtype of ``scores``."""
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result: FloatArray = shifted / shifted.sum(axis=-1, keepdims=True)
    return result


def best(probabilities: FloatArray) -> tuple[IdArray, FloatArray]:
    """Return index and confidence (n,) of the best label of each row, as `top` does, in half the time."""
    index = probabilities.argmax(axis=1)
    return index, probabilities[np.arange(len(probabilities)), index]


def top(probabilities: FloatArray) -> tuple[IdArray, FloatArray, FloatArray]:
    """Return index, confidence and margin (n,) of the best label of each row of ``probabilities`` (n, K).

    Ties go to the label that comes first. The margin is the distance to the second best; with one label it is
    the confidence.
    """
    index, confidence = best(probabilities)
    if probabilities.shape[1] == 1:
        return index, confidence, confidence
    second = np.partition(probabilities, -2, axis=1)[:, -2]
    return index, confidence, confidence - second


SCORED_STATUSES = (Status.SCORED, Status.UNSURE, Status.NONE)
"""What a row with a text can have."""


def status_codes(
    scores: Scores, *, threshold: float | None = None, multi_label: bool = False
) -> NDArray[np.int32]:
    """Return what ``scores`` mean row by row, as places (n,) in `SCORED_STATUSES`.

    ``none`` where the model's own "no label fits" reaches `NONE_THRESHOLD`, or where no independent
    probability reaches the threshold; ``unsure`` where the best probability is below ``threshold``.
    """
    confidence = scores.probabilities.max(axis=1)
    kind = np.zeros(len(scores), dtype=np.int32)
    if threshold is not None:
        kind[confidence < threshold] = 1
    kind[none_fits(confidence, scores.none, threshold=threshold, multi_label=multi_label)] = 2
    return kind


def none_fits(confidence: Any, none: Any, *, threshold: float | None = None, multi_label: bool) -> Any:
    """Return whether "none of these" is the answer, about one row or (n,) rows.

    Args:
        confidence: The best probability.
        none: The model's own "no label fits", None where it does not say that.
        threshold: From where up a label of several is given, None for `MULTI_LABEL_THRESHOLD`.
        multi_label: Whether probabilities are independent: then none need reach the threshold.
    """
    answer = confidence < 0 if none is None else none >= NONE_THRESHOLD
    if multi_label:
        answer = answer | (confidence < (MULTI_LABEL_THRESHOLD if threshold is None else threshold))
    return answer


def chosen(probabilities: FloatArray, *, threshold: float | None = None) -> NDArray[np.bool_]:
    """Return which labels (n, K) independent ``probabilities`` give: those from ``threshold`` up."""
    result: NDArray[np.bool_] = probabilities >= (MULTI_LABEL_THRESHOLD if threshold is None else threshold)
    return result


def balance_labels(probabilities: FloatArray, beta: float = 0.5) -> FloatArray:
    """Return ``probabilities`` (n, K) with the table's own lean towards some labels partly taken away.

    Softmax of s_ik - beta * log((1/n) * sum_i p_ik) over the n rows given. It raises accuracy where labels
    are about equally frequent and harms where they are not, so it is a way of looking, never stored.
    """
    tiny = np.finfo(np.float32).tiny
    scores = np.log(np.maximum(probabilities, tiny)) - beta * np.log(
        np.maximum(probabilities.mean(axis=0), tiny)
    )
    return softmax(scores)


def format_probability(value: float) -> str:
    """Return ``value`` with the 9 significant digits that bring a float32 back unchanged."""
    return format(value, ".9g")
