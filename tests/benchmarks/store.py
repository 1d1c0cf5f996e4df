"""How long a project file takes for what a review asks of it: queries, decisions, undo, edits of labels."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.measure import print_table
from tests.benchmarks.review import make_project

TIMES = 7
DECISIONS = 300


def run(*, rows: int, labels: int) -> None:
    """Measure and print."""
    from sce_desktop.core.annotations import Decision, Origin
    from sce_desktop.core.query import CellFilter, RowOrder, RowQuery, RowState
    from sce_desktop.store.project import Project

    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        path = Path(name) / "store.sce"
        make_project(path, rows, labels)
        with Project.open(path) as project:
            project.build_search_index()
            label_set = project.label_set()
            assert label_set is not None
            ids = [label.id for label in label_set.labels if label.id is not None]
            for place, label_id in enumerate(ids):  # half of the rows are decided
                project.decide(range(1 + place, rows // 2, len(ids)), Decision.LABEL, [label_id])
            first, second = (run.id for run in project.runs())
            gold = project.add_coder(
                "gold", "", {i: label_set.labels[i % labels].name for i in range(1, rows, 9)}
            )
            queries: dict[str, Callable[[], Any]] = {
                text: lambda query=query: project.row_ids(query)  # type: ignore[misc]
                for text, query in {
                    "order: file": RowQuery(),
                    "order: least certain": RowQuery(order=RowOrder.CONFIDENCE, run_id=first),
                    "order: smallest margin": RowQuery(order=RowOrder.MARGIN, run_id=first),
                    "order: models disagree": RowQuery(order=RowOrder.DISAGREE, compare=(first, second)),
                    "order: rare label first": RowQuery(order=RowOrder.RARE, run_id=first),
                    "order: random": RowQuery(order=RowOrder.RANDOM, seed=1),
                    "order: given (all rows)": RowQuery(
                        order=RowOrder.GIVEN, given=tuple(range(rows, 0, -1))
                    ),
                    "order: your label": RowQuery(order=RowOrder.ANNOTATION),
                    "filter: unlabelled": RowQuery(state=RowState.UNLABELLED),
                    "filter: one label": RowQuery(label_ids=(ids[0],)),
                    "filter: cell of a column": RowQuery(cells=(CellFilter(2, ("country 7",)),)),
                    "filter: search": RowQuery(search="lost"),
                    "filter: phrase and word": RowQuery(search='"lost refund" kind'),
                    "filter: pattern": RowQuery(pattern=r"lost\s+refund|^9"),
                    "filter: duplicates": RowQuery(duplicate=True),
                    "filter: given rows (1,000)": RowQuery(among=tuple(range(1, 1001))),
                    "filter: decided since": RowQuery(decided_since="2000"),
                    "filter: disagreements with gold": RowQuery(disagreeing=(0, gold.id)),
                    "unlabelled, one country, least certain": RowQuery(
                        state=RowState.UNLABELLED,
                        cells=(CellFilter(2, ("country 7",)),),
                        order=RowOrder.CONFIDENCE,
                        run_id=first,
                    ),
                }.items()
            }
            got = {text: _times(query, TIMES) for text, query in queries.items()}
            rest = iter(range(rows // 2, rows))

            def decide() -> None:
                row_id = next(rest)
                project.decide([row_id], Decision.LABEL, [ids[row_id % labels]])
                project.rows([row_id + 1])
                project.scores(first, [row_id + 1])
                project.annotations([row_id + 1])

            got["decide and read the next row"] = _times(decide, DECISIONS)
            got["undo and redo of it"] = _times(lambda: (project.undo(), project.redo()), TIMES)
            everything = range(1, rows + 1)
            got["decide all rows at once"] = _times(
                lambda: project.decide(everything, Decision.LABEL, [ids[0]], origin=Origin.BULK), 1
            )
            got["undo of it"] = _times(project.undo, 1)
            got["redo of it"] = _times(project.redo, 1)
            got["preview of a merge of all rows"] = _times(
                lambda: project.merge_preview([ids[0]], ids[1]), TIMES
            )
            got["merge of all rows"] = _times(lambda: project.merge_labels([ids[0]], ids[1]), 1)
            got["undo of it "] = _times(project.undo, 1)
        size = path.stat().st_size / 1e6
    print_table(
        f"A project of {rows:,} rows with {labels} labels, ms",
        ["what", "times", "median", "99th", "most"],
        [
            [what, str(len(times)), *(f"{value:.1f}" for value in np.percentile(times, [50, 99, 100]))]
            for what, times in got.items()
        ],
        [f"The file holds scores of two models and is {size:.0f} MB in the end."],
    )


def _times(work: Callable[[], Any], times: int) -> list[float]:
    """Return how long each of several calls took, in milliseconds."""
    took = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        took.append(1000 * (time.perf_counter() - started))
    return took
