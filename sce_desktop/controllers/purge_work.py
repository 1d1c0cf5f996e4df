"""Deleting for good, as the window asks for it: what would go, and the purge of the closed project."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import Progress
from sce_desktop.core.purging import PurgeScope
from sce_desktop.core.query import RowQuery

if TYPE_CHECKING:
    from sce_desktop.store.project import Project


@dataclass(frozen=True, slots=True)
class PurgePreview:
    """What would go and what would remain, a sentence each; ``copies`` is about those that were found."""

    scope: PurgeScope
    goes: tuple[str, ...]
    copies: str
    remains: tuple[str, ...]


def look(project: Project, scope: PurgeScope, query: RowQuery | None, *, progress: Progress) -> PurgePreview:
    """Count what would go; with ``query`` the rows that it finds, in place of those of ``scope``."""
    from sce_desktop.tasks import purging

    if query is not None:
        scope = replace(scope, rows=tuple(project.row_ids(query).tolist()))
    progress.check()
    effect = project.purge_effect(scope)
    return PurgePreview(
        scope,
        tuple(purging.describe(effect)),
        purging.describe_copies(effect),
        tuple(purging.describe_rest(effect)),
    )


def annotators(project: Project, *, progress: Progress) -> list[tuple[str, int]]:
    """Return the annotators beside the user by name and id."""
    progress.check()
    return [(coder.name, coder.id) for coder in project.coders()]


def purge(path: Path, scope: PurgeScope, *, with_copies: bool, progress: Progress) -> Project:
    """Purge the project at ``path``, which is closed, and open it again; it says what was done.

    Raises:
        UserError: Nothing was deleted, or the rest is deleted at the next opening; so it says.
    """
    from sce_desktop.store.project import Project
    from sce_desktop.tasks import purging

    try:
        report = Project.purge_file(path, scope, with_copies=with_copies, progress=progress)
    except Cancelled:
        return Project.open(path)
    project = Project.open(path)
    project.finished_purge = " ".join(purging.describe_report(report, with_copies=with_copies))
    return project
