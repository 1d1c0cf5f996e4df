"""Label colours can be read on both panes and told from each other."""

from __future__ import annotations

import itertools

import pytest

from sce_desktop.core.colours import (
    FIRST_COLOURS,
    LEAST_CONTRAST,
    PANES,
    contrast,
    distance,
    free_colours,
    label_colour,
    label_colours,
)


def test_contrast_of_black_and_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == 1


def test_distance_of_red_and_green_is_that_of_oklab() -> None:
    # Reference values of OKLab: red (0.628, 0.225, 0.126), green (0.866, -0.234, 0.179).
    expected = ((0.8664 - 0.6280) ** 2 + (0.2249 + 0.2339) ** 2 + (0.1795 - 0.1258) ** 2) ** 0.5
    assert distance("#ff0000", "#00ff00") == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("pane", PANES)
def test_all_are_readable_on_both_panes(pane: str) -> None:
    assert min(contrast(colour, pane) for colour in label_colours()) >= LEAST_CONTRAST


@pytest.mark.parametrize(("count", "least"), [(12, 0.1), (24, 0.08), (60, 0.05), (200, 0.03)])
def test_they_keep_their_distance(count: int, least: float) -> None:
    pairs = itertools.combinations(label_colours()[:count], 2)
    assert min(distance(a, b) for a, b in pairs) >= least


def test_order_begins_with_the_chosen_six_and_never_changes() -> None:
    assert label_colours()[:6] == FIRST_COLOURS == tuple(label_colour(i) for i in range(6))
    assert label_colour(7) == label_colours()[7]
    assert len(set(label_colours())) == len(label_colours())
    assert label_colour(len(label_colours())) == FIRST_COLOURS[0]


def test_free_colours_fill_the_gaps_first_and_never_end() -> None:
    assert next(free_colours([])) == FIRST_COLOURS[0]
    assert next(free_colours(["#3B6FD8", "#8a63c9"])) == FIRST_COLOURS[1]
    assert next(free_colours(FIRST_COLOURS)) == label_colours()[6]
    assert len(set(label_colours())) == len(label_colours())
    many = list(itertools.islice(free_colours(FIRST_COLOURS[:1]), 3 * len(label_colours())))
    assert many[: len(label_colours()) - 1] == list(label_colours()[1:])
    assert many[len(label_colours()) - 1 :][: len(label_colours())] == list(label_colours())
