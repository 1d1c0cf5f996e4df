"""The rows that a person labelled and that are most like one row, by the model's own text vectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from sce_desktop.core.annotations import Decision
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.neighbours import similar
from sce_desktop.tasks.scoring.vectors import KnownVectors, vector_batches

COUNT: Final = 5
_LOOKED_AT: Final = 500  # of the most similar rows: accepted predictions are no person's labels
_SHOWN: Final = 200  # characters of a text


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A row with the labels that a person gave it; ``similarity`` is the cosine of the text vectors."""

    row_id: int
    position: int  # 0-based place in import order
    label_ids: tuple[int, ...]
    similarity: float
    text: str  # its beginning


class LabelledRows:
    """Text vectors of labelled rows, kept from one row to the next. For one thread at a time.

    Nothing is embedded: rows without a vector in the cache are left out until they are scored.
    """

    def __init__(self) -> None:
        self._of: tuple[Path, str] | None = None  # project, embedder
        self._ids: IdArray = np.zeros(0, np.int64)
        self._vectors: FloatArray = np.zeros((0, 0), np.float32)

    def nearest(
        self,
        project: Project,
        known: KnownVectors,
        row_id: int,
        vector: FloatArray,
        *,
        count: int = COUNT,
        progress: Progress,
    ) -> list[Neighbour]:
        """Return at most ``count`` rows, the most similar first, without ``row_id`` itself.

        Args:
            project: Whose rows.
            known: Where their vectors are.
            row_id: The row that they are to be like.
            vector: (d,) of its text.
            count: How many at most.
            progress: Checked every 5,000 rows that are read.

        Raises:
            Cancelled: Nobody wants to know any more; what was read is kept.
        """
        labelled = project.row_ids(RowQuery(state=RowState.LABELLED, blank=False))
        labelled = labelled[labelled != row_id]
        self._follow(project, known, labelled, progress)
        there = np.isin(self._ids, labelled)
        ids = self._ids[there]
        if not len(ids):
            return []
        vectors = self._vectors if there.all() else self._vectors[there]
        places, cosines = similar(vectors, vector, _LOOKED_AT)
        found: list[Neighbour] = []
        for start in range(0, len(places), 2 * count):
            progress.check()
            part = slice(start, start + 2 * count)
            found += _by_people(project, ids[places[part]], cosines[part])
            if len(found) >= count:
                break
        return found[:count]

    def _follow(self, project: Project, known: KnownVectors, labelled: IdArray, progress: Progress) -> None:
        """Read the vectors of rows that have been labelled since."""
        of = (project.path, known.embedder)
        if of != self._of:
            self._of = of
            self._ids, self._vectors = np.zeros(0, np.int64), np.zeros((0, 0), np.float32)
        missing = np.setdiff1d(labelled, self._ids)
        for ids, vectors in vector_batches(project, known, missing, progress=progress):
            self._vectors = np.concatenate([self._vectors, vectors]) if len(self._ids) else vectors
            self._ids = np.concatenate([self._ids, ids])


def _by_people(project: Project, ids: IdArray, cosines: FloatArray) -> list[Neighbour]:
    """Return those of ``ids`` whose labels are no accepted predictions, in their order."""
    with project.snapshot():
        annotations, rows = project.annotations(ids), project.rows(ids)
    found = []
    for row, cosine in zip(rows, cosines.tolist(), strict=True):
        annotation = annotations.get(row.id)
        if annotation is not None and annotation.decision is Decision.LABEL and not annotation.accepted:
            text = " ".join(row.text[:_SHOWN].split())
            found.append(Neighbour(row.id, row.position, annotation.label_ids, cosine, text))
    return found
