"""What a query hides, in words: for the chip over the table, its tip and screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sce_desktop.controllers.queries import column_title, has_filters, name_of
from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.query import CellFilter, FinalSource, RowQuery, RowState
from sce_desktop.core.search_terms import is_plain
from sce_desktop.core.text import isolated

STATES = (
    (_("Unlabelled"), RowState.UNLABELLED),
    (_("Labelled"), RowState.LABELLED),
    (_("None of these"), RowState.NONE),
    (_("Skipped"), RowState.SKIPPED),
    (_("Several labels"), RowState.SEVERAL),
    (_("Unsure"), RowState.UNSURE),
    (_("Flagged"), RowState.FLAGGED),
)

FINAL_SOURCES = (
    (_("To review"), FinalSource.NONE),
    (_("Final label by the model"), FinalSource.MODEL),
    (_("Final label by you"), FinalSource.ANNOTATOR),
)

_MOST_VALUES = 3  # of a column that are named
_MOST_CHARACTERS = 60  # of each


def cell_in_words(cell: CellFilter, columns: Sequence[str]) -> str:
    """Name a filter by a column of the user's table."""
    name = isolated(column_title(columns, cell.column)) if cell.column < len(columns) else "?"
    parts = []
    if cell.values:
        values = ", ".join(
            isolated(" ".join(value[:_MOST_CHARACTERS].split())) if value else _("(blank)")
            for value in cell.values[:_MOST_VALUES]
        )
        if (more := len(cell.values) - _MOST_VALUES) > 0:
            values = ngettext("{values} and {count} more", "{values} and {count} more", more, values=values)
        parts.append(_("not {values}", values=values) if cell.without else values)
    if cell.contains:
        parts.append(_("contains “{text}”", text=isolated(cell.contains[:_MOST_CHARACTERS])))
    if cell.low and cell.high:
        parts.append(_("{low} to {high}", low=isolated(cell.low), high=isolated(cell.high)))
    elif cell.low:
        parts.append(f"≥ {isolated(cell.low)}")
    elif cell.high:
        parts.append(f"≤ {isolated(cell.high)}")
    return f"{name}: {', '.join(parts)}"


def filters_in_words(
    query: RowQuery, labels: Sequence[Label], columns: Sequence[str], *, beside: Sequence[RowState] = ()
) -> list[str]:
    """Name every filter of ``query`` that has no chip of its own; states ``beside`` have one."""
    chosen = [name for name, state in STATES if query.state is state and state not in beside]
    chosen += [name for name, source in FINAL_SOURCES if query.final is source]
    for label in labels:
        if label.id in query.predicted_ids:
            chosen.append(_("SCE: {label}", label=isolated(label.name)))
    for label in labels:
        if label.id in query.label_ids:
            chosen.append(_("You: {label}", label=isolated(label.name)))
    for cell in query.cells:
        chosen.append(cell_in_words(cell, columns))
    if query.among is not None:
        count = len(query.among)
        chosen.append(  # the number first: where room is short it is read
            ngettext("{count} row: {name}", "{count} rows: {name}", count, name=name_of(query.name))
            if query.name
            else ngettext("{count} chosen row", "{count} chosen rows", count)
        )
    if query.duplicate is not None:
        chosen.append(_("Duplicates") if query.duplicate else _("No duplicates"))
    if query.former_ids:
        chosen.append(_("Label no longer in use"))
    if query.disagreeing:
        chosen.append(_("Annotators disagree"))
    if query.decided_since:
        chosen.append(_("Labelled since {time}", time=query.decided_since[:16].replace("T", " ")))
    if query.disagree is False:
        chosen.append(_("Models agree"))
    if query.blank is not None:
        chosen.append(_("No text") if query.blank else _("With text"))
    return chosen


def why_empty(query: RowQuery) -> str:
    """Why no row is found, and what to do."""
    if query.search and not has_filters(replace(query, search="")):
        searched = isolated(query.search)
        if is_plain(query.search):
            return _("No text contains “{text}”. Try fewer words, or clear the search.", text=searched)
        return _("No row matches “{text}”. Try fewer words, or clear the search.", text=searched)
    if query.former_ids:
        return _("All rows of the split label are labelled. Clear the filters to see all rows.")
    if query.state is RowState.UNLABELLED:
        return _("Nothing left to label here. Clear the filters to see all rows.")
    return _("No row matches the filters. Clear them to see all rows.")
