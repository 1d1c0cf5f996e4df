"""The real program with one long job started in it: ``python -m tests.ui.kill_driver FOLDER JOB``.

Says on stdout "running" when the job runs, "kept N" when N scores are in the project, "ended" at its end;
whoever started it kills it in between.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer

from sce_desktop import app
from sce_desktop.settings import Settings
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui import at_work
from tests.ui.at_work import JOBS, PROJECT, Scene

LOADING = "load model"
until = partial(at_work.until, seconds=240.0)  # the machine may do other work


def tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def drive(folder: Path, name: str) -> None:
    (window,) = (w for w in app.make_application().topLevelWidgets() if isinstance(w, MainWindow))
    controllers = window._controllers
    if name == LOADING:  # with torch, which happens once in a process
        until(lambda: controllers.workspace.workers.models.busy)
        (loading, *_) = controllers.workspace.workers.models.jobs
        until(lambda: loading.started_at is not None)
        loading.ended.connect(lambda: tell("ended"))
        tell("running")
        return
    (kind,) = (kind for kind in JOBS if kind.name == name)
    until(lambda: controllers.workspace.project is not None)
    controllers.workspace.workers.files.cancel_all()  # the search index
    scene = Scene(window, controllers, folder)
    until(lambda: scene.idle)
    job = kind.start(scene)

    def tell_scores() -> None:
        tell("kept", sum(run.scored for run in scene.project.runs()))

    job.ended.connect(lambda: tell("ended"))
    if name == "score":
        job.progressed.connect(tell_scores)
    until(lambda: job.started_at is not None)
    tell("running")


def drive_or_die(folder: Path, name: str) -> None:
    try:
        drive(folder, name)
    except BaseException:
        traceback.print_exc()
        os._exit(3)  # nobody is there to close the window


if __name__ == "__main__":
    if sys.platform != "win32":
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run where it is ignored
    folder, name = Path(sys.argv[1]), sys.argv[2]
    app.make_application()
    QTimer.singleShot(0, lambda: drive_or_die(folder, name))
    sys.exit(app.main(folder / PROJECT, Settings.load()))
