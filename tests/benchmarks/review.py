"""How fast a review goes with very many rows and labels: from a key, a filter or an edit to what is painted.

One process, offscreen, a home of its own. A key is timed from before it is sent until the next row has been
painted in the table and in the panel, with its text and not as a placeholder; that the decision was in the
file by then is looked up by another connection, outside the time. Keys come at the pace of somebody fast, and
then without a pause, which nobody can type. A filter or an order is timed until the rows that it finds are
painted; an edit of a label until the rows on the screen have been painted with scores for it, by the bundled
model on texts it has read. Beside the keys a bare loop is timed that does the same every time: what its
slowest rounds take beyond its median is the machine's doing, and the keys have to bear it too.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.measure import print_table
from tests.benchmarks.window import Program, run_step

KEYS = 300
PAUSE_SECONDS = 0.25
CHANGES = 5
BATCH = 5000
LOOPS = 400_000
WORDS = ("parcel", "courier", "refund", "late", "crushed", "lost", "address", "price", "kind", "nobody")


def run(*, rows: int, labels: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        make_project(Path(name) / "review.sce", rows, labels)
        got = run_step(review, Path(name))
    print_table(
        f"A review of {rows:,} rows with {labels} labels, ms",
        ["what", "times", "median", "99th", "most"],
        [
            [what, str(len(times)), *(f"{value:.0f}" for value in np.percentile(times, [50, 99, 100]))]
            for what, times in got.items()
        ],
        ["From the key, the choice or the edit until the window has painted what follows."],
    )


def make_project(path: Path, rows: int, labels: int) -> None:
    """Make a project with scores of two models that are drawn at random."""
    from sce_desktop.core.annotations import Label
    from sce_desktop.core.runs import Scores
    from sce_desktop.store.project import Project

    rng = np.random.default_rng(0)
    columns = ("id", "text", "country")

    def batches() -> Iterator[list[tuple[str, ...]]]:
        for start in range(0, rows, BATCH):
            numbers = range(start, min(start + BATCH, rows))
            words = rng.choice(WORDS, size=(len(numbers), 12))
            yield [
                (str(number), f"{number} {' '.join(words[at])}", f"country {number % 40}")
                for at, number in enumerate(numbers)
            ]

    with Project.create(path) as project:
        project.add_rows(columns, batches(), text_columns=[1], source={})
        label_set = project.set_labels([Label(f"Intent number {number}") for number in range(labels)])
        for alias, kind in (("sce", "sce"), ("similarity", "similarity")):
            opened = project.open_run(alias, kind, "drawn at random", "random", label_set.labels)
            project.activate(opened.id)
            for _ in range(0, rows, BATCH):
                ids = project.unscored_ids(opened.id)[:BATCH]
                raw = rng.random((len(ids), labels), dtype=np.float32) ** 8
                project.add_scores(opened.id, ids, Scores(raw / raw.sum(axis=1, keepdims=True)))
            project.finish_run(opened.id)
        project.build_search_index()


class Painted:
    """Notes when widgets have been painted."""

    def __init__(self, *widgets: Any) -> None:
        from PySide6.QtCore import QEvent, QObject

        self.times: dict[Any, float] = {}
        outer = self

        class Watch(QObject):
            def eventFilter(self, watched: QObject, event: QEvent) -> bool:
                if event.type() is QEvent.Type.Paint:
                    outer.times[watched] = time.perf_counter()
                return False

        self._watch = Watch()
        for widget in widgets:
            widget.installEventFilter(self._watch)

    def since(self, start: float, widget: Any) -> bool:
        """Whether ``widget`` was painted after ``start``."""
        return self.times.get(widget, 0.0) > start


def review(folder: str) -> None:
    """Decide by keys, change filters and orders, edit a label."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    from sce_desktop.controllers.queries import order_by
    from sce_desktop.core.query import RowOrder, RowState
    from sce_desktop.ui.rows.row_panel import RowPanel
    from sce_desktop.ui.rows.rows_view import RowsView

    program = Program()
    controllers, until = program.session, program.until
    controllers.projects.open_project(Path(folder) / "review.sce")
    until(lambda: controllers.workspace.counts is not None and not controllers.workspace.workers.reads.busy)
    (view,) = program.window.findChildren(RowsView)
    (panel,) = program.window.findChildren(RowPanel)
    table = view.table.viewport()
    painted = Painted(table, panel.text.view.viewport())
    times: dict[str, list[float]] = {}

    @contextmanager
    def timed(what: str) -> Iterator[float]:
        start = time.perf_counter()
        yield start
        times.setdefault(what, []).append((time.perf_counter() - start) * 1000)

    view.table.setFocus()
    keys = (Qt.Key.Key_1, Qt.Key.Key_Return, Qt.Key.Key_3, Qt.Key.Key_0, Qt.Key.Key_2)
    reader = sqlite3.connect(f"file:{Path(folder) / 'review.sce'}?mode=ro", uri=True)

    def next_row_is_painted(start: float) -> bool:
        row = view.model.row_at(view.table.currentIndex().row())
        here = row is not None and row.id == controllers.navigation.current_row
        return here and painted.since(start, table) and painted.since(start, panel.text.view.viewport())

    for what, pause in (
        ("key that decides, to the next row", PAUSE_SECONDS),
        ("the same without a pause", 0.0),
    ):
        for number in range(KEYS // 2):
            before = controllers.navigation.current_row
            with timed(what) as start:
                QTest.keyClick(view.table, keys[number % len(keys)])
                until(lambda start=start: next_row_is_painted(start))
            assert controllers.navigation.current_row != before
            assert reader.execute("SELECT 1 FROM annotations WHERE row_id = ?", (before,)).fetchone()
            rest = time.perf_counter() + pause
            until(lambda rest=rest: time.perf_counter() >= rest)
            if pause:
                with timed("a bare loop, for the machine's noise"):
                    for _ in range(LOOPS):
                        pass
    reader.close()
    for _ in range(20):
        with timed("Ctrl+Z") as start:
            QTest.keyClick(view.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
            until(lambda start=start: painted.since(start, table))

    def shown(change: Callable[[], object], what: str) -> None:
        found: list[bool] = []
        heard = view.model.idsChanged.connect(lambda: found.append(True))
        with timed(what) as start:
            change()
            until(
                lambda start=start: (
                    found
                    and painted.since(start, table)
                    and view.model.row_at(view.table.shown_places()[0]) is not None
                )
            )
        view.model.idsChanged.disconnect(heard)
        until(lambda: not controllers.workspace.workers.reads.busy)

    runs = controllers.workspace.runs
    for number in range(CHANGES):
        for name, state in (("unlabelled", RowState.UNLABELLED), ("all", RowState.ANY)):
            shown(
                lambda state=state: controllers.navigation.set_query(
                    replace(controllers.navigation.query, state=state)
                ),
                f"filter: {name}",
            )
        shown(
            lambda number=number: controllers.navigation.set_query(
                replace(controllers.navigation.query, search=WORDS[number])
            ),
            "filter: search",
        )
        controllers.navigation.set_query(replace(controllers.navigation.query, search=""))
        until(lambda: not controllers.workspace.workers.reads.busy)
        for order in (RowOrder.CONFIDENCE, RowOrder.MARGIN, RowOrder.RARE, RowOrder.DISAGREE, RowOrder.FILE):
            query = order_by(controllers.navigation.query, order, runs)
            shown(lambda query=query: controllers.navigation.set_query(query), f"order: {order.value}")

    controllers.projects.warm_up()
    until(lambda: controllers.scorer.ready)
    controllers.scorer.score()
    until(
        lambda: (
            all(program.scores_shown())
            and controllers.workspace.runs
            and controllers.workspace.runs[0].model != "drawn at random"
        )
    )
    until(lambda: controllers.workspace.runs[0].scored > 200)
    controllers.scorer.stop()
    until(lambda: controllers.scorer.job is None)
    for number in range(CHANGES):
        labels = list(controllers.workspace.labels)
        labels[number] = replace(labels[number], name=f"Another intent {number}")
        told: list[float] = []  # when the rows on the screen had their scores
        run_before = controllers.workspace.runs[0].id

        def listen(*_: object, told: list[float] = told, run_before: int = run_before) -> None:
            fresh = controllers.workspace.runs[0].id != run_before
            if not told and fresh and all(score is not None and not score.stale for score in _screen(view)):
                told.append(time.perf_counter())

        heard = view.model.dataChanged.connect(listen)
        with timed("edit of a label, to scores on the screen"):
            controllers.edits.set_labels(labels)
            until(lambda told=told: told and painted.since(told[0], table))
        view.model.dataChanged.disconnect(heard)
        controllers.scorer.stop()
        until(lambda: controllers.scorer.job is None)
    print(json.dumps(times))
    program.end()


def _screen(view: Any) -> list[Any]:
    first, last = view.table.shown_places()
    rows = [view.model.row_at(place) for place in range(first, last + 1)]
    return [row.scores[0] if row is not None and row.scores else None for row in rows]
