"""Groups of rows with the same or nearly the same text: found, and decided alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sce_desktop.core.annotations import SKIPPED
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.giving_way import giving_way
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.bulk import Answer, BulkOutcome, decide_all
from sce_desktop.tasks.insight.neighbours import NEAR, copies, near_copies

SHOWN: Final = 400
MOST_COMPARED: Final = 1_000_000
"""Of a larger project so many rows are compared, the first ones: texts of all would fill the memory."""
_BATCH: Final = 5000


@dataclass(frozen=True, slots=True, eq=False)
class CopyGroup:
    """Rows (n,) in file order with like texts; ``exact``: the same but for case, spaces and punctuation."""

    row_ids: IdArray
    exact: bool
    text: str  # the beginning of the first row's


@dataclass(frozen=True, slots=True)
class GroupAnswers:
    """What is decided about a group: answers with their numbers of rows, the commonest first.

    Skipped rows count as undecided here.
    """

    answers: tuple[tuple[Answer, int], ...] = ()

    @property
    def decided(self) -> int:
        """How many rows are decided."""
        return sum(count for _, count in self.answers)

    @property
    def contradictory(self) -> bool:
        """Whether rows that say the same were decided differently."""
        return len(self.answers) > 1


def find_groups(project: Project, similarity: float = NEAR, *, progress: Progress) -> list[CopyGroup]:
    """Return the groups of copies and near copies among the rows with text, the largest first.

    No more than the first `MOST_COMPARED` rows are compared.

    Raises:
        Cancelled: The user stopped.
    """
    every = project.row_ids(RowQuery(blank=False), compact=True)
    ids = every[:MOST_COMPARED].astype(np.int64)  # a copy: the others need not be kept meanwhile
    del every
    project.free_columns()
    groups = []
    for places in near_copies(_texts(project, ids, progress), similarity=similarity, progress=progress):
        progress.check()
        texts = project.texts(ids[places])  # again: all of them would be held until here
        same = copies(texts)
        exact = bool(same) and len(same[0]) == len(places)
        groups.append(CopyGroup(ids[places], exact, " ".join(texts[0][:SHOWN].split())))
    return groups


def _texts(project: Project, ids: IdArray, progress: Progress) -> Iterator[str]:
    for start in range(0, len(ids), _BATCH):
        progress.check()
        yield from giving_way(project.texts(ids[start : start + _BATCH]))
        progress.report(min(start + _BATCH, len(ids)), len(ids), stage=_("reading texts"))


def group_answers(project: Project, groups: Sequence[CopyGroup], *, progress: Progress) -> list[GroupAnswers]:
    """Return what is decided about each of ``groups``."""
    progress.check()
    answer_of = _answers(project, groups)
    found = []
    for place, group in enumerate(groups):
        if place % _BATCH == 0:
            progress.check()
        answers = (answer_of.get(row_id) for row_id in group.row_ids.tolist())
        found.append(GroupAnswers(tuple(Counter(answer for answer in answers if answer).most_common())))
    return found


def find_with_answers(
    project: Project, similarity: float, *, progress: Progress
) -> tuple[list[CopyGroup], list[GroupAnswers]]:
    """Return what `find_groups` does, and what is decided about each group."""
    groups = find_groups(project, similarity, progress=progress)
    return groups, group_answers(project, groups, progress=progress)


def decide_rest(
    project: Project, groups: Sequence[CopyGroup], *, queue: str, progress: Progress
) -> BulkOutcome:
    """Give the undecided rows of each group what its decided ones got (see `bulk.decide_all`).

    Contradictory groups and those without a decision stay as they are.
    """
    progress.check()
    answer_of = _answers(project, groups)
    wanted: dict[int, Answer] = {}
    for group in groups:
        rows = group.row_ids.tolist()
        known = {answer_of[row_id] for row_id in rows if row_id in answer_of}
        if len(known) == 1:
            answer = known.pop()
            wanted |= {row_id: answer for row_id in rows if row_id not in answer_of}
    return decide_all(project, wanted, queue=queue, progress=progress)


def give_all(
    project: Project, groups: Sequence[CopyGroup], answer: Answer, *, queue: str, progress: Progress
) -> BulkOutcome:
    """Give all rows of ``groups`` one answer (see `bulk.decide_all`); those that have it keep it as it is."""
    progress.check()
    answer_of = _answers(project, groups)
    rows = (row_id for group in groups for row_id in group.row_ids.tolist())
    wanted = {row_id: answer for row_id in rows if answer_of.get(row_id) != answer}
    return decide_all(project, wanted, queue=queue, progress=progress)


def _answers(project: Project, groups: Sequence[CopyGroup]) -> dict[int, Answer]:
    """Return the answers about rows of ``groups`` by row; undecided and skipped ones are absent."""
    if not groups:
        return {}
    found = project.answers()
    wanted = np.isin(found.row_ids, np.concatenate([group.row_ids for group in groups]))
    wanted &= found.label_ids != SKIPPED
    answer_of: dict[int, Answer] = {}
    for row_id, label_id in zip(
        found.row_ids[wanted].tolist(), found.label_ids[wanted].tolist(), strict=True
    ):
        answer_of[row_id] = (*answer_of.get(row_id, ()), label_id)
    return answer_of
