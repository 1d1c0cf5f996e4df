"""A long job that ends behind other windows is news; the notification says no text, and goes where it can."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import job_notices
from sce_desktop.controllers.job_notices import JobNotices, Notice, public_title
from sce_desktop.controllers.jobs import WorkerQueue
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.progress import Progress
from sce_desktop.settings import Settings
from sce_desktop.ui.window import system_notices
from sce_desktop.ui.window.system_notices import SystemNotices

MARKER = "zqxmarker"
ROOT = Path(__file__).parents[2]
# A bus of its own for two processes: the service, then the program once the service is there.
_BOTH = """
exec 3< <("$0" -m tests.ui.notification_server)
read -r ready <&3
"$0" -m tests.ui.notification_client
read -r first <&3; read -r second <&3
echo "$ready"; echo "$first"; echo "$second"
kill $!
"""


def ends(*, progress: Progress) -> None:
    """A job that does its work."""


def waits(*, progress: Progress) -> None:
    while True:
        progress.check()
        time.sleep(0.001)


def fails(*, progress: Progress) -> None:
    raise UserError(f"This row cannot be read: {MARKER}")


@pytest.fixture
def worker(qapp: QApplication) -> Iterator[WorkerQueue]:
    worker = WorkerQueue("models")
    yield worker
    assert worker.close(timeout=10)


class Watch:
    def __init__(self, worker: WorkerQueue, folder: Path) -> None:
        self.front = False
        self.heard: list[Notice] = []
        self.preferences = Preferences(Settings(folder / "settings.json"), Messages())
        self.notices = JobNotices([worker], self.preferences, lambda: self.front)
        self.notices.noticed.connect(self.heard.append)


@pytest.fixture
def watch(worker: WorkerQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    monkeypatch.setattr(job_notices, "LONG_S", 0.0)
    return Watch(worker, tmp_path)


def test_a_job_that_ends_and_one_that_fails_are_news(qtbot: QtBot, worker: WorkerQueue, watch: Watch) -> None:
    worker.submit(ends, title=_("Importing {name}", name="answers.csv"))
    worker.submit(fails, title=_("Fine-tuning"))
    qtbot.waitUntil(lambda: len(watch.heard) == 2)
    done, failed = watch.heard
    assert (done.title, done.failed) == ("Importing answers.csv: finished", False)
    assert done.body.startswith("It took ")
    assert failed == Notice("Fine-tuning: failed", "Open SCE Desktop to see why.", failed=True)


def test_nothing_is_news_to_who_looks_on_or_asked_for_silence_or_stopped_it(
    qtbot: QtBot, worker: WorkerQueue, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.front = True
    worker.submit(ends, title=_("Fine-tuning"))
    qtbot.waitUntil(lambda: not worker.busy)
    watch.front = False
    worker.submit(ends, title=_("Fine-tuning"), quiet=True)
    job = worker.submit(waits, title=_("Fine-tuning"))
    job.cancel()
    qtbot.waitUntil(lambda: not worker.busy)
    watch.preferences.change_setting("notify", False)
    worker.submit(ends, title=_("Fine-tuning"))
    qtbot.waitUntil(lambda: not worker.busy)
    watch.preferences.change_setting("notify", True)
    monkeypatch.setattr(job_notices, "LONG_S", 10.0)
    worker.submit(ends, title=_("Fine-tuning"))
    qtbot.waitUntil(lambda: not worker.busy)
    assert watch.heard == []


def test_only_names_of_files_and_models_are_in_a_title() -> None:
    assert public_title(_("Loading {model}", model="/home/anna/models/mine")) == "Loading mine"
    assert public_title(ngettext("{count} row", "{count} rows", 3)) == "3 rows"
    assert public_title(_("Removing {label}", label=MARKER)) == "A long job"
    assert public_title(MARKER) == "A long job"
    assert public_title(_("Importing {name}", name="a\u202eb.csv")) == "Importing a\\u202eb.csv"


@pytest.fixture
def shown(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> tuple[SystemNotices, list[object]]:
    window = QWidget()
    qtbot.addWidget(window)
    did: list[object] = []
    monkeypatch.setattr(system_notices, "_session_bus", lambda: None)
    monkeypatch.setattr(QApplication, "alert", staticmethod(lambda widget, _ms=0: did.append(widget)))
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda _self, *message: did.append(message))
    return SystemNotices(window), did


def test_without_a_bus_and_a_tray_the_task_bar_is_marked(
    shown: tuple[SystemNotices, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    notices, did = shown
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: False))
    notices.show_notice(Notice("Scoring: finished", "It took 12 s."))
    assert did == [notices.parent()]


def test_without_a_bus_the_tray_shows_it_and_goes(
    qtbot: QtBot, shown: tuple[SystemNotices, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    notices, did = shown
    for name in ("isSystemTrayAvailable", "supportsMessages"):
        monkeypatch.setattr(QSystemTrayIcon, name, staticmethod(lambda: True))
    monkeypatch.setattr(system_notices.QGuiApplication, "windowIcon", staticmethod(QIcon))
    monkeypatch.setattr(QSystemTrayIcon, "show", lambda _self: did.append("shown"))
    monkeypatch.setattr(QSystemTrayIcon, "hide", lambda _self: did.append("hidden"))
    notices._put_away.setInterval(1)
    notices.show_notice(Notice("Scoring: failed", "Open SCE Desktop to see why.", failed=True))
    qtbot.waitUntil(lambda: did[-1] == "hidden")
    assert did[0] == "shown"
    assert did[1][:2] == ("Scoring: failed", "Open SCE Desktop to see why.")  # type: ignore[index]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="D-Bus is of Linux desktops")
@pytest.mark.parametrize("served", [True, False])
def test_a_desktop_gets_it_by_its_bus(served: bool, tmp_path: Path) -> None:
    if shutil.which("dbus-run-session") is None or shutil.which("bash") is None:
        pytest.skip("dbus-run-session is not installed")
    script = _BOTH if served else '"$0" -m tests.ui.notification_client'
    done = subprocess.run(
        ["dbus-run-session", "--", "bash", "-c", script, sys.executable],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "SCE_DESKTOP_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(("[", "t"))]
    if not served:
        assert lines == [[[0], 1]], done.stderr  # nobody is there: the task bar
        return
    assert lines[0] == [[7, "chosen", 7, "chosen"], 0], done.stderr
    assert lines[1] is True
    first, second = lines[2:]
    assert first[0] == "SCE Desktop"
    assert (first[1], second[1]) == (0, 7)  # the newer one takes the place of the older one
    assert first[3:5] == ["Importing <b>a</b>.csv: finished", "It took 12 s."]
    assert second[3] == "Scoring: failed"
    assert first[5][0] == "default"
