"""The words of cells and headings of the table: drawn, read aloud, or shown under the mouse."""

from __future__ import annotations

import functools
import html
from collections.abc import Sequence

import numpy as np

from sce_desktop.controllers.rows_data import RowData, Score
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.i18n import _, language, ngettext, number
from sce_desktop.core.query import FinalSource
from sce_desktop.core.runs import Run, model_title
from sce_desktop.core.scoring import chosen
from sce_desktop.core.text import isolated, share_text

LOADING = "…"
NOT_YET = "–"
SKIPPED = _("Skipped")
TO_REVIEW = _("To review")
NONE_FITS = _("None of these")
NO_TEXT = _("no text")
NOT_SCORED = _("not scored")
STALE = _("From an older label set")
OLDER_MODEL = _("From an older model")
DRAFT = _("Draft: a rough, fast score, until the model has scored this row")
MOST_CELLS = 30  # labels that a strip of cells has room for; of more it shows the best ones
TOP_CELLS = 6
_BASELINES = {"llm": "LLM", "similarity": _("Similarity")}
_SPOKEN = 8  # labels of a row that are listed one by one


def alias_title(alias: str) -> str:
    """The heading of a baseline."""
    return _BASELINES.get(alias) or alias[:1].upper() + alias[1:]


def run_title(run: Run) -> str:
    """What the model of a run is called where its predictions stand."""
    title = "SCE" if run.alias == "sce" else alias_title(run.alias)
    return model_title(title, whole_table=run.whole_table)


def answers_of_others(answers: Sequence[tuple[str, frozenset[int | str]]], labels: tuple[Label, ...]) -> str:
    """The labels by other annotators, a line each; those that this project does not have in quotes."""
    names = {label.id: label.name for label in labels}
    lines = []
    for annotator, answer in answers:
        words = sorted(
            names.get(one, "?") if isinstance(one, int) else f"“{isolated(one)}”" for one in answer
        )
        lines.append(f"{isolated(annotator)}: {' + '.join(words) if words else NONE_FITS}")
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
    return next(known, Label(_("(removed label)"), id=label_id))


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
    annotation = row.annotation
    return (
        ", ".join(decided_names(annotation.decision, annotation.label_ids, labels))
        if annotation is not None
        else ""
    )


def confirms(row: RowData) -> bool | None:
    """Whether the label of a person is the one that the model predicts; None where it predicts none."""
    main = _score(row, 0)
    if main is None or main.draft or row.annotation is None:
        return None
    return row.annotation.label_ids == (main.top_id,)


def final_source(row: RowData, threshold: float) -> FinalSource:
    """Who gives the final label of a row: as `store.runs.final` has it, of what the table knows."""
    main = _score(row, 0)
    if row.annotation is not None:
        skipped = row.annotation.decision is Decision.SKIPPED
        return FinalSource.NONE if skipped else FinalSource.ANNOTATOR
    if row.blank or main is None or main.draft or main.says_none(threshold) or main.confidence < threshold:
        return FinalSource.NONE
    return FinalSource.MODEL


def final_names(row: RowData, labels: tuple[Label, ...], threshold: float) -> str:
    """The final label of a row, of several all; empty where it is to be reviewed."""
    source, main = final_source(row, threshold), _score(row, 0)
    if source is FinalSource.ANNOTATOR:
        return yours(row, labels)
    if source is FinalSource.NONE or main is None:
        return ""
    if not main.run.multi_label:
        return top_label(main, labels).name
    places = np.flatnonzero(chosen(main.probabilities, threshold=threshold or None))
    return ", ".join(label_of(main.run.labels[place].id, labels, main.run).name for place in places)


def final_words(row: RowData, labels: tuple[Label, ...], threshold: float) -> str:
    """The final label of a row and who gives it."""
    name = final_names(row, labels, threshold)
    match final_source(row, threshold):
        case FinalSource.ANNOTATOR:
            return _("{label}, by you", label=name)
        case FinalSource.MODEL:
            main = _score(row, 0)
            return _aged(_("{label}, by the model", label=name), main) if main is not None else name
    return TO_REVIEW


def agreement(row: RowData, place: int, threshold: float) -> bool | None:
    """Whether the baseline at ``place`` of the runs puts the model's label first, if that gives one."""
    main, other = (_score(row, 0), _score(row, place))
    if main is None or main.draft or other is None or main.says_none(threshold):
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
    """The words of a cell; below ``threshold`` a prediction is of low confidence."""
    main = _score(row, 0)
    if column == 0:
        return " ".join(filter(None, (number(row.position + 1), *marks_in_words(row))))
    if column == 1:
        return row.text if not row.blank else NO_TEXT
    if column == 2:
        return yours(row, labels) or NOT_YET
    if row.blank:
        return NO_TEXT
    if column == 3:
        if main is None:
            return NOT_SCORED
        if main.says_none(threshold):
            return _aged(NONE_FITS, main)
        words = _prediction(main, labels)
        return _("{prediction}, low confidence", prediction=words) if main.confidence < threshold else words
    if column == 4:
        if main is None:
            return NOT_SCORED
        probabilities = ", ".join(_listed(main, labels))
        return _aged(probabilities, main) if main.draft else probabilities
    if column == 5:
        return final_words(row, labels, threshold)
    other = _score(row, column - 5)
    if other is None:
        return NOT_SCORED
    same = agreement(row, column - 5, threshold)
    mark = {True: "= ", False: "≠ ", None: ""}[same]
    return mark + _prediction(other, labels)


