"""What the workers run while one reviews: queues, similar rows, predictions and answers taken over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sce_desktop.core.annotations import Coder, LabelEffect, Row
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, listed, ngettext, number
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.readings import Kind
from sce_desktop.core.runs import Run
from sce_desktop.core.text import isolated

if TYPE_CHECKING:
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.evaluation.annotators import WithAnnotator
    from sce_desktop.tasks.insight.review import Acceptance
    from sce_desktop.tasks.insight.sessions import SelfAgreement
    from sce_desktop.tasks.scoring.vectors import KnownVectors

SIMILAR = 50
NO_VECTORS = _("No text vectors, as LLMs make none. Choose an SCE model, then press Score.")
NOT_READY = _("The model is still loading. Try again in a moment.")


def diverse(
    project: Project, vectors: KnownVectors | None, before: IdArray, *, cut: bool = False, progress: Progress
) -> IdArray:
    """Return the undecided rows with text, the first spread over all that there is to see.

    Args:
        project: Whose rows.
        vectors: Of the model that scores.
        before: The order that was shown last (n,): it is kept, but for rows that are decided by now, unless
            there are rows that it lacks.
        cut: It was too long to be kept whole: the rows that it lacks follow.
        progress: Checked in between.
    """
    from sce_desktop.tasks.insight.queues import diverse_ids

    if vectors is None:
        raise UserError(NO_VECTORS)
    open_ids = project.row_ids(RowQuery(state=RowState.UNLABELLED, blank=False))
    if not len(open_ids):
        return open_ids
    rest = np.setdiff1d(open_ids, before)
    if len(before) and (cut or not len(rest)):
        return np.concatenate([before[np.isin(before, open_ids)], rest])
    return diverse_ids(project, vectors, open_ids, progress=progress)


def similar(project: Project, vectors: KnownVectors | None, row_id: int, *, progress: Progress) -> IdArray:
    """Return the rows most like ``row_id``, itself first."""
    from sce_desktop.tasks.insight.neighbours import similar
    from sce_desktop.tasks.scoring.vectors import project_vectors

    if vectors is None:
        raise UserError(NO_VECTORS)
    own = project_vectors(project, vectors, np.array([row_id]), progress=progress)[1]
    ids, all_vectors = project_vectors(project, vectors, progress=progress)
    places, _ = similar(all_vectors, own[0], SIMILAR + 1)
    found = ids[places]
    return np.concatenate([[row_id], found[found != row_id]])


@dataclass(frozen=True, slots=True, eq=False)
class AcceptPreview:
    """What accepting would do."""

    found: Acceptance
    examples: list[tuple[Row, tuple[int, ...], float]]


def preview_accept(
    project: Project, run: Run, query: RowQuery, confidence: float, *, progress: Progress
) -> AcceptPreview:
    """Find the rows whose prediction would be accepted, and ten of them to look at."""
    from sce_desktop.tasks.insight.review import acceptable, examples

    found = acceptable(project, run, query, confidence, progress=progress)
    progress.check()
    return AcceptPreview(found, examples(project, found))


def label_effects(
    project: Project, label_ids: Sequence[int], into_id: int | None, *, progress: Progress
) -> list[LabelEffect]:
    """Count what goes with each label that is removed or split, or with all that merge into ``into_id``.

    Nothing, where one of them is in use no more.
    """
    try:
        if into_id is not None:
            return [project.merge_preview(label_ids, into_id)]
        effects = []
        for label_id in label_ids:
            progress.check()
            effects.append(project.delete_preview(label_id))
        return effects
    except ValueError:
        return []


def rename_effect(project: Project, label_id: int, *, progress: Progress) -> LabelEffect | None:
    """Count what another name for a label touches; None where it is in use no more."""
    try:
        return project.rename_preview(label_id)
    except ValueError:
        return None


def column_kinds(project: Project, columns: Sequence[int], *, progress: Progress) -> dict[int, Kind]:
    """Return what columns read as, by place."""
    kinds = {}
    for column in columns:
        progress.check()
        kinds[column] = project.reading(column).kind
    return kinds


@dataclass(frozen=True, slots=True)
class CoderChoices:
    """What the dialog for another annotator's labels hands over; columns are 0-based places."""

    name: str
    path: Path
    our_key: int
    their_key: int
    their_label: int


def add_coder(project: Project, choices: CoderChoices, *, progress: Progress) -> tuple[Coder, str]:
    """Join another annotator's labels and keep them; the sentence says what was excluded."""
    from sce_desktop.tasks.evaluation.annotators import agreements, import_annotator

    found = import_annotator(
        project,
        choices.path,
        choices.their_key,
        choices.their_label,
        choices.name,
        progress,
        own_key=choices.our_key,
    )
    name = isolated(found.coder.name)
    sentences = [
        ngettext(
            "{count} label by {name} was added.",
            "{count} labels by {name} were added.",
            found.coder.rows,
            name=name,
        )
    ]
    if found.unknown:
        sentences.append(
            ngettext(
                "{count} key in the file matches no row.",
                "{count} keys in the file match no row.",
                found.unknown,
            )
        )
    if found.repeated:
        sentences.append(
            ngettext(
                "{count} key appears more than once and was excluded.",
                "{count} keys appear more than once and were excluded.",
                found.repeated,
            )
        )
    (with_user,) = (one for one in agreements(project, progress) if one.coder.id == found.coder.id)
    sentences.append(with_user.sentence)
    if with_user.unknown:
        first = sorted(with_user.unknown.items())[:5]
        names = [_("“{name}” ({rows})", name=isolated(name), rows=number(count)) for name, count in first]
        sentences.append(_("Not labels of this project: {names}.", names=listed(names)))
    return found.coder, " ".join(sentences)


def agreements(project: Project, *, progress: Progress) -> tuple[list[WithAnnotator], SelfAgreement]:
    """Compare every other annotator with the user, and the user's second answers with the first ones."""
    from sce_desktop.tasks.evaluation.annotators import agreements
    from sce_desktop.tasks.insight.sessions import self_agreement

    return agreements(project, progress), self_agreement(project, progress)
