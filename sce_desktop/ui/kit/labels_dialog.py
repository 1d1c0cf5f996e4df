"""Labels to choose from, where there are more of them than a menu can hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from PySide6.QtWidgets import QWidget

from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.colours import colour_of
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.checked_list import CheckedList
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel, open_dialog
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import px

ANOTHER_LABEL = _("Another label…")
"""The entry of a menu that opens the dialog."""


def ask_labels(
    workspace: Workspace, title: str, choose: Callable[[tuple[int, ...]], None], parent: QWidget
) -> None:
    """Offer all labels as an answer, to be found by typing: one, or several where a row may have several."""
    counts, label_set = workspace.counts, workspace.label_set
    several = label_set is not None and label_set.multi_label

    def answer(ids: tuple[int, ...]) -> None:
        if ids:
            choose(ids)

    numbers = counts.labels if counts else {}
    open_dialog(LabelsDialog(workspace, title, numbers, (), answer, parent, one=not several))


class LabelsDialog(ProjectDialog):
    """OK hands the ids of the checked labels to ``choose``.

    Args:
        workspace: Whose labels.
        title: Of the dialog.
        numbers: Rows by label id; may be empty.
        chosen: Ids of labels that are checked to begin with.
        choose: Takes the ids.
        parent: The window.
        one: Only one can be chosen.
    """

    def __init__(
        self,
        workspace: Workspace,
        title: str,
        numbers: Mapping[int, int],
        chosen: Collection[int],
        choose: Callable[[tuple[int, ...]], None],
        parent: QWidget | None = None,
        *,
        one: bool = False,
    ) -> None:
        super().__init__(workspace, title, parent)
        self._choose = choose
        self.labels = CheckedList("label", one=one)
        self.labels.taken.connect(self.accept)
        for label in workspace.labels:
            rows = numbers.get(label.id or 0)
            icon = label_icon(colour_of(label))
            self.labels.add(label.name, rows, label.id, checked=label.id in chosen, icon=icon)
        layout = dialog_column(self)
        layout.addWidget(self.labels)
        layout.addWidget(ok_and_cancel(self))
        self.resize(px(420), px(480))

    def accept(self) -> None:
        """Take the checked labels; as where a row is decided, Return takes the first that was found."""
        ids, found = self.labels.checked, self.labels.found
        if found and not set(found) & set(ids):
            ids = [*ids, found[0]]
        super().accept()
        self._choose(tuple(ids))
