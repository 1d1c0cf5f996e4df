"""Decisions of a project that are probably wrong, as far as the text vectors of its rows tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.audits import state
from sce_desktop.tasks.evaluation.evidence import gather, places_of
from sce_desktop.tasks.insight.neighbours import suspects
from sce_desktop.tasks.scoring.vectors import KnownVectors, project_vectors

MOST_JUDGED: Final = 5_000
"""Of more decided rows so many are looked at, drawn at random: the time it takes is bounded."""
MOST_TOLD: Final = 500


@dataclass(frozen=True, slots=True)
class Doubt:
    """A decided row whose label does not fit what the other decided rows teach."""

    row_id: int
    position: int  # 0-based place in the file
    text: str
    given: Label
    proposed: Label
    confidence: float  # what a model that has not seen the row gives to its label


@dataclass(frozen=True, slots=True)
class Doubts:
    """The doubtful rows, the most doubtful first, and what they were found among."""

    rows: tuple[Doubt, ...]
    judged: int
    decided: int  # with a label, by a person or from the table
    sampled: int  # more of these, not looked at: rows of a random sample that is not decided to its end
    too_few: tuple[str, ...]  # names of labels with too few rows to be judged


def doubts(project: Project, known: KnownVectors, *, progress: Progress) -> Doubts:
    """Find the rows whose label probably is wrong, decided by a person or imported with the table.

    Answers accepted in bulk are not looked at, nor are rows of a random sample before it is decided to its
    end: who decides them anew knows more than at the first, blind look.

    Raises:
        UserError: Rows may have several labels, or none of them has a text vector.
        Cancelled: The user stopped.
    """
    with project.snapshot():
        evidence, audit = gather(project), state(project)
    if evidence.multi_label:
        raise UserError("Where a row may have several labels, none of them can be told to be wrong.")
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
    told = slice(0, MOST_TOLD)
    rows = project.rows(ids[found.places[told]])
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
                rows, found.given[told], found.proposed[told], found.confidence[told], strict=True
            )
        ),
        int(np.isin(answers, found.too_few, invert=True).sum()),
        decided,
        sampled,
        tuple(evidence.names[place] for place in found.too_few),
    )
