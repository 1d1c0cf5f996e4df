"""The edits of a project: every change that a person makes goes through here, and can be undone.

An edit is on the disk before the call returns, unless it touches so many rows that the window would stand
still: such a one is made in the worker ``edits``, and until it is finished other edits are refused in a
sentence. Whoever edits learns by signals what has changed, in both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import queue_name
from sce_desktop.controllers.rows_text import NONE_FITS, SKIPPED
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Change, ChangeKind, Decision, Label, LabelSet, Origin, Row
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.progress import Progress, SilentProgress

if TYPE_CHECKING:
    from sce_desktop.controllers.scoring import Scorer
    from sce_desktop.store.project import Project

LONG = 2_000  # rows; 1 to 2 seconds for 100,000 of them


class Edits(QObject):
    """Every change that a person makes to the open project. A signal reports what each one changed."""

    editing = Signal()  # an edit begins: messages about earlier ones are out of date
    decided = Signal(object, object)  # row ids and what was decided about them, in words
    changed = Signal(object)  # the `Change` of an undo or a redo: the view goes there

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        scorer: Scorer,
        messages: Messages,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._scorer = scorer
        self._messages = messages

    # --- making a change -----------------------------------------------------------------------------------

    def _write(
        self,
        change: Callable[[Project], Any],
        then: Callable[[Any], object],
        *,
        rows: int,
        title: str,
        watched: Callable[..., Any] | None = None,
    ) -> bool:
        """Make ``change`` and hand what it returns to ``then``, at once or, of very many ``rows``, later.

        ``watched`` is the same change by a function that is given a ``progress`` too, for a worker.
        Returns False, and reports why, if that is not possible; True if it is done, or begun.
        """
        if self._workspace.project is None or self._workspace.refuses_edit():
            return False
        self._navigation.answering.begin()
        self.editing.emit()
        if rows > LONG:
            job = partial(make_change, change=change) if watched is None else watched
            self._write_behind(self._workspace.project, job, then, title)
            return True
        try:
            result = change(self._workspace.project)
        except UserError as error:
            self._messages.notify_error(error)
            return False
        then(result)
        return True

    def _write_behind(
        self, project: Project, change: Callable[..., Any], then: Callable[[Any], object], title: str
    ) -> None:
        def end() -> None:
            self._workspace.writing = None

        def finish(result: Any) -> None:
            end()  # what follows may edit again
            then(result)

        self._workspace.writing = job = self._workspace.submit(change, project, title=title, worker="edits")
        job.finished.connect(finish)
        job.failed.connect(lambda _error: end())
        job.cancelled.connect(end)

    # --- labels --------------------------------------------------------------------------------------------

    def set_labels(self, labels: Sequence[Label], *, multi_label: bool | None = None) -> bool:
        """Make ``labels`` the label set; rows are rescored automatically.

        Returns False, and reports why, if they cannot be used.
        """
        return self.edit_labels(lambda p: p.set_labels(labels, multi_label=multi_label))

    def edit_labels(
        self,
        change: Callable[[Project], LabelSet | None],
        *,
        rows: int = 0,
        title: str = "",
        then: Callable[[], object] | None = None,
    ) -> bool:
        """Change the label set by ``change``, which may change annotations too; rows are rescored.

        Args:
            change: Returns the label set as it is then. It runs in a worker where it touches very many rows,
                and must not look at the window.
            rows: About how many it touches.
            title: What it is called while it runs; empty: "Editing labels".
            then: Called when it is finished.

        Returns False, and reports why, if that is not possible.
        """

        def follow(label_set: LabelSet | None) -> None:
            self._follow_labels(label_set)
            self._workspace.historyChanged.emit()
            if then is not None:
                then()

        return self._write(change, follow, rows=rows, title=title or _("Editing labels"))

    def rows_with(self, label_ids: Iterable[int]) -> int:
        """About how many rows have one of these labels; all, where nobody has counted."""
        if self._workspace.counts is not None:
            return sum(self._workspace.counts.labels.get(label_id, 0) for label_id in label_ids)
        return self._workspace.project.row_count() if self._workspace.project is not None else 0

    def _follow_labels(self, label_set: LabelSet | None) -> None:
        before = self._workspace.label_set
        if self._workspace.take_labels(label_set):
            if _ids(label_set) != _ids(before):  # another name or order changes no answer
                self._workspace.annotationsChanged.emit(None)
            self._workspace.count_soon()
            self._scorer.labels_changed()

    def split_label(
        self, label_id: int, parts: Sequence[Label], then: Callable[[], object] | None = None
    ) -> bool:
        """Put ``parts`` in the place of a label; see `edit_labels`."""
        return self.edit_labels(
            lambda p: p.split_label(label_id, parts),
            rows=self.rows_with([label_id]),
            title=_("Splitting a label"),
            then=then,
        )

    def decide(
        self,
        row_ids: Sequence[int],
        decision: Decision,
        label_ids: Sequence[int] = (),
        *,
        origin: Origin = Origin.HAND,
        rows: Sequence[Row] | None = None,
    ) -> bool:
        """Record how the user labelled rows; on the disk before this returns.

        Rows without text can be skipped; anything else is refused, and the message says why. ``rows`` are
        those of ``row_ids``, for who has read them.
        """
        if decision is not Decision.SKIPPED and self._refuses_blank(row_ids, rows):
            return False
        queue = queue_name(self._navigation.query)
        done = self._edit(
            row_ids, lambda p: p.decide(row_ids, decision, label_ids, origin=origin, queue=queue)
        )
        if done:
            self.decided.emit(list(row_ids), self._in_words(decision, label_ids))
        return done

    def _refuses_blank(self, row_ids: Sequence[int], rows: Sequence[Row] | None) -> bool:
        if rows is None:
            rows = self._workspace.project.rows(row_ids) if self._workspace.project is not None else ()
        blank = next((row for row in rows if row.blank), None)
        if blank is None:
            return False
        self._messages.notify(
            _(
                "Row {row} has no text, so there is nothing to label. Skip it, or go to the next row.",
                row=number(blank.position + 1),
            ),
            "warn",
        )
        return True

    def _in_words(self, decision: Decision, label_ids: Sequence[int]) -> str:
        if decision is not Decision.LABEL:
            return NONE_FITS if decision is Decision.NONE else SKIPPED
        names = {
            label.id: label.name
            for label in (self._workspace.label_set.labels if self._workspace.label_set else ())
        }
        return " + ".join(names[label_id] for label_id in label_ids)

    def clear_decision(self, row_ids: Sequence[int], then: Callable[[int], object] | None = None) -> bool:
        """Remove the labels of rows, and whatever else was decided about them.

        ``then`` is called when it is finished, with how many rows had any.
        """
        return self._edit(row_ids, lambda p: p.clear_decision(row_ids), then)

    def add_repeat(self, row_id: int, label_ids: Sequence[int]) -> bool:
        """Keep what the user answers the second time about a row; its annotation stays as it is."""
        return self._edit([], lambda p: p.add_repeat(row_id, label_ids))

    def remove_coder(self, coder_id: int) -> bool:
        """Remove another annotator's labels from the project."""
        return self._edit([], lambda p: p.remove_coder(coder_id))

    def set_marks(self, row_ids: Sequence[int], **marks: Any) -> bool:
        """Set ``unsure``, ``flag`` or ``note`` of rows, in one step."""
        return self._edit(row_ids, lambda p: p.mark_rows(row_ids, **marks))

    def _edit(
        self,
        row_ids: Sequence[int],
        change: Callable[[Project], Any],
        then: Callable[[Any], object] | None = None,
    ) -> bool:
        def follow(result: Any) -> None:
            self._workspace.annotationsChanged.emit(list(row_ids) if len(row_ids) <= LONG else None)
            self._workspace.historyChanged.emit()
            self._workspace.count_soon()
            if then is not None:
                then(result)

        title = ngettext("Changing {count} row", "Changing {count} rows", len(row_ids))
        return self._write(change, follow, rows=len(row_ids), title=title)

    def set_threshold(self, threshold: float) -> None:
        """Mark predictions of the open project below ``threshold`` as low-confidence; 0: none."""
        if self._workspace.project is not None and not self._workspace.refuses_edit():
            self._workspace.project.set_threshold(threshold or None)
            self._workspace.follow_threshold()
            self._workspace.count_soon()  # of several labels it says which ones are given

    # --- undo ----------------------------------------------------------------------------------------------

    def undo(self) -> None:
        """Undo what was done last, also before a restart, and go there."""
        if (project := self._workspace.project) is not None:
            title = _("Undoing “{action}”", action=project.undo_text())
            self._turn(lambda p, *, progress: p.undo(progress), _undone, project.undo_rows(), title)

    def redo(self) -> None:
        """Redo what was undone last, and go there."""
        if (project := self._workspace.project) is not None:
            title = _("Redoing “{action}”", action=project.redo_text())
            self._turn(lambda p, *, progress: p.redo(progress), _redone, project.redo_rows(), title)

    def report_interrupted(self) -> None:
        """Report, once, that the program ended in the middle of a bulk action, and offer to undo it."""
        project = self._workspace.project
        assert project is not None
        reached, newest = project.interrupted()
        if not reached:
            return
        project.end_parts()
        step = (project.undo_text(), project.undo_rows())

        def undo_it() -> None:
            if project is self._workspace.project and (project.undo_text(), project.undo_rows()) == step:
                self.undo()
            else:
                self._messages.notify(
                    _("There is a later change: Ctrl+Z undoes that one first."),
                    "warn",
                )

        if newest:
            found = ngettext(
                "The program ended during a bulk action, after {count} row.",
                "The program ended during a bulk action, after {count} rows.",
                reached,
            )
            self._messages.offer(found, _("Undo"), undo_it, "warn")  # comes back if scoring has news first
        else:
            found = ngettext(
                "The program ended during a bulk action, after {count} row. Undo it with Ctrl+Z.",
                "The program ended during a bulk action, after {count} rows. Undo it with Ctrl+Z.",
                reached,
            )
            self._messages.notify(found, "warn")

    def _turn(
        self,
        turn: Callable[..., Change | None],
        report: Callable[[Change], str],
        rows: int,
        title: str,
    ) -> None:
        def turned(change: Change | None) -> None:
            self._turned(change, report)

        self._write(
            lambda p: turn(p, progress=SilentProgress()), turned, rows=rows, title=title, watched=turn
        )

    def _turned(self, change: Change | None, report: Callable[[Change], str]) -> None:
        if change is None:
            return
        if change.label_set and self._workspace.project is not None:
            self._follow_labels(self._workspace.project.label_set())
        if change.kind is ChangeKind.VERSION:
            self._scorer.follow_version(score=True)
        self._workspace.annotationsChanged.emit(
            list(change.row_ids) if change.rows == len(change.row_ids) else None
        )
        self._workspace.historyChanged.emit()
        self._workspace.count_soon()
        self._messages.notify(report(change))
        self.changed.emit(change)
        if change.row_ids:
            self._navigation.rowAsked.emit(change.row_ids[0])


def _undone(change: Change) -> str:
    return _("Undone: {action}.", action=change.text)


def _redone(change: Change) -> str:
    return _("Redone: {action}.", action=change.text)


def make_change(project: Project, change: Callable[[Project], Any], *, progress: Progress) -> Any:
    """Change the project; what the worker runs."""
    progress.check()
    return change(project)


def _ids(label_set: LabelSet | None) -> set[int | None]:
    return {label.id for label in label_set.labels} if label_set else set()
