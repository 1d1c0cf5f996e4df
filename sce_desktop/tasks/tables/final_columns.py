"""The columns of final labels: one answer a row, and who gives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from sce_desktop.core.annotations import Annotation, Label
from sce_desktop.core.giving_way import giving_way
from sce_desktop.core.query import FinalSource
from sce_desktop.core.scoring import chosen
from sce_desktop.data.writers import OutCell
from sce_desktop.store.project import Project
from sce_desktop.store.runs.final import SOURCES
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
        ids, codes = project.final_sources(self._run.id if self._run else None, threshold)
        self._codes = np.zeros(int(ids.max(initial=0)) + 1, np.uint8)
        self._codes[ids] = codes

    def of(self, ids: Sequence[int], annotations: Mapping[int, Annotation]) -> Iterator[list[OutCell]]:
        """Yield the cells of the rows ``ids``."""
        names = {label.id: label.name for label in self._labels}
        sources = self._sources(ids)
        by_model = zip(ids, sources, strict=True)
        given = self._given([id_ for id_, source in giving_way(by_model) if source is FinalSource.MODEL])
        for id_, source in giving_way(zip(ids, sources, strict=True)):
            label: list[str] = given.get(id_, [])
            if source is FinalSource.ANNOTATOR and id_ in annotations:
                label = [names[label_id] for label_id in annotations[id_].label_ids if label_id in names]
            yield [self._written(label, source), source.value]

    def _sources(self, ids: Sequence[int]) -> list[FinalSource]:
        at = np.asarray(ids, np.int64)
        known = at < len(self._codes)
        codes = np.full(len(at), SOURCES.index(FinalSource.NONE), np.uint8)
        codes[known] = self._codes[at[known]]
        return [SOURCES[code] for code in codes.tolist()]

    def _written(self, label: Sequence[str], source: FinalSource) -> OutCell:
        if self._multi_label:
            return None if source is FinalSource.NONE else as_list(label)
        return label[0] if label else None

    def _given(self, ids: Sequence[int]) -> dict[int, list[str]]:
        """Return the names of the labels that the model gives rows."""
        if self._run is None or not ids:
            return {}
        names = {label.id: label.name for label in self._labels}
        known = [names.get(label.id) for label in self._run.labels]
        found: dict[int, list[str]] = {}
        for row_id, score in self._project.scores(self._run.id, ids).items():
            places = [score.top]
            if self._multi_label:
                places = np.flatnonzero(chosen(score.probabilities, threshold=self._threshold)).tolist()
            found[row_id] = [name for place in places if (name := known[place]) is not None]
        return found
