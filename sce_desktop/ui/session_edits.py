"""The edits of a project: every change that a person makes goes through here, and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, Signal

from sce_desktop.core.errors import UserError
from sce_desktop.core.types import Decision, Label, LabelSet, Origin
from sce_desktop.store.query import RowQuery
from sce_desktop.ui.colours import next_colour
from sce_desktop.ui.rows_text import NONE_FITS, SKIPPED

if TYPE_CHECKING:
    from sce_desktop.store.project import Project
    from sce_desktop.ui.scoring import Scorer

Tone = Literal["info", "warn"]


class Edits(QObject):
    """What `Session` does to the open project. Each edit tells by a signal what it changed."""

    labelsChanged = Signal()  # the label set is another one
    annotationsChanged = Signal(object)  # row ids whose annotation or marks changed, or None: any
    decided = Signal(object, object)  # row ids and what was decided about them, in words

    project: Project | None
    label_set: LabelSet | None
    query: RowQuery
    scorer: Scorer

    @property
    def read_only(self) -> bool:
        """Whether the open project can only be looked at."""
        return self.project is not None and self.project.read_only

    def tell(self, sentence: str, tone: Tone = "info") -> None:
        """Show one sentence in the message strip."""
        raise NotImplementedError

    def count_soon(self) -> None:
        """Count again in a moment."""
        raise NotImplementedError

    # --- labels --------------------------------------------------------------------------------------------

    def set_labels(self, labels: Sequence[Label], *, multi_label: bool | None = None) -> bool:
        """Make ``labels`` the label set, giving a colour to those without one; scores follow by themselves.

        Returns False, and tells why, if they cannot be taken.
        """
        if self.project is None or self.refuses_edit():
            return False
        coloured: list[Label] = []
        used = [label.colour for label in labels if label.colour]
        for label in labels:
            if not label.colour:
                label = replace(label, colour=next_colour(used))
                used.append(label.colour)
            coloured.append(label)
        before = self.label_set
        try:
            self.label_set = self.project.set_labels(coloured, multi_label=multi_label)
        except UserError as error:
            self.tell(str(error), "warn")
            return False
        if self.label_set != before:
            self.labelsChanged.emit()
            self.count_soon()
            self.scorer.labels_changed()
        return True

    def reload_labels(self) -> None:
        """Look whether the project has other labels now: a model may bring its own, an import too."""
        before = self.label_set
        self.label_set = self.project.label_set() if self.project is not None else None
        if self.label_set != before:
            self.labelsChanged.emit()

    def decide(
        self,
        row_ids: Sequence[int],
        decision: Decision,
        label_ids: Sequence[int] = (),
        *,
        origin: Origin = Origin.HAND,
    ) -> bool:
        """Record what the user decided about rows; on the disk before this returns."""
        queue = self.query.order.value
        done = self._edit(
            row_ids, lambda p: p.decide(row_ids, decision, label_ids, origin=origin, queue=queue)
        )
        if done:
            self.decided.emit(list(row_ids), self._in_words(decision, label_ids))
        return done

    def _in_words(self, decision: Decision, label_ids: Sequence[int]) -> str:
        if decision is not Decision.LABEL:
            return NONE_FITS if decision is Decision.NONE else SKIPPED
        names = {label.id: label.name for label in (self.label_set.labels if self.label_set else ())}
        return " + ".join(names[label_id] for label_id in label_ids)

    def clear_decision(self, row_ids: Sequence[int]) -> bool:
        """Take back what was decided about rows."""
        return self._edit(row_ids, lambda p: p.clear_decision(row_ids))

    def set_marks(self, row_id: int, **marks: Any) -> bool:
        """Set ``unsure``, ``flag`` or ``note`` of a row."""
        return self._edit([row_id], lambda p: p.set_marks(row_id, **marks))

    def _edit(self, row_ids: Sequence[int], change: Callable[[Project], object]) -> bool:
        if self.project is None or self.refuses_edit():
            return False
        try:
            change(self.project)
        except UserError as error:
            self.tell(str(error), "warn")
            return False
        self.annotationsChanged.emit(list(row_ids))
        self.count_soon()
        return True

    def refuses_edit(self) -> bool:
        """Whether the project is read-only; the user is told why."""
        if not self.read_only:
            return False
        assert self.project is not None
        self.tell(self.project.read_only_reason or "This project can only be looked at.", "warn")
        return True
