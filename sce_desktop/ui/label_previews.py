"""Merging, deleting and splitting labels: each says first what it touches, and is one step to undo."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel, QMessageBox, QPlainTextEdit, QWidget

from sce_desktop.core.types import Label, LabelEffect
from sce_desktop.store.query import RowQuery
from sce_desktop.ui import label_edits
from sce_desktop.ui.dialog_parts import dialog_column, ok_and_cancel, problem_label
from sce_desktop.ui.label_edits import quoted, rows
from sce_desktop.ui.project_dialog import ProjectDialog
from sce_desktop.ui.session import Session
from sce_desktop.ui.theme import px, set_role


def touched(effect: LabelEffect) -> str:
    """What an edit touches, in a sentence; empty if nothing."""
    if not effect.rows:
        return ""
    parts = [
        f"{count:,} {words}"
        for count, words in (
            (effect.hand, "by hand"),
            (effect.bulk, "in bulk"),
            (effect.imported, "imported"),
        )
        if count
    ]
    return f"{rows(effect.rows)} with an answer of yours ({', '.join(parts)})"


def ids_of(labels: Sequence[Label]) -> list[int]:
    """The ids of labels of a project."""
    return [label.id for label in labels if label.id is not None]


def ask_merge(session: Session, parent: QWidget, labels: Sequence[Label], into: Label) -> QMessageBox | None:
    """Offer to let ``into`` take over ``labels``."""
    if session.project is None or into.id is None or session.refuses_edit():
        return None
    into_id, going = into.id, ids_of(labels)
    effect = session.project.merge_preview(going, into_id)
    moved = touched(effect)
    details = f"{moved} move to “{into.name}”." if moved else "No answer of yours is touched."
    if effect.overlap:
        details += f" {rows(effect.overlap)} have both: they keep it once."
    details += " Their names become synonyms. Scores are made anew, and Ctrl+Z takes it back."
    return label_edits.ask(
        parent,
        f"Merge {quoted([label.name for label in labels])} into “{into.name}”?",
        details,
        "Merge",
        lambda: label_edits.merge(session, dict.fromkeys(going, into_id)),
    )


def ask_remove(session: Session, parent: QWidget, labels: Sequence[Label]) -> QMessageBox | None:
    """Remove labels; ask first if that touches answers."""
    if session.project is None or not labels or session.refuses_edit():
        return None
    ids = ids_of(labels)
    effects = [session.project.delete_preview(label_id) for label_id in ids]
    answers = sum(effect.rows for effect in effects)
    if not answers:
        label_edits.remove(session, ids)
        return None
    kept = sum(effect.overlap for effect in effects)
    also = f" {rows(kept)} keep another label." if kept else ""
    return label_edits.ask(
        parent,
        f"Remove {quoted([label.name for label in labels])}?",
        f"{rows(answers)} that you labelled so will count as unlabelled.{also} "
        "Your answers are kept and come back if you add the label again, or with Ctrl+Z.",
        "Remove",
        lambda: label_edits.remove(session, ids),
    )


class SplitDialog(ProjectDialog):
    """Puts several labels in the place of one, and its rows into the queue to be decided anew."""

    def __init__(self, session: Session, label: Label, parent: QWidget | None = None) -> None:
        super().__init__(session, f"Split “{label.name}”", parent)
        assert session.project is not None
        assert label.id is not None
        self._label_id: int = label.id
        effect = session.project.split_preview(self._label_id)
        self.parts = QPlainTextEdit()
        self.parts.setAccessibleName("The new labels, one a line")
        self.parts.setPlaceholderText("The new labels, one a line")
        self.parts.setTabChangesFocus(True)
        moved = touched(effect)
        self.facts = QLabel(
            (
                f"{moved} will be shown to you, to give each one of the new labels."
                if moved
                else "No answer of yours is touched."
            )
            + " Ctrl+Z takes it back.",
            wordWrap=True,
        )
        self.facts.setAccessibleName("What it touches")
        set_role(self.facts, "muted")
        self.problem = problem_label()
        layout = dialog_column(self)
        layout.addWidget(QLabel("Labels that take its place:"))
        layout.addWidget(self.parts)
        layout.addWidget(self.facts)
        layout.addWidget(self.problem)
        layout.addWidget(ok_and_cancel(self))
        self.resize(px(420), px(300))

    @Slot()
    def accept(self) -> None:
        """Split, then show the rows that wait."""
        names = list(dict.fromkeys(filter(None, map(str.strip, self.parts.toPlainText().splitlines()))))
        known = {label.name for label in self._session.labels}
        if len(names) < 2 or (taken := known.intersection(names)):
            self.problem.setText(
                "Give at least two names."
                if len(names) < 2
                else f"There is a label {quoted(sorted(taken))} already."
            )
            self.problem.show()
            return
        parts = [Label(name) for name in names]
        session, waiting = self._session, RowQuery(former_ids=(self._label_id,))
        if session.split_label(self._label_id, parts, then=lambda: session.set_query(waiting)):
            super().accept()
