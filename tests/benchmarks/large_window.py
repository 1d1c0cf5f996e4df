"""The window with a million rows and with ten: every action, until the window answers, and what it holds.

An answer is what a user sees first: the rows painted, or for work that takes long a progress that can be
cancelled. Beside it stands how long the window was away at the most, by a timer of the GUI thread, which is
what a key or a click would have waited: an action may take seconds in a worker and never freeze the window.
Rows and scores are made (`large_project`); no model has to run, but one is loaded for its memory.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.large_project import make
from tests.benchmarks.measure import peak_memory_mb, print_table
from tests.benchmarks.review import Painted
from tests.benchmarks.window import BEAT_MS, Program, run_step

QUIET_S = 900.0  # for work behind an answer
PROJECT = "large.sce"
NO_MODEL = "SCE_DESKTOP_BENCH_NO_MODEL"  # set: none is loaded, for a look at a busy machine
ONLY = "SCE_DESKTOP_BENCH_PARTS"  # names of parts of `large_actions`, and of `large_ends`


def run(
    *, rows: int, labels: int, multi_label: bool, project: Path | None, pictures: Path | None, times: int
) -> None:
    """Measure and print; ``project``: one that `large_project` made before, ``pictures``: folder for them."""
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        path = project or Path(name) / PROJECT
        if not path.exists():
            make(path, rows=rows, labels=labels, multi_label=multi_label)
        got = run_step(drive, Path(name), str(path), str(pictures or ""), str(times))
    parts = ", ".join(f"{name} {most:,.0f}" for name, most in got["parts"].items())
    several = ", several a row" if got["multi_label"] else ""
    print_table(
        f"The window with {got['rows']:,} rows and {got['labels']} labels{several}, ms",
        [
            "what",
            "times",
            "median",
            "99th",
            "worst",
            "processor",
            "window",
            "away",
            "rows, s",
            "all, s",
            "MB",
        ],
        [
            [
                what,
                str(len(one["times"])),
                *(f"{value:.1f}" for value in np.percentile(one["times"], [50, 99, 100])),
                f"{np.percentile(one['processor'], 99):.1f}",
                f"{np.percentile(one['window'], 99):.1f}",
                f"{max(one['away'], default=0.0):.0f}",
                *(f"{max(one[key]):.1f}" if one[key] else "" for key in ("rows", "whole")),
                f"{max(one['memory']):,.0f}",
            ]
            for what, one in got["actions"].items()
        ],
        [
            "Until the window answers: shows the first rows or, of work that takes long, a progress with a "
            "button to cancel it. Processor: 99th percentile of what the whole process took of it for that, "
            "and window: its GUI thread alone; where others use the machine these say more than the clock. "
            "Away: the longest time by the clock that the window took no input, until all of it was done. "
            "Rows: where a progress came first, until the first right rows were painted. All: until the work "
            "behind the answer was done. MB: what the process held at the most meanwhile, files not counted.",
            f"File {got['file_mb']:,.0f} MB. Memory that no file backs: {got['model_mb']:,.0f} MB with the "
            f"model loaded and no project, {got['settled_mb']:,.0f} MB at the end, "
            f"{got['anon_mb']:,.0f} MB at the most ({parts}); "
            f"{got['peak_mb']:,.0f} MB at the most with pages of files, such as libraries.",
        ],
    )


def memory_mb() -> float:
    """Return what this process holds now, in MB; pages of files that it maps are not counted."""
    status = Path("/proc/self/status")
    if not status.exists():
        return peak_memory_mb()
    found = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines())
    return int(found["RssAnon"].split()[0]) * 1024 / 1e6


class Memory:
    """Notes how much this process held at the most, looked at fifty times a second.

    ``lately`` is the most since somebody set it to nothing.
    """

    def __init__(self) -> None:
        self.most = self.lately = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(0.02):
            now = memory_mb()
            self.most, self.lately = max(self.most, now), max(self.lately, now)

    def take(self) -> float:
        """Return the most since the last call."""
        most, self.most = self.most, 0.0
        return most

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()


class Driver:
    """Drives the window; notes how long each action took to be answered, and the window was away."""

    def __init__(self, program: Program, pictures: Path | None, times: int, memory: Memory) -> None:
        from PySide6.QtCore import Qt, QTimer

        from sce_desktop.ui.rows.rows_view import RowsView

        self.program = program
        self.pictures = pictures
        self.times = times
        self.memory = memory
        self.actions: dict[str, dict[str, list[float]]] = {}
        (self.view,) = program.window.findChildren(RowsView)
        self.table = self.view.table.viewport()
        self.painted = Painted(self.table)
        self._last, self._away = time.perf_counter(), 0.0
        self._timer = QTimer(interval=BEAT_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now = time.perf_counter()
        self._away = max(self._away, (now - self._last) * 1000 - BEAT_MS)
        self._last = now

    def beat_again(self) -> float:
        """Return the longest time that the window took no input, in ms, and look for it from here on."""
        self._beat()
        away, self._away = self._away, 0.0
        return away

    def settle(self) -> None:
        """Wait until nothing is read or counted any more."""
        workers, timer = self.program.controllers.workspace.workers, self.program.controllers.workspace

        def idle() -> bool:
            counting = timer._count_soon.isActive()
            busy = (workers.reads, workers.orders, workers.counts, workers.edits, workers.files)
            return not (counting or self.view.model.finder.busy or any(worker.busy for worker in busy))

        self.until(idle)

    def until(self, ready: Callable[[], object]) -> None:
        """Run the event loop until ``ready``, for longer than `Program.until` would."""
        end = time.monotonic() + QUIET_S
        while True:
            with suppress(TimeoutError):
                return self.program.until(ready)
            if time.monotonic() > end:
                raise TimeoutError("what is measured does not come to its end")

    def act(
        self,
        what: str,
        change: Callable[[], object],
        answered: Callable[[float], object],
        *,
        rows: Callable[[float], object] | None = None,
        whole: Callable[[], object] | None = None,
        at_once: bool = False,
    ) -> None:
        """Make ``change``, wait until it is ``answered`` (given when it began), then until it is done.

        ``rows``: whether what was asked for is there, where the answer may be a progress.
        """
        if not at_once:
            self.settle()
        note = self.actions.setdefault(
            what, {key: [] for key in ("times", "processor", "window", "away", "rows", "whole", "memory")}
        )
        self.memory.lately = 0.0
        self.beat_again()
        used, by_window = time.process_time(), time.thread_time()
        start = time.perf_counter()
        change()
        self.until(lambda: answered(start))
        note["times"].append((time.perf_counter() - start) * 1000)
        note["processor"].append((time.process_time() - used) * 1000)
        note["window"].append((time.thread_time() - by_window) * 1000)
        if rows is not None and not rows(start):
            self.until(lambda: rows(start))
            note["rows"].append(time.perf_counter() - start)
        if whole is not None:
            self.until(whole)
            note["whole"].append(time.perf_counter() - start)
        note["away"].append(self.beat_again())
        note["memory"].append(max(self.memory.lately, memory_mb()))
        print(
            what,
            f"{note['times'][-1]:.0f} ms, processor {note['processor'][-1]:.0f} {note['window'][-1]:.0f}",
            note["rows"][-1:],
            note["whole"][-1:],
            f"away {note['away'][-1]:.0f} ms, {note['memory'][-1]:,.0f} MB",
            file=sys.stderr,
        )

    def shown(self, start: float) -> bool:
        """Whether rows have been painted since ``start``, all of those on the screen."""
        first, last = self.view.table.shown_places()
        places = range(first, last + 1)
        here = all(self.view.model.row_at(place) is not None for place in places)
        empty = self.view.pages.currentIndex() == 1 and self.view.model.counted
        return empty or (here and self.painted.since(start, self.table))

    def query(self, what: str, wanted: Callable[[], Any]) -> None:
        """Ask another query; answered when its first rows are painted, or a progress is shown."""
        navigation, found = self.program.controllers.navigation, list[float]()

        def on_found() -> None:
            found.append(time.perf_counter())
            self.table.update()  # the same rows again are painted again

        heard = self.view.model.idsChanged.connect(on_found)
        workers, finder = self.program.controllers.workspace.workers, self.view.model.finder

        def in_progress() -> bool:
            return any(not job.quiet for job in workers.orders.jobs) and bool(self.view.hint.text())

        self.act(
            what,
            lambda: navigation.set_query(wanted()),
            lambda _start: (found and self.shown(found[-1])) or in_progress(),
            rows=lambda _start: found and self.shown(found[-1]),
            whole=lambda: not (finder.busy or workers.reads.busy or workers.orders.busy),
        )
        self.view.model.idsChanged.disconnect(heard)

    def picture(self, name: str) -> None:
        """Keep what the window looks like, if that is wanted."""
        if self.pictures is not None:
            self.pictures.mkdir(parents=True, exist_ok=True)
            self.program.app.processEvents()
            self.program.window.grab().save(str(self.pictures / f"{name}.png"))


def drive(folder: str, path: str, pictures: str, times: str) -> None:
    """Do everything that there is to do with a large project, and print what it took."""
    from tests.benchmarks import large_actions, large_ends

    program = Program()
    controllers = program.controllers
    program.window.resize(1440, 900)
    if os.environ.get(NO_MODEL) is None:
        controllers.projects.warm_up()
        program.until(lambda: controllers.scorer.ready)
    model_mb = memory_mb()
    memory, most = Memory(), dict[str, float]()
    driver = Driver(program, Path(pictures) if pictures else None, int(times), memory)
    file_mb = Path(path).stat().st_size / 1e6
    large_actions.opening(driver, Path(path))
    most["opening"] = memory.take()
    project = controllers.workspace.project
    assert project is not None
    labels, several = len(controllers.workspace.labels), controllers.workspace.label_set.multi_label
    only = os.environ.get(ONLY, "").split()
    for name, part in (large_actions.PARTS | large_ends.PARTS).items():
        if name in (only or large_actions.PARTS):
            part(driver, Path(folder))
            driver.settle()
            most[name] = memory.take()
    memory.end()
    got = {
        "rows": project.row_count(),
        "labels": labels,
        "multi_label": several,
        "actions": driver.actions,
        "file_mb": file_mb,
        "model_mb": model_mb,
        "settled_mb": memory_mb(),
        "anon_mb": max(most.values()),
        "parts": most,
        "peak_mb": peak_memory_mb(),
    }
    program.end()
    print(json.dumps(got))
