"""Edits of labels that several places offer: adding, merging, removing. All can be undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from sce_desktop.controllers import review_work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.jobs import Job
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import _, listed, ngettext
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.text import isolated

if TYPE_CHECKING:
    from sce_desktop.store.project import Project


def rows(count: int) -> str:
    """Write a number of rows: "1 row", "2,000 rows"."""
    return ngettext("{count} row", "{count} rows", count)


def quoted(names: Sequence[str], most: int = 3) -> str:
    """Write label names as a sentence has them: "“a”, “b”, “c” and 5 more"."""
    shown = [_("“{name}”", name=isolated(name)) for name in names[:most]]
    if len(names) > most:
        shown.append(ngettext("{count} more", "{count} more", len(names) - most))
    return listed(shown)


def add(workspace: Workspace, edits: Edits, labels: Iterable[Label]) -> int:
    """Add those of ``labels`` that do not exist yet, in their order; return how many were added."""
    known = {label.name.strip() for label in workspace.labels}
    new: list[Label] = []
    for label in labels:
        name = label.name.strip()
        if name and name not in known:
            known.add(name)
            new.append(replace(label, id=None))
    if not new or not edits.set_labels([*workspace.labels, *new]):
        return 0
    return len(new)


def change(workspace: Workspace, edits: Edits, label_id: int, **fields: object) -> bool:
    """Change fields of one label."""
    labels = [
        replace(label, **fields) if label.id == label_id else label  # type: ignore[arg-type]
        for label in workspace.labels
    ]
    return edits.set_labels(labels)


def submit_rename_effect(workspace: Workspace, label_id: int) -> Job:
    """Count in the background what another name for a label affects; see `review_work.rename_effect`."""
    return workspace.submit(
        review_work.rename_effect,
        workspace.project,
        label_id,
        title=_("Counting affected rows"),
        worker="reads",
        first=True,
        quiet=True,
    )


def remove(workspace: Workspace, edits: Edits, label_ids: Iterable[int]) -> bool:
    """Remove labels; their annotations stay in the project and come back with them."""
    going = set(label_ids)
    if len(going) == 1:
        rows = edits.rows_with(going)
        return edits.edit_labels(lambda p: p.delete_label(*going), rows=rows, title=_("Removing a label"))
    return edits.set_labels([label for label in workspace.labels if label.id not in going])


def merge(edits: Edits, into: Mapping[int, int]) -> bool:
    """Merge labels, with the annotations: ids of those that go to ids of those that stay."""

    def change(project: Project) -> None:
        from sce_desktop.tasks.insight.labels import merge_labels

        merge_labels(project, into, progress=SilentProgress())

    rows = edits.rows_with(into)
    return bool(into) and edits.edit_labels(change, rows=rows, title=_("Merging labels"))


def merging(labels: Sequence[Label], groups: Iterable[Sequence[str]]) -> dict[int, int]:
    """Return what `merge` needs so that each group of names becomes its first one."""
    ids = {label.name: label.id for label in labels}
    into: dict[int, int] = {}
    for first, *others in groups:
        target = ids.get(first)
        if target is not None:
            into |= {found: target for name in others if (found := ids.get(name)) is not None}
    return into


class MergeOnOpen(QObject):
    """Merges groups of labels as soon as the imported project is open."""

    def __init__(
        self, workspace: Workspace, edits: Edits, path: Path, groups: Sequence[Sequence[str]]
    ) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._edits = edits
        self._path = path.absolute()
        self._groups = groups
        workspace.projectOpened.connect(self._on_opened)

    def follow(self, job: Job) -> None:
        """Delete this if the import does not finish."""
        job.failed.connect(self.deleteLater)
        job.cancelled.connect(self.deleteLater)

    @Slot(object)
    def _on_opened(self, project: Project) -> None:
        if project.path == self._path:
            merge(self._edits, merging(self._workspace.labels, self._groups))
        self._workspace.projectOpened.disconnect(self._on_opened)
        self.deleteLater()


def ask(parent: QWidget, question: str, details: str, button: str, then: object) -> QMessageBox:
    """Ask before something that changes annotations; ``then`` is called if the user agrees. Never blocks."""
    box = QMessageBox(parent)
    box.setAccessibleName(question)
    box.setWindowTitle(button)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(question)
    box.setInformativeText(details)
    yes = box.addButton(button, QMessageBox.ButtonRole.AcceptRole)
    no = box.addButton(QMessageBox.StandardButton.Cancel)
    for widget, name in ((yes, button), (no, _("Cancel"))):
        widget.setAccessibleName(name)
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.buttonClicked.connect(lambda clicked: then() if clicked is yes else None)  # type: ignore[operator]
    box.open()
    return box
