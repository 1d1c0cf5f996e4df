"""Every long job of the window, large enough to be hit while it runs, and what has to be true afterwards.

`Scene` is the whole window on a project of `ROWS` rows; each of `JOBS` starts one job in it, by the ways that
buttons and menus take, and knows how to tell whether something half done was left. `tests.ui.kill_driver`
runs the same jobs in a process of its own.
"""

from __future__ import annotations

import csv
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PySide6.QtCore import QCoreApplication, QEventLoop, Qt, QTimer

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job
from sce_desktop.core.annotations import Label
from sce_desktop.core.choices import ExportChoices, ImportChoices
from sce_desktop.core.runs import Scores
from sce_desktop.core.tables import TableOptions
from sce_desktop.store.project import Project
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from sce_desktop.ui.window.main_window import MainWindow

ROWS = 40_000
LABELS = ("Late delivery", "Lost parcel", "Damaged parcel", "Courier praise")
COLUMNS = ("ref", "message", "channel")
TABLE, PROJECT = "table.csv", "Parcels.sce"
KEPT = {TABLE, PROJECT, "settings.json"}  # what lies in the folder before a job
OLD = "what was there before"
_WORDS = """
    parcel box driver street door late broken friendly morning evening lost found address price refund app
    letter signature neighbour garden rain glass delivery window customer phone waited never always twice
""".split()  # noqa: SIM905 - one to a line would fill a page


def write_material(folder: Path) -> None:
    """Write the table and a project of it, labelled and scored, without a search index."""
    rows = list(_rows())
    with (folder / TABLE).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    with Project.create(folder / PROJECT) as project:
        batches = (rows[start : start + 5000] for start in range(0, ROWS, 5000))
        project.add_rows(COLUMNS, batches, text_columns=[1], source={"delimiter": ","})
        labels = project.set_labels([Label(name) for name in LABELS]).labels
        run = project.open_run("sce", "sce", "an older model", "no fingerprint of today", labels)
        drawn = np.random.default_rng(1).random((ROWS, len(labels)), dtype=np.float32)
        ids = project.row_ids()
        for start in range(0, ROWS, 10_000):
            part = slice(start, start + 10_000)
            chances = drawn[part] / drawn[part].sum(axis=1, keepdims=True)
            project.add_scores(run.id, ids[part], Scores(chances))
        project.activate(run.id)


def _rows() -> Iterator[tuple[str, str, str]]:
    draw = np.random.default_rng(0).integers(len(_WORDS), size=(ROWS, 12))
    for number, words in enumerate(draw):
        yield f"R{number:06}", f"{number} " + " ".join(_WORDS[word] for word in words), "web"


@dataclass
class Scene:
    """The window, its controllers with the project open, and the folder that all of it lies in."""

    window: MainWindow
    controllers: Controllers
    folder: Path
    before: dict[str, int] = field(default_factory=dict)  # what checks compare with

    @property
    def project(self) -> Project:
        assert self.controllers.workspace.project is not None
        return self.controllers.workspace.project

    @property
    def table(self) -> Path:
        return self.folder / TABLE

    def files(self) -> set[str]:
        """What lies in the folder, beside what SQLite keeps next to an open project."""
        names = {entry.name for entry in self.folder.iterdir()}
        return {name for name in names if not name.endswith(("-wal", "-shm", ".lock"))}

    @property
    def idle(self) -> bool:
        return not any(worker.busy for worker in self.controllers.workspace.workers)

    def open(self, material: Path) -> None:
        """Put everything to where it was at the beginning; the search index is not built."""
        controllers = self.controllers
        controllers.projects.close_project()
        until(lambda: controllers.workspace.project is None and self.idle)
        for name in self.files() - {"settings.json"}:
            (self.folder / name).unlink()
        for source in material.iterdir():
            shutil.copy(source, self.folder)
        controllers.projects.open_project(self.folder / PROJECT)
        until(lambda: controllers.workspace.project is not None)
        controllers.workspace.workers.files.cancel_all()
        until(lambda: self.idle)

    def job(self, title: str) -> Job:
        (found,) = [
            job
            for worker in self.controllers.workspace.workers
            for job in worker.jobs
            if job.title.startswith(title)
        ]
        return found


@dataclass(frozen=True)
class LongJob:
    """A kind of job: how it starts and what must be true when it was broken off."""

    name: str
    start: Callable[[Scene], Job]
    unharmed: Callable[[Scene], None]
    seconds: float | None = None  # moments are drawn from so many; None: from how long the job takes
    kill_within: float = 1.0  # the same where a process is killed and started for each

    def __str__(self) -> str:
        return self.name


