"""What overwriting deleted records costs: `python -m tests.benchmarks.secure_delete [rows]`.

Imports and indexes rows with and without, in turns, and prints the processor seconds of each and their ratio.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sce_desktop.store.file import connections
from sce_desktop.store.project import Project

BATCH = 5_000
TURNS = 2


def batches(rows: int) -> Iterator[list[tuple[str, str]]]:
    """Give rows of some 180 characters."""
    for start in range(0, rows, BATCH):
        yield [
            (f"r{number}", f"text number {number} with some more words about parcel {number % 977}; " * 3)
            for number in range(start, min(rows, start + BATCH))
        ]


def measure(rows: int) -> tuple[float, float]:
    """Return the processor seconds of an import, and of it with its search index."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        with Project.create(Path(folder) / "p.sce") as project:
            project.add_rows(("ref", "text"), batches(rows), text_columns=[1], source={})
            imported = time.process_time() - start
            project.build_search_index()
        return imported, time.process_time() - start


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with_it = connections.overwrite_deleted
    seconds: dict[str, list[tuple[float, float]]] = {"off": [], "on": []}
    for setting in ("off", "on") * TURNS:
        connections.overwrite_deleted = (
            with_it if setting == "on" else lambda plain: plain.execute("PRAGMA secure_delete=OFF").fetchall()
        )
        seconds[setting].append(measure(rows))
    for place, what in enumerate(("import", "import and search index")):
        off, on = (sum(run[place] for run in seconds[setting]) / TURNS for setting in ("off", "on"))
        print(f"{what} of {rows:,} rows: {off:.2f} s without, {on:.2f} s with: {on / off:.2f} times")


if __name__ == "__main__":
    main()
