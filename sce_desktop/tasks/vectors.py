"""The text vectors of a project's rows, as far as the model has read them already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import FloatArray, IdArray, VectorCache
from sce_desktop.store.project import Project
from sce_desktop.store.query import RowQuery

_BATCH = 5000


@dataclass(frozen=True, slots=True)
class KnownVectors:
    """The text vectors that an embedder has made before: nothing is embedded here."""

    embedder: str  # its key in the cache
    cache: VectorCache


def project_vectors(
    project: Project, known: KnownVectors, row_ids: IdArray | None = None, *, progress: Progress
) -> tuple[IdArray, FloatArray]:
    """Return the ids (m,) that have a vector and the vectors (m, d) as they were cached. Nothing is embedded.

    Args:
        project: Whose rows.
        known: Where the vectors are.
        row_ids: Which rows; all with text if None.
        progress: Checked every 5,000 rows.

    Raises:
        UserError: None of the rows has a vector.
        Cancelled: The user stopped.
    """
    wanted = project.row_ids(RowQuery(blank=False)) if row_ids is None else row_ids
    ids: list[IdArray] = []
    parts: list[FloatArray] = []
    for start in range(0, len(wanted), _BATCH):
        progress.check()
        batch = wanted[start : start + _BATCH]
        there, vectors = known.cache.get(known.embedder, project.texts(batch))
        if vectors is not None:
            ids.append(batch[there])
            parts.append(vectors)
        progress.report(min(start + _BATCH, len(wanted)), len(wanted), stage="reading text vectors")
    if not parts:
        raise UserError("The model has not read these texts yet: score the rows first.")
    return np.concatenate(ids), np.concatenate(parts)
