"""The text vectors of a project's rows, as far as the model has read them already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.precision import FLOAT32, keyed
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import VectorCache
from sce_desktop.store.project import Project

_BATCH = 5000


@dataclass(frozen=True, slots=True)
class KnownVectors:
    """The text vectors that an embedder has made before: nothing is embedded here."""

    embedder: str  # its key in the cache
    cache: VectorCache
    precision: str = FLOAT32  # what it multiplies in

    def with_embedder(self, weights_key: str) -> KnownVectors:
        """Return those of another embedder, by its ``weights_key``, in the same precision."""
        return replace(self, embedder=keyed(weights_key, self.precision))


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
    found = list(vector_batches(project, known, wanted, progress=progress))
    if not found:
        raise UserError(_why_none(project, wanted))
    ids, parts = zip(*found, strict=True)
    return np.concatenate(ids), np.concatenate(parts)


def _why_none(project: Project, row_ids: IdArray) -> str:
    """Why none of these rows has a vector, in one sentence."""
    if not len(row_ids):
        return _("No row has a text.")
    scored = [run for run in project.runs() if run.scored]
    if not scored:
        return _("Nothing is scored yet: score the rows first.")
    if not any(np.isin(row_ids, project.run_arrays(run.id).row_ids).any() for run in scored):
        return _("These rows are not scored yet: wait until they are, or score them.")
    return _(
        "This computer has no text vectors of these rows: score them first. "
        "To score scored rows again, edit a label."
    )


def vector_batches(
    project: Project, known: KnownVectors, row_ids: IdArray, *, progress: Progress
) -> Iterator[tuple[IdArray, FloatArray]]:
    """Yield ids and vectors of those of ``row_ids`` that have one, 5,000 rows at a time.

    Raises:
        Cancelled: The user stopped.
    """
    for start in range(0, len(row_ids), _BATCH):
        progress.check()
        batch = row_ids[start : start + _BATCH]
        there, vectors = known.cache.get(known.embedder, project.texts(batch))
        if vectors is not None:
            yield batch[there], vectors
        progress.report(min(start + _BATCH, len(row_ids)), len(row_ids), stage=_("reading text vectors"))
