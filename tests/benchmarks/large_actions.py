"""What `large_window` does to a large project: opening, looking, finding, deciding, and the long work."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from sce_desktop.core.i18n import _
from sce_desktop.core.query import CellFilter, FinalSource, RowOrder, RowQuery, RowState
from tests.benchmarks.large_project import COMMON_WORD, RARE_WORD
from tests.benchmarks.large_window import Driver

MILLION: Final = 1_000_000
BRIEF: Final = "SCE_DESKTOP_BENCH_BRIEF"  # set: accepting is stopped and not done, which takes minutes
VECTORS: Final = 50_000  # rows that have one, for the map


def opening(driver: Driver, path: Path) -> None:
    """Open the project, until its first rows are painted; then until all is counted.

    What a copy of it has left in memory goes to the disk before: opening waits for that (`Database.use_wal`).
    """
    controllers = driver.program.controllers
    with path.open("r+b") as file:
        os.fsync(file.fileno())
    driver.act(
        "open",
        lambda: controllers.projects.open_project(path),
        lambda start: len(driver.view.model.ids) and driver.shown(start),
        whole=lambda: controllers.workspace.counts is not None,
    )
    driver.picture("open")


def looking(driver: Driver, _folder: Path) -> None:
    """Scroll, jump, go to the ends, step by keys."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    table, rng = driver.view.table, random.Random(0)
    bar = table.verticalScrollBar()
    height = table.verticalHeader().defaultSectionSize()
    for step, what in ((3 * height, "scroll, a frame"), (40 * height, "scroll by a page, a frame")):
        bar.setValue(0)
        for _time in range(30 * driver.times):
            driver.act(
                what,
                lambda step=step: bar.setValue(bar.value() + step),
                lambda start: driver.painted.since(start, driver.table),
            )
    for _time in range(6 * driver.times):
        driver.act("jump to a place", lambda: bar.setValue(rng.randrange(bar.maximum())), driver.shown)
    table.setFocus()
    for _time in range(driver.times):
        for key, what in ((Qt.Key.Key_End, "End"), (Qt.Key.Key_Home, "Home")):
            driver.act(what, lambda key=key: QTest.keyClick(table, key), driver.shown)
    for _time in range(8 * driver.times):
        driver.act("key: next row", lambda: QTest.keyClick(table, Qt.Key.Key_Down), driver.shown)
    driver.picture("scrolled")


def ordering(driver: Driver, _folder: Path) -> None:
    """Every order, and steps and jumps in two of them."""
    from sce_desktop.controllers.queries import ORDERS, order_by

    navigation = driver.program.controllers.navigation
    runs = driver.program.controllers.workspace.runs
    for number in range(driver.times):
        for name, order, descending in ORDERS:
            if order is RowOrder.GIVEN or (order is RowOrder.FILE and not number):
                continue
            first = ", first time" if not number else ""
            driver.query(
                f"order: {name}{first}",
                lambda order=order, descending=descending: replace(
                    order_by(RowQuery(), order, runs), descending=descending
                ),
            )
            if not number:
                driver.picture(f"order-{name.replace(' ', '-')}")
    for order in (RowOrder.CONFIDENCE, RowOrder.RANDOM):  # where the list is in no order of its own
        driver.query("(file order)", RowQuery)
        driver.query("(again)", lambda order=order: order_by(RowQuery(), order, runs))
        _steps(driver, f"key: next row, by {order.value}")
    driver.query("(file order)", RowQuery)
    assert navigation.query.order is RowOrder.FILE


def columns(driver: Driver, _folder: Path) -> None:
    """Sort by columns of the user's own: the first time reads all of their cells, with a progress."""
    from sce_desktop.controllers.queries import order_by_own

    for number in range(driver.times + 1):
        for place in (2, 3, 4, 0):
            query = order_by_own(RowQuery(), place)
            if number:
                driver.query("order: own column", lambda query=query: query)
                continue
            driver.query(f"order: own column {place}, first time", lambda query=query: query)
            driver.picture(f"column-{place}")
    driver.query("(file order)", RowQuery)