def until(ready: Callable[[], bool], seconds: float = 60.0) -> None:
    """Run the event loop until ``ready``, asked after everything that happens and every 5 ms.

    Raises:
        TimeoutError: It takes too long.
    """
    waking = QTimer()
    waking.setTimerType(Qt.TimerType.PreciseTimer)
    waking.start(5)
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError("what is waited for does not happen")
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def _choices(scene: Scene, **more: object) -> ImportChoices:
    return ImportChoices(scene.table, TableOptions(), (1,), **more)  # type: ignore[arg-type]


def _import(scene: Scene) -> Job:
    job = scene.controllers.projects.import_table(_choices(scene, project_path=scene.folder / "new.sce"))
    assert job is not None
    return job


def _append(scene: Scene) -> Job:
    job = scene.controllers.projects.import_table(_choices(scene, append=True))
    assert job is not None
    return job


def _score(scene: Scene) -> Job:
    job = scene.controllers.scorer.score()
    assert job is not None
    return job


def _index(scene: Scene) -> Job:
    """The index is built when a project is opened: open a copy that has none."""
    scene.before["copy"] = scene.before.get("copy", 0) + 1
    copy = scene.folder / f"copy {scene.before['copy']}.sce"
    shutil.copy(scene.folder / PROJECT, copy)
    opened: list[object] = []
    scene.controllers.workspace.projectOpened.connect(opened.append)
    scene.controllers.projects.open_project(copy)
    until(lambda: bool(opened))
    scene.controllers.workspace.projectOpened.disconnect(opened.append)
    return scene.job("Building the search index")


def _export(name: str, columns: tuple[str, ...] | None = None) -> Callable[[Scene], Job]:
    def start(scene: Scene) -> Job:
        scene.folder.joinpath(name).write_text(OLD, encoding="utf-8")
        job = scene.controllers.projects.export_table(ExportChoices(scene.folder / name, columns=columns))
        assert job is not None
        return job

    return start


def _suggest(scene: Scene) -> Job:
    (panel,) = scene.window.findChildren(LabelsPanel)
    dialog = panel.offers.suggest()
    assert dialog is not None
    job = scene.job("Suggesting labels")
    job.ended.connect(dialog.close)
    return job


def _copy(scene: Scene) -> Job:
    scene.folder.joinpath("copy.sce").write_text(OLD, encoding="utf-8")
    job = scene.controllers.projects.save_copy(scene.folder / "copy.sce", True)
    assert job is not None
    return job


# --- what must be true afterwards --------------------------------------------------------------------------


def _no_new_project(scene: Scene) -> None:
    assert not scene.files() - KEPT
    assert scene.project.path == scene.folder / PROJECT


def _same_rows(scene: Scene) -> None:
    assert scene.project.row_count() == ROWS
    assert len(scene.project.row_ids()) == ROWS


def _scores_kept(scene: Scene) -> None:
    for run in scene.project.runs():
        assert run.scored >= scene.before.get(f"run {run.id}", 0)
        scene.before[f"run {run.id}"] = run.scored
        assert len(scene.project.run_arrays(run.id).row_ids) == run.scored


def _still_searched(scene: Scene) -> None:
    from sce_desktop.core.query import RowQuery

    assert scene.project.row_ids(RowQuery(search=f"{ROWS - 1} ")).tolist() == [ROWS]


def _old_file(name: str) -> Callable[[Scene], None]:
    def check(scene: Scene) -> None:
        assert scene.folder.joinpath(name).read_text(encoding="utf-8") == OLD
        assert not scene.files() - KEPT - {name}

    return check


def _labels_as_they_were(scene: Scene) -> None:
    assert [label.name for label in scene.controllers.workspace.labels] == list(LABELS)


JOBS = (
    LongJob("import", _import, _no_new_project),
    LongJob("append", _append, _same_rows),
    LongJob("score", _score, _scores_kept, seconds=4.0, kill_within=4.0),
    LongJob("search index", _index, _still_searched),
    LongJob("export csv", _export("out.csv"), _old_file("out.csv")),
    LongJob("export xlsx", _export("out.xlsx", COLUMNS), _old_file("out.xlsx")),
    LongJob("suggest labels", _suggest, _labels_as_they_were),
    LongJob("copy", _copy, _old_file("copy.sce"), kill_within=0.2),
)
