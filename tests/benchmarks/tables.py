"""Importing and exporting a large table beside a plain reader and a plain database: seconds and memory.

Every step runs in a process of its own, so that its peak memory and its processor time are its own. The steps
are functions of this module that take the folder and the number of rows, and print what they measured.
"""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from tests.benchmarks.measure import peak_memory_mb, print_table

COLUMNS = ("id", "text", "category", "amount")
FLOOR, PROJECT, SCORED, EXPORT = "floor.sqlite", "project.sce", "scored.sce", "export"
LABELS = 20
STEPS: Final = {
    "read-insert": "read + insert (pyarrow, sqlite3)",
    "import": "import into a project",
    "index": "search index, behind the work",
    "csv": "export to csv",
    "scored-csv": f"export to csv, scored, {LABELS} labels",
    "scored-parquet": f"export to parquet, scored, {LABELS} labels",
}
"""What can be measured, in its order. `read-insert` is what the others are compared with."""
Measured = dict[str, float]


def run(*, rows: int, steps: Sequence[str] = (), folder: Path | None = None) -> None:
    """Generate a table, run ``steps`` (none: all), print.

    What an earlier run has left in ``folder`` is used again: the table, the project, the scored project.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
            _run(Path(name), rows, steps or tuple(STEPS))
    else:
        folder.mkdir(parents=True, exist_ok=True)
        _run(folder, rows, steps or tuple(STEPS))


def _run(folder: Path, rows: int, steps: Sequence[str]) -> None:
    table = table_of(folder, rows)
    if not table.exists():
        write_table(table, rows)
    measured: dict[str, Measured] = {}
    for name in STEPS:
        if name not in steps:
            continue
        if name not in ("read-insert", "import") and not (folder / PROJECT).exists():
            _step(import_project, folder, rows)
        if name.startswith("scored") and not (folder / SCORED).exists():
            _step(score_project, folder, rows)
        measured[name] = _step(_FUNCTIONS[name], folder, rows)
    floor = measured.get("read-insert", {}).get("seconds")

    def line(name: str, got: Measured) -> list[str]:
        seconds = got["seconds"]
        return [
            *(STEPS[name], f"{seconds:.1f}", f"{seconds / floor:.2f}" if floor else "-"),
            *(f"{got['processor']:.1f}", f"{rows / seconds:,.0f}", f"{got['peak_mb']:.0f}"),
            f"{1000 * got['longest_wait']:.0f}" if "longest_wait" in got else "-",
        ]

    notes = [
        f"{STEPS[name]}: {text}, MB {got['megabytes']:.0f}."
        for name, text in (("import", "project"), ("index", "index"))
        if (got := measured.get(name))
    ]
    if got := measured.get("read-insert"):
        notes.insert(0, f"pyarrow read {got['read']:.1f} s, insert {got['insert']:.1f} s.")
    print_table(
        f"A table of {rows:,} x {len(COLUMNS)}, {table.stat().st_size / 1e6:.0f} MB of csv",
        ["step", "seconds", "of read + insert", "processor s", "rows/s", "peak MB", "cancel ms"],
        [line(name, got) for name, got in measured.items()],
        [
            *notes,
            "Memory is of the whole process, processor time of all its threads. "
            "Cancel: the longest time between two looks at whether to go on.",
        ],
    )


def table_of(folder: Path, rows: int) -> Path:
    """Return where the generated table lies."""
    return folder / f"table-{rows}.csv"


def _step(step: Callable[[Path, int], Measured], folder: Path, rows: int) -> Measured:
    command = [sys.executable, "-m", __name__, step.__name__, str(folder), str(rows)]
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


def read_and_insert(folder: Path, rows: int) -> Measured:
    """The floor: pyarrow's reader with every column a string, sqlite3's executemany of the same rows."""
    import pyarrow as pa
    from pyarrow import csv as pa_csv

    (folder / FLOOR).unlink(missing_ok=True)
    started, processor = time.perf_counter(), time.process_time()
    options = pa_csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, pa.string()))
    table = pa_csv.read_csv(table_of(folder, rows), convert_options=options)
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
    return {
        "seconds": end - started,
        "processor": time.process_time() - processor,
        "read": read - started,
        "insert": end - read,
    }


def _tuples(table: object, size: int = 10_000) -> Iterator[list[tuple[str, ...]]]:
    for batch in table.to_batches(max_chunksize=size):  # type: ignore[attr-defined]
        yield list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


class _Looks:
    """A progress that measures the longest time between two calls of ``check``: a cancel waits no longer."""

    def __init__(self) -> None:
        self._started = self._before = time.perf_counter()
        self._processor = time.process_time()
        self.longest = 0.0

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Do nothing."""

    def warn(self, message: str) -> None:
        """Do nothing."""

    def check(self) -> None:
        """Look at the clock."""
        now = time.perf_counter()
        self.longest, self._before = max(self.longest, now - self._before), now

    def measured(self) -> Measured:
        """Return the seconds since the beginning, and the longest wait, the one before the end among them."""
        self.check()
        return {
            "seconds": time.perf_counter() - self._started,
            "processor": time.process_time() - self._processor,
            "longest_wait": self.longest,
        }


