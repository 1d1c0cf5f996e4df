"""What the workers run for the audit sample; like `controllers.work`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.evaluation.audits import AuditPlan, AuditState


def plan(project: Project, *, progress: Progress) -> AuditPlan:
    """Find out which rows a sample can be drawn from."""
    from sce_desktop.tasks.evaluation.audits import plan

    return plan(project)


def draw(
    project: Project, size: int, seed: int, blind: bool, *, progress: Progress
) -> tuple[AuditState, int]:
    """Draw a sample; return it, and how many accepted predictions were cleared."""
    from sce_desktop.tasks.evaluation.audits import draw, state

    cleared = draw(project, size, seed=seed, blind=blind)[1]
    now = state(project)
    assert now is not None
    return now, cleared


def state(project: Project, *, progress: Progress) -> AuditState | None:
    """Look how far the sample has come."""
    from sce_desktop.tasks.evaluation.audits import state

    return state(project)
