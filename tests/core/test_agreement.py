from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from sce_desktop.core.agreement import compare_coders, krippendorff_alpha


def test_alpha_of_the_published_example() -> None:
    """Krippendorff 2011, example C: four observers, twelve units, missing answers; alpha 0.743."""
    coders = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, -1, -1, -1],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, -1, 3],
        [-1, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, -1],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, -1],
    ]
    assert krippendorff_alpha(np.asarray(coders)) == pytest.approx(0.743, abs=5e-4)


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_the_library(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 6, 80)
    coders = np.stack([np.where(rng.random(80) < 0.6, truth, rng.integers(0, 6, 80)) for _ in range(3)])
    coders[rng.random(coders.shape) < 0.3] = -1
    theirs = krippendorff.alpha(np.where(coders < 0, np.nan, coders), level_of_measurement="nominal")
    assert krippendorff_alpha(coders) == pytest.approx(theirs)


def test_kappa_by_hand() -> None:
    """20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, expected 0.5, kappa 0.4."""
    first = np.repeat([0, 0, 1, 1], [20, 5, 10, 15])
    second = np.repeat([0, 1, 0, 1], [20, 5, 10, 15])
    found = compare_coders(first, second, 2)
    assert (found.rows, found.same) == (50, 0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.confusion.tolist() == [[20, 5], [10, 15]]
    assert found.disagreements.tolist() == list(range(20, 35))


def test_rows_that_one_coder_left_out_do_not_count() -> None:
    found = compare_coders(np.asarray([0, -1, 1, 1]), np.asarray([0, 1, -1, 0]), 2)
    assert found.rows == 2
    assert found.disagreements.tolist() == [3]


def test_where_there_is_nothing_to_agree_on() -> None:
    nothing = compare_coders(np.asarray([0, -1]), np.asarray([-1, 1]), 2)
    assert (nothing.rows, nothing.kappa, nothing.alpha) == (0, None, None)
    one_answer = compare_coders(np.asarray([1, 1]), np.asarray([1, 1]), 2)
    assert (one_answer.same, one_answer.kappa, one_answer.alpha) == (1.0, None, None)
    assert krippendorff_alpha(np.full((2, 3), -1)) is None
