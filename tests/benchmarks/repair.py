"""What ``project repair`` gives back of a project that is cut or of which one page is zeros.

Every row has a prediction and an annotation.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from tests.benchmarks.measure import peak_memory_mb, print_table
from tests.benchmarks.review import make_project

CUTS = (1, 10, 50, 90, 99)
LABELS = 8


def run(*, rows: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        folder = Path(name)
        path = folder / "whole.sce"
        _make(path, rows)
        pages = _roots(path)
        with closing(sqlite3.connect(path)) as plain:
            (page_size,) = plain.execute("PRAGMA page_size").fetchone()
        size = path.stat().st_size
        table = [_repaired(path, folder, "whole")]
        cuts = {f"{cut}% of the file": size * cut // 100 for cut in CUTS}
        cuts |= {
            "all but the last page": size - page_size,
            "cut in mid-page": size * 7 // 10 + page_size // 3,
        }
        for what, length in cuts.items():
            table.append(_repaired(path, folder, what, cut=length))
        for what, page in {"page 1": 1, **pages}.items():
            table.append(
                _repaired(path, folder, f"zeroed: {what}", zeros=((page - 1) * page_size, page_size))
            )
    print_table(
        f"What repair gives back of a project of {rows:,} rows, {size / 1e6:.0f} MB",
        ["what is left of it", "rows", "annotations", "predictions", "seconds"],
        table,
        [f"The most memory held was {peak_memory_mb():.0f} MB."],
    )


def _make(path: Path, rows: int) -> None:
    from sce_desktop.core.annotations import Decision, Origin
    from sce_desktop.store.project import Project

    make_project(path, rows, LABELS)
    with Project.open(path) as project:
        project.build_search_index()
        label_set = project.label_set()
        assert label_set is not None
        for place, label in enumerate(label_set.labels):
            ids = range(1 + place, rows + 1, LABELS)
            project.decide(ids, Decision.LABEL, [label.id or 0], origin=Origin.BULK)


def _roots(path: Path) -> dict[str, int]:
    """Return the root page of every table and index that holds something."""
    with closing(sqlite3.connect(path)) as plain:
        found = plain.execute(
            "SELECT type, name, tbl_name, rootpage FROM sqlite_schema"
            " WHERE rootpage AND name NOT LIKE 'row_trigrams%' ORDER BY type DESC, name"
        ).fetchall()
        return {
            f"{kind} {name}": root
            for kind, name, table, root in found
            if plain.execute(f"SELECT EXISTS (SELECT 1 FROM {table})").fetchone()[0]
        }


def _repaired(
    path: Path, folder: Path, what: str, *, cut: int | None = None, zeros: tuple[int, int] = (0, 0)
) -> list[str]:
    from sce_desktop.core.errors import UserError
    from sce_desktop.store.project import Project

    damaged, copy = folder / "damaged.sce", folder / "copy.sce"
    shutil.copy(path, damaged)
    with damaged.open("r+b") as stream:
        if cut is not None:
            stream.truncate(cut)
        stream.seek(zeros[0])
        stream.write(bytes(zeros[1]))
    started = time.perf_counter()
    try:
        report = Project.repair_file(damaged, copy)
    except (UserError, sqlite3.Error, UnicodeDecodeError) as error:
        print(f"{what}: {type(error).__name__}: {error}")
        found = ["refused", "", ""]
    else:
        found = [f"{count:,}" for count in (report.rows, report.annotations, report.scores)]
    seconds = time.perf_counter() - started
    copy.unlink(missing_ok=True)
    line = [what, *found, f"{seconds:.1f}"]
    print(*line, sep="\t", flush=True)
    return line
