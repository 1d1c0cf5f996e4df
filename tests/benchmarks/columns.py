"""Sorting and filtering by the user's own columns: seconds of the first time and of every further one."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sce_desktop.controllers.rows_data import PAGE, load_rows
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import CellFilter, RowOrder, RowQuery
from sce_desktop.store.project import Project
from tests.benchmarks.measure import peak_memory_mb, print_table

_COLUMNS = ("id", "text", "region", "amount", "moment")
_REGIONS = ("north", "South", "east", "West", "")


def _batches(rows: int) -> Iterator[list[tuple[str, ...]]]:
    rng = random.Random(0)
    words = [f"word{number}" for number in range(3000)]
    for start in range(0, rows, 5000):
        yield [
            (
                f"id-{rng.randrange(10**9)}",
                " ".join(rng.choices(words, k=12)),
                rng.choice(_REGIONS),
                f"{rng.random() * 1000:.2f}",
                f"20{rng.randrange(10, 26)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02} "
                f"{rng.randrange(24):02}:{rng.randrange(60):02}",
            )
            for _ in range(min(5000, rows - start))
        ]


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that ``work`` takes on the clock, and those of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def run(*, rows: int) -> None:
    """Measure on a generated project of ``rows`` rows with five columns."""
    with tempfile.TemporaryDirectory() as folder, Project.create(Path(folder) / "columns.sce") as project:
        project.add_rows(_COLUMNS, _batches(rows), text_columns=[1], source={})
        found: list[tuple[str, tuple[float, float]]] = []
        ids = project.row_ids()
        for place, name in enumerate(_COLUMNS):
            query = RowQuery(order=RowOrder.COLUMN, order_column=place)
            for words in ("sort by {}, first time", "sort by {}, again"):
                found.append((words.format(name), _timed(lambda query=query: project.row_ids(query))))
            listed = _timed(lambda place=place: project.cell_counts(place, ids, most=1000))
            found.append((f"values of {name}", listed))
            kind = project.reading(place).kind
            found[-3] = (f"{found[-3][0]} ({kind})", found[-3][1])
        filters = {
            "two of its values": CellFilter(2, ("north", None)),
            "an id contains": CellFilter(0, contains="99"),
            "from an amount to another": CellFilter(3, low="10", high="20"),
        }
        for name, cell in filters.items():
            query = RowQuery(cells=(cell,))
            found.append((f"filter: {name}", _timed(lambda query=query: project.row_ids(query))))
        pages = [ids[number * PAGE : (number + 1) * PAGE] for number in range(min(50, rows // PAGE))]
        for columns in ((), (2, 3, 4)):
            spent = _timed(
                lambda columns=columns: [
                    load_rows(project, page, (), (), columns=columns, progress=SilentProgress())
                    for page in pages
                ]
            )
            found.append(
                (
                    f"page of {PAGE} rows, {len(columns)} own columns",
                    (spent[0] / max(1, len(pages)), spent[1] / max(1, len(pages))),
                )
            )
        print_table(
            f"Own columns, {rows:,} rows",
            ("", "seconds", "of the processor"),
            [(name, f"{clock:.3f}", f"{processor:.3f}") for name, (clock, processor) in found],
            [f"Peak memory {peak_memory_mb():.0f} MB."],
        )
