"""What the columns of an export mean, and what its labels are: the legend of a workbook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import N_, _

_DECIDED: Final = {
    "label": N_("Your label; empty if there is none"),
    "decided": N_("How it came about: hand, bulk, imported; or none (none of these), skipped"),
    "unsure": N_("1 if you marked the row as unsure"),
    "flag": N_("1 if you flagged the row"),
    "note": N_("Your note"),
    "decided_at": N_("When, in UTC"),
    "origin": N_("How the row was set to none of these or skipped"),
    "labels": N_("Your labels as a JSON list"),
    "final_label": N_("The annotator's label, else the model's from the confidence threshold up"),
    "final_source": N_("Who gives the final label: annotator, model, or none"),
}
_MODEL: Final = {
    "label": N_("The most probable label by {model}"),
    "confidence": N_("Its probability"),
    "status": N_("scored, unsure (below the confidence threshold), none (no label fits), or blank (no text)"),
    "none": N_("Probability that no label fits"),
    "labels": N_("Labels from the confidence threshold up, as a JSON list"),
}


def legend(
    columns: Sequence[tuple[str, str]], aliases: Sequence[str], labels: Sequence[Label]
) -> list[tuple[str, str]]:
    """Return name and meaning of columns of ours, then name and description of the labels.

    Args:
        columns: Each as it is headed in the table, and as it is called where no original column has the name.
        aliases: Of the models whose columns there are.
        labels: Of the project.
    """
    found = [(written, _meaning(ours, aliases)) for written, ours in columns]
    lines = [(written, meaning) for written, meaning in found if meaning]
    if labels:
        lines += [("", ""), (_("Label"), _("Description"))]
        lines += [(label.name, label.description) for label in labels]
    return lines


def _meaning(ours: str, aliases: Sequence[str]) -> str:
    if ours in _DECIDED:
        return _(_DECIDED[ours])
    if ours.startswith("label:"):
        return _("1 if you gave the row this label")
    for alias in aliases:
        rest = ours.removeprefix(f"{alias}_")
        if rest != ours and rest.startswith("p:"):
            return _("Probability of this label by {model}", model=alias)
        if rest != ours and rest in _MODEL:
            return _(_MODEL[rest], model=alias)
    return ""
