"""Rows that come again in focus mode, without their label: how far does one agree with oneself?

A row is drawn in the background before it is due, so that no key waits for it. Its second answer is kept
apart (`store.annotations.repeats`): the label of the row stays as it is.
"""

from __future__ import annotations

import random

from PySide6.QtCore import QObject, Slot

from sce_desktop.controllers import session_work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _

EVERY = 20  # rows, of which one is a repeat
SETTING = "repeat_rows"
_DRAWN_BEFORE = 5  # rows before it is due


class Repeats(QObject):
    """Counts the labels that are given while somebody follows it, and says when a row is to come again."""

    def __init__(self, workspace: Workspace, edits: Edits, preferences: Preferences) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._edits = edits
        self._preferences = preferences
        self._followed = False
        self._given = 0  # labels since the last repeat
        self._drawing: Job | None = None
        self._drawn: int | None = None
        self._seeds = random.Random()  # which rows come again is nobody's to foresee
        edits.decided.connect(self._on_decided)
        workspace.projectClosed.connect(self._forget)

    @property
    def on(self) -> bool:
        """Whether the user wants rows to come again."""
        return bool(self._preferences.settings[SETTING])

    @Slot()
    def toggle(self) -> None:
        """Let rows come again, or no more."""
        self._preferences.change_setting(SETTING, not self.on)

    def follow(self, on: bool) -> None:
        """Say whether rows are shown where one can come again."""
        self._followed = on

    def take(self) -> int | None:
        """Return the row that is to come again now; None: it is not time, or there is none yet."""
        if self._given < EVERY - 1 or self._drawn is None or not self.on:
            return None
        row_id, self._drawn, self._given = self._drawn, None, 0
        project = self._workspace.project
        if project is None or row_id not in project.annotations([row_id]):  # its label was undone meanwhile
            return None
        return row_id

    def keep(self, row_id: int, label_ids: tuple[int, ...]) -> bool:
        """Keep the second answer about a row; no label: none of these. False, and a message, if it cannot."""
        return self._edits.add_repeat(row_id, label_ids)

    @Slot(object, object)
    def _on_decided(self, row_ids: list[int], _words: str) -> None:
        if not (self._followed and self.on) or len(row_ids) != 1:
            return
        self._given += 1
        if self._given >= EVERY - _DRAWN_BEFORE and self._drawn is None and self._drawing is None:
            self._draw()

    def _draw(self) -> None:
        if self._workspace.project is None:
            return
        self._drawing = self._workspace.submit(
            session_work.next_repeat,
            self._workspace.project,
            self._seeds.getrandbits(32),
            title=_("Drawing a row to repeat"),
            worker="reads",
            quiet=True,
        )
        self._drawing.finished.connect(self._on_drawn)
        self._drawing.ended.connect(self._on_ended)

    @Slot(object)
    def _on_drawn(self, row_id: int | None) -> None:
        self._drawn = row_id

    @Slot()
    def _on_ended(self) -> None:
        self._drawing = None

    @Slot()
    def _forget(self) -> None:
        drop(self._drawing)
        self._drawing = self._drawn = None
        self._given = 0
