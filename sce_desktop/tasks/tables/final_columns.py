"""The columns of final labels: one answer a row, and who gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core import text_arrays
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.query import FinalSource, RowQuery
from sce_desktop.core.runs import Scores
from sce_desktop.core.scoring import best, chosen, none_fits
from sce_desktop.data.columns import Column, as_cells
from sce_desktop.data.writers import OutCell
from sce_desktop.store.annotations.decided_rows import DecidedRows
from sce_desktop.store.project import Project
from sce_desktop.store.runs.bulk import ScoresOfRows
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.tasks.tables.columns import as_list
from sce_desktop.tasks.tables.decided import places_of

FINAL_COLUMNS: Final = ("final_label", "final_source")
FINAL_GROUP: Final = "final"
_SOURCES: Final = (FinalSource.NONE.value, FinalSource.ANNOTATOR.value, FinalSource.MODEL.value)
_NONE, _ANNOTATOR, _MODEL = range(3)


class FinalCells:
    """The final labels of a project's rows as cells, `FINAL_COLUMNS`.

    The label is empty where the source is none, and where the annotator said "none of these". With several
    labels a row it is a JSON list of names.
    """

    def __init__(
        self, project: Project, labels: Sequence[Label], multi_label: bool, threshold: float | None
    ) -> None:
        self._project = project
        self._multi_label = multi_label
        self._threshold = threshold
        self._run = project.active_run(MAIN_ALIAS)
        # From where up the model labels: of millions of rows the codes of all (`Project.final_sources`) would
        # be found before the first of them is written.
        self._least = project.threshold() if threshold is None else threshold
        self._names = {label.id: label.name for label in labels}
        blank = project.row_ids(RowQuery(blank=True), compact=True)
        self._blank = np.zeros(int(blank.max(initial=0)) + 1, np.bool_)
        self._blank[blank] = True

    def columns(
        self,
        ids: IdArray,
        decided: DecidedRows,
        scores: Callable[[int], ScoresOfRows] | None = None,
    ) -> list[Column]:
        """Return the columns of the rows ``ids`` (n,), of which ``decided`` is what people say.

        ``scores``: gives what a run says of them, where that is known; None: it is read.
        """
        labels: list[str | None] = [None]
        label_of = np.zeros(len(ids), np.int32)
        source_of = np.zeros(len(ids), np.int32)
        if self._run is not None:
            found = (
                self._project.scores_of_rows(self._run.id, ids) if scores is None else scores(self._run.id)
            )
            sure, names, codes = self._given(found.scores)
            places = np.flatnonzero(found.present)[sure]
            label_of[places], source_of[places] = codes[sure] + np.int32(len(labels)), _MODEL
            labels += names
        if len(decided.kinds):
            rows = places_of(ids, decided.row_ids)
            skipped = np.array([kind.decision is Decision.SKIPPED for kind in decided.kinds])
            names_of = ([self._names.get(id_) for id_ in kind.label_ids] for kind in decided.kinds)
            answers = np.where(skipped, 0, np.arange(len(labels), len(labels) + len(skipped)))
            labels += map(self._written, names_of)
            label_of[rows] = answers[decided.codes]
            source_of[rows] = np.where(skipped, _NONE, _ANNOTATOR)[decided.codes]
        blank = ids < len(self._blank)
        blank[blank] = self._blank[ids[blank]]
        label_of[blank], source_of[blank] = 0, _NONE
        return [
            text_arrays.taken(text_arrays.of_texts(labels), label_of),
            text_arrays.taken(text_arrays.of_texts(_SOURCES), source_of),
        ]

    def cells(self, ids: Sequence[int]) -> Iterator[list[OutCell]]:
        """Yield the same row by row."""
        wanted = np.asarray(ids, np.int64)
        columns = self.columns(wanted, self._project.decided_rows(wanted))
        return map(list, zip(*map(as_cells, columns), strict=True))

    def _written(self, names: Iterable[str | None]) -> str | None:
        known = [name for name in names if name is not None]
        if self._multi_label:
            return as_list(known)
        return known[0] if known else None

    def _given(self, scores: Scores) -> tuple[NDArray[np.bool_], list[str | None], NDArray[np.integer[Any]]]:
        """Return which rows (n,) the model labels, the cells that come of that, and the place of each row's.

        Confident enough, and some label fits, as by `final.by_source`; with a label that is in use.
        """
        assert self._run is not None
        known = [self._names.get(label.id) for label in self._run.labels]
        top, confidence = best(scores.probabilities)
        exact = confidence.astype(np.float64)  # as the store compares them
        sure = np.array([name is not None for name in known], np.bool_)[top]
        if self._least:
            sure &= exact >= self._least
        none = None if scores.none is None else scores.none.astype(np.float64)
        several = self._run.multi_label
        sure &= ~none_fits(exact, none, threshold=self._least, multi_label=several)
        if not self._multi_label:
            return sure, [self._written([name]) for name in known], top
        given = chosen(scores.probabilities, threshold=self._threshold)
        kinds, codes = np.unique(given, axis=0, return_inverse=True)
        return sure, [self._written(compress(known, kind)) for kind in kinds], codes.reshape(-1)
