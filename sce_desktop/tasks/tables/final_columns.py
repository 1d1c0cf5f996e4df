"""The columns of final labels: one answer a row, and who gives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from sce_desktop.core.annotations import Annotation, Decision, Label
from sce_desktop.core.giving_way import giving_way
from sce_desktop.core.query import FinalSource, RowQuery
from sce_desktop.core.scoring import chosen, none_fits
from sce_desktop.data.writers import OutCell
from sce_desktop.store.project import Project
from sce_desktop.store.runs.runs import RowScore
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.tasks.tables.columns import as_list

FINAL_COLUMNS: Final = ("final_label", "final_source")
FINAL_GROUP: Final = "final"


class FinalCells:
    """The final labels of a project's rows as cells, `FINAL_COLUMNS`.

    The label is empty where the source is none, and where the annotator said "none of these". With several
    labels a row it is a JSON list of names.
    """

    def __init__(
        self, project: Project, labels: Sequence[Label], multi_label: bool, threshold: float | None
    ) -> None:
        self._project = project
        self._labels = labels
        self._multi_label = multi_label
        self._threshold = threshold
        self._run = project.active_run(MAIN_ALIAS)
        # From where up the model labels: of millions of rows the codes of all (`Project.final_sources`) would
        # be found before the first of them is written.
        self._least = project.threshold() if threshold is None else threshold
        blank = project.row_ids(RowQuery(blank=True), compact=True)
        self._blank = np.zeros(int(blank.max(initial=0)) + 1, np.bool_)
        self._blank[blank] = True

    def of(self, ids: Sequence[int], annotations: Mapping[int, Annotation]) -> Iterator[list[OutCell]]:
        """Yield the cells of the rows ``ids``, of which ``annotations`` are what people say."""
        names = {label.id: label.name for label in self._labels}
        given = self._given([id_ for id_ in giving_way(ids) if id_ not in annotations])
        for id_ in giving_way(ids):
            label: list[str] | None = None
            source = FinalSource.MODEL
            if (one := annotations.get(id_)) is None:
                label = given.get(id_)
            elif one.decision is not Decision.SKIPPED:
                source = FinalSource.ANNOTATOR
                label = [names[label_id] for label_id in one.label_ids if label_id in names]
            if label is None or self._is_blank(id_):
                label, source = [], FinalSource.NONE
            yield [self._written(label, source), source.value]

    def _is_blank(self, row_id: int) -> bool:
        return row_id < len(self._blank) and bool(self._blank[row_id])

    def _written(self, label: Sequence[str], source: FinalSource) -> OutCell:
        if self._multi_label:
            return None if source is FinalSource.NONE else as_list(label)
        return label[0] if label else None

    def _given(self, ids: Sequence[int]) -> dict[int, list[str]]:
        """Return the names of the labels that the model gives those of ``ids`` that it labels."""
        if self._run is None or not ids:
            return {}
        names = {label.id: label.name for label in self._labels}
        known = [names.get(label.id) for label in self._run.labels]
        found: dict[int, list[str]] = {}
        for row_id, score in self._project.scores(self._run.id, ids).items():
            if known[score.top] is None or not self._is_sure(score):
                continue
            places = [score.top]
            if self._multi_label:
                places = np.flatnonzero(chosen(score.probabilities, threshold=self._threshold)).tolist()
            found[row_id] = [name for place in places if (name := known[place]) is not None]
        return found

    def _is_sure(self, score: RowScore) -> bool:
        """Whether the model labels a row, by `final.by_source`: confident enough, and some label fits."""
        assert self._run is not None
        if self._least and score.confidence < self._least:
            return False
        multi_label = self._run.multi_label
        return not none_fits(score.confidence, score.none, threshold=self._least, multi_label=multi_label)
