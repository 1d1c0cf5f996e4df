"""Scoring with the labels' work done once gives the numbers of the plain module."""

from __future__ import annotations

import pytest
import torch

from sce_desktop.ml.sce.scorer import JointScorer, SharedScorer, make_scorer
from tests.ml.test_sce import KINDS, label_set, make, texts


@pytest.mark.parametrize("count", [1, 2, 7, 40])
@pytest.mark.parametrize(("architecture", "attention"), KINDS)
@torch.inference_mode()
def test_scores_equal_the_modules(architecture: str, attention: str, count: int) -> None:
    head, labels, q = make(architecture, attention), label_set(count), texts(6)
    scorer = make_scorer(head, labels)
    torch.testing.assert_close(scorer(q), head(q, labels), atol=2e-5, rtol=1e-5)


@torch.inference_mode()
def test_few_labels_are_folded_and_many_are_not() -> None:
    """Both ways above must have been taken: 4 heads of width 32 fold up to 10 labels."""
    head = make("plus", "shared")
    few, many = make_scorer(head, label_set(7)), make_scorer(head, label_set(40))
    assert isinstance(few, SharedScorer)
    assert isinstance(many, SharedScorer)
    assert few.layers[0][1].into is not None
    assert many.layers[0][1].into is None


@torch.inference_mode()
def test_one_layer_is_enough() -> None:
    head = make("plus", "joint")
    head.layers = head.layers[:1]
    labels, q = label_set(5), texts(3)
    torch.testing.assert_close(JointScorer(head, labels)(q), head(q, labels), atol=2e-5, rtol=1e-5)


@torch.inference_mode()
def test_strong_attention_stays_finite() -> None:
    """Logits in the hundreds: the shared mass of the labels is kept as a logarithm."""
    head, labels, q = make("plus", "joint"), label_set(5), texts(3)
    for name, parameter in head.named_parameters():
        if name.endswith("qkv.weight"):
            parameter.mul_(30)
    found = make_scorer(head, labels)(q)
    assert found.isfinite().all()
    torch.testing.assert_close(found, head(q, labels), atol=1e-4, rtol=1e-4)