def _steps(driver: Driver, what: str) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    for _time in range(8 * driver.times):
        driver.act(what, lambda: QTest.keyClick(driver.view.table, Qt.Key.Key_Down), driver.shown)
    bar = driver.view.table.verticalScrollBar()
    for place in range(1, 11):
        driver.act(
            "jump to a place, in another order",
            lambda place=place: bar.setValue(bar.maximum() * place // 11),
            driver.shown,
        )


def filtering(driver: Driver, _folder: Path) -> None:
    """Every filter that arrays and indexes answer."""
    workspace = driver.program.controllers.workspace
    main, other = workspace.runs[0].id, workspace.runs[-1].id
    label = workspace.labels[1].id or 0
    filters: dict[str, RowQuery] = {
        **{state.value: RowQuery(state=state) for state in RowState if state is not RowState.ANY},
        "your label": RowQuery(label_ids=(label,)),
        "predicted label": RowQuery(run_id=main, predicted_ids=(label,)),
        "confidence": RowQuery(run_id=main, confidence=(0.3, 0.6)),
        **{f"final: {source.value}": RowQuery(run_id=main, final=source) for source in FinalSource},
        "models disagree": RowQuery(compare=(main, other), disagree=True),
        "duplicates": RowQuery(duplicate=True),
        "no duplicates": RowQuery(duplicate=False),
        "with text": RowQuery(blank=False),
        "without text": RowQuery(blank=True),
        "unlabelled, least certain": RowQuery(
            state=RowState.UNLABELLED, run_id=main, order=RowOrder.CONFIDENCE
        ),
        "predicted label, most certain": RowQuery(
            run_id=main, predicted_ids=(label,), order=RowOrder.CONFIDENCE, descending=True
        ),
    }
    _filter(driver, filters)


def searching(driver: Driver, _folder: Path) -> None:
    """Searches for what is rare, common, short and absent, and filters by columns: rows are read for them."""
    workspace = driver.program.controllers.workspace
    main = workspace.runs[0].id
    label = workspace.labels[1].id or 0
    _filter(
        driver,
        {
            "search: rare word": RowQuery(search=RARE_WORD),
            "search: common word": RowQuery(search=COMMON_WORD),
            "search: two letters": RowQuery(search="zu"),
            "search: not there": RowQuery(search="qqqxyz"),
            "search in common, predicted": RowQuery(search=COMMON_WORD, run_id=main, predicted_ids=(label,)),
            "value of a column": RowQuery(cells=(CellFilter(2, ("land 7",)),)),
            "range of a column": RowQuery(cells=(CellFilter(3, low="10", high="20"),)),
            "column contains": RowQuery(cells=(CellFilter(2, contains="and 7"),)),
        },
    )


def _filter(driver: Driver, filters: dict[str, RowQuery]) -> None:
    for number in range(driver.times):
        for name, query in filters.items():
            first = ", first time" if not number else ""
            driver.query(f"filter: {name}{first}", lambda query=query: query)
            if not number and name.startswith(("search", "unlabelled,", "value")):
                driver.picture(f"filter-{name.replace(' ', '-').replace(':', '')}")
            driver.query("no filter", RowQuery)


def deciding(driver: Driver, _folder: Path) -> None:
    """Decide by key, undo; select all and take it back."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    controllers, table = driver.program.controllers, driver.view.table
    control = Qt.KeyboardModifier.ControlModifier
    table.setFocus()
    table.choose(5)
    for _time in range(8 * driver.times):
        driver.act("key: label and next row", lambda: QTest.keyClick(table, Qt.Key.Key_1), driver.shown)
    for _time in range(driver.times):
        driver.act("Ctrl+Z", lambda: QTest.keyClick(table, Qt.Key.Key_Z, control), driver.shown)
    selected = controllers.navigation
    for _time in range(driver.times):
        driver.act(
            "select all",
            lambda: QTest.keyClick(table, Qt.Key.Key_A, control),
            lambda _start: len(selected.selected) > 1,
        )
        driver.picture("select-all")
        driver.act(
            "select one again",
            lambda: QTest.keyClick(table, Qt.Key.Key_Down),
            lambda _start: not len(selected.selected),
        )


def job_titled(driver: Driver, title: str) -> Any:
    """Return the job of that title if the status bar shows its progress, with the button that stops it."""
    status = driver.program.window.status
    if not status.stop_button.isVisible() or not status.progress.whole().startswith(title):
        return None
    for worker in driver.program.controllers.workspace.workers:
        for job in worker.jobs:
            if job.title == title and job.done:
                return job
    return None


def no_job(driver: Driver, title: str) -> bool:
    workers = driver.program.controllers.workspace.workers
    return all(job.title != title for worker in workers for job in worker.jobs)


def accepting(driver: Driver, _folder: Path) -> None:
    """Accept predictions in bulk: the dialog, the progress, stopping it, all of it, undo and redo of it."""
    from sce_desktop.ui.rows.accept_dialog import AcceptDialog

    controllers = driver.program.controllers
    large = len(driver.view.model.ids) > MILLION
    arguments = (controllers.workspace, controllers.navigation, controllers.messages)

    def dialog(opened: list[AcceptDialog]) -> None:
        found = AcceptDialog(*arguments, driver.program.window)
        opened.append(found)
        found.confidence.setValue(90 if large else 50)
        found.show()

    title = _("Accepting predictions")
    brief = os.environ.get(BRIEF) is not None
    for stop in (True,) if brief else (True, False):
        opened: list[AcceptDialog] = []
        driver.act("accept: dialog", partial(dialog, opened), lambda _start, opened=opened: opened)
        driver.act(
            "accept: its rows", lambda: None, lambda _start, opened=opened: opened[0].preview, at_once=True
        )
        (shown,) = opened
        driver.picture("accept")
        driver.act(
            "accept: OK, to a progress",
            shown.accept,
            lambda _start, shown=shown: job_titled(driver, title) or not shown.isVisible(),
            whole=None if stop else lambda: no_job(driver, title),
            at_once=stop,
        )
        if stop:
            driver.picture("accepting")
            driver.act(
                "accept: stop",
                lambda: job_titled(driver, title).cancel(),
                lambda _start: no_job(driver, title),
                at_once=True,
            )
        shown.done(0)
    if brief:
        return
    edits = controllers.workspace.workers.edits
    for what, turn in (("undo", controllers.edits.undo), ("redo", controllers.edits.redo)):
        driver.act(
            f"{what} of accepting",
            turn,
            lambda _start: controllers.workspace.writing is not None or not edits.busy,
            whole=lambda: controllers.workspace.writing is None,
        )
    driver.act("undo of accepting", controllers.edits.undo, lambda _start: True, whole=lambda: not edits.busy)


def panels(driver: Driver, folder: Path) -> None:
    """Findings, duplicates and the map; each until it has something to show, or a progress."""
    from sce_desktop.ui.duplicates.duplicates_panel import DuplicatesPanel
    from sce_desktop.ui.findings.findings_panel import FindingsPanel
    from sce_desktop.ui.map.map_panel import MapPanel

    window, workers = driver.program.window, driver.program.controllers.workspace.workers
    driver.act(
        "findings: the panel",
        window.docks["Findings"].bring,
        lambda _start: window.findChildren(FindingsPanel),
        whole=lambda: window.findChildren(FindingsPanel)[0].answer is not None,
    )
    driver.picture("findings")
    driver.act("duplicates: the panel", window.docks["Duplicates"].bring, lambda _start: True)
    (duplicates,) = window.findChildren(DuplicatesPanel)
    title = _("Finding duplicates")
    driver.act(
        "duplicates: to a progress",
        duplicates.find_button.click,
        lambda _start: job_titled(driver, title),
        whole=lambda: duplicates.model.groups,
    )
    driver.picture("duplicates")
    _give_vectors(driver)
    driver.act(
        "map: the panel",
        window.docks["Map"].bring,
        lambda _start: window.findChildren(MapPanel),
        whole=lambda: not workers.maps.busy and window.findChildren(MapPanel)[0].data.facts is not None,
    )
    driver.picture("map")


def _give_vectors(driver: Driver) -> None:
    """Let some rows of the map have made text vectors, as if the model had read them."""
    controllers = driver.program.controllers
    known, project = controllers.scorer.known_vectors, controllers.workspace.project
    if known is None or project is None:
        return
    rng = np.random.default_rng(0)
    count = min(VECTORS, project.row_count())
    ids = np.sort(rng.choice(project.row_count(), count, replace=False) + 1)
    for start in range(0, count, 5_000):
        some = ids[start : start + 5_000]
        centres = rng.integers(0, 20, len(some))
        vectors = np.eye(384, dtype=np.float32)[centres] + 0.1 * rng.standard_normal((len(some), 384))
        known.cache.put(known.embedder, project.texts(some), vectors.astype(np.float32))


def exporting(driver: Driver, folder: Path) -> None:
    """Export what is shown, to a progress; all of it where the project is no larger than a million rows."""
    from sce_desktop.core.choices import ExportChoices

    controllers = driver.program.controllers
    out = folder / "export.csv"
    title = _("Exporting {name}", name=out.name)
    large = len(driver.view.model.ids) > MILLION
    choices = ExportChoices(out, "all", None, excel_safe=False)
    driver.act(
        "export: to a progress",
        lambda: controllers.projects.export_table(choices),
        lambda _start: job_titled(driver, title) or out.exists(),
        whole=None if large else lambda: no_job(driver, title),
        at_once=large,
    )
    if large:
        driver.act(
            "export: stop",
            lambda: job_titled(driver, title).cancel(),
            lambda _start: no_job(driver, title),
            at_once=True,
        )


def editing(driver: Driver, _folder: Path) -> None:
    """Edit a label: until the table has its name, then until the model has scored what is on the screen.

    Scoring the other rows is stopped there. Without a model the name alone is waited for.
    """
    controllers = driver.program.controllers
    for number in range(driver.times):
        labels = list(controllers.workspace.labels)
        labels[0] = replace(labels[0], name=f"Another intent {number}")

        def edited(start: float, name: str = labels[0].name) -> bool:
            named = controllers.workspace.labels[0].name == name
            return named and driver.shown(start)

        def scored(name: str = labels[0].name) -> bool:
            first, last = driver.view.table.shown_places()
            rows = [driver.view.model.row_at(place) for place in range(first, last + 1)]
            found = [row.scores[0] for row in rows if row is not None and row.scores]
            return len(found) == last + 1 - first and all(
                one is not None and not one.stale and one.run.labels[0].name == name for one in found
            )

        driver.act(
            "label edit, then to scores on the screen",
            lambda labels=labels: controllers.edits.set_labels(labels),
            edited,
            whole=scored if controllers.scorer.ready else None,
        )
        controllers.scorer.stop()
        driver.until(lambda: controllers.scorer.job is None)


PARTS: Final = {
    "looking": looking,
    "ordering": ordering,
    "filtering": filtering,
    "searching": searching,
    "columns": columns,
    "deciding": deciding,
    "accepting": accepting,
    "panels": panels,
    "exporting": exporting,
    "editing": editing,
}
