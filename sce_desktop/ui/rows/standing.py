"""What Enter does with a row: its label is kept; where it has none, the prediction is accepted.

A draft is no prediction: it is not accepted by a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sce_desktop.controllers.rows_data import Score
from sce_desktop.core.annotations import Annotation, Decision, Label
from sce_desktop.core.scoring import chosen
from sce_desktop.tasks.scoring.models import MAIN_ALIAS


@dataclass(frozen=True, slots=True)
class Standing:
    """An answer about a row: one that it has, or the one that the model gives."""

    decision: Decision
    label_ids: tuple[int, ...] = ()


def answer_of(annotation: Annotation) -> Standing:
    """Return the answer that a row has."""
    return Standing(annotation.decision, annotation.label_ids)


def answer_by(
    score: Score, labels: Sequence[Label], *, multi_label: bool, threshold: float
) -> Standing | None:
    """Return the answer that a model gives; None where it answers to labels that are not in use any more."""
    if score.says_none(threshold):
        other_labels = score.stale and not score.older_model
        return None if other_labels else Standing(Decision.NONE)
    known = {label.id for label in labels}
    places = [score.top]
    if multi_label:
        places = list(np.flatnonzero(chosen(score.probabilities, threshold=threshold or None))) or places
    ids = [score.run.labels[int(place)].id for place in places]
    found = tuple(label_id for label_id in ids if label_id is not None and label_id in known)
    return Standing(Decision.LABEL, found) if found else None


def standing(
    annotation: Annotation | None,
    scores: Sequence[Score],
    labels: Sequence[Label],
    multi_label: bool,
    threshold: float,
) -> Standing | None:
    """Return the answer that a row has or, where it has none, the one that the model gives, if it does."""
    if annotation is not None:
        return answer_of(annotation)
    if not scores or scores[0].run.alias != MAIN_ALIAS or scores[0].draft:
        return None
    return answer_by(scores[0], labels, multi_label=multi_label, threshold=threshold)
