"""What cells and headings of the table say: drawn, read aloud, or shown under the mouse."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from sce_desktop.controllers.rows_data import RowData, Score
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.runs import Run, model_title
from sce_desktop.core.text import isolated, share_text

LOADING = "…"
NOT_YET = "–"
SKIPPED = "Skipped"
NONE_FITS = "None of these"
STALE = "from an older label set"
OLDER_MODEL = "from an older model"
MOST_CELLS = 30  # labels that a strip of cells has room for; of more it shows the best ones
TOP_CELLS = 6
_SPOKEN = 8  # labels of a row that are told one by one


def alias_title(alias: str) -> str:
    """The heading of a baseline."""
    return "LLM" if alias == "llm" else alias[:1].upper() + alias[1:]


def run_title(run: Run) -> str:
    """What the model of a run is called where its answers stand."""
    title = "SCE" if run.alias == "sce" else alias_title(run.alias)
    return model_title(title, whole_table=run.whole_table)


def said_by_others(said: Sequence[tuple[str, frozenset[int | str]]], labels: tuple[Label, ...]) -> str:
    """What other people answered about a row, a line each; what is no label here in their own words."""
    names = {label.id: label.name for label in labels}
    lines = []
    for coder, answer in said:
        words = sorted(
            names.get(one, "?") if isinstance(one, int) else f"“{isolated(one)}”" for one in answer
        )
        lines.append(f"{coder}: {' + '.join(words) if words else NONE_FITS}")
    return "\n".join(lines)


class _Places:
    """The places of labels by id, for one tuple of labels: looking for each in a long list takes too long."""

    def __init__(self, labels: tuple[Label, ...]) -> None:
        self.labels = labels
        self.of_id = {label.id: place for place, label in enumerate(labels)}


_last = _Places(())


def place_of(label_id: int | None, labels: tuple[Label, ...]) -> int | None:
    """The place of a label among those in use; None if it is none of them."""
    global _last  # what is painted is of one label set, thousands of times
    if _last.labels is not labels:
        _last = _Places(labels)
    return _last.of_id.get(label_id)


def label_of(label_id: int | None, labels: tuple[Label, ...], run: Run | None = None) -> Label:
    """The label as it is called now; one that is out of use as the run knew it."""
    place = place_of(label_id, labels)
    if place is not None:
        return labels[place]
    known = (label for label in (run.labels if run else ()) if label.id == label_id)
    return next(known, Label("(removed label)", id=label_id))


def top_label(score: Score, labels: tuple[Label, ...]) -> Label:
    """The label that a score puts first."""
    return label_of(score.top_id, labels, score.run)


def decided_names(decision: Decision, label_ids: Sequence[int], labels: tuple[Label, ...]) -> list[str]:
    """The names of the labels that were decided on, or what was decided instead."""
    match decision:
        case Decision.NONE:
            return [NONE_FITS]
        case Decision.SKIPPED:
            return [SKIPPED]
    return [label_of(label_id, labels).name for label_id in label_ids]


def yours(row: RowData, labels: tuple[Label, ...]) -> str:
    """What a person decided."""
    said = row.annotation
    return ", ".join(decided_names(said.decision, said.label_ids, labels)) if said is not None else ""


def agreement(row: RowData, place: int, threshold: float) -> bool | None:
    """Whether the baseline at ``place`` of the runs puts the model's label first, if that gives one."""
    main, other = (_score(row, 0), _score(row, place))
    if main is None or other is None or main.says_none(threshold):
        return None
    return main.top_id == other.top_id


def best_places(score: Score) -> list[int]:
    """The places of the labels that a strip of cells shows: all in their order, or the best of very many."""
    count = len(score.probabilities)
    if count <= MOST_CELLS:
        return list(range(count))
    return [int(place) for place in np.argsort(-score.probabilities, kind="stable")[:TOP_CELLS]]


