"""Importing and exporting a large table beside a plain reader and a plain database: seconds and memory.

Every step runs in a process of its own, so that its peak memory is its own. The steps are functions of this
module that take the folder and print what they measured.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from tests.benchmarks.measure import peak_memory_mb, print_table

COLUMNS = ("id", "text", "category", "amount")
TABLE, FLOOR, PROJECT, EXPORT = "table.csv", "floor.sqlite", "project.sce", "export.csv"
LABELS = 20
Measured = dict[str, float]


def run(*, rows: int) -> None:
    """Generate a table, run every step, print."""
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        folder = Path(name)
        write_table(folder / TABLE, rows)
        size = (folder / TABLE).stat().st_size / 1e6
        floor = _step(read_and_insert, folder)
        ours = _step(import_project, folder)
        index = _step(build_index, folder)
        export = _step(export_project, folder)
        bare = (folder / PROJECT).stat().st_size / 1e6
        _step(score_project, folder)
        scored_csv = _step(export_scored_csv, folder)
        scored_parquet = _step(export_scored_parquet, folder)
        delays = _step(cancel_delays, folder)
        project = (folder / PROJECT).stat().st_size / 1e6

        def line(name: str, got: Measured) -> list[str]:
            seconds = got["seconds"]
            return [
                *(name, f"{seconds:.1f}", f"{seconds / floor['seconds']:.2f}"),
                *(f"{rows / seconds:,.0f}", f"{got['peak_mb']:.0f}"),
            ]

        print_table(
            f"A table of {rows:,} x {len(COLUMNS)}, {size:.0f} MB of csv",
            ["step", "seconds", "of read + insert", "rows/s", "peak MB"],
            [
                line("read + insert (pyarrow, sqlite3)", floor),
                line("import into a project", ours),
                line("search index, behind the work", index),
                line("export to csv", export),
                line(f"export to csv, scored, {LABELS} labels", scored_csv),
                line(f"export to parquet, scored, {LABELS} labels", scored_parquet),
            ],
            [
                f"pyarrow read {floor['read']:.1f} s, insert {floor['insert']:.1f} s. "
                f"The project with its search index has {bare:.0f} MB, of which the "
                f"index {index['index_mb']:.0f}, "
                f"with scores {project:.0f} MB. Memory is of the whole process.",
                "Longest time between two looks at whether to go on, ms: "
                + ", ".join(f"{name} {1000 * delays[name]:.0f}" for name in ("import", "index", "export")),
            ],
        )


def _step(step: Callable[[Path], Measured], folder: Path) -> Measured:
    command = [sys.executable, "-m", __name__, step.__name__, str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: Measured = json.loads(done.stdout.splitlines()[-1])
    return measured


def write_table(path: Path, rows: int, seed: int = 0) -> None:
    """Write ``rows`` made-up rows: id, a text of 211 characters on average with a comma, category, amount."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    words = ["".join(rng.choice(letters[:22], rng.integers(2, 11))) for _ in range(20_000)]
    share = 1 / np.arange(1, len(words) + 1)  # Zipf: a few words make up most of a text
    cumulative = np.cumsum(share) / share.sum()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for start in range(0, rows, 10_000):
            count = min(10_000, rows - start)
            lengths = rng.integers(10, 48, count)
            drawn = iter(np.searchsorted(cumulative, rng.random(int(lengths.sum()))).tolist())
            categories, amounts = rng.integers(0, 50, count), rng.random(count) * 1000
            for i in range(count):
                text = [words[next(drawn)] for _ in range(lengths[i])]
                text[5] += ","
                writer.writerow((start + i, " ".join(text), f"category {categories[i]}", f"{amounts[i]:.2f}"))


