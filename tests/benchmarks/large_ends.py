"""Long work on a large project run to its end, while somebody goes on from row to row.

These parts take minutes with ten million rows and run where they are named (`large_window.ONLY`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from sce_desktop.core.i18n import _
from tests.benchmarks.large_actions import job_titled, no_job
from tests.benchmarks.large_window import Driver, memory_mb

LEAST: Final = "SCE_DESKTOP_BENCH_CONFIDENCE"  # in per cent: predictions from there up are accepted; 50
_EVERY_S: Final = 1.0  # between two keys


def accepting_all(driver: Driver, _folder: Path) -> None:
    """Accept predictions in bulk to the end, and undo it to the end."""
    from sce_desktop.ui.rows.accept_dialog import AcceptDialog

    controllers = driver.program.controllers
    workspace, edits = controllers.workspace, controllers.workspace.workers.edits
    dialog = AcceptDialog(workspace, controllers.navigation, controllers.messages, driver.program.window)
    dialog.confidence.setValue(int(os.environ.get(LEAST, "50")))
    dialog.show()
    driver.until(lambda: dialog.preview)
    assert dialog.preview is not None
    rows = len(dialog.preview.found)
    title = _("Accepting predictions")
    what = f"accept {rows:,} rows"
    driver.act(
        what, dialog.accept, lambda _start: job_titled(driver, title) or not dialog.isVisible(), at_once=True
    )
    _until_the_end(driver, what, "accepting", lambda: no_job(driver, title))
    dialog.done(0)
    driver.settle()
    what = "undo of accepting"
    driver.act(
        what,
        controllers.edits.undo,
        lambda _start: workspace.writing is not None or not edits.busy,
        at_once=True,
    )
    driver.picture("undo")
    _until_the_end(driver, what, "undoing", lambda: workspace.writing is None)
    driver.settle()
    print(f"file {Path(workspace.project.path).stat().st_size / 1e6:,.0f} MB", file=sys.stderr)


def exporting_all(driver: Driver, folder: Path) -> None:
    """Export all rows as CSV and as Parquet, to the end."""
    from sce_desktop.core.choices import ExportChoices

    projects = driver.program.controllers.projects
    for kind in ("csv", "parquet"):
        out = folder / f"export.{kind}"
        title = _("Exporting {name}", name=out.name)
        choices = ExportChoices(out, "all", None, excel_safe=False)
        what = f"export, {kind}"
        driver.act(
            what,
            lambda choices=choices: projects.export_table(choices),
            lambda _start, title=title: job_titled(driver, title),
        )
        _until_the_end(driver, what, "exporting", lambda title=title: no_job(driver, title))
        print(f"{kind} {out.stat().st_size / 1e6:,.0f} MB", file=sys.stderr)
        out.unlink()


def _until_the_end(driver: Driver, what: str, doing: str, ended: Callable[[], bool]) -> None:
    """Go on to the next row once a second until what was begun has ended; note when that was, and memory."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    note: dict[str, Any] = driver.actions[what]
    start, most = time.perf_counter() - note["times"][-1] / 1000, 0.0
    used = time.process_time()
    table = driver.view.table
    while not ended():
        if table.isEnabled() and driver.program.window.isEnabled():
            driver.act(
                f"key: next row, while {doing}",
                lambda: QTest.keyClick(table, Qt.Key.Key_Down),
                driver.shown,
                at_once=True,
            )
        pause = time.perf_counter() + _EVERY_S
        driver.beat_again()
        driver.until(lambda pause=pause: ended() or time.perf_counter() > pause)
        note["away"].append(driver.beat_again())
        most = max(most, driver.memory.lately, memory_mb())
    note["whole"].append(time.perf_counter() - start)
    note["memory"].append(most)
    print(
        what,
        f"to its end {note['whole'][-1]:.1f} s, processor {time.process_time() - used:.1f} s,"
        f" away {max(note['away']):.0f} ms, {most:,.0f} MB",
        file=sys.stderr,
    )


PARTS: Final = {"accepting-all": accepting_all, "exporting-all": exporting_all}
