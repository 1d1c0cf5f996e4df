"""Rows with certain labels, of label sets with more of them than a menu can hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from PySide6.QtWidgets import QWidget

from sce_desktop.core.colours import colour_of
from sce_desktop.ui.checked_list import CheckedList
from sce_desktop.ui.dialog_parts import dialog_column, ok_and_cancel
from sce_desktop.ui.project_dialog import ProjectDialog
from sce_desktop.ui.row_actions import label_icon
from sce_desktop.ui.session import Session
from sce_desktop.ui.theme import px


class LabelFilterDialog(ProjectDialog):
    """OK hands the ids of the checked labels to ``choose``.

    Args:
        session: Whose labels.
        title: Of the dialog.
        numbers: Rows by label id; may be empty.
        chosen: Ids of labels that are filtered by already.
        choose: Takes the ids.
        parent: The window.
    """

    def __init__(
        self,
        session: Session,
        title: str,
        numbers: Mapping[int, int],
        chosen: Collection[int],
        choose: Callable[[tuple[int, ...]], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(session, title, parent)
        self._choose = choose
        self.labels = CheckedList("label")
        for label in session.labels:
            rows = numbers.get(label.id or 0)
            icon = label_icon(colour_of(label))
            self.labels.add(label.name, rows, label.id, checked=label.id in chosen, icon=icon)
        layout = dialog_column(self)
        layout.addWidget(self.labels)
        layout.addWidget(ok_and_cancel(self))
        self.resize(px(420), px(480))

    def accept(self) -> None:
        """Filter by the checked labels; as where a row is decided, Return takes the first that was found."""
        ids, found = self.labels.checked, self.labels.found
        if found and not set(found) & set(ids):
            ids = [*ids, found[0]]
        super().accept()
        self._choose(tuple(ids))
