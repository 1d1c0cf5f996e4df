from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from sce_desktop.core.comparison import compare, from_counts


def rows(both: int, won: int, lost: int, neither: int) -> tuple[np.ndarray, np.ndarray]:
    before = np.array([True] * both + [False] * won + [True] * lost + [False] * neither)
    after = np.array([True] * both + [True] * won + [False] * lost + [False] * neither)
    return before, after


def test_a_difference_with_its_interval() -> None:
    found = compare(*rows(100, 30, 10, 60))
    assert (found.rows, found.won, found.lost, found.mean) == (200, 30, 10, 0.1)
    # paired: sqrt((0.15 + 0.05 - 0.01) / 200) = 0.031 on either side, times 1.96
    assert found.interval == pytest.approx((0.04, 0.16), abs=0.006)
    assert found.p_value == binomtest(30, 40).pvalue
    assert found.shown
    assert found.better
    assert found.sentence == "Better: +4 to +16 points (95% CI, 200 rows)."
    assert found.points == "+4 to +16 points (95% CI, 200 rows)"


def test_worse_is_said_too() -> None:
    found = compare(*rows(100, 10, 30, 60))
    assert not found.better
    assert found.sentence == "Worse: -16 to -4 points (95% CI, 200 rows)."


@pytest.mark.parametrize(
    ("won", "lost", "n", "shown"),
    [
        (4, 0, 30, False),  # p = 0.125, though the bootstrap leaves 0 out
        (5, 0, 30, False),  # 0.0625
        (6, 0, 30, True),  # 0.03125
        (7, 1, 100, False),  # 0.0703
        (8, 1, 100, True),  # 0.0391
        (9, 2, 75, False),  # 0.0654
        (10, 2, 75, True),  # 0.0386
        (15, 6, 300, False),  # 0.078
        (0, 4, 30, False),
        (0, 6, 30, True),
        (0, 0, 300, False),
        (12, 0, 29, False),  # too few rows, whatever they say
    ],
)
def test_only_the_exact_test_claims(won: int, lost: int, n: int, shown: bool) -> None:
    found = from_counts(n, won, lost)
    assert (found.shown, found.better) == (shown, shown and won > lost)
    assert found.sentence.startswith(("Better: ", "Worse: ") if shown else "No clear difference yet (")
    assert found.points.startswith("no clear difference yet (") == (not shown)


def test_four_wins_are_no_claim_and_the_interval_says_so() -> None:
    assert from_counts(30, 4, 0).points == "no clear difference yet (+0 to +27 points, 95% CI, 30 rows)"
    assert from_counts(30, 0, 4).points == "no clear difference yet (-27 to +0 points, 95% CI, 30 rows)"


def test_interval_and_claim_agree() -> None:
    for n in (30, 100, 300):
        for won in range(0, 25, 2):
            for lost in range(min(25, n - won)):
                found = from_counts(n, won, lost)
                low, high = found.interval
                assert found.shown == (low > 0 or high < 0), (n, won, lost)


@pytest.mark.parametrize("n", [30, 100, 300])
def test_false_claims_of_better_are_under_2_5_of_100(n: int) -> None:
    """Where neither is better every outcome is counted, for models that differ on few rows and on all."""
    differing = np.arange(n + 1)
    fewest = binom.isf(0.025, differing, 0.5).astype(int) + 1  # wins of so many that claim
    for d in range(1, n + 1, 1 if n == 30 else 11):
        won = int(fewest[d])
        assert won > d or from_counts(n, won, d - won).better
        assert not from_counts(n, won - 1, d - won + 1).better
    claimed = binom.sf(fewest - 1, differing, 0.5)
    assert claimed.max() < 0.025
    for rate in (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0):
        assert (binom.pmf(differing, n, rate) * claimed).sum() < 0.023


@pytest.mark.parametrize("n", [30, 100, 300])
def test_false_claims_of_models_that_err_on_the_same_rows(n: int) -> None:
    """Drawn: rows differ in how hard they are, so that the two models are right about much the same ones."""
    random = np.random.default_rng(n)
    draws, claims = 2000, 0
    for _ in range(draws):
        hardness = random.beta(0.2, 0.15, n)
        claims += compare(random.random(n) < hardness, random.random(n) < hardness).better
    assert 0 < claims / draws < 0.025


def test_rows_that_both_answer_alike_do_not_blur_it() -> None:
    alike, unlike = compare(*rows(190, 8, 0, 2)), compare(*rows(100, 54, 46, 0))
    assert alike.mean == unlike.mean
    assert alike.shown
    assert not unlike.shown
    assert unlike.sentence.startswith("No clear difference yet (-")


def test_few_rows_show_nothing() -> None:
    found = compare(*rows(0, 12, 0, 0))
    assert not found.shown
    assert found.sentence == "No clear difference yet (12 rows, too few)."


def test_one_row_is_called_so() -> None:
    assert compare(*rows(0, 1, 0, 0)).sentence == "No clear difference yet (1 row, too few)."


def test_no_rows() -> None:
    nothing = np.empty(0, dtype=bool)
    found = compare(nothing, nothing)
    assert found.sentence == "Not measured: there are no validation rows."
    assert not found.shown
    assert not found.better


def test_a_narrow_interval_has_a_decimal() -> None:
    sentence = compare(*rows(19_900, 60, 0, 40)).sentence
    assert sentence == "Better: +0.2 to +0.4 points (95% CI, 20,000 rows)."
