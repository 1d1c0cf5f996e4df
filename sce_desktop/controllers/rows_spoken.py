"""The words of cells for a screen reader, where those that are drawn are signs: see `rows_text` for these.

Qt asks for them only while something listens.
"""

from __future__ import annotations

from collections.abc import Sequence

from sce_desktop.controllers import rows_text
from sce_desktop.controllers.rows_data import RowData
from sce_desktop.core.annotations import Label, Origin
from sce_desktop.core.i18n import _, number
from sce_desktop.core.runs import Run

NUMBER, TEXT, YOURS, FIRST_BASELINE = 0, 1, 2, 6  # columns, as `ui.rows.rows_model` has them
NOT_LABELLED = _("not labelled")


def spoken_cell(
    row: RowData, column: int, labels: tuple[Label, ...], runs: Sequence[Run], threshold: float
) -> str:
    """Return what is said of a cell; below ``threshold`` a prediction is of low confidence."""
    if column == NUMBER:
        return ", ".join((number(row.position + 1), *rows_text.marks_in_words(row)))
    if column == YOURS:
        return your_label(row, labels)
    words = rows_text.cell(row, column, labels, runs, threshold)
    if column < FIRST_BASELINE or row.blank:
        return words
    same = rows_text.agreement(row, column - FIRST_BASELINE + 1, threshold)
    if same is None:
        return words
    prediction = words[2:]  # behind its sign
    if same:
        return _("{prediction}, as the model", prediction=prediction)
    return _("{prediction}, unlike the model", prediction=prediction)


def your_label(row: RowData, labels: tuple[Label, ...]) -> str:
    """Return the label that a person gave, and how, or that there is none."""
    if row.annotation is None:
        return NOT_LABELLED
    name = rows_text.yours(row, labels)
    if row.annotation.origin is Origin.IMPORTED:
        return _("{label}, imported", label=name)
    if row.annotation.accepted:
        return _("{label}, accepted prediction", label=name)
    return name


def spoken_state(
    row: RowData, labels: tuple[Label, ...], runs: Sequence[Run], threshold: float, *, blind: bool
) -> str:
    """Return what is said of a row behind its text: your label, the prediction, your marks.

    ``blind``: predictions are hidden.
    """
    yours = your_label(row, labels)
    sentences = [
        _("Not labelled.") if row.annotation is None else _("Your label: {label}.", label=yours),
    ]
    if runs and not blind and not row.blank:
        prediction = rows_text.cell(row, 3, labels, runs, threshold)
        sentences.append(
            _("{model}: {prediction}.", model=rows_text.run_title(runs[0]), prediction=prediction)
        )
    if marks := rows_text.marks_in_words(row):
        sentences.append(_("Marked: {marks}.", marks=", ".join(marks)))
    return " ".join(sentences)
