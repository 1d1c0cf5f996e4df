"""Suspected label errors of a project, found by the text vectors of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.audits import state
from sce_desktop.tasks.evaluation.evidence import gather, places_of
from sce_desktop.tasks.insight.neighbours import suspects
from sce_desktop.tasks.scoring.vectors import KnownVectors, project_vectors

MOST_JUDGED: Final = 5_000
"""Of more labelled rows so many are checked, drawn at random: the time it takes is bounded."""
MOST_SHOWN: Final = 500


@dataclass(frozen=True, slots=True)
class Doubt:
    """A labelled row whose label does not fit a model of the other labelled rows."""

    row_id: int
    position: int  # 0-based place in the file
    text: str
    given: Label
    proposed: Label
    confidence: float  # that a model that has not seen the row has in its label


@dataclass(frozen=True, slots=True)
class Doubts:
    """The suspected rows, the most suspicious first, and what they were found among."""

    rows: tuple[Doubt, ...]
    judged: int
    decided: int  # with a label, by a person or from the table
    sampled: int  # more of these, not checked: rows of an audit sample that is not finished
    too_few: tuple[str, ...]  # names of labels with too few rows to be judged


def doubts(project: Project, known: KnownVectors, *, progress: Progress) -> Doubts:
    """Find the rows whose label probably is wrong, given by a person or imported with the table.

    Labels accepted in bulk are not checked, nor are rows of an audit sample before it is finished: whoever
    labels them again knows more than at the first, blind look.

    Raises:
        UserError: Rows may have several labels, or none of them has a text vector.
        Cancelled: The user stopped.
    """
    with project.snapshot():
        evidence, audit = gather(project), state(project)
    if evidence.multi_label:
        raise UserError(_("Label errors cannot be found in multi-label projects."))
    labelled = evidence.decided & (evidence.answer < len(evidence.labels))
    kept = labelled.copy()
    if audit is not None and audit.waiting:
        kept[places_of(evidence.row_ids, audit.row_ids)] = False
    places = np.flatnonzero(kept)
    decided = len(places)
    sampled = int(labelled.sum()) - decided
    if decided > MOST_JUDGED:
        places = np.sort(np.random.default_rng(0).choice(places, MOST_JUDGED, replace=False))
    if not decided:
        return Doubts((), 0, 0, sampled, ())
    progress.check()
    ids, vectors = project_vectors(project, known, evidence.row_ids[places], progress=progress)
    answers = evidence.answer[np.searchsorted(evidence.row_ids, ids)]
    found = suspects(vectors, answers, len(evidence.labels), progress=progress)
    shown = slice(0, MOST_SHOWN)
    rows = project.rows(ids[found.places[shown]])
    return Doubts(
        tuple(
            Doubt(
                row.id,
                row.position,
                row.text,
                evidence.labels[given],
                evidence.labels[proposed],
                float(confidence),
            )
            for row, given, proposed, confidence in zip(
                rows, found.given[shown], found.proposed[shown], found.confidence[shown], strict=True
            )
        ),
        int(np.isin(answers, found.too_few, invert=True).sum()),
        decided,
        sampled,
        tuple(evidence.names[place] for place in found.too_few),
    )
