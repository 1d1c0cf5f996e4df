"""Arrays of millions of rows in little room: the same answers as numpy's own functions give."""

from __future__ import annotations

import numpy as np
import pytest

from sce_desktop.core import arrays


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_SLICE", 7)


@pytest.mark.parametrize("size", [0, 1, 6, 7, 8, 14, 50])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_true_places_are_those_of_flatnonzero(size: int, share: float) -> None:
    mask = np.random.default_rng(size).random(size) < share
    found = arrays.true_places(mask)
    assert found.tolist() == np.flatnonzero(mask).tolist()
    assert found.dtype == np.int32


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_looking_up_and_counting_in_parts(dtype: type) -> None:
    rng = np.random.default_rng(1)
    places = rng.integers(0, 9, 40).astype(dtype)
    table = rng.random(9).astype(np.float32)
    assert arrays.looked_up(table, places).tolist() == table[places].tolist()
    assert arrays.looked_up(table, -places[:5] - 1).tolist() == table[-places[:5] - 1].tolist()
    assert arrays.counted(places, 12).tolist() == np.bincount(places, minlength=12).tolist()
    assert arrays.counted(places[:0], 3).tolist() == [0, 0, 0]
    assert (
        arrays.counted(places - 2, 12).tolist() == np.bincount(places[places > 1] - 2, minlength=12).tolist()
    )


def test_bounds_in_float32_let_through_what_bounds_in_float64_do() -> None:
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.random(500, np.float32), np.float32([0, 0.3, 0.5, 0.7, 1])])
    values = np.concatenate(
        [values, np.nextafter(values, np.float32(2)), np.nextafter(values, np.float32(-1))]
    )
    exact = values.astype(np.float64)
    for bound in (0.0, 0.3, 0.5, 0.7, 1.0, 0.1 + 0.2, float(np.float32(0.7)), *rng.random(50).tolist()):
        assert ((values >= arrays.at_least(bound)) == (exact >= bound)).all(), bound
        assert ((values <= arrays.at_most(bound)) == (exact <= bound)).all(), bound


def test_ids_are_narrow_where_they_fit() -> None:
    assert arrays.narrow_range(5).tolist() == [1, 2, 3, 4, 5]
    assert arrays.narrow_range(5).dtype == np.int32
    few = np.array([3, 1], np.int32)
    assert arrays.narrow(few) is few
    assert arrays.narrow(np.array([2**40])).dtype == np.int64
