"""A person labels by keys in the real window, which is killed: what it showed as saved must be there."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sce_desktop.store.project import Project
from tests.faults import actions
from tests.faults.kills import BEGUN, Found, Tell
from tests.faults.operations import OLD_TEXT, opened, take_away

PROJECT = "people.sce"
EXPORTED = "out.csv"


@dataclass
class Window:
    """Labels by digit keys, undo, notes and edits of the labels, while exports are written behind them."""

    name: str = "window"
    share: float = 8
    steps: int = 30
    slow_start: bool = True

    def prepare(self, material: Path, folder: Path) -> None:
        shutil.copy(material / "people.sce", folder / PROJECT)
        (folder / EXPORTED).write_text(OLD_TEXT, encoding="utf-8")

    def work(self, folder: Path, draw: random.Random, tell: Tell) -> None:
        Person(folder, tell).work(draw)

    def check(self, folder: Path, draw: random.Random, told: Sequence[str], found: Found) -> None:
        shown: dict[str, str] = {}
        for line in told:
            what, is_shown, value = line.partition(" is ")
            if is_shown:
                shown[what] = value
                found.acknowledged += 1
            else:  # by now it may be changed, and nobody has been shown that
                shown.pop(what.removeprefix("asked "), None)
        with opened(folder / PROJECT, found) as project:
            if project is not None:
                for what, value in shown.items():
                    if what != "export" and (now := look(project, what)) != value:
                        found.lost.append(f"{what} is {now}, was {value} ({told[-1]})")
        lines = (folder / EXPORTED).read_text(encoding="utf-8").splitlines()
        if len(lines) != actions.ROWS + 1 and (lines != [OLD_TEXT] or "export" in shown):
            found.damaged.append(f"an export of {len(lines)} lines")
        for name in (PROJECT, EXPORTED):
            take_away(folder, name)


def look(project: Project, what: str) -> str:
    """Return what a project holds of a "row 3", "note 3" or "labels", as a window shows it."""
    kind, _, number = what.partition(" ")
    label_set = project.label_set()
    labels = label_set.labels if label_set else ()
    if kind == "labels":
        return ", ".join(label.name for label in labels)
    row = int(number)
    if kind == "note":
        marks = project.marks([row])
        return marks[row].note if row in marks else ""
    annotations = project.annotations([row])
    if row not in annotations:
        return "unlabelled"
    found = annotations[row]
    return f"{found.decision} {[label.id for label in labels if label.id in found.label_ids]}"


class Person:
    """Has the window open, and tells what it shows after each key."""

    def __init__(self, folder: Path, tell: Tell) -> None:
        from PySide6.QtCore import QStandardPaths

        from sce_desktop import app
        from sce_desktop.controllers.controllers import Controllers
        from sce_desktop.controllers.jobs import WorkerQueues
        from sce_desktop.settings import Settings
        from sce_desktop.ui.kit.appearance import Theme
        from sce_desktop.ui.rows.rows_table import RowsTable
        from tests.ui.at_work import until
        from tests.ui.panels import score_no_edits

        QStandardPaths.setTestModeEnabled(True)
        self.folder, self.tell = folder, tell
        self.done: list[str] = []  # what was changed, for Ctrl+Z
        self.application = app.make_application()
        self.workers = WorkerQueues()
        self.workers.__enter__()
        self.controllers = Controllers(self.workers, Settings(folder.parent / "settings.json"))
        self.window = app.make_window(self.controllers, Theme(self.application, "light"))
        self.window.show()
        self.controllers.projects.open_project(folder / PROJECT)
        workspace = self.controllers.workspace
        until(lambda: workspace.project is not None and not any(w.busy for w in workspace.workers))
        score_no_edits(self.controllers)
        (self.table,) = self.window.findChildren(RowsTable)
        self.window.activateWindow()
        self.table.setFocus()
        tell(BEGUN)

    def work(self, draw: random.Random) -> None:
        """Press keys until killed."""
        for number in range(10**9):
            action = draw.choices(
                (self.label, self.undo, self.note, self.rename_label, self.export), (20, 3, 3, 1, 1)
            )[0]
            action(draw, number)
            self.application.processEvents()

    @property
    def project(self) -> Project:
        project = self.controllers.workspace.project
        assert project is not None
        return project

    def _show(self, what: str) -> None:
        self.tell(f"{what} is {look(self.project, what)}")

    def _ask(self, what: str) -> None:
        self.done.append(what)
        self.tell(f"asked {what}")

    def _press(self, key: Any, modifier: Any = None) -> None:
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        QTest.keyClick(self.table, key, modifier or Qt.KeyboardModifier.NoModifier)

    def label(self, draw: random.Random, _number: int) -> None:
        """Press a digit, 0 or S: the row has that label when the key returns."""
        from PySide6.QtCore import Qt

        row = draw.randint(1, actions.ROWS)
        self.controllers.navigation.rowAsked.emit(row)
        assert self.controllers.navigation.current_row == row
        key = draw.choice((Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3, Qt.Key.Key_0, Qt.Key.Key_S))
        self._ask(f"row {row}")
        self._press(key)
        self._show(f"row {row}")

    def undo(self, _draw: random.Random, _number: int) -> None:
        """Press Ctrl+Z: what was done last is undone when the key returns."""
        from PySide6.QtCore import Qt

        if self.done:
            what = self.done.pop()
            self.tell(f"asked {what}")
            self._press(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
            self._show(what)

    def note(self, draw: random.Random, number: int) -> None:
        """Write a note as the row panel does."""
        row = draw.randint(1, actions.ROWS)
        self._ask(f"note {row}")
        assert self.controllers.edits.set_marks([row], note=f"note {number}")
        self._show(f"note {row}")

    def rename_label(self, draw: random.Random, number: int) -> None:
        """Rename a label as the list of labels does."""
        labels = list(self.controllers.workspace.labels)
        place = draw.randrange(len(labels))
        labels[place] = replace(labels[place], name=f"label {number}")
        self._ask("labels")
        assert self.controllers.edits.set_labels(labels)
        self._show("labels")

    def export(self, _draw: random.Random, _number: int) -> None:
        """Start an export behind the window, unless one is being written."""
        from sce_desktop.core.choices import ExportChoices

        if not self.workers.files.busy:
            job = self.controllers.projects.export_table(ExportChoices(self.folder / EXPORTED))
            assert job is not None
            job.finished.connect(lambda _result: self.tell("export is done"))
