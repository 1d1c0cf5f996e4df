from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce_desktop.core.geometry import inside

GRID = np.stack(np.meshgrid(np.arange(10.0), np.arange(10.0)), axis=-1).reshape(-1, 2)


def test_a_shape_with_a_bay_and_a_line_that_crosses_itself() -> None:
    u = np.array(
        [[0.5, 0.5], [8.5, 0.5], [8.5, 8.5], [5.5, 8.5], [5.5, 3.5], [3.5, 3.5], [3.5, 8.5], [0.5, 8.5]]
    )
    found = {tuple(point) for point in GRID[inside(GRID, u)].astype(int).tolist()}
    wanted = {(x, y) for x in range(1, 9) for y in range(1, 9) if not (x in (4, 5) and y >= 4)}
    assert found == wanted
    hourglass = np.array([[0.5, 0.5], [8.5, 8.6], [0.5, 8.6], [8.5, 0.5]])
    assert inside(np.array([[4.5, 1.0], [4.5, 8.0], [1.0, 4.5], [8.0, 4.5]]), hourglass).tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_a_ray_through_a_corner_counts_once() -> None:
    diamond = np.array([[5.0, 1.0], [9.0, 5.0], [5.0, 9.0], [1.0, 5.0]])
    level = np.array([[0.0, 5.0], [2.0, 5.0], [8.0, 5.0], [9.5, 5.0], [0.0, 1.0], [0.0, 9.0]])
    assert inside(level, diamond).tolist() == [False, True, True, False, False, False]


@pytest.mark.parametrize("corners", [0, 1, 2])
def test_a_line_round_nothing(corners: int) -> None:
    assert not inside(GRID, np.full((corners, 2), 4.0)).any()
    assert inside(np.zeros((0, 2)), GRID).tolist() == []


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=3, max_size=12), st.integers(0, 9)
)
def test_as_counted_one_point_at_a_time(corners: list[tuple[int, int]], seed: int) -> None:
    """The textbook test by crossings, one point and one edge after the other; points off the integer grid."""
    points = np.random.default_rng(seed).integers(0, 20, (40, 2)) + np.array([0.31, 0.47])
    expected = []
    for x, y in points:
        odd = False
        for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
            if (y0 > y) != (y1 > y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
                odd = not odd
        expected.append(odd)
    assert inside(points, np.array(corners, float)).tolist() == expected
