"""A damaged project in the window: a button, a place for the copy, what came back, and the copy open."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.recent import RecentProjects
from sce_desktop.core.progress import Progress
from sce_desktop.store.file.opening import PAGE_BYTES
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.parts import Parts
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.window_bench import Asked, Panel


@pytest.fixture
def window(controllers: Controllers, theme: Theme, tmp_path: Path) -> Iterator[MainWindow]:
    window = MainWindow(
        controllers,
        Parts(Panel, Panel, Panel, Panel, Panel, import_dialog=Asked, export_dialog=Asked),
        theme,
        recent=RecentProjects(tmp_path / "recent.json"),
        state=QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat),
    )
    window.show()
    yield window
    window._settled = True
    window.close()
    window.deleteLater()


@pytest.fixture
def damaged(make_project: MakeProject) -> Path:
    """Make a project that is cut before its last table."""
    path = make_project("Damaged", labels=("Late",))
    with path.open("r+b") as stream:
        stream.truncate(path.stat().st_size - PAGE_BYTES)
    return path


def offer_of(qtbot: QtBot, window: MainWindow, path: Path) -> str:
    window.open_path(path)
    qtbot.waitUntil(lambda: window.strip.isVisible() and window.strip.button.isVisible())
    assert window.strip.button.text() == "Repair…"
    return window.strip.text.text()


def ask(window: MainWindow) -> QFileDialog:
    """Press the button and return the dialog that asks for a place."""
    window.strip.button.click()
    dialog = window.findChild(QFileDialog)
    assert dialog is not None
    assert dialog.windowTitle() == "Repair to a new project"
    return dialog


def choose(qtbot: QtBot, window: MainWindow, copy: Path) -> None:
    dialog = ask(window)
    dialog.fileSelected.emit(str(copy))
    dialog.close()
    qtbot.waitUntil(lambda: window.findChild(QFileDialog) is None)


def test_damaged_project_is_repaired_and_opened(qtbot: QtBot, window: MainWindow, damaged: Path) -> None:
    controllers, copy = window._controllers, damaged.with_name("whole.sce")
    assert offer_of(qtbot, window, damaged) == "Damaged.sce is damaged (its end is missing)."
    before = damaged.read_bytes()
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        choose(qtbot, window, copy)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.path == copy
    assert [label.name for label in controllers.workspace.labels] == ["Late"]
    qtbot.waitUntil(lambda: window.strip.text.text().startswith("Recovered: 5 rows, 0 annotations"))
    assert not window.strip.button.isVisible()
    assert damaged.read_bytes() == before


def test_proposed_place_is_free_and_beside_the_project(
    qtbot: QtBot, window: MainWindow, damaged: Path
) -> None:
    damaged.with_name("Damaged (repaired).sce").write_text("mine")
    offer_of(qtbot, window, damaged)
    dialog = ask(window)
    assert [Path(name).name for name in dialog.selectedFiles()] == ["Damaged (repaired) 2.sce"]
    assert Path(dialog.directory().absolutePath()) == damaged.parent
    dialog.close()


def test_open_project_stays_until_the_repair_is_through(
    qtbot: QtBot, window: MainWindow, damaged: Path, make_project: MakeProject
) -> None:
    controllers = window._controllers
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        window.open_path(make_project("Healthy"))
    project = controllers.workspace.project
    offer_of(qtbot, window, damaged)
    assert controllers.workspace.project is project
    copy = damaged.with_name("taken.sce")
    copy.write_text("mine")
    choose(qtbot, window, copy)
    box = window.findChild(QMessageBox)
    assert box.text() == "“taken.sce” already exists. Replace it?"
    box.reject()
    assert controllers.workspace.project is project
    assert copy.read_text() == "mine"
    box.accepted.emit()
    assert controllers.workspace.project is project
    qtbot.waitUntil(
        lambda: controllers.workspace.project is not None and controllers.workspace.project.path == copy
    )


def test_offer_ends_when_another_project_opens(
    qtbot: QtBot, window: MainWindow, damaged: Path, make_project: MakeProject
) -> None:
    offer_of(qtbot, window, damaged)
    with qtbot.waitSignal(window._controllers.workspace.projectOpened):
        window.open_path(make_project("Healthy"))
    qtbot.waitUntil(lambda: not window.strip.isVisible())


def test_repair_can_be_cancelled(
    qtbot: QtBot, window: MainWindow, damaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(path: Path, copy: Path, progress: Progress, *, overwrite: bool) -> object:
        while True:
            progress.check()

    monkeypatch.setattr(Project, "repair_file", staticmethod(endless))
    controllers, copy = window._controllers, damaged.with_name("whole.sce")
    job = controllers.projects.repair_project(damaged, copy)
    with qtbot.waitSignal(job.cancelled):
        job.cancel()
    assert controllers.workspace.project is None
    assert not copy.exists()


def test_project_found_damaged_while_it_is_open_can_be_repaired(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    controllers, path = window._controllers, make_project()
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        window.open_path(path)
    project = controllers.workspace.project
    assert project is not None
    qtbot.waitUntil(
        lambda: not controllers.workspace.workers.files.busy and not controllers.workspace.workers.reads.busy
    )
    with closing(sqlite3.connect(path)) as plain:
        (page,) = plain.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'marks'").fetchone()
    with path.open("r+b") as stream:
        stream.seek((page - 1) * PAGE_BYTES)
        stream.write(b"\xff" * PAGE_BYTES)
    controllers.edits.set_marks([1], note="to a broken page")
    qtbot.waitUntil(lambda: window.strip.button.isVisible() and window.strip.button.text() == "Repair…")
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        choose(qtbot, window, path.with_name("whole.sce"))
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.path.name == "whole.sce"
    assert controllers.workspace.project.verify() == []


def test_much_that_is_lost_is_reported_shortly(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, caplog: pytest.LogCaptureFixture
) -> None:
    path = make_project(labels=("Late",))
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        for table in ("actions", "audits", "audit_rows", "coders", "marks", "model_versions"):
            plain.execute(f"DROP TABLE {table}")
    heard: list[tuple[str, str]] = []
    controllers.messages.notified.connect(lambda sentence, tone: heard.append((sentence, tone)))
    with caplog.at_level("INFO", logger=work.log.name), qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.repair_project(path, path.with_name("whole.sce"))
    qtbot.waitUntil(lambda: bool(heard))
    ((sentence, tone),) = heard
    assert tone == "warn"
    assert sentence.startswith("Recovered: 5 rows")
    assert sentence.endswith("The log has more.")
    assert "The table model_versions is missing." in caplog.text


def test_strip_is_reachable_by_keys(qtbot: QtBot, window: MainWindow, damaged: Path) -> None:
    offer_of(qtbot, window, damaged)
    button: QWidget = window.strip.button
    assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert button.accessibleName() == "Repair…"
