"""The points of the map as one picture, by numpy: 100,000 of them are drawn in hundredths of a second.

A general plotting library draws mark by mark: pyqtgraph's scatter plot takes 150 to 200 ms a picture at
100,000 points, and half a second to find the one under the mouse. Here each mark is a stamp of a few pixels,
and each pixel of the stamp is written for all points of a kind at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage

MOST_PAINTED = 200_000  # of more points a random part is painted and pointed at; all can be selected
SMOOTH_UP_TO = 20_000  # points that are drawn at twice the size and shrunk, for smooth edges

Places = NDArray[np.float64]


class Mark(IntEnum):
    """The shape of a point says what a person did with the row, whatever its colour."""

    DOT = 0  # undecided
    DISC = 1  # has a label of a person: larger, with a rim
    CROSS = 2  # none of these
    RING = 3  # skipped


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """How points (n,) are drawn: colours as 0xffrrggbb, marks, and which of them are faded."""

    colours: NDArray[np.uint32]
    marks: NDArray[np.uint8]
    faded: NDArray[np.bool_]


def argb(colour: str) -> int:
    """A "#rrggbb" colour as a pixel."""
    return int(QColor(colour).rgba())


def mix(colours: NDArray[np.uint32], ground: str, share: float) -> NDArray[np.uint32]:
    """Return ``colours`` with ``share`` (0 to 1) of the colour behind them."""
    below = argb(ground)
    mixed = np.full_like(colours, 0xFF000000)
    for shift in (0, 8, 16):
        channel = ((colours >> shift) & 0xFF) * (1 - share) + ((below >> shift) & 0xFF) * share
        mixed |= channel.astype(np.uint32) << np.uint32(shift)
    return mixed


def radius(count: int) -> float:
    """The radius of a dot among ``count`` points, in pixels of the sketch: many points need small dots."""
    return 3.0 if count <= 2_000 else 2.5 if count <= 20_000 else 1.5


def stamp(mark: Mark, size: float) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the offsets (k, 2), as y and x, of a mark's own pixels, and those (r, 2) of the rim round it."""
    outer = {Mark.DOT: size, Mark.DISC: size * 1.6, Mark.CROSS: size * 1.8, Mark.RING: size * 1.8}[mark]
    reach = int(np.ceil(outer)) + 1
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    distance = np.hypot(x, y)
    line = max(0.75, size * 0.45)
    if mark is Mark.CROSS:
        own = (np.minimum(abs(x - y), abs(x + y)) <= line) & (np.maximum(abs(x), abs(y)) <= outer * 0.8)
    elif mark is Mark.RING:
        own = (distance <= outer) & (distance >= outer - 2 * line)
    else:
        own = distance <= outer
    rim = (distance <= outer + 1) & ~own if mark is not Mark.DOT else np.zeros_like(own)
    offsets = np.stack([y, x], axis=-1).astype(np.int32)
    return offsets[own], offsets[rim]


def paint_order(marks: NDArray[np.uint8], shuffled: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the points that are painted, in the order in which they are: what people decided lies on top.

    Of too many points those that nobody decided are left out first.

    Otherwise they come as ``shuffled`` (n,) has them: at random, so that at one place no label hides another
    by coming later in the file.
    """
    plain = marks[shuffled] == Mark.DOT
    decided = shuffled[~plain][:MOST_PAINTED]
    return np.concatenate([shuffled[plain][: MOST_PAINTED - len(decided)], decided])


def draw(
    pixels: Places, looks: Looks, order: NDArray[np.int64], width: int, height: int, scale: float, ground: str
) -> QImage:
    """Return a picture of ``width`` times ``height`` device pixels of the points, on a transparent ground.

    Args:
        pixels: (m, 2) where the painted points are, in device pixels.
        looks: How all points (n,) look.
        order: (m,) which of them are painted, from the lowest up.
        width: Of the picture.
        height: Of the picture.
        scale: Device pixels of a pixel of the sketch.
        ground: The colour behind, into which faded points fade and of which rims are.
    """
    smooth = len(order) <= SMOOTH_UP_TO and scale < 2
    times = 2 if smooth else 1
    wide, high = width * times, height * times
    size = radius(len(order)) * scale * times
    reach = int(np.ceil(size * 1.8)) + 1  # of the largest mark with its rim
    margin = 2 * reach  # points that are just outside show a part of their mark
    across, down = wide + 2 * margin, high + 2 * margin
    canvas = np.zeros(across * down, np.uint32)
    at = np.floor(pixels * times).astype(np.int64)
    near = ((at >= -reach) & (at < (wide + reach, high + reach))).all(axis=1)
    at, order = at[near], order[near]
    corner = at[:, 1] * across + at[:, 0] + reach * (across + 1)  # of the box that a mark fills
    colours, marks, faded = looks.colours[order], looks.marks[order], looks.faded[order]
    colours[faded] = mix(colours[faded], ground, 0.8)
    top = np.zeros(
        across * down, np.int32
    )  # the uppermost point of a mark at each pixel: the others are hidden
    for fade in (True, False):  # those that stand out lie above
        for mark in Mark:
            chosen = np.flatnonzero((marks == mark) & (faded == fade))
            if not len(chosen):
                continue
            top[corner[chosen]] = chosen + 1
            spots = np.flatnonzero(top)
            paint = colours[top[spots] - 1]
            top[spots] = 0
            own, rim = stamp(mark, size)
            for offsets, colour in ((rim, np.uint32(argb(ground))), (own, paint)):
                for y, x in (offsets + reach).tolist():
                    canvas[y * across + x :][spots] = colour
    inner = np.ascontiguousarray(canvas.reshape(down, across)[margin:-margin, margin:-margin])
    image = QImage(inner.data, wide, high, 4 * wide, QImage.Format.Format_ARGB32_Premultiplied)
    if smooth:
        mode = Qt.TransformationMode.SmoothTransformation
        return image.scaled(width, height, Qt.AspectRatioMode.IgnoreAspectRatio, mode)
    return image.copy()  # the array goes
