"""Labelling at a steady pace through the real window while scoring, adding and exporting go on.

One process, offscreen, a home of its own. Ten keys a second decide rows, whether or not the window has kept
up: a key is timed from the moment it was due until the next row has been painted, so a late window is late
for every key behind it too. On Linux it is also timed from the moment it was pressed, less what its thread
waited for a processor: other programs on a busy machine change that less. Meanwhile the bundled model scores
the table, a second table is added again and again and all rows are exported again and again. What the window
acknowledged is compared with the file after it was closed.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.benchmarks.key_parts import KeyParts, print_parts
from tests.benchmarks.measure import peak_memory_mb, print_table
from tests.benchmarks.review import Painted
from tests.benchmarks.tables import write_table
from tests.benchmarks.window import LABELS, Program, run_step

PERIOD_S = 0.1
PHASE_S = 10.0  # with workers that give way, then without
SHARES = (50, 90, 99)
ADDED_ROWS = 2_000
PROJECT = "soak.sce"


def run(*, rows: int, minutes: float, alternate: bool = False) -> None:
    """Measure and print; ``rows`` of the first table.

    ``alternate``: every other 10 seconds no worker gives way (`core.giving_way`), and both are told apart.
    """
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        folder = Path(name)
        write_table(folder / "table.csv", rows)
        write_table(folder / "added.csv", ADDED_ROWS, seed=1)
        got = run_step(soak, folder, str(minutes * 60), "alternate" if alternate else "")
        lost = count_lost(folder / PROJECT, got["acknowledged"])
    times = got["ms"]
    print_table(
        f"{len(times):,} keys in {got['seconds']:.0f} s: {rows:,} rows scored, others added, all exported",
        ["what", "value"],
        [
            ["keys", f"{len(times):,}"],
            ["decisions acknowledged", f"{len(got['acknowledged']):,}"],
            ["of these not in the file", f"{lost:,}"],
            ["refused", f"{got['refused']:,}"],
            *(
                [f"{what}, ms, {name}", f"{np.percentile(got[key] or [np.nan], share):.0f}"]
                for what, key in (
                    ("from when a key is due to the next row painted", "ms"),
                    ("from the press", "pressed"),
                    ("from the press, without waiting for a processor", "own"),
                )
                for name, share in (("median", 50), ("99th", 99), ("most", 100))
            ),
            ["processor time of the GUI thread, ms a key", f"{got['gui'] * 1000 / len(times):.1f}"],
            ["processor time of the process, ms a key", f"{got['process'] * 1000 / len(times):.1f}"],
            ["rows scored", f"{got['scored']:,}"],
            ["tables added", f"{got['added']:,}"],
            ["exports", f"{got['exports']:,}"],
            ["memory, MB", f"{got['memory']:.0f}"],
        ],
    )
    print_parts(got["parts"])
    if alternate:
        print_table(
            "From the press to the next row painted, ms",
            ["workers", "keys", "median", "90th", "99th"],
            [
                [name, f"{len(got[key]):,}", *(f"{value:.0f}" for value in np.percentile(got[key], SHARES))]
                for name, key in (("give way", "with"), ("do not", "without"))
                if got[key]
            ],
        )


def count_lost(path: Path, acknowledged: dict[str, str]) -> int:
    """Count rows whose label in the file is not the one that was acknowledged last."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as reader:
        kept = dict(
            reader.execute("SELECT row_id, name FROM annotation_labels JOIN labels ON labels.id = label_id")
        )
    return sum(kept.get(int(row_id)) != name for row_id, name in acknowledged.items())