def short_share(value: float) -> str:
    """`share_text`, which thousands of cells ask for while the table is painted: each is written once."""
    return _share(-1 if 0 < value <= 0.005 else round(100 * value), language())


@functools.cache
def _share(hundredths: int, _language: str) -> str:
    return share_text(hundredths / 100 if hundredths >= 0 else 0.001)


def _prediction(score: Score, labels: tuple[Label, ...]) -> str:
    return _aged(f"{top_label(score, labels).name}, {short_share(score.confidence)}", score)


def stale_words(score: Score) -> str:
    """Why a score that is stale is."""
    return OLDER_MODEL if score.older_model else STALE


def _aged(prediction: str, score: Score) -> str:
    if score.draft:
        return _("{prediction}, draft", prediction=prediction)
    if not score.stale:
        return prediction
    if score.older_model:
        return _("{prediction}, from an older model", prediction=prediction)
    return _("{prediction}, from an older label set", prediction=prediction)


def _listed(score: Score, labels: tuple[Label, ...]) -> list[str]:
    order = np.argsort(-score.probabilities, kind="stable")[:_SPOKEN]
    return [
        f"{label_of(score.run.labels[place].id, labels, score.run).name} "
        f"{short_share(float(score.probabilities[place]))}"
        for place in order
    ]


def marks_in_words(row: RowData) -> list[str]:
    """What a person marked a row as: flagged, unsure, with a note."""
    if row.marks is None:
        return []
    names = (
        (_("flagged"), row.marks.flag),
        (_("unsure"), row.marks.unsure),
        (_("note"), bool(row.marks.note)),
    )
    return [name for name, on in names if on]


def tool_tip(row: RowData, column: int, labels: tuple[Label, ...]) -> str | None:
    """What is shown under the mouse, as plain paragraphs."""
    if column == 0:
        lines = [_("Row {number}", number=number(row.position + 1)), *marks_in_words(row)]
        if row.marks is not None and row.marks.note:
            lines.append(row.marks.note)
    elif column == 1:
        lines = [row.text] if row.text else [_("This row has no text.")]
    elif column == 2 or (column == 5 and row.annotation is not None):
        lines = [yours(row, labels)] if row.annotation else []
    else:
        score = _score(row, 0 if column <= 5 else column - 5)
        if score is None:
            lines = [_("This row has no text.") if row.blank else _("Not scored yet")]
        else:
            lines = _listed(score, labels)
            if (rest := len(score.probabilities) - len(lines)) > 0:
                lines.append(ngettext("and {count} more label", "and {count} more labels", rest))
            if score.draft:
                lines.append(DRAFT)
            elif score.stale:
                lines.append(stale_words(score))
    return paragraphs(lines)


def paragraphs(lines: Sequence[str]) -> str | None:
    """Lines of plain text for a tip, which takes no text for markup; None where there is nothing."""
    return "<br>".join(f"<span>{html.escape(line)}</span>" for line in lines if line) or None


def cell_tip(score: Score, place: int, labels: tuple[Label, ...]) -> str:
    """The label and probability of one cell of the strip."""
    label = label_of(score.run.labels[place].id, labels, score.run)
    words = f"{label.name}: {share_text(float(score.probabilities[place]))}"
    return _("{prediction}, draft", prediction=words) if score.draft else words


def heading(column: int, labels: tuple[Label, ...], aliases: Sequence[str]) -> str:
    """The heading of a column."""
    if column < 4:
        return ("#", _("Text"), _("You"), "SCE")[column]
    if column == 4:
        if len(labels) <= MOST_CELLS:
            return _("All labels")
        return ngettext("Top {count} label", "Top {count} labels", TOP_CELLS)
    if column == 5:
        return _("Final")
    return alias_title(aliases[column - 6] if column - 6 < len(aliases) else "similarity")


def heading_tip(column: int, runs: Sequence[Run]) -> str:
    """What a heading means and what a click on it does."""
    if column == 0:
        return _("Row number in the file. Click to sort by file order.")
    if column == 1:
        return _("Click to sort by text length.")
    if column == 2:
        return _("Your label. Click to sort by it.")
    if column == 3:
        if not runs:
            return _("Predicted label. Click to show the least confident first.")
        if runs[0].whole_table:
            return _(
                "Predicted jointly by {model}. Click to show the least confident first.", model=runs[0].model
            )
        return _("Predicted by {model}. Click to show the least confident first.", model=runs[0].title)
    if column == 4:
        return _("Probability of every label. Click to show the smallest margin first.")
    if column == 5:
        return _("Your label, else the model's from the confidence threshold up, else to review.")
    name = heading(column, (), [run.alias for run in runs[1:]])
    return _(
        "{model} predicts the same label (=) or another (≠). Click to show disagreements first.", model=name
    )


def _score(row: RowData, place: int) -> Score | None:
    return row.scores[place] if place < len(row.scores) else None
