"""What the workers run for the panel Evaluate; like `controllers.work`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sce_desktop.controllers.review_work import NO_VECTORS
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.evaluation.doubts import Doubts
    from sce_desktop.tasks.evaluation.quality import Quality
    from sce_desktop.tasks.scoring.vectors import KnownVectors


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What the panel shows; ``nested``: there are labels "Parent > Child" that can be rolled up."""

    quality: Quality
    multi_label: bool
    nested: bool


def evaluate(
    project: Project, aliases: Sequence[str], rolled: bool, *, progress: Progress
) -> Evaluation | None:
    """Measure the runs ``aliases`` on labels and gold labels; None: there are no labels or no text."""
    from sce_desktop.core.labels import parent_of
    from sce_desktop.tasks.evaluation.audits import gather_sampled
    from sce_desktop.tasks.evaluation.evidence import rolled_up
    from sce_desktop.tasks.evaluation.quality import assess

    try:
        evidence = gather_sampled(project, aliases, gold=True)
    except UserError:
        return None
    progress.check()
    nested = any(parent_of(name) for name in evidence.names)
    if rolled and nested:
        evidence = rolled_up(evidence)
    progress.check()
    return Evaluation(assess(evidence), evidence.multi_label, nested)


def doubts(project: Project, vectors: KnownVectors | None, *, progress: Progress) -> Doubts:
    """Find suspected label errors."""
    from sce_desktop.tasks.evaluation.doubts import doubts

    if vectors is None:
        raise UserError(NO_VECTORS)
    return doubts(project, vectors, progress=progress)
