"""The file of the open project goes away: the window says so at once, and all can be saved elsewhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.store.project import Project
from sce_desktop.ui.window.lost_project import LostProject
from tests.ui.conftest import MakeProject
from tests.ui.wiring import wired

LABELS = ("Late", "Damaged", "Praise")


@pytest.fixture
def lost(controllers: Controllers, qtbot: QtBot) -> Iterator[LostProject]:
    window = QWidget()
    window.show()
    yield wired(LostProject, controllers)(window)
    window.deleteLater()


@pytest.fixture
def path(qtbot: QtBot, lost: LostProject, controllers: Controllers, make_project: MakeProject) -> Path:
    """Of a project that is open, with a label; nothing is done with it any more."""
    path = make_project(labels=LABELS)
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(path)
    assert controllers.edits.decide([1], Decision.LABEL, [1])
    qtbot.waitUntil(
        lambda: not controllers.workspace.workers.files.busy and not controllers.workspace.workers.reads.busy
    )
    return path


def button(box: QMessageBox | None, text: str) -> QPushButton:
    assert box is not None
    (found,) = (one for one in box.buttons() if one.text().replace("&", "") == text)
    assert isinstance(found, QPushButton)
    return found


def test_it_is_said_within_a_moment_and_once(
    qtbot: QtBot, lost: LostProject, path: Path, controllers: Controllers
) -> None:
    lost.watch.look()
    assert lost.box is None
    path.unlink()
    with qtbot.waitSignal(lost.watch.lost):  # nobody does anything
        pass
    assert lost.box is not None
    assert lost.box.isVisible()
    assert lost.box.text() == "Parcels.sce was deleted or moved while it is open here."
    button(lost.box, "Not now").click()
    assert lost.box is None
    lost.watch.look()
    assert lost.box is None


def test_what_was_written_over_is_not_promised_whole(
    lost: LostProject, path: Path, controllers: Controllers
) -> None:
    path.write_bytes(b"another program's file, of the same name")
    lost.watch.look()
    assert lost.box is not None
    assert lost.box.text() == "Parcels.sce was overwritten by another program while it is open here."
    assert "keep what can still be read" in lost.box.informativeText()
    assert "everything" not in lost.box.informativeText()
    button(lost.box, "Close without saving").click()


def test_an_edit_is_refused_and_it_is_said_again(
    qtbot: QtBot, lost: LostProject, path: Path, controllers: Controllers
) -> None:
    heard: list[str] = []
    controllers.messages.notified.connect(lambda sentence, tone: heard.append(sentence))
    os.replace(shutil.copy(path, path.with_name("synced")), path)  # noqa: PTH105
    for _ in range(2):
        assert not controllers.edits.decide([2], Decision.NONE)
        assert "was replaced by another file: nothing can be saved in it" in heard[-1]
        assert lost.box is not None
        button(lost.box, "Not now").click()
    assert not controllers.edits.set_labels([])
    controllers.edits.set_threshold(0.5)  # and what has no answer
    button(lost.box, "Close without saving").click()
    qtbot.waitUntil(lambda: controllers.workspace.project is None)


def test_all_of_it_is_saved_and_one_goes_on_there(
    qtbot: QtBot, lost: LostProject, path: Path, controllers: Controllers, tmp_path: Path
) -> None:
    controllers.navigation.set_query(RowQuery(state=RowState.UNLABELLED))
    controllers.navigation.set_current_row(4)
    path.unlink()
    lost.watch.look()
    button(lost.box, "Save as…").click()
    (dialog,) = lost._window.findChildren(QFileDialog)
    assert dialog.selectedFiles() == [str(path.with_name("Parcels (saved).sce"))]
    dialog.close()
    saved = tmp_path / "elsewhere.sce"
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        lost.save_as(saved)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.path == saved
    assert (controllers.navigation.query.state, controllers.navigation.current_row) == (
        RowState.UNLABELLED,
        4,
    )
    assert list(controllers.workspace.project.annotations(range(1, 6))) == [1]
    assert controllers.edits.decide([2], Decision.LABEL, [2])
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    lost.watch.look()
    assert lost.box is None
    assert not [file.name for file in tmp_path.iterdir() if "rescued" in file.name or "Parcels" in file.name]


def test_closing_without_saving_leaves_nothing(
    qtbot: QtBot, lost: LostProject, path: Path, controllers: Controllers
) -> None:
    path.unlink()
    assert lost.asks()
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        button(lost.box, "Close without saving").click()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    assert not list(path.parent.glob("Parcels*"))


def test_closing_all_the_same_makes_a_copy_and_says_where(
    qtbot: QtBot, lost: LostProject, path: Path, controllers: Controllers
) -> None:
    path.unlink()
    heard: list[str] = []
    controllers.messages.offered.connect(lambda sentence, *_: heard.append(sentence))
    assert lost.asks()
    assert not lost.asks()  # it was asked
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert lost.box is None
    rescued = path.with_name("Parcels (rescued).sce")
    qtbot.waitUntil(lambda: any(str(rescued) in sentence for sentence in heard))
    with Project.open(rescued) as project:
        assert list(project.annotations(range(1, 6))) == [1]


def test_what_comes_back_is_as_it_was(
    qtbot: QtBot, lost: LostProject, path: Path, controllers: Controllers
) -> None:
    aside = path.rename(path.with_name("moved.sce"))
    lost.watch.look()
    assert lost.box is not None
    assert "was moved to" in lost.box.text()
    aside.rename(path)
    with qtbot.waitSignal(lost.watch.back):
        pass
    assert lost.box is None
    assert controllers.edits.decide([2], Decision.NONE)


def test_a_project_that_is_only_looked_at_is_no_question(
    qtbot: QtBot, lost: LostProject, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project(labels=LABELS)
    with Project.open(path) as other:
        with qtbot.waitSignal(controllers.workspace.projectOpened):
            controllers.projects.open_project(path)
        assert controllers.workspace.read_only
        path.unlink()
        with qtbot.waitSignal(controllers.messages.notified) as told:
            lost.watch.look()
        assert told.args == [
            "Parcels.sce was deleted or moved while it is open: open it again.",
            "warn",
        ]
        assert not lost.asks()
        assert lost.box is None
        other.give_up()
        with qtbot.waitSignal(controllers.workspace.projectClosed):
            controllers.projects.close_project()


def test_the_box_is_closed_by_its_keys(
    qtbot: QtBot, lost: LostProject, path: Path, controllers: Controllers
) -> None:
    path.unlink()
    lost.watch.look()
    assert lost.box is not None
    assert lost.box.defaultButton() is button(lost.box, "Save as…")
    qtbot.keyClick(lost.box, Qt.Key.Key_Escape)
    assert lost.box is None
