"""Very many labelled rows: a stratified sample that fits the time, and says so."""

from __future__ import annotations

import numpy as np

from sce_desktop.tasks.training import sampling
from sce_desktop.tasks.training.cost import Cost, cost
from sce_desktop.tasks.training.sampling import rows_that_fit, stratified


def test_forty_thousand_rows_of_a_hundred_labels_fit_seven_minutes() -> None:
    def cost_of(rows: int) -> Cost:
        return cost(rows, 100, 100, unread=rows)

    rows = rows_that_fit(40_000, cost_of)

    assert 8_000 <= rows < 40_000
    assert cost_of(rows).seconds <= sampling.MOST_SECONDS < cost_of(rows + 1_001).seconds


def test_what_fits_is_left_whole() -> None:
    assert rows_that_fit(5_000, lambda rows: cost(rows, 10, 10)) == 5_000
    assert rows_that_fit(1_000, lambda rows: Cost(1e9, 0.0, 0, 0)) == 1_000


def test_a_sample_keeps_shares_and_rare_labels() -> None:
    random = np.random.default_rng(1)
    gold = random.permutation(np.repeat([0, 1, 2, 3], [7_000, 2_500, 480, 20]))

    places = stratified(gold, 1_000, seed=3)

    counts = np.bincount(gold[places])
    assert 950 <= len(places) <= 1_000
    assert counts[3] == 20
    assert abs(counts[0] - 700) < 25
    assert abs(counts[1] - 250) < 15
    assert counts[2] >= 20
    assert (np.diff(places) > 0).all()
    assert (places == stratified(gold, 1_000, seed=3)).all()
    assert not np.array_equal(places, stratified(gold, 1_000, seed=4))


def test_a_sample_of_very_many_labels_has_the_least_of_each() -> None:
    gold = np.repeat(np.arange(400), 100)

    counts = np.bincount(gold[stratified(gold, 2_000, seed=0)], minlength=400)

    assert (counts == sampling.LEAST_OF_A_LABEL).all()
