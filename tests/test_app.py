"""Start and end of the window, in this process, with small panels and no model."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop import app, paths
from sce_desktop.controllers import work
from sce_desktop.core import i18n
from sce_desktop.core.errors import UserError
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.parts import Parts
from sce_desktop.ui.window.crash_dialog import CrashDialog
from sce_desktop.ui.window.main_window import MainWindow


class Panel(QWidget):
    def __init__(self, _session: object) -> None:
        super().__init__()


class Dialog(QDialog):
    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()


@pytest.fixture
def start(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., int]]:
    """Run `app.main`, call a function in its event loop, and return the exit status."""
    qapp = QApplication.instance()
    assert isinstance(qapp, QApplication)
    palette, sheet, style = qapp.palette(), qapp.styleSheet(), qapp.style().name()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    parts = Parts(Panel, Panel, Panel, Panel, Panel, import_dialog=Dialog, export_dialog=Dialog)
    monkeypatch.setattr(app, "real_parts", lambda: parts)

    def no_model(*_: object, **__: object) -> None:
        raise UserError("There is no model here.")

    monkeypatch.setattr(work.ModelCache, "load", no_model)

    def run(do: Callable[[MainWindow], object], path: Path | None = None) -> int:
        def act() -> None:
            windows = [w for w in qapp.topLevelWidgets() if isinstance(w, MainWindow) and w.isVisible()]
            if windows:
                timer.stop()
                do(windows[0])

        timer = QTimer(interval=50)
        timer.timeout.connect(act)
        timer.start()
        return app.main(path, Settings.load())

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)
    for widget in qapp.topLevelWidgets():
        if isinstance(widget, MainWindow):
            widget.deleteLater()
    qapp.setStyleSheet(sheet)
    qapp.setStyle(style)
    qapp.setPalette(palette)


def test_window_opens_and_closes_and_leaves_nothing(start: Callable[..., int]) -> None:
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    assert start(lambda window: window.close()) == 0
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before
    assert gc.isenabled()
    assert paths.log_file().exists()


def test_path_on_the_command_line_is_opened(start: Callable[..., int], tmp_path: Path) -> None:
    path = tmp_path / "Parcels.sce"
    Project.create(path).close()
    titles: list[str] = []

    def wait_for_project(window: MainWindow) -> None:
        if window._controllers.workspace.project is None:
            QTimer.singleShot(20, lambda: wait_for_project(window))
        else:
            titles.append(window.windowTitle())
            window.close()

    assert start(wait_for_project, path) == 0
    assert titles == ["Parcels – SCE Desktop"]


def test_polite_kill_closes_the_window(start: Callable[..., int]) -> None:
    assert start(lambda _window: os.kill(os.getpid(), signal.SIGTERM)) == 0


def test_death_of_the_last_time_is_reported(start: Callable[..., int]) -> None:
    faults = paths.log_dir() / "faults.txt"
    faults.parent.mkdir(parents=True)
    faults.write_text("Fatal Python error: Segmentation fault\n", encoding="utf-8")
    told: list[str] = []

    def read_all(window: MainWindow) -> None:
        """Read and close one sentence after the other, until the one about the model has been there too."""
        if window.strip.isVisible():
            told.append(window.strip.text.text())
            window.strip.close_button.click()
        if any("no model" in sentence for sentence in told) and not window.strip.isVisible():
            window.close()
        else:
            QTimer.singleShot(20, window, lambda: read_all(window))

    start(read_all)
    assert sum("ended unexpectedly" in sentence for sentence in told) == 1


def test_bug_in_a_worker_shows_the_crash_dialog_and_the_window_lives(start: Callable[..., int]) -> None:
    reports: list[str] = []

    def crash(window: MainWindow) -> None:
        def bug(*, progress: object) -> None:
            raise ZeroDivisionError

        def look() -> None:
            dialog = window.findChild(CrashDialog)
            assert dialog is not None
            reports.append(dialog.report)
            dialog.reject()
            window.close()

        job = window._controllers.workspace.workers.files.submit(bug, title="Bug")
        job.failed.connect(lambda _: QTimer.singleShot(0, look))

    assert start(crash) == 0
    assert "ZeroDivisionError" in reports[0]


def test_missing_model_is_one_sentence(start: Callable[..., int]) -> None:
    told: list[str] = []

    def wait(window: MainWindow) -> None:
        def look() -> None:
            if window.strip.text.text():
                told.append(window.strip.text.text())
                window.close()
            else:
                QTimer.singleShot(50, look)

        look()

    start(wait)
    assert told == ["There is no model here."]


@pytest.mark.parametrize("code", i18n.LANGUAGES)
def test_qt_writes_numbers_as_the_messages_do(code: str) -> None:
    i18n.set_language(code, paths.resources_dir() / "locale")
    try:
        assert QLocale(app.locale_name(code)).toString(1_234_567) == i18n.number(1_234_567)
    finally:
        i18n.set_language("en")


class FileWindow(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.opened: list[Path] = []

    def open_path(self, path: Path) -> None:
        self.opened.append(path)


@pytest.mark.parametrize("closed", [False, True])
def test_a_second_start_behind_a_dialog_shows_the_window_once_and_waits(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    shown: list[QWidget] = []
    looked: list[None] = []
    dialogs: list[QWidget] = []

    def modal() -> QWidget | None:
        looked.append(None)
        return dialogs[0] if dialogs else None

    monkeypatch.setattr(app, "bring_to_front", shown.append)
    monkeypatch.setattr(app, "_DIALOG_MS", 1)
    monkeypatch.setattr(QApplication, "activeModalWidget", staticmethod(modal))
    window = FileWindow()
    qtbot.addWidget(window)
    window.show()
    dialogs.append(window)
    app._come(window, Path("a.csv"))  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: len(looked) > 3)
    assert (shown, window.opened) == ([window], [])
    if closed:
        window.hide()
    dialogs.clear()
    qtbot.wait(20)
    assert (shown, window.opened) == ([window], [] if closed else [Path("a.csv")])


def test_a_second_start_opens_its_file_in_the_window_that_runs(
    start: Callable[..., int], tmp_path: Path
) -> None:
    path = tmp_path / "Parcels.sce"
    Project.create(path).close()
    statuses: list[int] = []
    titles: list[str] = []

    def start_again(window: MainWindow) -> None:
        command = [sys.executable, "-m", "sce_desktop", "gui", str(path)]
        again = subprocess.Popen(command, env=os.environ | {"QT_QPA_PLATFORM": "offscreen"})

        def look() -> None:
            if again.poll() is None or window._controllers.workspace.project is None:
                QTimer.singleShot(20, window, look)
                return
            statuses.append(again.returncode)
            titles.append(window.windowTitle())
            window.close()

        look()

    assert start(start_again) == 0
    assert statuses == [0]
    assert titles == ["Parcels – SCE Desktop"]