def import_project(folder: Path, rows: int) -> Measured:
    """Our import, until every row is in the project and the project is closed into one file."""
    from sce_desktop.tasks.tables.tables import import_table

    (folder / PROJECT).unlink(missing_ok=True)
    looks = _Looks()
    project = import_table(folder / PROJECT, table_of(folder, rows), text_columns=["text"], progress=looks)
    project.close()
    return looks.measured() | {"megabytes": (folder / PROJECT).stat().st_size / 1e6}


def build_index(folder: Path, rows: int) -> Measured:
    """The search index, which the window builds behind the work."""
    from sce_desktop.store.project import Project

    indexed = folder / "indexed.sce"
    shutil.copyfile(folder / PROJECT, indexed)
    with Project.open(indexed) as project:
        looks = _Looks()
        project.build_search_index(looks)
        measured = looks.measured()
    measured["megabytes"] = (indexed.stat().st_size - (folder / PROJECT).stat().st_size) / 1e6
    indexed.unlink()
    return measured


def export_project(folder: Path, rows: int, *, project: str = PROJECT, ending: str = "csv") -> Measured:
    """Export of every row."""
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.tables.tables import export_table

    with Project.open(folder / project) as opened:
        looks = _Looks()
        written = export_table(opened, folder / f"{EXPORT}.{ending}", progress=looks)
        assert written == rows
        return looks.measured()


def score_project(folder: Path, rows: int) -> Measured:
    """Scores for every row, drawn at random, in a project of their own."""
    from sce_desktop.core.annotations import Label
    from sce_desktop.core.runs import Scores
    from sce_desktop.store.project import Project

    rng = np.random.default_rng(0)
    unfinished = folder / "unfinished.sce"
    shutil.copyfile(folder / PROJECT, unfinished)
    with Project.open(unfinished) as project:
        label_set = project.set_labels([Label(f"label {number}") for number in range(LABELS)])
        run = project.open_run("sce", "sce", "drawn at random", "random", label_set.labels)
        project.activate(run.id)
        row_ids = project.row_ids()
        for start in range(0, rows, 5_000):
            some = row_ids[start : start + 5_000]
            drawn = rng.random((len(some), LABELS), dtype=np.float32) ** 8
            project.add_scores(run.id, some, Scores(drawn / drawn.sum(axis=1, keepdims=True)))
        project.finish_run(run.id)
    unfinished.replace(folder / SCORED)
    return {}


def export_scored_csv(folder: Path, rows: int) -> Measured:
    """Export of every scored row to csv."""
    return export_project(folder, rows, project=SCORED)


def export_scored_parquet(folder: Path, rows: int) -> Measured:
    """Export of every scored row to parquet."""
    return export_project(folder, rows, project=SCORED, ending="parquet")


_FUNCTIONS: Final[dict[str, Callable[[Path, int], Measured]]] = {
    "read-insert": read_and_insert,
    "import": import_project,
    "index": build_index,
    "csv": export_project,
    "scored-csv": export_scored_csv,
    "scored-parquet": export_scored_parquet,
}


if __name__ == "__main__":
    measured = globals()[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps(measured | {"peak_mb": peak_memory_mb()}))
