"""What the workers run for final labels; like `controllers.work`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.evaluation.final_labels import FinalLabels


def final_labels(project: Project, *, progress: Progress) -> FinalLabels:
    """Find out who gives the final labels of ``project``, and the error that this means."""
    from sce_desktop.tasks.evaluation.final_labels import final_labels

    progress.check()
    return final_labels(project)
