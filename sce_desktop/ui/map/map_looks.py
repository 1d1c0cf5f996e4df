"""How rows look on the map: the colour says the label, the mark what a person did, the legend both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sce_desktop.controllers.map_work import UNKNOWN, Facts
from sce_desktop.controllers.rows_text import NONE_FITS, label_of
from sce_desktop.controllers.rows_text import SKIPPED as SKIPPED_NAME
from sce_desktop.core.annotations import NO_LABEL, SKIPPED, Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.colours import colour_of
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import Run
from sce_desktop.ui.kit.theme import tokens
from sce_desktop.ui.map.map_legend import Entry
from sce_desktop.ui.map.map_raster import Looks, Mark, argb


def looks(
    facts: Facts, labels: tuple[Label, ...], run: Run | None, *, predicted: bool, chosen: Sequence[int]
) -> Looks:
    """Return how each row of ``facts`` (n,) looks.

    Args:
        facts: About the rows.
        labels: In use.
        run: Whose predictions ``facts`` holds: it knows the names of labels that went.
        predicted: Colour by prediction, else by the labels that people assigned.
        chosen: Codes that stand out; none: all do.
    """
    codes = facts.predicted if predicted else facts.answers
    palette = np.zeros(int(codes.max(initial=0)) + 1 - UNKNOWN, np.uint32)  # by code, from the lowest on
    for place in np.flatnonzero(np.bincount(codes - UNKNOWN)).tolist():
        palette[place] = argb(_colour(place + UNKNOWN, labels, run))
    marks = np.full(len(codes), Mark.DISC, np.uint8)
    for answer, mark in ((UNKNOWN, Mark.DOT), (NO_LABEL, Mark.CROSS), (SKIPPED, Mark.RING)):
        marks[facts.answers == answer] = mark
    faded: NDArray[np.bool_] = ~np.isin(codes, chosen) if chosen else np.zeros(len(codes), bool)
    return Looks(palette[codes - UNKNOWN], marks, faded)


def entries(codes: IdArray, labels: tuple[Label, ...], run: Run | None, *, predicted: bool) -> list[Entry]:
    """Return the legend of ``codes`` (n,): labels in their order, then those out of use, then the rest."""
    kinds, counts = np.unique(codes, return_counts=True)
    count_of = dict(zip(kinds.tolist(), counts.tolist(), strict=True))
    order = [label.id for label in labels if label.id in count_of]
    order += [code for code in count_of if code > 0 and code not in order]
    order += [code for code in (NO_LABEL, SKIPPED, UNKNOWN) if code in count_of]
    labelled = Mark.DOT if predicted else Mark.DISC
    mark_of = {} if predicted else {NO_LABEL: Mark.CROSS, SKIPPED: Mark.RING, UNKNOWN: Mark.DOT}
    return [
        Entry(
            code,
            name_of(code, labels, run, predicted=predicted),
            _colour(code, labels, run),
            mark_of.get(code, labelled),
            count_of[code],
        )
        for code in order
        if code is not None
    ]


def name_of(code: int, labels: tuple[Label, ...], run: Run | None, *, predicted: bool) -> str:
    """What a code stands for, in words."""
    if code == UNKNOWN:
        return _("Not scored") if predicted else _("Unlabelled")
    return {NO_LABEL: NONE_FITS, SKIPPED: SKIPPED_NAME}.get(code) or label_of(code, labels, run).name


def _colour(code: int, labels: tuple[Label, ...], run: Run | None) -> str:
    if code > 0:
        return colour_of(label_of(code, labels, run))
    return tokens().ink if code == NO_LABEL else tokens().muted