def read_and_insert(folder: Path) -> Measured:
    """The floor: pyarrow's reader with every column a string, sqlite3's executemany of the same rows."""
    import pyarrow as pa
    from pyarrow import csv as pa_csv

    started = time.perf_counter()
    options = pa_csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, pa.string()))
    table = pa_csv.read_csv(folder / TABLE, convert_options=options)
    read = time.perf_counter()
    database = sqlite3.connect(folder / FLOOR, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(
        "CREATE TABLE row (key INTEGER PRIMARY KEY, id TEXT, text TEXT, category TEXT, amount TEXT)"
    )
    for batch in _tuples(table):
        database.execute("BEGIN IMMEDIATE")
        database.executemany("INSERT INTO row (id, text, category, amount) VALUES (?, ?, ?, ?)", batch)
        database.execute("COMMIT")
    database.close()
    end = time.perf_counter()
    return {"seconds": end - started, "read": read - started, "insert": end - read}


def _tuples(table: object, size: int = 10_000) -> Iterator[list[tuple[str, ...]]]:
    for batch in table.to_batches(max_chunksize=size):  # type: ignore[attr-defined]
        yield list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def import_project(folder: Path) -> Measured:
    """Our import, until every row is in the project and the project is closed into one file."""
    from sce_desktop.core.progress import SilentProgress
    from sce_desktop.tasks.tables.tables import import_table

    started = time.perf_counter()
    project = import_table(folder / PROJECT, folder / TABLE, text_columns=["text"], progress=SilentProgress())
    project.close()
    return {"seconds": time.perf_counter() - started}


def build_index(folder: Path) -> Measured:
    """The search index, which the window builds behind the work."""
    from sce_desktop.store.project import Project

    with Project.open(folder / PROJECT) as project:
        before = (folder / PROJECT).stat().st_size
        started = time.perf_counter()
        project.build_search_index()
        seconds = time.perf_counter() - started
    return {"seconds": seconds, "index_mb": ((folder / PROJECT).stat().st_size - before) / 1e6}


def export_project(folder: Path, name: str = EXPORT) -> Measured:
    """Export of every row."""
    from sce_desktop.core.progress import SilentProgress
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.tables.tables import export_table

    with Project.open(folder / PROJECT) as project:
        started = time.perf_counter()
        export_table(project, folder / name, progress=SilentProgress())
        return {"seconds": time.perf_counter() - started}


def score_project(folder: Path) -> Measured:
    """Scores for every row, drawn at random."""
    from sce_desktop.core.annotations import Label
    from sce_desktop.core.runs import Scores
    from sce_desktop.store.project import Project

    rng = np.random.default_rng(0)
    with Project.open(folder / PROJECT) as project:
        label_set = project.set_labels([Label(f"label {number}") for number in range(LABELS)])
        run = project.open_run("sce", "sce", "drawn at random", "random", label_set.labels)
        project.activate(run.id)
        row_ids = project.row_ids()
        for start in range(0, len(row_ids), 5_000):
            some = row_ids[start : start + 5_000]
            drawn = rng.random((len(some), LABELS), dtype=np.float32) ** 8
            project.add_scores(run.id, some, Scores(drawn / drawn.sum(axis=1, keepdims=True)))
        project.finish_run(run.id)
    return {"seconds": 0.0}


def export_scored_csv(folder: Path) -> Measured:
    """Export of every scored row to csv."""
    return export_project(folder)


def export_scored_parquet(folder: Path) -> Measured:
    """Export of every scored row to parquet."""
    return export_project(folder, "export.parquet")


class _Looks:
    """Measures the longest time between two calls of ``check``: a cancel waits no longer."""

    def __init__(self) -> None:
        self._before = time.perf_counter()
        self.longest = 0.0

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Do nothing."""

    def warn(self, message: str) -> None:
        """Do nothing."""

    def check(self) -> None:
        """Look at the clock."""
        now = time.perf_counter()
        self.longest, self._before = max(self.longest, now - self._before), now


def cancel_delays(folder: Path) -> Measured:
    """How long cancelling waits at most in each step."""
    from sce_desktop.tasks.tables.tables import export_table, import_table

    importing, indexing, exporting = _Looks(), _Looks(), _Looks()
    with import_table(
        folder / "again.sce", folder / TABLE, text_columns=["text"], progress=importing
    ) as project:
        indexing.check()
        indexing.longest = 0.0
        project.build_search_index(indexing)
        exporting.check()
        exporting.longest = 0.0
        export_table(project, folder / EXPORT, progress=exporting)
    return {"import": importing.longest, "index": indexing.longest, "export": exporting.longest}


if __name__ == "__main__":
    measured = globals()[sys.argv[1]](Path(sys.argv[2]))
    print(json.dumps(measured | {"peak_mb": peak_memory_mb()}))
