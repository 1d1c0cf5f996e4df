"""How long a cancel takes, from the wish to the moment when the work has ended and tidied up.

`tables` measures how long the work goes without a look at whether to go on; here it is stopped, at moments
spread evenly over it, and what is waited for includes what is removed afterwards. The space of a large file
is freed by a thread of its own, for which nobody waits: that has a column of its own.

    python -m tests.benchmarks.cancelling import --rows 1000000 --folder F --times 10

With ``--looks`` the wish comes right after a look, where it waits longest for the next one: after those whose
next look was longest in coming, and after the last ones.
"""

from __future__ import annotations

import argparse
import shutil
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Final

from sce_desktop.core.errors import Cancelled
from tests.benchmarks.measure import print_table
from tests.benchmarks.tables import PROJECT, SCORED, import_project, table_of, write_table


class _Stopped:
    """A progress that says to stop from ``at`` (time.perf_counter) on."""

    def __init__(self, at: float) -> None:
        self.at = at
        self.stage = ""

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Remember what is being done."""
        self.stage = stage

    def warn(self, message: str) -> None:
        """Do nothing."""

    def check(self) -> None:
        """Raise where it is time."""
        if time.perf_counter() >= self.at:
            raise Cancelled


Work = Callable[[_Stopped], None]


def importing(folder: Path, rows: int) -> Work:
    """Import of the generated table into a new project."""
    from sce_desktop.tasks.tables.tables import import_table

    def work(progress: _Stopped) -> None:
        target = folder / "cancelled.sce"
        import_table(
            target, table_of(folder, rows), text_columns=["text"], overwrite=True, progress=progress
        ).close()
        target.unlink()

    return work


def indexing(folder: Path, _rows: int) -> Work:
    """The search index of the project that is in the folder."""
    from sce_desktop.store.project import Project

    def work(progress: _Stopped) -> None:
        copy = folder / "cancelled.sce"
        progress.at -= time.perf_counter()
        shutil.copyfile(folder / PROJECT, copy)
        with Project.open(copy) as project:
            progress.at += time.perf_counter()
            project.build_search_index(progress)

    return work


def exporting(ending: str) -> Callable[[Path, int], Work]:
    """Export of all rows of the scored project that is in the folder."""

    def prepared(folder: Path, _rows: int) -> Work:
        from sce_desktop.store.project import Project
        from sce_desktop.tasks.tables.export import export_table

        def work(progress: _Stopped) -> None:
            target = folder / f"cancelled.{ending}"
            with Project.open(folder / SCORED) as project:
                export_table(project, target, progress=progress)
            target.unlink()

        return work

    return prepared


class _AtLook(_Stopped):
    """A progress that says to stop from the look after look ``at`` on; -1: never. Times of all looks."""

    def __init__(self, at: int) -> None:
        super().__init__(float("inf"))
        self.look = at
        self.times: list[tuple[float, float, str]] = []  # (clock, processor, stage)

    def check(self) -> None:
        """Raise where it is time."""
        self.times.append((time.perf_counter(), time.process_time(), self.stage))
        if 0 <= self.look < len(self.times) - 1:
            raise Cancelled


def run_looks(name: str, *, rows: int, folder: Path, times: int) -> None:
    """Print how long cancels took whose wish came right after a look."""
    work = WORK[name](folder, rows)
    whole = _AtLook(-1)
    work(whole)
    gaps = [b[1] - a[1] for a, b in pairwise(whole.times)]
    longest = sorted(range(len(gaps)), key=gaps.__getitem__)[-times:]
    lines = []
    for look in sorted({*longest, 0, len(gaps) - 2, len(gaps) - 1}):
        progress = _AtLook(look)
        try:
            work(progress)
        except Cancelled:
            clock, processor, stage = progress.times[look]
            waited = time.perf_counter() - clock, time.process_time() - processor
            lines.append([f"{look} of {len(gaps)}", stage, *(f"{1000 * one:.0f}" for one in waited)])
    print_table(
        f"{name} of {rows:,} rows, stopped after a look",
        ["look", "stage", "ms until it has ended", "of the processor"],
        lines,
    )
    print(f"worst {max(int(line[3]) for line in lines)} ms of the processor")


WORK: Final = {
    "import": importing,
    "index": indexing,
    **{ending: exporting(ending) for ending in ("csv", "tsv", "jsonl", "xlsx", "parquet")},
}


def run(name: str, *, rows: int, folder: Path, times: int) -> None:
    """Print how long each of ``times`` cancels took."""
    if not table_of(folder, rows).exists():
        write_table(table_of(folder, rows), rows)
    if name == "index" and not (folder / PROJECT).exists():
        import_project(folder, rows)
    work = WORK[name](folder, rows)
    started = time.perf_counter()
    work(_Stopped(float("inf")))
    whole = time.perf_counter() - started
    lines = []
    for number in range(times):
        progress = _Stopped(time.perf_counter() + whole * (number + 0.5) / times)
        try:
            work(progress)
        except Cancelled:
            waited = time.perf_counter() - progress.at
            _wait_for_threads()
            freed = time.perf_counter() - progress.at
            times_in_ms = [f"{1000 * one:.0f}" for one in (waited, freed)]
            lines.append([f"{number + 0.5:.1f} of {times}", progress.stage, *times_in_ms])
    heading = ["at", "stage", "ms until it has ended", "its space is free"]
    print_table(f"{name} of {rows:,} rows, stopped", heading, lines)
    print(f"worst {max(int(line[2]) for line in lines)} ms of {len(lines)}; to its end it took {whole:.1f} s")


def _wait_for_threads() -> None:
    """Wait until all other threads have ended, but for those that end with the process."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=WORK)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--looks", action="store_true", help="wish right after a look")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    (run_looks if args.looks else run)(args.work, rows=args.rows, folder=args.folder, times=args.times)


if __name__ == "__main__":
    main()
