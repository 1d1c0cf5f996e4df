"""A user at the real window who never touches the mouse: the project holds what a plain model says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from sce_desktop.app import make_window
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.labels.labels_list import LabelsList
from sce_desktop.ui.rows.accept_dialog import AcceptDialog
from sce_desktop.ui.rows.rows_table import RowsTable
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.panels import give_scores, open_in, settle

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
LABELS = tuple(f"Label {number}" for number in range(12))
ROWS = 400
KEYS = {
    "1": Qt.Key.Key_1,
    "2": Qt.Key.Key_2,
    "3": Qt.Key.Key_3,
    "0": Qt.Key.Key_0,
    "s": Qt.Key.Key_S,
    "⏎": Qt.Key.Key_Return,
}

State = dict[int, tuple[Decision, tuple[str, ...], Origin]]


@dataclass
class Model:
    """What the project should hold: states one after the other, and where we are among them."""

    states: list[State] = field(default_factory=lambda: [{}])
    at: int = 0

    def do(self, state: State) -> None:
        del self.states[self.at + 1 :]
        self.states.append(state)
        self.at += 1

    @property
    def now(self) -> State:
        return dict(self.states[self.at])


class User:
    """Presses keys, at whatever has the focus."""

    def __init__(
        self, qtbot: QtBot, workers: WorkerQueues, theme: Theme, settings: Path, project: Path
    ) -> None:
        self._qtbot = qtbot
        self.controllers = Controllers(workers, Settings(settings))
        self.window = make_window(self.controllers, theme)
        self.window.show()
        self.window.activateWindow()
        open_in(qtbot, self.controllers, project)
        settle(qtbot, self.controllers)
        self.controllers.scorer._edited.disconnect()
        self.table = self.the(RowsTable)
        self.focus(self.table)

    def the(self, kind: type[QWidget]) -> QWidget:
        (found,) = self.window.findChildren(kind)
        return found

    def focus(self, widget: QWidget) -> None:
        widget.activateWindow()  # a window offscreen does not come back by itself when a dialog closes
        widget.setFocus()
        self._qtbot.waitUntil(lambda: QApplication.focusWidget() is widget)

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifiers)

    def undo(self) -> None:
        self.press(Qt.Key.Key_Z, CONTROL)

    def redo(self) -> None:
        self.press(Qt.Key.Key_Z, CONTROL | SHIFT)

    def dialog(self, kind: type[QWidget]) -> QWidget:
        found: list[QWidget] = []

        def there() -> bool:
            found[:] = [widget for widget in self.window.findChildren(kind) if widget.isVisible()]
            return bool(found)

        self._qtbot.waitUntil(there)
        return found[0]

    def quit(self) -> None:
        self.window.close()
        self._qtbot.waitUntil(lambda: not self.window.isVisible(), timeout=30_000)
        self.window.deleteLater()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "Parcels.sce"
    with Project.create(path) as project:
        texts = [[(str(place), f"text of row {place}")] for place in range(ROWS)]
        project.add_rows(("ref", "text"), texts, text_columns=[1], source={})
        project.set_labels([Label(name) for name in LABELS])
        give_scores(project, [place % len(LABELS) for place in range(ROWS)], share=0.8)
    return path


@pytest.fixture
def workers_twice(qapp: QApplication) -> Iterator[WorkerQueues]:
    with WorkerQueues() as workers:
        yield workers


def held(path: Path) -> State:
    with Project.open(path, read_only=True) as project:
        return content(project)


def content(project: Project) -> State:
    label_set = project.label_set()
    assert label_set is not None
    names = {label.id: label.name for label in label_set.labels}
    return {
        row: (a.decision, tuple(names[i] for i in a.label_ids), a.origin)
        for row, a in project.annotations(range(1, ROWS + 1)).items()
    }


def by_probability(row: int) -> list[str]:
    """The labels of a row as its buttons stand: the best first, the others in their order."""
    best = (row - 1) % len(LABELS)
    return [LABELS[best], *(name for place, name in enumerate(LABELS) if place != best)]


def decide(user: User, model: Model, row: int, key: str) -> None:
    assert user.controllers.navigation.current_row == row
    user.press(KEYS[key])
    state = model.now
    if key == "0":
        state[row] = (Decision.NONE, (), Origin.HAND)
    elif key == "s":
        state[row] = (Decision.SKIPPED, (), Origin.HAND)
    else:
        place = 0 if key == "⏎" else int(key) - 1
        state[row] = (Decision.LABEL, (by_probability(row)[place],), Origin.HAND)
    model.do(state)


def test_two_hundred_rows_by_keys_alone(
    qtbot: QtBot, theme: Theme, workers_twice: WorkerQueues, tmp_path: Path, path: Path
) -> None:
    user = User(qtbot, workers_twice, theme, tmp_path / "settings.json", path)
    assert isinstance(user.window, MainWindow)
    project, model = user.controllers.workspace.project, Model()
    assert project is not None
    order = "1⏎230s⏎⏎12"
    for row in range(1, 201):
        decide(user, model, row, order[row % len(order)])
    assert user.controllers.navigation.current_row == 201
    assert content(project) == model.now

    for back in range(1, 21):
        user.undo()
        model.at -= 1
        assert user.controllers.navigation.current_row == 201 - back  # the view goes where something changed
    assert content(project) == model.now
    assert len(content(project)) == 180

    # Merge the third label into the second: selected in the list by keys, and by the menu's key.
    labels = user.the(LabelsList)
    user.focus(labels)
    user.press(Qt.Key.Key_Home)
    user.press(Qt.Key.Key_Down)
    user.press(Qt.Key.Key_Down, SHIFT)
    user.press(Qt.Key.Key_M, CONTROL)
    box = user.dialog(QMessageBox)
    assert isinstance(box, QMessageBox)
    assert "Merge “Label 2” into “Label 1”?" in box.text()
    merge = next(button for button in box.findChildren(QPushButton) if button.text() == "Merge")
    user.focus(merge)
    user.press(Qt.Key.Key_Space)
    state = {
        row: (decision, tuple("Label 1" if name == "Label 2" else name for name in names), origin)
        for row, (decision, names, origin) in model.now.items()
    }
    model.do(state)
    qtbot.waitUntil(lambda: len(user.controllers.workspace.labels) == len(LABELS) - 1)
    assert content(project) == model.now

    # Accept what the model says, then take it back.
    user.focus(user.table)
    user.press(Qt.Key.Key_Return, CONTROL)
    dialog = user.dialog(AcceptDialog)
    assert isinstance(dialog, AcceptDialog)
    dialog.confidence.setFocus()
    dialog.confidence.selectAll()
    QTest.keyClicks(dialog.confidence, "80")
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    qtbot.waitUntil(lambda: dialog.preview is not None and len(dialog.preview.found) > 0)
    open_rows = [row for row in range(1, ROWS + 1) if row not in model.now]
    taken = [row for row in open_rows if by_probability(row)[0] != "Label 2"]  # it is not in use any more
    assert dialog.preview is not None
    assert list(dialog.preview.found.row_ids) == taken
    assert len(dialog.preview.examples) == 10
    assert ok.text() == f"Accept {len(taken)} rows"
    user.focus(ok)
    user.press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not isValid(dialog))  # it deletes itself when all is done
    state = model.now
    state |= {row: (Decision.LABEL, (by_probability(row)[0],), Origin.BULK) for row in taken}
    model.do(state)
    assert content(project) == model.now
    user.focus(user.table)
    user.undo()
    model.at -= 1
    assert content(project) == model.now

    user.quit()
    assert held(path) == model.now

    # Another day: what was undone is done again.
    user = User(qtbot, workers_twice, theme, tmp_path / "settings.json", path)
    project = user.controllers.workspace.project
    assert project is not None
    user.redo()
    model.at += 1
    assert content(project) == model.now
    for _ in range(3):  # the bulk, the merge, a decision
        user.undo()
        model.at -= 1
    assert content(project) == model.now
    assert len(user.controllers.workspace.labels) == len(LABELS)
    for _ in range(3):
        user.redo()
        model.at += 1
    user.quit()
    assert held(path) == model.now
