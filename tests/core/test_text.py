"""Counts are said as people say them."""

from __future__ import annotations

import pytest

from sce_desktop.core.text import plural, rounded, size_text


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (2_000_000, "2,000,000 rows")]
)
def test_a_number_of_things(count: int, said: str) -> None:
    assert plural(count, "row") == said


@pytest.mark.parametrize(("count", "said"), [(1_300_000_000, "1.3 GB"), (90_400_000, "90 MB")])
def test_a_number_of_bytes(count: int, said: str) -> None:
    assert size_text(count) == said


@pytest.mark.parametrize(("count", "said"), [(309_629, 310_000), (1_049, 1_000), (87, 87), (3, 3), (0, 0)])
def test_an_estimated_number_says_no_more_than_is_known(count: int, said: int) -> None:
    assert rounded(count) == said
