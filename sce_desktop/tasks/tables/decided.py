"""The columns of what people decided about rows, and noted beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core import text_arrays
from sce_desktop.core.annotations import Annotation, Decision, Label, RowMarks
from sce_desktop.core.arrays import IdArray
from sce_desktop.data.columns import Column
from sce_desktop.data.writers import OutCell
from sce_desktop.store.annotations.decided_rows import DecidedRows
from sce_desktop.tasks.tables.columns import as_list

DECISION_COLUMNS = ("label", "decided", "unsure", "flag", "note", "decided_at")
ORIGIN_COLUMN = "origin"  # after them, where a row was decided as none or skipped, and not by hand
LABELS_COLUMN = "labels"  # after them, where several labels may fit a row: a JSON list
LABEL_PREFIX = "label:"  # then a column of 0 and 1 for each label
_WHOLE_NUMBERS = ("unsure", "flag")
_MARKS = (*_WHOLE_NUMBERS, "note")
_MOMENT = "decided_at"
_NO_MARKS = RowMarks(0)


class DecisionColumns:
    """What people say of rows as cells, by row and by column.

    ``origin``: with the column that says where a bare decision came from.
    """

    def __init__(self, labels: Sequence[Label], *, multi_label: bool, origin: bool) -> None:
        self._labels = tuple(labels)
        self._multi_label = multi_label
        self._origin = origin
        self.header = list(DECISION_COLUMNS)
        if origin:
            self.header.append(ORIGIN_COLUMN)
        if multi_label:
            self.header += [LABELS_COLUMN, *(f"{LABEL_PREFIX}{label.name}" for label in labels)]
        words = {*DECISION_COLUMNS, ORIGIN_COLUMN, LABELS_COLUMN}.difference(_WHOLE_NUMBERS)
        self._are_texts = [name in words for name in self.header]

    def cells(self, annotation: Annotation | None, marks: RowMarks | None) -> list[OutCell]:
        """Return the cells of a row."""
        marks = marks or _NO_MARKS
        names: list[str] = []
        decided = decided_at = None
        if annotation is not None:
            # In the order of the label set: the same set of labels never differs by the order of clicks.
            names = [label.name for label in self._labels if label.id in annotation.label_ids]
            labelled = annotation.decision is Decision.LABEL
            decided = annotation.origin.value if labelled else annotation.decision.value
            decided_at = annotation.decided_at
        cells: list[OutCell] = [names[0] if names else None, decided]
        cells += [int(marks.unsure), int(marks.flag), marks.note or None, decided_at]
        if self._origin:
            cells.append(annotation.origin.value if annotation else None)
        if self._multi_label:
            cells.append(as_list(names) if annotation else None)
            cells += [int(label.name in names) if annotation else None for label in self._labels]
        return cells

    def columns(self, ids: IdArray, decided: DecidedRows, marks: Mapping[int, RowMarks]) -> list[Column]:
        """Return the columns of the rows ``ids`` (n,). Each kind of decision is made into cells once."""
        rows = places_of(ids, decided.row_ids)
        of_decision, of_mark, of_moment = (np.zeros(len(ids), np.int32) for _kind in range(3))
        of_decision[rows] = decided.codes + np.int32(1)
        of_moment[rows] = np.arange(1, len(rows) + 1, dtype=np.int32)
        if marks:
            marked = places_of(ids, np.fromiter(marks, np.int64, len(marks)))
            of_mark[marked] = np.arange(1, len(marked) + 1, dtype=np.int32)
        kinds = zip(*(self.cells(kind, None) for kind in (None, *decided.kinds)), strict=True)
        notes = zip(*(self.cells(None, mark) for mark in (None, *marks.values())), strict=True)
        made: list[Column] = []
        for name, of_kinds, of_marks, is_text in zip(self.header, kinds, notes, self._are_texts, strict=True):
            cells, codes = of_kinds, of_decision
            if name in _MARKS:
                cells, codes = of_marks, of_mark
            elif name == _MOMENT:
                cells, codes = (None, *decided.moments), of_moment
            held = text_arrays.of_texts(cells) if is_text else text_arrays.whole_numbers(cells)
            made.append(text_arrays.taken(held, codes))
        return made


def places_of(ids: IdArray, some: IdArray) -> NDArray[np.int64]:
    """Return where in ``ids`` (n,), each once and in any order, ``some`` (m,) of them are."""
    if bool((ids[1:] > ids[:-1]).all()):
        return np.searchsorted(ids, some)
    order = np.argsort(ids)
    return order[np.searchsorted(ids, some, sorter=order)]
