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
from sce_desktop.controllers import job_notices, work
from sce_desktop.controllers.crash_reports import CrashReports
from sce_desktop.controllers.job_notices import Notice
from sce_desktop.core import i18n
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.parts import Parts
from sce_desktop.ui.window.crash_dialog import CrashDialog
from sce_desktop.ui.window.main_window import MainWindow
from sce_desktop.ui.window.system_notices import SystemNotices


class Panel(QWidget):
    def __init__(self, _session: object) -> None:
        super().__init__()


LONGEST_MS, TOO_LONG = 120_000, 77


class Dialog(QDialog):
    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()


@pytest.fixture
def start(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., int]]:
    """Run `app.main`, call a function in its event loop, and return the exit status."""
    qapp = QApplication.instance()
    assert isinstance(qapp, QApplication)
    palette, sheet = qapp.palette(), qapp.styleSheet()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    parts = Parts(Panel, Panel, Panel, Panel, Panel, import_dialog=Dialog, export_dialog=Dialog)
    monkeypatch.setattr(app, "real_parts", lambda: parts)

    def no_model(*_: object, **__: object) -> None:
        raise UserError("There is no model here.")

    monkeypatch.setattr(work.ModelCache, "load", no_model)

    def run(do: Callable[[MainWindow], object], path: Path | None = None) -> int:
        # What another test left open, a guide or a window, would be taken for the program's own, and keep it
        # running when that is closed.
        for widget in qapp.topLevelWidgets():
            widget.hide()

        def act() -> None:
            for widget in qapp.topLevelWidgets():
                if isinstance(widget, MainWindow) and widget.isVisible():
                    timer.stop()
                    do(widget)
                    return

        timer = QTimer(interval=50)
        timer.timeout.connect(act)
        timer.start()
        # Nothing else ends the event loop where a window stays open: what pytest's time limit raises is
        # heard only when Python runs.
        QTimer.singleShot(LONGEST_MS, timer, lambda: qapp.exit(TOO_LONG))
        try:
            status = app.main(path, Settings.load())
        finally:  # a start that fails leaves no timer behind, which would act in the window of the next test
            timer.stop()
            timer.deleteLater()
        assert status != TOO_LONG, "the window was not closed"
        return status

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)
    for widget in qapp.topLevelWidgets():
        if isinstance(widget, MainWindow):
            widget.deleteLater()
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)


def test_window_opens_and_closes_and_leaves_nothing(start: Callable[..., int]) -> None:
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    assert start(lambda window: window.close()) == 0
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before
    assert gc.isenabled()
    assert paths.log_file().exists()


def test_a_window_that_another_test_left_open_does_not_keep_the_program_running(
    start: Callable[..., int], qtbot: QtBot
) -> None:
    left = QWidget()
    qtbot.addWidget(left)
    left.show()
    assert start(lambda window: window.close()) == 0


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


SECRET = "a text of the user"
DIES = """
import faulthandler, sys
from PySide6.QtCore import QTimer
from sce_desktop import app
from sce_desktop.settings import Settings
make = app.make_window
def window(*arguments):
    made = make(*arguments)
    QTimer.singleShot(0, made, faulthandler._sigsegv)
    return made
app.make_window = window
app.main(None, Settings.load())
"""


def test_a_real_death_is_explained_and_offered_once(start: Callable[..., int]) -> None:
    died = subprocess.run(
        [sys.executable, "-c", DIES],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        timeout=100,
        check=False,
    )
    assert died.returncode not in (0, 1)
    reports: list[str] = []

    def read(window: MainWindow) -> None:
        if "ended unexpectedly" not in window.strip.text.text():
            QTimer.singleShot(20, window, lambda: read(window))
            return
        assert window.strip.button.text() == "Show report…"
        window.strip.button.click()
        dialog = window.findChild(CrashDialog)
        assert dialog is not None
        reports.append(dialog.report)
        dialog.reject()
        window.close()

    start(read)
    (report,) = reports
    what, where, advice = report.splitlines()[2:5]
    assert what.startswith("What: SCE Desktop ended unexpectedly (Segmentation fault).")
    assert where.startswith("Where: sce_desktop/app.py:")
    assert "Your projects are saved" in advice
    assert str(Path.home()) not in report
    crashes = CrashReports(paths.log_dir() / "crashes")
    assert crashes.unread() == []
    assert start(lambda window: window.close()) == 0
    assert len(list(crashes.folder.iterdir())) == 1


def test_a_start_that_fails_is_written_down(
    start: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> MainWindow:
        raise LookupError(SECRET)

    monkeypatch.setattr(app, "make_window", broken)
    with pytest.raises(LookupError):
        start(lambda window: window.close())
    crashes = CrashReports(paths.log_dir() / "crashes")
    (path,) = crashes.unread()
    text = crashes.read(path)
    assert "What: SCE Desktop could not start (LookupError)." in text
    assert SECRET not in text


def test_a_bug_that_was_shown_is_not_offered_again(start: Callable[..., int]) -> None:
    def crash(window: MainWindow) -> None:
        def bug(*, progress: object) -> None:
            raise ZeroDivisionError

        def look() -> None:
            dialog = window.findChild(CrashDialog)
            if dialog is None:  # the job's failure is told first
                QTimer.singleShot(20, look)
                return
            dialog.reject()
            window.close()

        job = window._controllers.workspace.workers.files.submit(bug, title="Bug")
        job.failed.connect(lambda _: QTimer.singleShot(0, look))

    start(crash)
    crashes = CrashReports(paths.log_dir() / "crashes")
    assert crashes.unread() == []
    (path,) = crashes.folder.iterdir()
    assert "(ZeroDivisionError) stopped one action." in crashes.read(path)


def test_a_long_job_behind_other_windows_is_news(
    start: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Notice] = []
    monkeypatch.setattr(job_notices, "LONG_S", 0.0)
    monkeypatch.setattr(app, "_in_front", lambda: False)
    monkeypatch.setattr(SystemNotices, "show_notice", lambda _self, notice: heard.append(notice))

    def work_on(window: MainWindow) -> None:
        def count(*, progress: object) -> None:
            pass

        job = window._controllers.workspace.workers.files.submit(count, title=_("Counting rows"))
        job.ended.connect(lambda: QTimer.singleShot(0, window.close))

    start(work_on)
    assert "Counting rows: finished" in [notice.title for notice in heard]


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