def soak(folder: str, seconds: str, how: str = "") -> None:
    """Import, start the work behind, decide by keys until the time is over."""
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtTest import QTest

    from sce_desktop.controllers import answering
    from sce_desktop.core.annotations import Label
    from sce_desktop.core.choices import ExportChoices, ImportChoices
    from sce_desktop.core.tables import TableOptions
    from sce_desktop.ui.rows.row_panel import RowPanel
    from sce_desktop.ui.rows.rows_view import RowsView

    table, added = Path(folder) / "table.csv", Path(folder) / "added.csv"
    program = Program()
    controllers, until = program.controllers, program.until
    controllers.projects.warm_up()
    with table.open(encoding="utf-8", newline="") as file:
        text = next(csv.reader(file)).index("text")
    choices = ImportChoices(table, TableOptions(), (text,), project_path=Path(folder) / PROJECT)
    controllers.projects.import_table(choices)
    until(lambda: controllers.workspace.counts is not None and controllers.scorer.ready)
    until(lambda: not controllers.workspace.workers.files.busy)
    controllers.edits.set_labels([Label(name) for name in LABELS])
    controllers.scorer.score()
    (view,) = program.window.findChildren(RowsView)
    (panel,) = program.window.findChildren(RowPanel)
    shown = panel.text.view.viewport()
    painted = Painted(view.table.viewport(), shown)
    acknowledged: dict[int, str] = {}
    counts = {"added": 0, "exports": 0, "refused": 0}
    project = controllers.workspace.project
    assert project is not None

    def note(row_ids: list[int], words: str) -> None:
        acknowledged.update(dict.fromkeys(row_ids, words))

    controllers.edits.decided.connect(note)

    over: list[bool] = []

    def add() -> None:
        if over:
            return
        job = controllers.projects.import_table(ImportChoices(added, TableOptions(), (text,), append=True))
        if job is not None:
            job.finished.connect(lambda _report: counts.update(added=counts["added"] + 1))
            job.ended.connect(export)

    def export() -> None:
        if over:
            return
        job = controllers.projects.export_table(ExportChoices(Path(folder) / "export.csv"))
        if job is not None:
            job.finished.connect(lambda _rows: counts.update(exports=counts["exports"] + 1))
            job.ended.connect(add)

    add()
    view.table.setFocus()
    keys = (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3)
    times: list[float] = []
    parts: list[tuple[float, ...]] = []
    watch = KeyParts(project)
    apart: dict[bool, list[float]] = {True: [], False: []}  # from the press, by whether workers give way
    begin_answer = answering.begin_answer
    begun, processor, thread = time.perf_counter(), time.process_time(), time.thread_time()
    ends = begun + float(seconds)
    wake = QTimer(singleShot=True, timerType=Qt.TimerType.PreciseTimer)  # `until` looks again then
    wake.timeout.connect(lambda: None)
    while (due := begun + len(times) * PERIOD_S) < ends:
        wake.start(max(0, round((due - time.perf_counter()) * 1000)))
        until(lambda due=due: time.perf_counter() >= due)
        gives = not how or (due - begun) % (2 * PHASE_S) < PHASE_S
        answering.begin_answer = begin_answer if gives else lambda: None
        before = controllers.navigation.current_row
        watch.begin()
        sent = time.perf_counter()
        QTest.keyClick(view.table, keys[len(times) % len(keys)])
        until(lambda sent=sent: painted.since(sent, view.table.viewport()) and painted.since(sent, shown))
        parts.append(watch.take())
        now = time.perf_counter()
        times.append((now - due) * 1000)
        apart[gives].append((now - sent) * 1000)
        counts["refused"] += before not in acknowledged
    took = time.perf_counter() - begun
    processor, thread = time.process_time() - processor, time.thread_time() - thread
    scored = project.row_count() - len(project.unscored_ids(controllers.workspace.runs[0].id))
    watch.end()
    over.append(True)
    controllers.scorer.stop()
    until(lambda: controllers.scorer.job is None and not controllers.workspace.workers.files.busy)
    program.end()
    print(
        json.dumps(
            {
                "ms": times,
                "own": [whole - processor for whole, _computing, processor, *_rest in parts],
                "parts": parts,
                "pressed": apart[True] + apart[False],
                "with": apart[True],
                "without": apart[False],
                "seconds": took,
                "gui": thread,
                "process": processor,
                "acknowledged": acknowledged,
                "scored": scored,
                "memory": peak_memory_mb(),
                **counts,
            }
        )
    )
