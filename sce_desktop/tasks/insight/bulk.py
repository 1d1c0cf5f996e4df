"""Many rows decided at once: in steps that let a person decide in between, and undone as one.

Rows of a random sample are left out, whoever asks: a person decides them one by one, or they prove nothing.
So are rows without text, about which there is nothing to say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from sce_desktop.core.annotations import NO_LABEL, SKIPPED, Annotation, Decision, Origin
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.store.project import Project
from sce_desktop.store.sql import as_moment, now

STEP: Final = 1_000
"""Rows of one transaction: some hundredths of a second, which a decision by hand has to wait at most."""

_CLOCK_SET: Final = timedelta(seconds=2)  # less is the clock being adjusted, or a busy machine

Answer = tuple[int, ...]
"""Label ids, or (`NO_LABEL`,) where none fits, or (`SKIPPED`,)."""


@dataclass(frozen=True, slots=True)
class BulkOutcome:
    """How many rows were decided, and how many were left out."""

    rows: int
    spared: int = 0  # they belong to a random sample
    blank: int = 0  # they have no text
    relabelled: int = 0  # of those decided: they had another answer before


def sampled_rows(project: Project) -> IdArray:
    """Return the rows (n,) of all random samples, in file order."""
    drawn = [project.audit_rows(audit.id) for audit in project.audits()]
    return np.unique(np.concatenate(drawn)) if drawn else np.zeros(0, np.int64)


def count_relabelled(project: Project, row_ids: Sequence[int], answer: Answer) -> int:
    """Return how many of ``row_ids`` have another answer that `decide_all` would replace by ``answer``."""
    sampled = set(sampled_rows(project).tolist())
    known = project.annotations([row_id for row_id in row_ids if row_id not in sampled])
    return sum(_replaces(answer, annotation) for annotation in known.values())


def decide_all(
    project: Project, answers: Mapping[int, Answer], *, queue: str, progress: Progress
) -> BulkOutcome:
    """Give each row its answer; see `decide_each`."""
    row_ids = np.fromiter(answers, np.int64, len(answers))
    return decide_each(
        project, row_ids, lambda place: answers[int(row_ids[place])], queue=queue, progress=progress
    )


def decide_each(
    project: Project,
    row_ids: IdArray,
    answer_at: Callable[[int], Answer],
    *,
    queue: str,
    progress: Progress,
) -> BulkOutcome:
    """Give ``row_ids`` (n,) their answers, but for those left out (`BulkOutcome`) and decided meanwhile.

    ``answer_at`` returns the answer of the row at a place: of millions of rows they are not held at once.
    The history has one action for it, unless the user does something in between: then it goes on as another.
    Until it is through, stopped or failed the project knows it as unfinished: whoever opens it after a crash
    can tell (`Project.interrupted`).

    Raises:
        Cancelled: The user stopped. The steps until then stay, and can be undone; ``progress`` has been told
            how many rows they are.
        ValueError: A row or a label is not in the project, or the labels do not fit the decision.
    """
    since = _Since()
    blank = np.isin(row_ids, project.row_ids(RowQuery(blank=True)))
    sampled = ~blank & np.isin(row_ids, sampled_rows(project))
    wanted = np.flatnonzero(~sampled & ~blank)
    done, relabelled, action = 0, 0, None
    try:
        for start in range(0, len(wanted), STEP):
            progress.check()
            places = wanted[start : start + STEP].tolist()
            answers = {int(row_ids[place]): answer_at(place) for place in places}
            moment = now()
            known = project.annotations(list(answers))
            meanwhile = since.spans()
            newer = {i for i, one in known.items() if any(a < one.decided_at <= b for a, b in meanwhile)}
            chosen = [_annotation(i, one, moment, queue) for i, one in answers.items() if i not in newer]
            last = start + STEP >= len(wanted)
            action = project.annotate_part(chosen, last=last, action=action)
            done += len(chosen)
            relabelled += sum(
                _replaces(one, known[i]) for i, one in answers.items() if i in known and i not in newer
            )
            progress.report(done, len(wanted), stage=_("labelling rows"))
    except BaseException:
        with suppress(UserError):  # the disk may be full: then opening the project tells how far it came
            project.end_parts()
        raise
    spared = int(np.count_nonzero(sampled))
    return BulkOutcome(done, spared, int(np.count_nonzero(blank)), relabelled)


class _Since:
    """Tells what was decided since it was made, also where somebody sets the clock meanwhile."""

    def __init__(self) -> None:
        self._clock, self._timer = datetime.now(UTC), time.monotonic()

    def spans(self) -> list[tuple[str, str]]:
        """Return between which moments that was, after the first and up to the second: one, or two."""
        moment, ran = datetime.now(UTC), timedelta(seconds=time.monotonic() - self._timer)
        spans = [(self._clock, moment)]
        if abs(moment - ran - self._clock) > _CLOCK_SET:
            spans = [(self._clock, self._clock + ran), (moment - ran, moment)]
        return [(as_moment(first), as_moment(last)) for first, last in spans]


def _replaces(answer: Answer, known: Annotation) -> bool:
    """Whether ``answer`` is another one than a row has; whoever skipped it gave none."""
    has = (NO_LABEL,) if known.decision is Decision.NONE else known.label_ids
    return known.decision is not Decision.SKIPPED and set(has) != set(answer)


def _annotation(row_id: int, answer: Answer, moment: str, queue: str) -> Annotation:
    bare: dict[Answer, Decision] = {(NO_LABEL,): Decision.NONE, (SKIPPED,): Decision.SKIPPED}
    decision = bare.get(answer, Decision.LABEL)
    label_ids = answer if decision is Decision.LABEL else ()
    return Annotation(row_id, decision, label_ids, Origin.BULK, moment, queue)
