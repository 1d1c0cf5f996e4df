"""The temperature that is fitted on rows left out."""

from __future__ import annotations

import pytest
import torch

from sce_desktop.ml.finetune.temperature import fitted_temperature


def test_the_temperature_of_scores_that_are_too_sure() -> None:
    random = torch.Generator().manual_seed(0)
    scores = torch.randn(2000, 4, generator=random)
    gold = torch.distributions.Categorical(logits=scores).sample()
    temperature, loss = fitted_temperature(scores * 3, gold)
    assert temperature == pytest.approx(3, rel=0.15)
    assert loss == pytest.approx(float(torch.nn.functional.cross_entropy(scores, gold)), abs=0.01)
    few, _ = fitted_temperature(scores[:3] * 3, gold[:3])
    assert 0.5 < few < 2.5  # three rows cannot say much
