"""Label colours can be read on both panes and told from each other."""

from __future__ import annotations

import itertools

import numpy as np
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


# Linear RGB at full severity: Machado, Oliveira, Fernandes 2009, as colorspacious 1.1.2 has them.
MACHADO = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def seen_with(deficiency: str, colour: str) -> str:
    """How a colour looks to people with a deficiency, as "#rrggbb"."""
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(MACHADO[deficiency]) @ linear, 0, 1)
    back = np.where(seen <= 0.0031308, seen * 12.92, 1.055 * seen ** (1 / 2.4) - 0.055)
    return "#{:02x}{:02x}{:02x}".format(*np.round(back * 255).astype(int))


def test_red_and_green_are_alike_in_what_is_simulated() -> None:
    red, green = "#b05030", "#708020"
    assert distance(red, green) > 0.15
    assert distance(seen_with("deuteranopia", red), seen_with("deuteranopia", green)) < 0.08
    assert seen_with("protanopia", "#808080") == "#808080"  # grey stays


@pytest.mark.parametrize("deficiency", MACHADO)
def test_colour_blind_people_can_tell_the_first_eight(deficiency: str) -> None:
    assert len(FIRST_COLOURS) == 8
    seen = [seen_with(deficiency, colour) for colour in FIRST_COLOURS]
    assert (
        min(distance(a, b) for a, b in itertools.combinations(seen, 2)) >= 0.08
    )  # four times what is noticed


def test_order_begins_with_the_chosen_eight_and_never_changes() -> None:
    assert label_colours()[:8] == FIRST_COLOURS == tuple(label_colour(i) for i in range(8))
    assert label_colour(9) == label_colours()[9]
    assert len(set(label_colours())) == len(label_colours())
    assert label_colour(len(label_colours())) == FIRST_COLOURS[0]


def test_free_colours_fill_the_gaps_first_and_never_end() -> None:
    assert next(free_colours([])) == FIRST_COLOURS[0]
    assert next(free_colours([FIRST_COLOURS[0].upper(), FIRST_COLOURS[2]])) == FIRST_COLOURS[1]
    assert next(free_colours(FIRST_COLOURS)) == label_colours()[8]
    assert len(set(label_colours())) == len(label_colours())
    many = list(itertools.islice(free_colours(FIRST_COLOURS[:1]), 3 * len(label_colours())))
    assert many[: len(label_colours()) - 1] == list(label_colours()[1:])
    assert many[len(label_colours()) - 1 :][: len(label_colours())] == list(label_colours())
