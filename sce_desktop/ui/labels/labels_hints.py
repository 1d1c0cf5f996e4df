"""What the labels panel remarks about a label set, one sentence at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sce_desktop.controllers.label_edits import quoted, rows
from sce_desktop.core.annotations import Label, LabelEffect
from sce_desktop.core.labels import look_alikes, meaningless


@dataclass(frozen=True, slots=True)
class Hint:
    """A remark; ``alike``: the names that one could merge."""

    sentence: str
    alike: tuple[str, ...] = ()


def hint_for(labels: Sequence[Label], *, multi_label: bool = False) -> Hint | None:
    """Return what is most worth saying about ``labels``, None if all is well or there is none."""
    names = [label.name for label in labels]
    if alike := look_alikes(names):
        return Hint(f"{quoted(alike[0])} look the same.", alike[0])
    if len(labels) == 1 and not multi_label:
        return Hint("One label: of each row it is asked whether it fits.")
    bare = [label.name for label in labels if not label.description and not label.synonyms]
    if codes := meaningless(bare):
        verb = "says" if len(codes) == 1 else "say"
        return Hint(f"{quoted(codes)} {verb} nothing to the model: rename or describe what it means.")
    return None


def of_rename(effect: LabelEffect) -> str:
    """Return what another name for a label touches, while it is typed."""
    have = "has this label and keeps it" if effect.rows == 1 else "have this label and keep it"
    answers = f"{rows(effect.rows)} {have}." if effect.rows else "No row has this label yet."
    return f"{answers} Scores are made anew." if effect.runs else answers
