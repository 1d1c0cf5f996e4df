"""The first rows of the random order without the others."""

from __future__ import annotations

import numpy as np
import pytest

from sce_desktop.core import sampling
from sce_desktop.core.sampling import first_in_random_order, random_order


@pytest.mark.parametrize("rows", [0, 1, 40, 200, 5_000, 120_000])
@pytest.mark.parametrize("count", [0, 1, 30, 1_000])
@pytest.mark.parametrize("seed", [0, 7])
def test_the_first_of_a_random_order_are_those_it_begins_with(rows: int, count: int, seed: int) -> None:
    ids = np.arange(3, 3 + 2 * rows, 2)
    wanted = random_order(ids, seed=seed)[:count]
    assert first_in_random_order(ids, count, seed=seed).tolist() == wanted.tolist()


def test_of_many_rows_few_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    whole = sampling.random_order

    def sort(row_ids: np.ndarray, *, seed: int = 0) -> np.ndarray:
        asked.append(len(row_ids))
        return whole(row_ids, seed=seed)

    monkeypatch.setattr(sampling, "random_order", sort)
    assert len(first_in_random_order(np.arange(1, 300_001), 1_000)) == 1_000
    assert asked[0] < 3_000
