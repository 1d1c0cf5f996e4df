"""How the window feels while an edit touches very many rows: the heartbeat of `window`, and its time.

Every row has the first label by a bulk decision. It is undone and done again, and the label merged into the
next one; meanwhile somebody walks through the table by keys, ten a second.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.review import make_project
from tests.benchmarks.window import Heart, Program, print_beats, run_step
from tests.ui.wiring import wired

PAUSE_S = 0.1


def run(*, rows: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        make_project(Path(name) / "edits.sce", rows, 5)
        beats = run_step(edit, Path(name))
    print_beats(
        f"How late the GUI thread is, ms, while an edit touches {rows:,} rows",
        beats,
        "To the end of the edit and until panels have followed it.",
    )


def edit(folder: str) -> None:
    """Undo, redo and merge over all rows, with a beating heart and keys that go through the table."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    from sce_desktop.controllers import label_edits
    from sce_desktop.controllers.bulk_work import decide_many
    from sce_desktop.core.annotations import Decision
    from sce_desktop.ui.rows.rows_view import RowsView

    program, heart = Program(), Heart()
    controllers, until = program.session, program.until
    controllers.projects.open_project(Path(folder) / "edits.sce")
    until(
        lambda: (
            controllers.workspace.counts is not None
            and not controllers.workspace.workers.reads.busy
            and not controllers.workspace.workers.files.busy
        )
    )
    project = controllers.workspace.project
    assert project is not None
    first, second = (label.id or 0 for label in controllers.workspace.labels[:2])
    (view,) = program.window.findChildren(RowsView)
    view.table.setFocus()

    def watch(phase: str, begin: Callable[[], object]) -> None:
        def live() -> None:
            begin()
            busy = (controllers.workspace.workers.edits, controllers.workspace.workers.files)
            while any(worker.busy for worker in busy):
                QTest.keyClick(view.table, Qt.Key.Key_J)
                rest = time.monotonic() + PAUSE_S
                until(lambda rest=rest: time.monotonic() > rest)
            until(
                lambda: (
                    not controllers.workspace._count_soon.isActive()
                    and not controllers.workspace.workers.reads.busy
                )
            )

        heart.during(phase, live)

    watch(
        "rows are decided in bulk",
        lambda: wired(decide_many, controllers)(project.row_ids(), Decision.LABEL, [first]),
    )
    watch("that is undone", controllers.edits.undo)
    watch("that is done again", controllers.edits.redo)
    watch("the label is merged into another", lambda: wired(label_edits.merge, controllers)({first: second}))
    controllers.scorer.stop()
    until(lambda: controllers.scorer.job is None)
    watch("that is undone, too", controllers.edits.undo)
    controllers.scorer.stop()
    until(lambda: controllers.scorer.job is None)
    print(json.dumps(heart.phases))
    program.end()
