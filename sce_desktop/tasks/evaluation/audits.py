"""The audit sample, which a person labels at random: drawn, made larger, and how far it has come.

Figures for the whole table rest on it alone. It is labelled in the random order in which it was drawn, so
that its beginning is a random sample, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sce_desktop.core.annotations import Annotation, Audit, Decision, Origin
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import AUDIT, OPEN_AUDIT
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.evidence import AuditSample, Evidence, gather
from sce_desktop.tasks.one_state import one_state


@dataclass(frozen=True, slots=True, eq=False)
class AuditPlan:
    """What a sample can be drawn from."""

    frame: IdArray  # (n,) the rows that it stands for
    kept: IdArray  # (m,) of the present sample, which the new one starts with, in their order
    decided: int  # of these
    known: int  # rows with text outside the frame: a person answered, so there is nothing to estimate


@dataclass(frozen=True, slots=True, eq=False)
class AuditState:
    """How far the newest sample has come. Answers accepted in bulk are no decisions."""

    audit: Audit
    row_ids: IdArray  # (size,) in the order of the draw
    decided: int
    skipped: int
    first_waiting: int | None  # the row to continue with

    @property
    def waiting(self) -> int:
        """Rows that nobody has looked at yet."""
        return len(self.row_ids) - self.decided - self.skipped


@one_state
def plan(project: Project) -> AuditPlan:
    """Find out which rows a sample can be drawn from.

    That is every row with text that no person has answered yet. As long as the present sample was drawn from
    all of these, it stays, and a larger one only adds rows to it.

    Raises:
        UserError: The project has no labels, or no row with text.
    """
    evidence = gather(project)
    open_ids = evidence.row_ids[~evidence.decided]
    now = state(project)
    if now is not None:
        frame = project.audit_frame(now.audit.id)
        if np.isin(open_ids, frame).all():
            known = int((~np.isin(evidence.row_ids, frame)).sum())
            return AuditPlan(frame, now.row_ids, now.decided, known)
    return AuditPlan(open_ids, np.zeros(0, dtype=np.int64), 0, len(evidence.row_ids) - len(open_ids))


def draw(project: Project, size: int, *, seed: int, blind: bool = True) -> tuple[Audit, int]:
    """Draw a sample of ``size`` rows and keep it; one action, undoable.

    Predictions that were accepted for its rows are undone: they are a model's, and would be seen.

    Returns:
        The sample, and how many labels were undone.

    Raises:
        UserError: There are not that many rows to draw, or the sample has them already.
    """
    found = plan(project)
    more = size - len(found.kept)
    rest = np.setdiff1d(found.frame, found.kept)
    if more < 1 or more > len(rest):
        raise UserError(
            _(
                "{size} rows cannot be drawn: choose {least} to {most}.",
                size=number(size),
                least=number(len(found.kept) + 1),
                most=number(len(found.frame)),
            )
        )
    chosen = np.concatenate([found.kept, np.random.default_rng(seed).choice(rest, more, replace=False)])
    bulk = [row_id for row_id, annotation in project.annotations(chosen).items() if annotation.accepted]
    audit = project.create_audit(chosen, seed, frame_ids=found.frame, blind=blind, clear_ids=bulk)
    return audit, len(bulk)


def draw_and_look(
    project: Project, size: int, seed: int, blind: bool, *, progress: Progress
) -> tuple[AuditState, int]:
    """Draw a sample; return it, and how many accepted predictions were cleared."""
    progress.check()
    cleared = draw(project, size, seed=seed, blind=blind)[1]
    now = state(project)
    assert now is not None
    return now, cleared


@one_state
def state(project: Project) -> AuditState | None:
    """Return how far the newest sample has come; None if there is none."""
    audits = project.audits()
    if not audits:
        return None
    row_ids = project.audit_rows(audits[-1].id)
    annotations = project.annotations(row_ids)
    found = {row_id: one.decision for row_id, one in annotations.items() if one.origin is not Origin.BULK}
    skipped = sum(decision is Decision.SKIPPED for decision in found.values())
    waiting = (row_id for row_id in row_ids.tolist() if row_id not in found)
    return AuditState(audits[-1], row_ids, len(found) - skipped, skipped, next(waiting, None))


@one_state
def sample(project: Project) -> AuditSample | None:
    """Return the newest sample as far as it has been worked through; None if there is none.

    Rows beyond the last one that was decided in its turn are left out: some of them may have been decided in
    an order that somebody chose, while the others are still open. So are rows that were decided in another
    order, or in bulk, after a later one had its turn: their first answer, a blind one perhaps, is lost.
    """
    audits = project.audits()
    if not audits:
        return None
    row_ids = project.audit_rows(audits[-1].id)
    found = project.annotations(row_ids)
    annotations = [found.get(row_id) for row_id in row_ids.tolist()]
    in_turn = [place for place, one in enumerate(annotations) if one is not None and _in_turn(one)]
    end = in_turn[-1] + 1 if in_turn else 0
    kept = np.ones(end, dtype=bool)
    passed_at = ""  # when the first of the later rows was decided
    for place in reversed(range(end)):
        one = annotations[place]
        if one is None:
            continue
        if not _in_turn(one):
            kept[place] = one.decided_at <= passed_at
        elif not passed_at or one.decided_at < passed_at:
            passed_at = one.decided_at
    reached = [one for one, stays in zip(annotations[:end], kept, strict=True) if stays]
    decided = [one for one in reached if one is not None and one.origin is not Origin.BULK]
    skipped = sum(one.decision is Decision.SKIPPED for one in decided)
    return AuditSample(
        row_ids[:end][kept],
        project.audit_frame(audits[-1].id),
        later=sum(one is None or one.origin is Origin.BULK for one in annotations[end:]),
        seen=sum(one.queue == OPEN_AUDIT and one.decision is not Decision.SKIPPED for one in decided),
        skipped=skipped,
        passed=len(reached) - len(decided),
        again=int((~kept).sum()),
    )


@one_state
def gather_sampled(project: Project, aliases: Sequence[str] = (), *, gold: bool = False) -> Evidence:
    """Return what `gather` does with the newest sample, both of one state of the project.

    Raises:
        UserError: The project has no labels, or no row with text.
    """
    return gather(project, aliases, sample(project), gold=gold)


def _in_turn(one: Annotation) -> bool:
    """Whether a row of the sample was decided while the sample was shown, and for itself."""
    return one.origin is not Origin.BULK and one.queue in (AUDIT, OPEN_AUDIT)
