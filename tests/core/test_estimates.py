from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from sce_desktop.core.estimates import (
    Line,
    Share,
    Z,
    exact_interval,
    part_share,
    sample_share,
    suggested_sample,
    wilson_interval,
    with_known,
)


@pytest.mark.parametrize(("hits", "n"), [(0, 200), (1, 200), (100, 200), (199, 200), (7, 7), (0, 1)])
def test_the_exact_interval_is_that_of_scipy(hits: int, n: int) -> None:
    theirs = binomtest(hits, n).proportion_ci(0.95, method="exact")
    assert exact_interval(hits, n) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize(("hits", "n"), [(0, 200), (1, 200), (100, 200), (199, 200), (7, 7), (0, 1)])
def test_wilson_is_that_of_scipy(hits: int, n: int) -> None:
    theirs = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson_interval(hits / n, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert sample_share(np.arange(n) < hits).interval == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_nothing_seen_says_nothing() -> None:
    assert exact_interval(0, 0) == (0.0, 1.0)


def test_a_table_read_whole_has_no_width_left() -> None:
    assert wilson_interval(0.3, 500, rows=500) == (0.3, 0.3)
    found = sample_share([1, 0, 0, 0], [0.2, 0.9, 0.1, 0.1], mean=0.325, rows=4)
    assert found == Share(0.25, (0.25, 0.25))
    wide, narrow = wilson_interval(0.3, 200), wilson_interval(0.3, 200, rows=400)
    assert narrow[1] - narrow[0] == pytest.approx((wide[1] - wide[0]) * np.sqrt(0.5), rel=0.02)


def test_no_hit_in_the_sample_still_leaves_room() -> None:
    found = sample_share(np.zeros(200), np.linspace(0, 0.1, 200), mean=0.05, rows=10_000)
    assert found.value == 0
    assert found.interval is not None
    assert found.interval[0] == 0
    assert 0.01 < found.interval[1] < 0.02


def test_without_a_sample_nothing_is_excluded() -> None:
    assert sample_share([], [], mean=0.2, rows=100) == Share(0.2, (0.0, 1.0))


def test_the_regression_estimate_by_hand() -> None:
    """Slope 0.5 / 0.2 = 2.5; the sample's mean prediction is 0.5, the table's 0.6: 0.5 + 2.5 * 0.1."""
    found = sample_share([0, 0, 1, 1], [0.2, 0.4, 0.6, 0.8], mean=0.6)
    assert found.value == pytest.approx(0.5 + 0.4 / 0.2 * 0.1)


def test_predictions_that_say_nothing_change_nothing() -> None:
    hits = np.arange(200) < 30
    assert sample_share(hits, np.full(200, 0.4), mean=0.4) == sample_share(hits)


def test_predictions_that_are_right_narrow_the_interval() -> None:
    rng = np.random.default_rng(0)
    hits = rng.random(200) < 0.3
    plain, helped = sample_share(hits), sample_share(hits, hits * 0.6 + rng.random(200) * 0.2, mean=0.28)
    assert helped.width is not None
    assert plain.width is not None
    assert helped.width < 0.6 * plain.width


@pytest.mark.parametrize("share", [0.3, 0.03, 0.005])
def test_the_interval_holds_as_often_as_it_says(share: float) -> None:
    """600 draws: 95 % has a standard error of 0.9 points. Predictions are far from calibrated."""
    rng = np.random.default_rng(1)
    rows, n, draws = 5000, 200, 600
    gold = rng.random(rows) < share
    predicted = 1 / (1 + np.exp(-(gold * 4.0 + rng.standard_normal(rows) - 1)))
    held, widths, plain = 0, 0.0, 0.0
    for _ in range(draws):
        drawn = rng.choice(rows, n, replace=False)
        found = sample_share(gold[drawn], predicted[drawn], mean=float(predicted.mean()), rows=rows)
        assert found.interval is not None
        assert found.width is not None
        held += found.interval[0] <= gold.mean() <= found.interval[1]
        widths += found.width
        plain += sample_share(gold[drawn], rows=rows).width or 0.0
    assert held / draws > 0.93
    assert widths < plain


def test_a_part_is_what_the_whole_sample_expects_until_its_own_rows_speak() -> None:
    line = Line.through([0, 0, 1, 1], [0.2, 0.4, 0.6, 0.8])
    assert part_share([], [], line, mean=0.6, rows=50) == Share(pytest.approx(line.at(0.6)), (0.0, 1.0))
    counted = part_share([1, 0], [0.5, 0.5], line, mean=0.5, rows=2)
    assert (counted.value, counted.interval) == (0.5, (0.5, 0.5))
    some = np.arange(40) < 4
    found = part_share(some, np.full(40, 0.5), line, mean=0.5, rows=10_000)
    assert found.value == pytest.approx((4 + Z * Z * 0.5) / (40 + Z * Z), abs=1e-3)
    # Where the line leads out of 0 to 1 although there are hits, they count alone.
    assert part_share(some, np.full(40, 0.9), line, mean=0.1, rows=10_000).value == 0.1


@pytest.mark.parametrize("apart", [0.0, 1.0])
def test_intervals_of_parts_hold_as_often_as_they_say(apart: float) -> None:
    """200 rows over 12 parts, a model with the same bias in all, and one whose bias is another in each."""
    rng = np.random.default_rng(2)
    rows, n, parts, labels, draws = 3000, 200, 12, 4, 25
    part = rng.integers(parts, size=rows)
    gold = (rng.random(rows)[:, None] > rng.dirichlet((6, 3, 2, 0.5), parts)[part].cumsum(axis=1)).sum(axis=1)
    bias = 0.8 * rng.standard_normal(labels) + apart * rng.standard_normal((parts, labels))
    scores = 2.0 * np.eye(labels)[gold] + 1.2 * rng.standard_normal((rows, labels)) + bias[part]
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    held, now, alone = [], [], []
    for _ in range(draws):
        drawn = rng.choice(rows, n, replace=False)
        for label in range(labels):
            y, f = gold == label, p[:, label]
            line = Line.through(y[drawn], f[drawn])
            for one in range(parts):
                inside, own = part == one, drawn[part[drawn] == one]
                if len(own) < 10:
                    continue
                about = {"mean": float(f[inside].mean()), "rows": int(inside.sum())}
                found = part_share(y[own], f[own], line, **about)  # type: ignore[arg-type]
                apiece = sample_share(y[own], f[own], **about)  # type: ignore[arg-type]
                assert found.interval is not None
                held.append(found.interval[0] <= y[inside].mean() <= found.interval[1])
                now.append((found.width, abs(found.value - y[inside].mean())))
                alone.append((apiece.width, abs(apiece.value - y[inside].mean())))
    assert np.mean(held) > 0.94
    (width, error), (width_alone, error_alone) = np.mean(now, axis=0), np.mean(alone, axis=0)
    assert width <= width_alone
    assert error < 0.85 * error_alone


def test_known_rows_narrow_in_proportion() -> None:
    found = with_known(Share(0.5, (0.4, 0.6)), 300, known=100, known_hits=10)
    assert found.value == pytest.approx(0.4)
    assert found.interval == pytest.approx((0.325, 0.475))
    assert with_known(Share(0.0), 0, known=4, known_hits=1) == Share(0.25, (0.25, 0.25))
    assert with_known(Share(0.5), 300, known=100, known_hits=10).interval is None


def test_the_suggested_sample_is_the_smallest_that_does() -> None:
    for width, share, rows in ((0.1, 0.5, None), (0.05, 0.1, 20_000), (0.2, 0.5, 120)):
        n = suggested_sample(width, share=share, rows=rows)
        low, high = wilson_interval(share, n, rows=rows)
        assert high - low <= width
        low, high = wilson_interval(share, n - 1, rows=rows)
        assert high - low > width
    assert suggested_sample(0.1) == 381  # 384 by the usual rule of thumb, 1.96² / (4 * 0.05²)
    assert suggested_sample(0.001, rows=50) == 50
