"""What follows a decision: a line that says what was decided, with Undo, and duplicates offered for it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Row
from sce_desktop.ui.rows.copies_offer import CopiesOffer
from sce_desktop.ui.rows.last_decision import LastDecision


class AfterDecision(QObject):
    """Has the ``line``, and clears it at the next edit: its Undo would undo something else."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        preferences: Preferences,
        messages: Messages,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._row: Row | None = None
        self.deciding = False  # what is decided now takes the place of the last at once
        self.line = LastDecision()
        self.copies = CopiesOffer(workspace, navigation, edits, preferences, messages)
        workspace.projectOpened.connect(self.line.clear)
        edits.decided.connect(self._on_decided)
        edits.editing.connect(self._on_editing)
        self.line.undoAsked.connect(edits.undo)
        self.line.copiesAsked.connect(self.copies.accept)
        self.line.cleared.connect(self.copies.withdraw)
        self.copies.found.connect(self.line.offer_copies)

    def set_row(self, row: Row | None, *, same_text: bool = False) -> None:
        """Say which row is shown, so that it need not be read again, and whether others have its text."""
        self._row = row
        if row is not None:
            self.copies.has_copies = (row.id, same_text)

    @Slot()
    def _on_editing(self) -> None:
        if not self.deciding:  # else nothing is laid out twice
            self.line.clear()

    @Slot(object, object)
    def _on_decided(self, row_ids: list[int], words: str) -> None:
        project = self._workspace.project
        if project is None:
            return
        shown = self._row  # by a key it is the one
        of_one = len(row_ids) == 1
        row = shown if of_one and shown and shown.id == row_ids[0] else project.rows(row_ids[:1])[0]
        self.line.show_label(row.position + 1 if of_one else None, len(row_ids), words)
