"""Balancing helps where labels are even and harms where they are not; resamples show both."""

from __future__ import annotations

import numpy as np
import pytest

from sce_desktop.core.scoring import balance_labels, softmax
from sce_desktop.research.class_imbalance import FEWEST_ROWS, imbalanced


def leaning(rows: int, labels: int, lean: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores that are right on average, of a model that leans to the first label."""
    random = np.random.default_rng(3)
    gold = np.repeat(np.arange(labels), rows // labels)
    scores = random.normal(0, 1, (len(gold), labels))
    scores[np.arange(len(gold)), gold] += 1.5
    scores[:, 0] += lean
    return gold, softmax(scores).astype(np.float32)


def test_a_real_lean_is_not_to_be_taken_away() -> None:
    gold, p = leaning(2000, 4, 0.0)
    found = imbalanced(gold, p, lambda rows: balance_labels(p[rows]))
    assert found is not None
    assert found.resamples == 4
    assert found.with_table < found.plain
    gold, p = leaning(2000, 4, 2.0)
    assert (balance_labels(p).argmax(1) == gold).mean() > (p.argmax(1) == gold).mean()


def test_the_leading_label_has_its_share() -> None:
    gold = np.repeat([0, 1], [900, 100])
    p = np.tile(np.float32([1.0, 0.0]), (1000, 1))  # right on label 0 alone
    found = imbalanced(gold, p, lambda rows: balance_labels(p[rows]))
    assert found is not None
    # 0 leads with 4 of 5 rows and is right on them; where 1 leads, 0 has every fifth row
    assert found.plain == pytest.approx((0.8 + 0.2) / 2, abs=0.01)
    assert found.share == 0.8


def test_too_few_rows_say_nothing() -> None:
    gold = np.arange(FEWEST_ROWS) % 4
    certain = np.eye(4, dtype=np.float32)[gold]
    assert imbalanced(gold, certain, lambda rows: certain[rows]) is None


def test_the_same_every_time() -> None:
    gold, p = leaning(400, 3, 1.0)
    assert imbalanced(gold, p, lambda rows: balance_labels(p[rows])) == imbalanced(
        gold, p, lambda rows: balance_labels(p[rows])
    )
