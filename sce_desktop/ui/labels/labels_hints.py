"""What the labels panel remarks about a label set, one remark at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sce_desktop.controllers.label_edits import quoted
from sce_desktop.core.annotations import Label, LabelEffect
from sce_desktop.core.i18n import _, ngettext
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
        return Hint(_("{names} look the same.", names=quoted(alike[0])), alike[0])
    if len(labels) == 1 and not multi_label:
        return Hint(_("With one label, each row is scored for whether it fits."))
    bare = [label.name for label in labels if not label.description and not label.synonyms]
    if codes := meaningless(bare):
        return Hint(
            ngettext(
                "{names} says nothing to the model: rename or describe it.",
                "{names} say nothing to the model: rename or describe them.",
                len(codes),
                names=quoted(codes),
            )
        )
    return None


def of_rename(effect: LabelEffect) -> str:
    """Return what another name for a label affects, while it is typed."""
    kept = (
        ngettext(
            "{count} row has this label and keeps it.",
            "{count} rows have this label and keep it.",
            effect.rows,
        )
        if effect.rows
        else _("No row has this label yet.")
    )
    return " ".join((kept, _("Rows will be rescored."))) if effect.runs else kept
