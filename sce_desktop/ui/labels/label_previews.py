"""Merging, deleting and splitting labels: each shows first which rows it affects, and is one step to undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QWidget

from sce_desktop.controllers import label_edits, review_work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.label_edits import quoted
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label, LabelEffect
from sce_desktop.core.i18n import _, listed, ngettext, number
from sce_desktop.core.query import RowQuery
from sce_desktop.core.text import isolated
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel, problem_label
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import px, set_role


def origins(effect: LabelEffect) -> str:
    """How the rows that an edit affects were labelled: "2 by hand and 1 imported"."""
    parts = []
    if effect.hand:
        parts.append(_("{count} by hand", count=number(effect.hand)))
    if effect.bulk:
        parts.append(_("{count} in bulk", count=number(effect.bulk)))
    if effect.imported:
        parts.append(_("{count} imported", count=number(effect.imported)))
    return listed(parts)


def ids_of(labels: Sequence[Label]) -> list[int]:
    """The ids of labels of a project."""
    return [label.id for label in labels if label.id is not None]


@dataclass(frozen=True, slots=True)
class _Wish:
    """Labels that are to go: into another one, or away."""

    labels: tuple[Label, ...]
    into: Label | None = None


class LabelQuestions(QObject):
    """Asks before labels are merged or removed, once the affected rows are counted. Belongs to a panel.

    The newest wish counts: one that is still counted for another is forgotten. What is labelled meanwhile is
    counted too: no annotation of a person goes without a question.
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
        """Offer to merge ``labels`` into ``into``."""
        self._begin(_Wish(tuple(labels), into))

    def remove(self, labels: Sequence[Label]) -> None:
        """Remove labels; ask first if that changes annotations."""
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
            self._messages.notify(
                _("Labels changed in the meantime; nothing was removed.")
                if wish.into is None
                else _("Labels changed in the meantime; nothing was merged."),
                "warn",
            )
        elif wish.into is None:
            self._ask_remove(wish.labels, effects)
        else:
            self._ask_merge(wish.labels, wish.into, *effects)

    def _ask(self, question: str, details: str, button: str, then: Callable[[], object]) -> None:
        panel = self.parent()
        assert isinstance(panel, QWidget)
        label_edits.ask(panel, question, details, button, then)

    def _ask_merge(self, labels: Sequence[Label], into: Label, effect: LabelEffect) -> None:
        target = isolated(into.name)
        details = []
        if effect.rows:
            details.append(
                ngettext(
                    "{count} row moves to “{label}” ({origins}).",
                    "{count} rows move to “{label}” ({origins}).",
                    effect.rows,
                    label=target,
                    origins=origins(effect),
                )
            )
        else:
            details.append(_("None of your labels change."))
        if effect.overlap:
            details.append(
                ngettext(
                    "{count} row has both and keeps one.",
                    "{count} rows have both and keep one.",
                    effect.overlap,
                )
            )
        details.append(_("Merged names become synonyms. Rows will be rescored. Undo with Ctrl+Z."))
        self._ask(
            _("Merge {names} into “{label}”?", names=quoted([label.name for label in labels]), label=target),
            " ".join(details),
            _("Merge"),
            lambda: label_edits.merge(self._edits, dict.fromkeys(ids_of(labels), into.id or 0)),
        )

    def _ask_remove(self, labels: Sequence[Label], effects: Sequence[LabelEffect]) -> None:
        labelled = sum(effect.rows for effect in effects)
        if not labelled:
            label_edits.remove(self._workspace, self._edits, ids_of(labels))
            return
        kept = sum(effect.overlap for effect in effects)
        details = [ngettext("{count} row loses its label.", "{count} rows lose their label.", labelled)]
        if kept:
            details.append(
                ngettext("{count} row keeps another label.", "{count} rows keep another label.", kept)
            )
        details.append(_("The annotations return if you add the label again or press Ctrl+Z."))
        self._ask(
            _("Remove {names}?", names=quoted([label.name for label in labels])),
            " ".join(details),
            _("Remove"),
            lambda: label_edits.remove(self._workspace, self._edits, ids_of(labels)),
        )


def submit_effects(workspace: Workspace, label_ids: Sequence[int], into_id: int | None = None) -> Job:
    """Count in the background which rows an edit of labels affects; see `review_work.label_effects`."""
    return workspace.submit(
        review_work.label_effects,
        workspace.project,
        label_ids,
        into_id,
        title=_("Counting affected rows"),
        worker="reads",
        first=True,
        quiet=True,
    )


class SplitDialog(ProjectDialog):
    """Puts several labels in the place of one, and its rows into the queue to be relabelled."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        label: Label,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, _("Split “{name}”", name=isolated(label.name)), parent)
        self._edits = edits
        self._navigation = navigation
        assert workspace.project is not None
        assert label.id is not None
        self._label_id: int = label.id
        self.parts = QPlainTextEdit()
        self.parts.setAccessibleName(_("New labels, one per line"))
        self.parts.setPlaceholderText(_("One per line"))
        self.parts.setTabChangesFocus(True)
        self.facts = QLabel(_("Counting…"), wordWrap=True)
        self.facts.setAccessibleName(_("Affected rows"))
        set_role(self.facts, "muted")
        self.problem = problem_label()
        layout = dialog_column(self)
        layout.addWidget(QLabel(_("New labels:")))
        layout.addWidget(self.parts)
        layout.addWidget(self.facts)
        layout.addWidget(self.problem)
        layout.addWidget(ok_and_cancel(self))
        self.resize(px(420), px(300))
        job = self._watch(submit_effects(workspace, [self._label_id]))
        job.finished.connect(self._show_facts)

    @Slot(object)
    def _show_facts(self, effects: Sequence[LabelEffect]) -> None:
        if effects and effects[0].rows:
            self.facts.setText(
                ngettext(
                    "{count} row ({origins}) will be shown to you to relabel. Undo with Ctrl+Z.",
                    "{count} rows ({origins}) will be shown to you to relabel. Undo with Ctrl+Z.",
                    effects[0].rows,
                    origins=origins(effects[0]),
                )
            )
        else:
            self.facts.setText(_("None of your labels change. Undo with Ctrl+Z."))

    @Slot()
    def accept(self) -> None:
        """Split, then show the rows that wait."""
        names = list(dict.fromkeys(filter(None, map(str.strip, self.parts.toPlainText().splitlines()))))
        known = {label.name for label in self._workspace.labels}
        if len(names) < 2 or (taken := known.intersection(names)):
            self.problem.setText(
                _("Give at least two names.")
                if len(names) < 2
                else ngettext(
                    "The label {names} already exists.",
                    "The labels {names} already exist.",
                    len(taken),
                    names=quoted(sorted(taken)),
                )
            )
            self.problem.show()
            return
        parts = [Label(name) for name in names]
        waiting = RowQuery(former_ids=(self._label_id,))
        if self._edits.split_label(self._label_id, parts, then=lambda: self._navigation.set_query(waiting)):
            super().accept()
