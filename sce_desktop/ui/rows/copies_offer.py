"""The unlabelled rows with the text of the row that was labelled last: offered, to get the same label."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers import bulk_work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.keymap import shown_key
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import _


class CopiesOffer(QObject):
    """Looks for them in the worker ``reads`` after each decision about one row; the next one takes over."""

    found = Signal(object, object)  # how many rows, and the key that labels them

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        preferences: Preferences,
        messages: Messages,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._preferences = preferences
        self._messages = messages
        self._row_id: int | None = None
        self._ids: IdArray | None = None
        self._search: Job | None = None
        self._wanted = False  # the key was faster than the search
        self.has_copies: tuple[int, bool] | None = None  # whether a row has any, where that is known
        edits.decided.connect(self._search_for)
        edits.changed.connect(self.withdraw)
        workspace.projectClosed.connect(self.withdraw)
        workspace.rowsChanged.connect(self._forget_copies)

    @Slot()
    def withdraw(self) -> None:
        """Offer nothing any more."""
        drop(self._search)
        self._search = self._row_id = self._ids = None
        self._wanted = False

    @Slot()
    def _forget_copies(self) -> None:
        self.has_copies = None  # there may be others now

    @Slot(object, object)
    def _search_for(self, row_ids: list[int], _words: str) -> None:
        self.withdraw()
        project = self._workspace.project
        if project is None or len(row_ids) != 1:
            return
        (row_id,), known = row_ids, self.has_copies
        if not (known[1] if known and known[0] == row_id else project.count_same_text(row_id, 1)):
            return
        self._row_id = row_id
        self._search = self._workspace.submit(
            bulk_work.undecided_copies,
            project,
            self._row_id,
            title=_("Searching for duplicates"),
            worker="reads",
            quiet=True,
            first=True,
        )
        self._search.finished.connect(self._on_found)

    @Slot(object)
    def _on_found(self, ids: IdArray) -> None:
        self._search = None
        self._ids = ids
        if self._wanted:
            self.accept()
        elif len(ids):
            self.found.emit(len(ids), shown_key(self._preferences.keymap.key("copies")))

    @Slot()
    def accept(self) -> None:
        """Give the rows that are offered what was decided a moment ago, as soon as they are known."""
        project, row_id, ids = self._workspace.project, self._row_id, self._ids
        if project is None or row_id is None:
            return
        if ids is None:
            self._wanted = True
            return
        self.withdraw()
        annotation = project.annotations([row_id]).get(row_id)
        if annotation is not None and len(ids):
            bulk_work.decide_many(
                self._workspace,
                self._navigation,
                self._messages,
                ids,
                annotation.decision,
                annotation.label_ids,
            )
