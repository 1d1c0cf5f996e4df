"""The columns of what people decided about rows, and noted beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sce_desktop.core import text_arrays
from sce_desktop.core.annotations import Annotation, Decision, Label, RowMarks
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.giving_way import giving_way
from sce_desktop.data.columns import Column
from sce_desktop.data.writers import OutCell
from sce_desktop.tasks.tables.columns import as_list

DECISION_COLUMNS = ("label", "decided", "unsure", "flag", "note", "decided_at")
ORIGIN_COLUMN = "origin"  # after them, where a row was decided as none or skipped, and not by hand
LABELS_COLUMN = "labels"  # after them, where several labels may fit a row: a JSON list
LABEL_PREFIX = "label:"  # then a column of 0 and 1 for each label
_WHOLE_NUMBERS = ("unsure", "flag")
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

    def columns(
        self, ids: IdArray, annotations: Mapping[int, Annotation], marks: Mapping[int, RowMarks]
    ) -> list[Column]:
        """Return the columns of the rows ``ids`` (n,). Most are alike at first."""
        kinds: dict[tuple[OutCell, ...], int] = {tuple(self.cells(None, None)): 0}
        codes = np.zeros(len(ids), np.int32)
        if annotations or marks:
            for place, row_id in enumerate(giving_way(ids.tolist())):
                if row_id in annotations or row_id in marks:
                    cells = tuple(self.cells(annotations.get(row_id), marks.get(row_id)))
                    codes[place] = kinds.setdefault(cells, len(kinds))
        return [
            text_arrays.taken(text_arrays.of_texts(column), codes)
            if is_text
            else text_arrays.taken(text_arrays.whole_numbers(column), codes)
            for is_text, column in zip(self._are_texts, zip(*kinds, strict=True), strict=True)
        ]
