"""How the window feels: time to start, time to the first probabilities, and its heartbeat while work is done.

The heartbeat is a timer of the GUI thread: how late it fires is how long a key or a click would have waited.
Every step runs in a process of its own, offscreen, in a home of its own, and prints what it measured.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.benchmarks.measure import print_table
from tests.benchmarks.tables import write_table

if TYPE_CHECKING:
    from sce_desktop.controllers.controllers import Controllers
    from sce_desktop.core.tables import TablePreview

BEAT_MS = 5
PATIENCE_S = 300.0
PERCENTILE = 99
TABLE = "table.csv"
LABELS = ("Late delivery", "Lost parcel", "Damaged parcel", "Wrong address", "Praise", "Price and fees")
STARTED = "SCE_DESKTOP_BENCH_STARTED"


def run(*, rows: int, seconds: float) -> None:
    """Measure and print; scoring is watched for ``seconds``, everything else to its end."""
    starts = []
    for _ in range(2):  # the first may find nothing in the system's file cache
        with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
            starts.append(run_step(start, Path(name)))
    print_table(
        "Start of the window",
        ["start", "window, s", "sample opened to first probabilities, s", "of every row, s"],
        [
            [str(place), *(f"{got[key]:.2f}" for key in ("window", "first", "all"))]
            for place, got in enumerate(starts, start=1)
        ],
        [
            "From the start of the process until the window is painted and waits for the user. The sample is "
            "opened at that moment, while the model loads behind."
        ],
    )
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        folder = Path(name)
        write_table(folder / TABLE, rows)
        beats = run_step(work, folder, str(seconds))
    print_beats(
        f"How late the GUI thread is, ms, with {rows:,} rows and {len(LABELS)} labels",
        beats,
        f"Scoring is watched for {seconds:g} s and then stopped.",
    )


def run_finetune(*, rows: int) -> None:
    """Measure and print how the window feels while a model learns from ``rows``, and how soon it stops."""
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        write_table(Path(name) / TABLE, rows)
        got = run_step(tune, Path(name))
    print_beats(
        f"Fine-tuning on {rows:,} rows and {len(LABELS)} labels, its panel in sight: GUI thread late, ms",
        got["phases"],
        f"Stop and keep: the version was there after {got['stop']:.2f} s; "
        f"cancel: nothing ran any more after {got['cancel']:.2f} s.",
    )


def print_beats(title: str, phases: Mapping[str, Sequence[float]], note: str) -> None:
    """Print how late a heart was in each phase: seconds, beats, then median, percentile and most in ms."""
    print_table(
        title,
        ["while", "seconds", "beats", "median", f"{PERCENTILE}th", "latest"],
        [
            [phase, f"{took:.1f}", f"{count:.0f}", *(f"{value:.1f}" for value in (middle, high, most))]
            for phase, (took, count, middle, high, most) in phases.items()
        ],
        [f"A beat every {BEAT_MS} ms. {note}"],
    )


def run_step(step: Callable[..., None], folder: Path, *arguments: str) -> dict[str, Any]:
    """Run a step in a process of its own and return what it prints last."""
    code = f"import sys; from {step.__module__} import {step.__name__} as step; step(*sys.argv[1:])"
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen",
        "SCE_DESKTOP_HOME": str(folder / "home"),
        STARTED: repr(time.time()),
    }
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


class Program:
    """The window as the program makes it, driven from here; ended as by its button."""

    def __init__(self) -> None:
        from PySide6.QtCore import QTimer

        from sce_desktop.app import make_application, make_window
        from sce_desktop.controllers.controllers import Controllers
        from sce_desktop.controllers.jobs import WorkerQueues
        from sce_desktop.settings import Settings
        from sce_desktop.ui.kit.appearance import Theme

        self.app = make_application()
        self.workers = WorkerQueues()
        theme = Theme(self.app, "light")
        self.controllers: Controllers = Controllers(self.workers, Settings.load())
        self.window = make_window(self.controllers, theme)
        self.window.show()
        idle: list[bool] = []
        QTimer.singleShot(0, lambda: idle.append(True))
        self.until(lambda: idle)

    def until(self, ready: Callable[[], object]) -> None:
        """Run the event loop until ``ready``, asked after everything that happens and every 20 ms.

        Raises:
            TimeoutError: It takes too long.
        """
        from PySide6.QtCore import QEventLoop, QTimer

        asking = QTimer()
        asking.start(20)  # wakes the loop
        end = time.monotonic() + PATIENCE_S
        while not ready():
            if time.monotonic() > end:
                raise TimeoutError("what is measured does not come to its end")
            self.app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)

    def scores_shown(self) -> list[bool]:
        """Say of every row of the table's first screen whether its probabilities are there to be drawn."""
        from sce_desktop.ui.rows.rows_model import ROW_ROLE, Column
        from sce_desktop.ui.rows.rows_view import RowsView

        (view,) = self.window.findChildren(RowsView)
        data = [
            view.model.index(place, Column.SCE).data(ROW_ROLE) for place in range(len(view.model.ids[:15]))
        ]
        return [bool(row is not None and row.scores and row.scores[0] is not None) for row in data]

    def end(self) -> None:
        """Close the window and join the workers."""
        self.window.close()
        self.until(lambda: not self.window.isVisible())
        for worker in self.workers:
            worker.close()


