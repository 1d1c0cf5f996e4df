"""The vector cache as the scoring of a project uses it: whose vectors they are, and what has no room."""

from __future__ import annotations

from typing import Final

from sce_desktop.core.i18n import ngettext
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache
from sce_desktop.core.text import size_text
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import ProjectVectors
from sce_desktop.store.runs.vector_cache import VectorCache as FileVectorCache

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
