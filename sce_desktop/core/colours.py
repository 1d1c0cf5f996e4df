"""Colours of labels: `label_colour(index)` gives "#rrggbb", always the same; `free_colours(used)` the others.

A label gets its colour when it comes into a project and keeps it (`store.annotations.label_sets`).

The first eight are far from each other for people with protanopia, deuteranopia and tritanopia too: of the
colours below they are those whose least distance in any of the four views is largest (found by exchange from
forty random starts; the test simulates the views by G. Machado et al., "A physiologically-based model for
simulation of color vision deficiency", 2009).

The rest are found one by one: of all colours that keep a contrast of 3:1 against both the light and the dark
pane (WCAG 2.1, 1.4.11) and are neither grey nor shrill, always the one farthest from those before it in
OKLab, where distance is close to what people see (B. Ottosson, "A perceptual color space for image
processing", 2020).
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import Label

FIRST_COLOURS = (
    "#2098f8",
    "#f06810",
    "#6858c8",
    "#188898",
    "#c83868",
    "#906000",
    "#d060c8",
    "#909868",
)
PANES = ("#ffffff", "#1b1f26")
LEAST_CONTRAST = 3.0
CALM = (0.04, 0.19)  # chroma in OKLab: neither the grey of the baselines nor shrill
_COUNT = 256  # labels beyond these take the colours again from the start

_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _rgb(colours: Iterable[str]) -> NDArray[np.float64]:
    return np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in colours])


def _linear(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _oklab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.cbrt(_linear(rgb) @ _TO_LMS.T) @ _TO_LAB.T


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two "#rrggbb" colours, 1 to 21 (WCAG 2.1)."""
    low, high = sorted(_linear(_rgb((first, second))) @ _LUMINANCE)
    return float((high + 0.05) / (low + 0.05))


def distance(first: str, second: str) -> float:
    """How different two colours look: their distance in OKLab, 0 to about 1; 0.02 is just noticeable."""
    a, b = _oklab(_rgb((first, second)))
    return float(np.linalg.norm(a - b))


@functools.cache
def label_colours() -> tuple[str, ...]:
    """All label colours in the order in which they are given out."""
    steps = np.arange(0, 256, 12)
    grid = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    luminance = _linear(grid / 255) @ _LUMINANCE
    pane_low, pane_high = sorted(_linear(_rgb(PANES)) @ _LUMINANCE)
    readable = ((pane_high + 0.05) / (luminance + 0.05) >= LEAST_CONTRAST) & (
        (luminance + 0.05) / (pane_low + 0.05) >= LEAST_CONTRAST
    )
    places = _oklab(grid / 255)
    chroma = np.linalg.norm(places[:, 1:], axis=1)
    fitting = readable & (chroma >= CALM[0]) & (chroma <= CALM[1])
    grid, places = grid[fitting], places[fitting]
    chosen = list(FIRST_COLOURS)
    nearest = np.min(
        np.linalg.norm(places[:, None] - _oklab(_rgb(FIRST_COLOURS))[None], axis=-1), axis=1
    )  # distance of every candidate to the nearest chosen colour
    while len(chosen) < _COUNT:
        best = int(np.argmax(nearest))
        chosen.append("#{:02x}{:02x}{:02x}".format(*grid[best]))
        nearest = np.minimum(nearest, np.linalg.norm(places - places[best], axis=-1))
    return tuple(chosen)


def label_colour(index: int) -> str:
    """The colour at ``index`` (0-based) of those that are given out; they begin again after the last."""
    if index < len(FIRST_COLOURS):
        return FIRST_COLOURS[index]
    colours = label_colours()
    return colours[index % len(colours)]


def colour_of(label: Label) -> str:
    """The colour of a label; one that an older program stored without gets it by its id, which stays."""
    return label.colour or label_colour((label.id or 1) - 1)


def free_colours(used: Iterable[str]) -> Iterator[str]:
    """Give the label colours without end, always the first of those least used, ``used`` included."""
    times = Counter(colour.lower() for colour in used)
    for round_ in itertools.count():
        yield from (colour for colour in FIRST_COLOURS if times[colour] <= round_)
        yield from (colour for colour in label_colours()[len(FIRST_COLOURS) :] if times[colour] <= round_)