def start(folder: str) -> None:
    """Start, open the sample, wait for probabilities."""
    started = float(os.environ[STARTED])
    program = Program()
    shown = time.time()
    program.session.warm_up()
    program.session.open_sample()
    program.until(lambda: any(program.scores_shown()))
    first = time.time()
    program.until(lambda: program.session.runs and program.session.scorer.job is None)
    print(json.dumps({"window": shown - started, "first": first - shown, "all": time.time() - shown}))
    program.end()


class Heart:
    """Beats in the GUI thread and notes how late each beat is."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.phases: dict[str, tuple[float, ...]] = {}  # seconds, beats, median, high percentile, most
        self._late: list[float] = []
        self._last = 0.0
        self._timer = QTimer(interval=BEAT_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    def _beat(self) -> None:
        now = time.perf_counter()
        self._late.append(max(0.0, (now - self._last) * 1000 - BEAT_MS))
        self._last = now

    def during(self, phase: str, live: Callable[[], object]) -> None:
        """Beat while ``live`` runs the event loop."""
        self._late = []
        begun = self._last = time.perf_counter()
        self._timer.start()
        live()
        self._timer.stop()
        late = self._late or [0.0]
        high = np.percentile(late, [50, PERCENTILE, 100])
        self.phases[phase] = (time.perf_counter() - begun, len(self._late), *map(float, high))


def tune(folder: str) -> None:
    """Label every row as the model does, fine-tune with a beating heart, then stop and cancel at work."""
    from sce_desktop.core.annotations import Decision, Label
    from sce_desktop.core.choices import ImportChoices
    from sce_desktop.core.training import FinetuneSettings

    table = Path(folder) / TABLE
    program, heart = Program(), Heart()
    controllers, until = program.session, program.until
    controllers.projects.warm_up()
    with table.open(encoding="utf-8", newline="") as file:
        text = next(csv.reader(file)).index("text")
    previews: list[TablePreview] = []
    controllers.projects.preview(table).finished.connect(previews.append)
    until(lambda: previews)
    controllers.projects.import_table(ImportChoices(table, previews[0].options, (text,)))
    until(lambda: controllers.workspace.counts is not None and controllers.scorer.ready)
    controllers.edits.set_labels([Label(name) for name in LABELS])
    controllers.scorer.score()
    until(lambda: controllers.scorer.job is None)
    project = controllers.workspace.project
    assert project is not None
    ids, tops = project.run_arrays(controllers.workspace.runs[0].id)[:2]
    for place, label in enumerate(controllers.workspace.labels):
        if len(mine := ids[tops == place]):
            controllers.edits.decide(mine.tolist(), Decision.LABEL, [label.id or 0])
            until(lambda: not controllers.workspace.workers.edits.busy)  # a long edit refuses the next one
    program.window.docks["Fine-tune"].bring()
    until(lambda: not controllers.workspace.workers.reads.busy)
    tuner = controllers.tuner

    def learn() -> None:
        tuner.start(FinetuneSettings())
        until(lambda: tuner.job is None)

    heart.during("a fine-tune runs", learn)
    took: dict[str, float] = {}
    for what, stop in (("stop", tuner.stop_and_keep), ("cancel", tuner.cancel)):
        tuner.start(FinetuneSettings(seed=1))
        until(lambda: tuner.job is None or tuner.job.stage == "fine-tuning")
        wait = time.monotonic() + 0.5
        until(lambda wait=wait: time.monotonic() > wait)
        begun = time.perf_counter()
        stop()
        until(lambda: tuner.job is None)
        took[what] = time.perf_counter() - begun
    version = tuner.versions[0]

    def use() -> None:
        controllers.scorer.use_version(version.id)
        until(lambda: controllers.scorer.job is None)

    heart.during("its version scores every row", use)
    print(json.dumps({"phases": heart.phases, **took}))
    program.end()


def work(folder: str, seconds: str) -> None:
    """Load the model, import, score and export, with a beating heart."""
    from sce_desktop.core.annotations import Label
    from sce_desktop.core.choices import ExportChoices, ImportChoices

    table = Path(folder) / TABLE
    program, heart = Program(), Heart()
    controllers, until = program.session, program.until
    end = time.monotonic() + 1
    heart.during("nothing is done", lambda: until(lambda: time.monotonic() > end))
    controllers.projects.warm_up()
    heart.during("the model loads", lambda: until(lambda: controllers.scorer.ready))
    with table.open(encoding="utf-8", newline="") as file:
        text = next(csv.reader(file)).index("text")
    previews: list[TablePreview] = []  # read as the import dialog finds out
    controllers.projects.preview(table).finished.connect(previews.append)
    until(lambda: previews)
    controllers.projects.import_table(ImportChoices(table, previews[0].options, (text,)))
    heart.during(
        "rows are imported and counted", lambda: until(lambda: controllers.workspace.counts is not None)
    )
    until(lambda: not controllers.workspace.workers.files.busy)
    controllers.edits.set_labels([Label(name) for name in LABELS])
    controllers.scorer.score()
    until_then = time.monotonic() + float(seconds)
    heart.during("rows are scored", lambda: until(lambda: time.monotonic() > until_then))
    controllers.scorer.stop()
    until(lambda: controllers.scorer.job is None)
    out = Path(folder) / "export.csv"
    job = controllers.projects.export_table(ExportChoices(out, "all", None, excel_safe=False))
    assert job is not None
    heart.during("rows are exported", lambda: until(out.exists))
    print(json.dumps(heart.phases))
    program.end()
