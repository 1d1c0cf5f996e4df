"""Merging, deleting and splitting labels: each says first what it touches, and is one step to undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QWidget

from sce_desktop.controllers import label_edits, review_work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.label_edits import quoted, rows
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label, LabelEffect
from sce_desktop.core.query import RowQuery
from sce_desktop.core.text import isolated
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel, problem_label
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import px, set_role


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


@dataclass(frozen=True, slots=True)
class _Wish:
    """Labels that are to go: into another one, or away."""

    labels: tuple[Label, ...]
    into: Label | None = None


class LabelQuestions(QObject):
    """Asks before labels are merged or removed, once it is counted what that touches. Belongs to a panel.

    The newest wish counts: one that is still counted for another is forgotten. What is decided meanwhile is
    counted too: nothing that a person answered goes without a question.
    """

    def __init__(self, workspace: Workspace, edits: Edits, messages: Messages, panel: QWidget) -> None:
        super().__init__(panel)
        self._workspace = workspace
        self._edits = edits
        self._messages = messages
        self._wish: _Wish | None = None
        self._job: Job | None = None
        workspace.annotationsChanged.connect(self._count)
        workspace.projectClosed.connect(self._forget)

    def merge(self, labels: Sequence[Label], into: Label) -> None:
        """Offer to let ``into`` take over ``labels``."""
        self._begin(_Wish(tuple(labels), into))

    def remove(self, labels: Sequence[Label]) -> None:
        """Remove labels; ask first if that touches answers."""
        if labels:
            self._begin(_Wish(tuple(labels)))

    def _begin(self, wish: _Wish) -> None:
        self._forget()
        if self._workspace.project is not None and not self._workspace.refuses_edit():
            self._wish = wish
            self._count()

    @Slot()
    def _forget(self) -> None:
        drop(self._job)
        self._job = self._wish = None

    @Slot()
    def _count(self) -> None:
        """Count what is wished, from the beginning if it is being counted; without a wish do nothing."""
        wish = self._wish
        if wish is None:
            return
        drop(self._job)
        into_id = wish.into.id if wish.into is not None else None
        self._job = submit_effects(self._workspace, ids_of(wish.labels), into_id)
        self._job.finished.connect(self._on_counted)
        self._job.failed.connect(self._forget)
        self._job.cancelled.connect(self._forget)

    @Slot(object)
    def _on_counted(self, effects: Sequence[LabelEffect]) -> None:
        wish = self._wish
        self._job = self._wish = None
        if wish is None:
            return
        meant = {*wish.labels} if wish.into is None else {*wish.labels, wish.into}
        if not effects or not meant <= set(self._workspace.labels):
            undone = "removed" if wish.into is None else "merged"
            self._messages.tell(f"The labels have been changed meanwhile: nothing was {undone}.", "warn")
        elif wish.into is None:
            self._ask_remove(wish.labels, effects)
        else:
            self._ask_merge(wish.labels, wish.into, *effects)

    def _ask(self, question: str, details: str, button: str, then: Callable[[], object]) -> None:
        panel = self.parent()
        assert isinstance(panel, QWidget)
        label_edits.ask(panel, question, details, button, then)

    def _ask_merge(self, labels: Sequence[Label], into: Label, effect: LabelEffect) -> None:
        moved = touched(effect)
        details = f"{moved} move to “{isolated(into.name)}”." if moved else "No answer of yours is touched."
        if effect.overlap:
            details += f" {rows(effect.overlap)} have both: they keep it once."
        self._ask(
            f"Merge {quoted([label.name for label in labels])} into “{isolated(into.name)}”?",
            f"{details} Their names become synonyms. Scores are made anew, and Ctrl+Z takes it back.",
            "Merge",
            lambda: label_edits.merge(self._edits, dict.fromkeys(ids_of(labels), into.id or 0)),
        )

    def _ask_remove(self, labels: Sequence[Label], effects: Sequence[LabelEffect]) -> None:
        answers = sum(effect.rows for effect in effects)
        if not answers:
            label_edits.remove(self._workspace, self._edits, ids_of(labels))
            return
        kept = sum(effect.overlap for effect in effects)
        also = f" {rows(kept)} keep another label." if kept else ""
        self._ask(
            f"Remove {quoted([label.name for label in labels])}?",
            f"{rows(answers)} that you labelled so will count as unlabelled.{also} "
            "Your answers are kept and come back if you add the label again, or with Ctrl+Z.",
            "Remove",
            lambda: label_edits.remove(self._workspace, self._edits, ids_of(labels)),
        )


def submit_effects(workspace: Workspace, label_ids: Sequence[int], into_id: int | None = None) -> Job:
    """Count behind the window what an edit of labels touches; see `review_work.label_effects`."""
    return workspace.submit(
        review_work.label_effects,
        workspace.project,
        label_ids,
        into_id,
        title="Counting what it touches",
        lane="reads",
        first=True,
        quiet=True,
    )


class SplitDialog(ProjectDialog):
    """Puts several labels in the place of one, and its rows into the queue to be decided anew."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        label: Label,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, f"Split “{isolated(label.name)}”", parent)
        self._edits = edits
        self._navigation = navigation
        assert workspace.project is not None
        assert label.id is not None
        self._label_id: int = label.id
        self.parts = QPlainTextEdit()
        self.parts.setAccessibleName("The new labels, one a line")
        self.parts.setPlaceholderText("The new labels, one a line")
        self.parts.setTabChangesFocus(True)
        self.facts = QLabel("Counting…", wordWrap=True)
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
        job = self._watch(submit_effects(workspace, [self._label_id]))
        job.finished.connect(self._show_facts)

    @Slot(object)
    def _show_facts(self, effects: Sequence[LabelEffect]) -> None:
        moved = touched(effects[0]) if effects else ""
        touches = (
            f"{moved} will be shown to you, to give each one of the new labels."
            if moved
            else "No answer of yours is touched."
        )
        self.facts.setText(f"{touches} Ctrl+Z takes it back.")

    @Slot()
    def accept(self) -> None:
        """Split, then show the rows that wait."""
        names = list(dict.fromkeys(filter(None, map(str.strip, self.parts.toPlainText().splitlines()))))
        known = {label.name for label in self._workspace.labels}
        if len(names) < 2 or (taken := known.intersection(names)):
            self.problem.setText(
                "Give at least two names."
                if len(names) < 2
                else f"There is a label {quoted(sorted(taken))} already."
            )
            self.problem.show()
            return
        parts = [Label(name) for name in names]
        waiting = RowQuery(former_ids=(self._label_id,))
        if self._edits.split_label(self._label_id, parts, then=lambda: self._navigation.set_query(waiting)):
            super().accept()
