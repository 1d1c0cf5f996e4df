"""What the workers run for the progress of a session and for repeated rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sce_desktop.controllers.queries import has_filters
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.sessions import SessionFigures

if TYPE_CHECKING:
    from sce_desktop.store.project import Project


@dataclass(frozen=True, slots=True)
class SessionProgress:
    """How the user comes on, and how many rows of the list are still to be labelled."""

    figures: SessionFigures
    open: int


def session_progress(project: Project, query: RowQuery, *, progress: Progress) -> SessionProgress:
    """Return how the user comes on with the rows of ``query``."""
    from sce_desktop.tasks.insight.sessions import figures, open_rows

    shown = project.row_ids(query) if has_filters(query) else None
    progress.check()
    return SessionProgress(figures(project, progress), open_rows(project, shown))


def next_repeat(project: Project, seed: int, *, progress: Progress) -> int | None:
    """Return a row that may come again; None: there is none yet."""
    from sce_desktop.tasks.insight.sessions import next_repeat

    progress.check()
    return next_repeat(project, seed)
