"""From an edit of a label to new scores: time, statements that reach SQLite, and what the window does for it.

One process, offscreen, a home of its own, the bundled model, on texts whose vectors are in its cache. A label
gets another name; the time goes on until the rows on the screen are painted with scores for that name, and
until every row has its score. Statements are counted by a trace callback on every connection of the project,
in whichever thread they are executed; calls of functions of ours in the GUI thread by ``sys.setprofile``, in
edits of their own, as that makes them slower.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.measure import print_table
from tests.benchmarks.review import Painted, _screen, make_project
from tests.benchmarks.window import Program, run_step

EDITS, PROFILED = 5, 2
LABELS = 12


def run(*, rows: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        make_project(Path(name) / "relabel.sce", rows, LABELS)
        got = run_step(relabel, Path(name))
    print_table(
        f"An edit of a label in a project of {rows:,} rows with {LABELS} labels",
        ["what", "edits", "median", "least", "most"],
        [
            [what, str(len(values)), f"{np.median(values):.0f}", f"{min(values):.0f}", f"{max(values):.0f}"]
            for what, values in got.items()
        ],
        ["Statements: everything that SQLite is given, BEGIN and COMMIT included."],
    )


@contextmanager
def traced(project: Any) -> Iterator[list[tuple[int, str]]]:
    """Note every statement of every thread with the thread that executes it."""
    import sqlalchemy as sa

    noted: list[tuple[int, str]] = []

    def note(statement: str) -> None:
        noted.append((threading.get_ident(), statement))

    def watch(plain: Any, *_: Any) -> None:
        plain.set_trace_callback(note)

    database = project._database
    engines = [engine for engine in (database._readers, database._writer) if engine is not None]
    for engine in engines:
        sa.event.listen(engine, "checkout", watch)
    try:
        yield noted
    finally:
        for engine in engines:
            sa.event.remove(engine, "checkout", watch)


@contextmanager
def profiled() -> Iterator[Counter[str]]:
    """Count calls of the program's functions in this thread."""
    calls: Counter[str] = Counter()

    def see(frame: Any, event: str, _argument: Any) -> None:
        if event == "call" and "sce_desktop" in frame.f_code.co_filename:
            calls[frame.f_code.co_qualname] += 1

    sys.setprofile(see)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def relabel(folder: str) -> None:
    """Rename labels one after the other, and watch."""
    from sce_desktop.ui.rows.rows_view import RowsView

    program = Program()
    controllers, until = program.controllers, program.until
    workspace, scorer = controllers.workspace, controllers.scorer
    controllers.projects.open_project(Path(folder) / "relabel.sce")
    until(lambda: workspace.counts is not None and not workspace.workers.reads.busy)
    controllers.projects.warm_up()
    until(lambda: scorer.ready)
    (view,) = program.window.findChildren(RowsView)
    painted = Painted(view.table.viewport())
    scorer.score()
    at_rest = _rest(controllers)
    until(at_rest)
    times: dict[str, list[float]] = {}
    project = workspace.project

    def edit(number: int) -> Callable[[], bool]:
        labels = list(workspace.labels)
        labels[number % LABELS] = replace(labels[number % LABELS], name=f"Another intent {number}")
        run_before = workspace.runs[0].id
        shown: list[float] = []

        def listen() -> None:
            fresh = workspace.runs[0].id != run_before
            if not shown and fresh and all(score is not None and not score.stale for score in _screen(view)):
                shown.append(time.perf_counter())

        heard = view.model.dataChanged.connect(listen)
        controllers.edits.set_labels(labels)

        def ready() -> bool:
            if shown and painted.since(shown[0], view.table.viewport()):
                view.model.dataChanged.disconnect(heard)
                return True
            return False

        return ready

    gui = threading.get_ident()
    for number in range(EDITS):
        jobs: list[str] = []
        signals: list[object] = []
        reads = workspace.workers.reads.jobSubmitted.connect(lambda job, jobs=jobs: jobs.append(job.title))
        heard = workspace.scoresChanged.connect(signals.append)
        with traced(project) as noted:
            start, began, own = time.perf_counter(), time.process_time(), time.thread_time()
            until(edit(number))
            _note(times, "ms of the GUI thread's own until then", (time.thread_time() - own) * 1000)
            _note(times, "ms of all cores until then", (time.process_time() - began) * 1000)
            _note(times, "ms to scores on the screen", (time.perf_counter() - start) * 1000)
            _note(times, "statements to scores on the screen", len(noted))
            _note(times, "of them in the GUI thread", sum(1 for thread, _ in noted if thread == gui))
            _note(times, "jobs that read", len(jobs))
            until(lambda: scorer.job is None)
            _note(times, "ms to scores of every row", (time.perf_counter() - start) * 1000)
            until(at_rest)
            _note(times, "ms of the GUI thread's own until all is at rest", (time.thread_time() - own) * 1000)
            _note(times, "ms of all cores until all is at rest", (time.process_time() - began) * 1000)
            _note(times, "statements until all is at rest", len(noted))
            _note(times, "of them in the GUI thread, too", sum(1 for thread, _ in noted if thread == gui))
            _note(times, "of them for the label set", sum("FROM label_sets" in text for _, text in noted))
            _note(
                times,
                "of them for scores by row",
                sum("probabilities, none" in t and "SELECT" in t for _, t in noted),
            )
            _note(times, "jobs that read until then", len(jobs))
            _note(times, "times that scores are said to be new", len(signals))
        workspace.workers.reads.jobSubmitted.disconnect(reads)
        workspace.scoresChanged.disconnect(heard)
    for number in range(EDITS, EDITS + PROFILED):
        with profiled() as calls:
            until(edit(number))
        _note(times, "calls in the GUI thread to scores on the screen", calls.total())
        until(at_rest)
    print(json.dumps(times))
    program.end()


def _note(times: dict[str, list[float]], what: str, value: float) -> None:
    times.setdefault(what, []).append(value)


def _rest(controllers: Any) -> Callable[[], bool]:
    workspace, scorer = controllers.workspace, controllers.scorer
    return lambda: (
        scorer.job is None
        and not workspace._count_soon.isActive()
        and not any(worker.busy for worker in workspace.workers)
    )
