from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sce_desktop.core.runs import Scores
from sce_desktop.core.scoring import (
    SCORED_STATUSES,
    Status,
    balance_labels,
    chosen,
    format_probability,
    softmax,
    status_codes,
    top,
)


def statuses(scores: Scores, **options: Any) -> list[Status]:
    return [SCORED_STATUSES[code] for code in status_codes(scores, **options)]


def probabilities(*rows: list[float]) -> np.ndarray:
    return np.asarray(rows, dtype=np.float32)


def test_softmax_of_big_scores_is_a_distribution() -> None:
    result = softmax(probabilities([1000.0, 999.0, -1000.0], [0.0, 0.0, 0.0]))
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.sum(axis=1), 1.0, atol=1e-6)
    assert result[0, 0] == pytest.approx(np.e / (np.e + 1), abs=1e-6)


def test_ties_go_to_the_first_label() -> None:
    index, confidence, margin = top(probabilities([0.4, 0.4, 0.2], [0.1, 0.2, 0.7]))
    assert index.tolist() == [0, 2]
    np.testing.assert_allclose(confidence, [0.4, 0.7])
    np.testing.assert_allclose(margin, [0.0, 0.5], atol=1e-7)


def test_margin_of_a_single_label_is_its_confidence() -> None:
    _, confidence, margin = top(probabilities([0.3]))
    assert margin == confidence


def test_statuses() -> None:
    rows = probabilities([0.6, 0.4], [0.5, 0.5], [0.9, 0.1])
    assert statuses(Scores(rows)) == [Status.SCORED] * 3
    assert statuses(Scores(rows), threshold=0.6) == [Status.SCORED, Status.UNSURE, Status.SCORED]
    none = np.asarray([0.1, 0.5, 0.9], dtype=np.float32)
    assert statuses(Scores(rows, none)) == [Status.SCORED, Status.NONE, Status.NONE]


def test_multi_label_gives_all_labels_from_the_threshold_up() -> None:
    rows = probabilities([0.6, 0.5], [0.4, 0.1])
    assert chosen(rows).tolist() == [[True, True], [False, False]]
    assert statuses(Scores(rows), multi_label=True) == [Status.SCORED, Status.NONE]
    assert chosen(rows, threshold=0.4).tolist() == [[True, True], [True, False]]
    assert statuses(Scores(rows), threshold=0.4, multi_label=True) == [Status.SCORED, Status.SCORED]


def test_balance_labels_is_the_formula_of_the_model_document() -> None:
    lean = np.asarray([2, 0, 0, 0], dtype=np.float32)
    scores = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32) + lean
    raw = softmax(scores)
    expected = softmax(scores - 0.5 * np.log(raw.mean(axis=0)))
    np.testing.assert_allclose(balance_labels(raw), expected, atol=1e-6)
    spread = np.bincount(top(balance_labels(raw))[0], minlength=4)
    assert spread[0] < np.bincount(top(raw)[0], minlength=4)[0]


def test_balance_labels_stands_a_label_that_never_gets_anything() -> None:
    result = balance_labels(probabilities([1.0, 0.0], [1.0, 0.0]))
    assert np.isfinite(result).all()


def test_nine_digits_bring_a_float32_back() -> None:
    values = np.random.default_rng(0).random(1000).astype(np.float32)
    assert all(np.float32(format_probability(float(value))) == value for value in values)
    assert format_probability(0.5) == "0.5"
