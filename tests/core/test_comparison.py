from __future__ import annotations

import numpy as np
import pytest

from sce_desktop.core.comparison import compare


def rows(both: int, won: int, lost: int, neither: int) -> tuple[np.ndarray, np.ndarray]:
    before = np.array([True] * both + [False] * won + [True] * lost + [False] * neither)
    after = np.array([True] * both + [True] * won + [False] * lost + [False] * neither)
    return before, after


def test_a_difference_with_its_interval() -> None:
    found = compare(*rows(100, 30, 10, 60))
    assert (found.rows, found.won, found.lost, found.mean) == (200, 30, 10, 0.1)
    # paired: sqrt((0.15 + 0.05 - 0.01) / 200) = 0.031 on either side, times 1.96
    assert found.interval == pytest.approx((0.04, 0.16), abs=0.006)
    assert found.shown
    assert found.sentence == "Better by 4 to 16 points on 200 rows."


def test_worse_is_said_too() -> None:
    found = compare(*rows(100, 10, 30, 60))
    assert found.sentence == "Worse by 4 to 16 points on 200 rows."


def test_rows_that_both_answer_alike_do_not_blur_it() -> None:
    alike, unlike = compare(*rows(190, 8, 0, 2)), compare(*rows(100, 54, 46, 0))
    assert alike.mean == unlike.mean
    assert alike.shown
    assert not unlike.shown
    assert unlike.sentence.startswith("No difference shown yet: between -")


def test_few_rows_show_nothing() -> None:
    found = compare(*rows(0, 12, 0, 0))
    assert not found.shown
    assert found.sentence == "No difference shown yet: 12 rows are too few."


def test_one_row_is_called_so() -> None:
    assert compare(*rows(0, 1, 0, 0)).sentence == "No difference shown yet: 1 row is too few."


def test_no_rows() -> None:
    nothing = np.empty(0, dtype=bool)
    assert compare(nothing, nothing).sentence == "Not measured: no row was left out of training."


def test_a_narrow_interval_has_a_decimal() -> None:
    assert compare(*rows(19_900, 60, 0, 40)).sentence == "Better by 0.2 to 0.4 points on 20,000 rows."
