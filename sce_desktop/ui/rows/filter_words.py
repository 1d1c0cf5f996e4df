"""What a query leaves out, in words: for the chip over the table, its tip and screen readers."""

from __future__ import annotations

from collections.abc import Sequence

from sce_desktop.core.annotations import Label
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.words import plural

STATES = (
    ("Unlabelled", RowState.UNLABELLED),
    ("With a label", RowState.LABELLED),
    ("None of these", RowState.NONE),
    ("Skipped", RowState.SKIPPED),
    ("Several labels", RowState.SEVERAL),
    ("Unsure", RowState.UNSURE),
    ("Flagged", RowState.FLAGGED),
)


def filters_in_words(
    query: RowQuery, labels: Sequence[Label], columns: Sequence[str], *, beside: Sequence[RowState] = ()
) -> list[str]:
    """Name every filter of ``query`` that has no chip of its own; states ``beside`` have one."""
    chosen = [name for name, state in STATES if query.state is state and state not in beside]
    chosen += [
        f"{who}: {label.name}"
        for who, ids in (("SCE", query.predicted_ids), ("Yours", query.label_ids))
        for label in labels
        if label.id in ids
    ]
    for cell in query.cells:
        values = ", ".join(value or "(empty)" for value in cell.values[:3])
        more = f" and {len(cell.values) - 3} more" if len(cell.values) > 3 else ""
        name = columns[cell.column] if cell.column < len(columns) else "?"
        chosen.append(f"{name}: {values}{more}")
    if query.among is not None:
        count = len(query.among)
        of_name = f"{plural(count, 'row')}: {query.name}"  # where room is short the number is read
        chosen.append(of_name if query.name else plural(count, "chosen row"))
    if query.duplicate is not None:
        chosen.append("Duplicates" if query.duplicate else "No duplicates")
    if query.former_ids:
        chosen.append("Of a label that is gone")
    if query.disagreeing:
        chosen.append("Coders disagree")
    if query.decided_since:
        chosen.append(f"Decided since {query.decided_since[:16].replace('T', ' ')}")
    if query.disagree is False:
        chosen.append("Models agree")
    if query.blank is not None:
        chosen.append("No text" if query.blank else "With text")
    return chosen
