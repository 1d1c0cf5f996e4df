"""What the workers run for the panel of duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.insight.bulk import Answer, BulkOutcome
    from sce_desktop.tasks.insight.duplicates import CopyGroup, GroupAnswers


def find(
    project: Project, similarity: float, *, progress: Progress
) -> tuple[list[CopyGroup], list[GroupAnswers]]:
    """Find the groups, and how their rows are labelled."""
    from sce_desktop.tasks.insight.duplicates import find_groups, group_answers

    groups = find_groups(project, similarity, progress=progress)
    return groups, group_answers(project, groups, progress=progress)


def answers(project: Project, groups: Sequence[CopyGroup], *, progress: Progress) -> list[GroupAnswers]:
    """Read how the rows of ``groups`` are labelled now."""
    from sce_desktop.tasks.insight.duplicates import group_answers

    return group_answers(project, groups, progress=progress)


def decide_rest(
    project: Project, groups: Sequence[CopyGroup], *, queue: str, progress: Progress
) -> BulkOutcome:
    """Label the unlabelled rows of each group like its labelled ones."""
    from sce_desktop.tasks.insight.duplicates import decide_rest

    return decide_rest(project, groups, queue=queue, progress=progress)


def give_all(
    project: Project, groups: Sequence[CopyGroup], answer: Answer, *, queue: str, progress: Progress
) -> BulkOutcome:
    """Label all rows of ``groups`` alike."""
    from sce_desktop.tasks.insight.duplicates import give_all

    return give_all(project, groups, answer, queue=queue, progress=progress)
