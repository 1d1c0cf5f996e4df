"""How long a decision takes while rows with labels are added: somebody labels 20 rows a second."""

from __future__ import annotations

import csv
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sce_desktop.core.annotations import Decision
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.tables import append_table, import_table

COLUMNS = ("id", "text", "topic")
TOPICS = [f"topic {number}" for number in range(12)]
SWITCH_SECONDS = 0.001  # as in the window
PERIOD_S = 0.05
ALONE_S = 5.0


def run(*, rows: int) -> None:
    """Measure and print."""
    sys.setswitchinterval(SWITCH_SECONDS)
    print(f"\nA decision, ms, 20 a second, while {rows:,} rows are added to as many; then the time of that")
    print(f"{'':34}{'decisions':>10}{'median':>9}{'99th':>9}{'most':>9}{'s':>8}")
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        folder = Path(name)
        for table in ("old", "new"):
            write(folder / f"{table}.csv", table, rows)
        measure(folder, "alone", lambda _project: time.sleep(ALONE_S))
        measure(folder, "rows", add(folder))
        measure(folder, "rows with labels", add(folder, gold_column=2))
        measure(folder, "rows with gold labels", add(folder, gold_column=2, as_gold=True))


def write(path: Path, word: str, rows: int) -> None:
    """Write a table of texts of usual length."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number in range(rows):
            text = (
                f"{word} {number}: the parcel did not come on {number % 28 + 1} May. " + "Where is it? " * 8
            )
            writer.writerow([number, text, TOPICS[number % len(TOPICS)]])


def add(folder: Path, **options: object) -> Callable[[Project], object]:
    """Return what adds the second table."""
    return lambda project: append_table(
        project,
        folder / "new.csv",
        progress=SilentProgress(),
        **options,  # type: ignore[arg-type]
    )


def measure(folder: Path, what: str, work: Callable[[Project], object]) -> None:
    """Label rows of the first table while ``work`` goes on in another thread; print a line."""
    path = folder / f"{what.replace(' ', '-')}.sce"
    import_table(
        path,
        folder / "old.csv",
        text_columns=[1],
        labels=clean_labels(TOPICS[:6]),
        progress=SilentProgress(),
    ).close()
    with Project.open(path) as project:
        label_set = project.label_set()
        assert label_set is not None
        ids = [label.id or 0 for label in label_set.labels]
        rows = project.row_count()
        project.build_search_index()
        for row_id in range(1, 11):  # warm
            project.decide([row_id], Decision.LABEL, [ids[0]])
        took: list[float] = []
        failed: list[BaseException] = []

        def working() -> None:
            try:
                work(project)
            except BaseException as error:
                failed.append(error)

        worker = threading.Thread(target=working)
        started = time.perf_counter()
        worker.start()
        due = started
        while worker.is_alive():
            before = time.perf_counter()
            project.decide([len(took) % rows + 1], Decision.LABEL, [ids[len(took) % len(ids)]])
            took.append(1000 * (time.perf_counter() - before))
            due = max(due + PERIOD_S, time.perf_counter())
            time.sleep(max(0.0, due - time.perf_counter()))
        seconds = time.perf_counter() - started
        worker.join()
        if failed:
            raise failed[0]
        median, late = np.percentile(took, [50, 99])
        print(f"{what:34}{len(took):>10,}{median:>9.1f}{late:>9.1f}{max(took):>9.1f}{seconds:>8.1f}")