def cell(
    row: RowData, column: int, labels: tuple[Label, ...], runs: Sequence[Run], threshold: float = 0.0
) -> str:
    """What a cell says in words; below ``threshold`` the model counts as unsure."""
    main = _score(row, 0)
    if column == 0:
        return " ".join(filter(None, (f"{row.position + 1:,}", *_marks(row))))
    if column == 1:
        return row.text if not row.blank else "no text"
    if column == 2:
        return yours(row, labels) or NOT_YET
    if row.blank:
        return "no text"
    if column == 3:
        if main is None:
            return "not scored"
        if main.says_none(threshold):
            return _aged(NONE_FITS, main)
        return _said(main, labels) + (", unsure" if main.confidence < threshold else "")
    if column == 4:
        return "not scored" if main is None else ", ".join(_listed(main, labels))
    other = _score(row, column - 4)
    if other is None:
        return "not scored"
    same = agreement(row, column - 4, threshold)
    mark = {True: "= ", False: "≠ ", None: ""}[same]
    return mark + _said(other, labels)


def _said(score: Score, labels: tuple[Label, ...]) -> str:
    return _aged(f"{top_label(score, labels).name}, {share_text(score.confidence)}", score)


def _aged(text: str, score: Score) -> str:
    return f"{text}, {stale_words(score)}" if score.stale else text


def stale_words(score: Score) -> str:
    """Why a score that is stale is."""
    return OLDER_MODEL if score.older_model else STALE


def _listed(score: Score, labels: tuple[Label, ...]) -> list[str]:
    order = np.argsort(-score.probabilities, kind="stable")[:_SPOKEN]
    return [
        f"{label_of(score.run.labels[place].id, labels, score.run).name} "
        f"{share_text(float(score.probabilities[place]))}"
        for place in order
    ]


def _marks(row: RowData) -> list[str]:
    if row.marks is None:
        return []
    names = {"flagged": row.marks.flag, "unsure": row.marks.unsure, "note": bool(row.marks.note)}
    return [name for name, on in names.items() if on]


def tool_tip(row: RowData, column: int, labels: tuple[Label, ...]) -> str | None:
    """What is shown under the mouse, as plain paragraphs."""
    if column == 0:
        lines = [f"Row {row.position + 1:,} of the file", *_marks(row)]
        if row.marks is not None and row.marks.note:
            lines.append(row.marks.note)
    elif column == 1:
        lines = [row.text] if row.text else ["This row has no text."]
    elif column == 2:
        lines = [yours(row, labels)] if row.annotation else []
    else:
        score = _score(row, 0 if column <= 4 else column - 4)
        if score is None:
            lines = [] if row.blank else ["Not scored yet"]
        else:
            lines = _listed(score, labels)
            if (rest := len(score.probabilities) - len(lines)) > 0:
                lines.append(f"and {rest} more")
            if score.stale:
                lines.append(stale_words(score).capitalize())
    return "<br>".join(f"<span>{html.escape(line)}</span>" for line in lines) or None


def cell_tip(score: Score, place: int, labels: tuple[Label, ...]) -> str:
    """What one cell of the strip says."""
    label = label_of(score.run.labels[place].id, labels, score.run)
    return f"{label.name}: {share_text(float(score.probabilities[place]))}"


def heading(column: int, labels: tuple[Label, ...], aliases: Sequence[str]) -> str:
    """The heading of a column."""
    if column < 4:
        return ("#", "Text", "Yours", "SCE")[column]
    if column == 4:
        return "All labels" if len(labels) <= MOST_CELLS else f"Top {TOP_CELLS} labels"
    return alias_title(aliases[column - 5]) if column - 5 < len(aliases) else "Similarity"


def heading_tip(column: int, runs: Sequence[Run]) -> str:
    """What a heading means and what a click on it does."""
    main = f"The best label by {runs[0].title}." if runs else "The model's best label."
    if runs and runs[0].whole_table:
        main += " The table's other rows count in."
    fixed = (
        "Number of the row in the file. Click: order of the file",
        "Click: order by length of the text",
        "What you decided. Click: order by your label",
        f"{main} Click: least certain first",
        "The model's probability of every label. Click: smallest margin first",
    )
    if column < len(fixed):
        return fixed[column]
    name = heading(column, (), [run.alias for run in runs[1:]])
    return f"= where {name} gives the same label as SCE, ≠ where not. Click: where they disagree first"


def _score(row: RowData, place: int) -> Score | None:
    return row.scores[place] if place < len(row.scores) else None
