from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, hypergeom

from sce_desktop.core.selective import GRID, AuditedPredictions, Curve, error_limits, least_sample

NONE = np.zeros(0)


def drawn(
    confidence: np.ndarray, wrong: np.ndarray, sample: np.ndarray, *, corrected: bool = True
) -> AuditedPredictions:
    """The evidence of a sample; with ``corrected`` its rows are labelled by the person who audited them."""
    taken = np.zeros(len(confidence), dtype=bool)
    taken[sample] = True
    return AuditedPredictions(
        confidence,
        confidence[sample],
        wrong[sample],
        confidence[~taken] if corrected else confidence,
        confidence[taken & wrong] if corrected else NONE,
    )


def test_the_limits_are_those_of_clopper_and_pearson_in_a_large_table() -> None:
    wrong, sample = np.asarray([0, 1, 5, 10]), np.asarray([59, 93, 200, 200])
    low, high = error_limits(wrong, sample, 10_000_000)
    assert high / 1e7 == pytest.approx(beta.ppf(0.95, wrong + 1, sample - wrong), rel=1e-3)
    assert low[0] == 0
    assert low[1:] / 1e7 == pytest.approx(beta.ppf(0.05, wrong[1:], sample[1:] - wrong[1:] + 1), rel=1e-3)


def test_the_limits_of_a_small_table_are_exact() -> None:
    """Every outcome for every number of errors is counted: a limit misses in at most 5 of 100 samples."""
    rows, sample = 40, 15
    low, high = error_limits(np.arange(sample + 1), sample, rows)
    for errors in range(rows + 1):
        chances = hypergeom.pmf(np.arange(sample + 1), rows, errors, sample)
        assert chances[high < errors].sum() <= 0.05
        assert chances[low > errors].sum() <= 0.05
    possible = hypergeom.pmf(np.arange(sample + 1), rows, high + 1, sample)
    assert (np.cumsum(possible) <= 0.05).any()  # and no limit is higher than it has to be


def test_a_sample_of_everything_leaves_nothing_open() -> None:
    assert [int(end) for end in error_limits(5, 100, 100)] == [5, 5]
    assert [int(end) for end in error_limits(0, 0, 100)] == [0, 100]


def test_59_rows_without_a_mistake_are_the_least_for_5_per_cent() -> None:
    assert least_sample(0.05, 1_000_000) == 59
    assert least_sample(0.10, 1_000_000) == 29
    assert least_sample(0.05, 1_000_000, wrong=1) == 93
    assert least_sample(0.01, 50) > 45  # a small table needs nearly all of it


def test_by_hand() -> None:
    confidence = np.repeat([0.95, 0.55], 500)
    wrong = np.zeros(1000, dtype=bool)
    wrong[500:700] = True
    sample = np.concatenate([np.arange(100), np.arange(450, 550)])  # 150 sure rows, 50 of the others
    found = Curve.of(drawn(confidence, wrong, sample))
    sure, every = found.at(0.9), found.at(0.0)
    assert (sure.rows, sure.review, sure.audited, sure.wrong, sure.error) == (350, 450, 150, 0, 0.0)
    assert (every.rows, every.review, every.audited, every.wrong) == (800, 0, 200, 50)
    assert every.error == pytest.approx(0.25)
    assert every.low < 0.25 < every.high
    assert sure.high == pytest.approx((int(error_limits(0, 150, 500)[1])) / 350)
    chosen = found.choose(0.05)
    assert chosen is not None
    assert chosen.threshold == 0.56
    assert found.choose(0.01) is None


def test_what_a_person_has_corrected_is_no_error_of_the_model() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.random(1000)
    wrong = rng.random(1000) < 0.3
    sample = rng.choice(1000, 200, replace=False)
    before = drawn(confidence, wrong, sample)
    still_open = np.setdiff1d(np.arange(1000), sample)
    seen = still_open[wrong[still_open]][:150]  # somebody looked for mistakes and found these
    after = AuditedPredictions(
        confidence,
        before.audited,
        before.wrong,
        confidence[np.setdiff1d(still_open, seen)],
        np.concatenate([before.corrected, confidence[seen]]),
    )
    old, new = Curve.of(before).at(0), Curve.of(after).at(0)
    left = wrong[still_open].sum() - 150
    assert old.error is not None
    assert new.error is not None
    assert new.error < old.error
    assert left / (800 - 150) <= new.high < old.high


def test_gold_for_every_row_needs_no_interval() -> None:
    rng = np.random.default_rng(1)
    confidence, wrong = rng.random(300), rng.random(300) < 0.2
    found = Curve.of(drawn(confidence, wrong, np.arange(300), corrected=False)).at(0)
    assert found.error == found.low == found.high == pytest.approx(wrong.mean())


def test_a_threshold_between_two_of_the_grid_is_the_next_one_above() -> None:
    found = Curve.of(drawn(np.asarray([0.2, 0.8]), np.asarray([True, False]), np.asarray([0])))
    assert found.at(0.795).threshold == 0.8
    assert [found.at(float(t)).threshold for t in GRID] == GRID.tolist()
    assert found.at(1.0).threshold == 1.0


@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize(("rows", "size"), [(4000, 200), (400, 200), (250, 100)])
def test_the_promise_holds_after_the_choice(rows: int, size: int, corrected: bool) -> None:
    """5 of 100 may fail; 150 draws of one table have a standard error of 1.8."""
    rng = np.random.default_rng(rows)
    confidence = rng.beta(3, 1, rows)
    wrong = rng.random(rows) > confidence
    failed = chosen = 0
    for _ in range(150):
        sample = rng.choice(rows, size, replace=False)
        point = Curve.of(drawn(confidence, wrong, sample, corrected=corrected)).choose(0.2)
        if point is None:
            continue
        chosen += 1
        kept = confidence >= point.threshold
        if corrected:
            kept[sample] = False
        failed += bool(kept.any()) and wrong[kept].mean() > 0.2
    assert chosen > 50
    assert failed / 150 <= 0.05 + 2 * 0.018


def test_the_promise_at_a_threshold_is_never_less_than_above_it() -> None:
    rng = np.random.default_rng(3)
    confidence = rng.random(2000)
    found = Curve.of(drawn(confidence, rng.random(2000) > confidence, rng.choice(2000, 300, replace=False)))
    promised = [found.promised(float(t), 0.2) for t in GRID]
    first = next(place for place, point in enumerate(found.points) if point.audited >= 120)
    assert promised[first:] == sorted(promised[first:])
    chosen = found.choose(0.3)
    assert chosen is not None
    assert found.promised(chosen.threshold, 0.3) <= 0.3
    below = found.points[found.points.index(chosen) + 1]
    assert found.promised(below.threshold, 0.3) > 0.3


@pytest.mark.parametrize("max_error", [0.0, 1.0, -0.1])
def test_an_error_that_cannot_be_promised_is_refused(max_error: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Curve.of(drawn(np.ones(3), np.zeros(3, bool), np.asarray([0]))).choose(max_error)


def test_nothing_to_go_by() -> None:
    nothing = Curve.of(AuditedPredictions(NONE, NONE, np.zeros(0, bool), NONE, NONE))
    assert nothing.choose(0.1) is None
    assert nothing.at(0.5).error is None
