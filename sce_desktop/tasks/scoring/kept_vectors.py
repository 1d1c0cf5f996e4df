"""The vector cache as the scoring of a project uses it: whose vectors they are, and what has no room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from sce_desktop import paths
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import VectorCache
from sce_desktop.core.text import duration, size_text
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import ProjectVectors, vector_bytes
from sce_desktop.store.runs.vector_cache import VectorCache as FileVectorCache
from sce_desktop.tasks.tables.room import TableSize, check_scores, free_disk
from sce_desktop.tasks.training.cost import free_memory

if TYPE_CHECKING:
    from sce_desktop.tasks.scoring.models import NamedModel

MEMORY_PER_ROW: Final = 120
"""Bytes of ids, best labels and confidences of all rows, which are held while they are scored and shown."""
MUCH: Final = 200_000_000
"""Bytes on disk from which on it is said what a scoring takes."""
REPORTED_FROM: Final = 1000
"""Vectors that are not kept: fewer are made again before anybody notices."""


def cache_of(project: Project, cache: VectorCache | None) -> VectorCache | None:
    """Return ``cache`` as ``project`` uses it: its vectors stay while others have to make room."""
    return cache.for_project(project.path) if isinstance(cache, FileVectorCache) else cache


def report_left_out(cache: VectorCache | None, progress: Progress) -> None:
    """Say how many vectors have no room in ``cache``, and what that costs."""
    if isinstance(cache, ProjectVectors) and cache.left_out >= REPORTED_FROM:
        progress.warn(
            ngettext(
                "The vector cache ({size}) is full: the vector of {count} row is not kept and has to be "
                "computed again after a label edit. Set a larger cache in the settings.",
                "The vector cache ({size}) is full: the vectors of {count} rows are not kept and have to be "
                "computed again after a label edit. Set a larger cache in the settings.",
                cache.left_out,
                size=size_text(cache.max_bytes),
            )
        )


def check_room(
    project: Project,
    models: Sequence[NamedModel],
    cache: VectorCache,
    *,
    seconds: float,
    progress: Progress,
) -> None:
    """Say what scoring takes on disk and in memory where that is much, and what has no room in ``cache``.

    ``seconds``: how long it takes, about.

    Raises:
        UserError: The disk has no room for the scores. Nothing has been written.
    """
    label_set = project.label_set()
    labels = len(label_set.labels) if label_set is not None else 0
    rows = len(project.row_ids(RowQuery(blank=False)))
    check_scores(project, labels, len(models))
    scores = len(models) * TableSize(rows, 0.0, 0.0).scores(labels)
    needed = vectors = 0
    kept = rows
    for embedder in {found.key: found for named in models if (found := _embedder(named))}.values():
        size = vector_bytes(embedder.dim)
        needed += rows * size
        room = cache.room(embedder.key, project.path) if isinstance(cache, FileVectorCache) else None
        own = rows if room is None else min(rows, room // size)
        vectors, kept = vectors + own * size, min(kept, own)
    memory = len(models) * rows * MEMORY_PER_ROW
    if scores + vectors >= MUCH:
        progress.warn(
            _(
                "It takes about {disk} on disk, of which {vectors} in the vector cache, and {memory} of "
                "memory.",
                disk=size_text(scores + vectors),
                vectors=size_text(vectors),
                memory=size_text(memory),
            )
        )
    free = free_disk(paths.vector_cache_file().parent)
    if free is not None and free < vectors + scores:
        progress.warn(
            _(
                "Only {free} are free on the disk of the vector cache: vectors that have no room are "
                "computed again after a label edit.",
                free=size_text(free),
            )
        )
    elif kept < rows and isinstance(cache, FileVectorCache):
        progress.warn(
            _(
                "The vector cache ({size}) has room for {kept} of {rows} rows: after a label edit the others "
                "are computed again, in about {time}. Set a larger cache in the settings.",
                size=size_text(cache.max_bytes),
                kept=number(kept),
                rows=number(rows),
                time=duration(seconds * (rows - kept) / rows),
            )
        )
    if memory >= MUCH and memory > (left := free_memory()):
        progress.warn(_("Only {free} of memory are free: close other programs first.", free=size_text(left)))


def _embedder(named: NamedModel) -> Any:
    from sce_desktop.tasks.scoring.model_cache import embedder_of

    return embedder_of(named)
