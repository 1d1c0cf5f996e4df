"""Long jobs stopped at random moments, by the stop button and by closing the window; see `at_work`.

Moments come from `random`, which pytest-randomly seeds: ``-p randomly -p "randomly_seed=N"`` repeats them.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from sce_desktop.app import make_window
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job, JobState, WorkerQueues
from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import SilentProgress
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.appearance import Theme
from tests.ui.at_work import JOBS, PROJECT, ROWS, LongJob, Scene, until

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(300)]

MOMENTS = int(os.environ.get("SCE_DESKTOP_TEST_MOMENTS", "4"))  # of a job; more by this variable
ACKNOWLEDGED_S = 0.1
DONE_S = 2.0
AT_WORST_S = 10.0  # a single moment may fall together with whatever else the machine does
DRAWS = 100  # a moment that comes after the end of the job is drawn again, from the time before it


class Hit(NamedTuple):
    """When a job was stopped, and what came of it, in seconds."""

    moment: float  # after its start
    late: float  # until the GUI thread was free for the click; `make bench` has the distribution
    told: float  # that the GUI thread worked until the window said that it is stopping
    done: float  # until the job had ended

    def __str__(self) -> str:
        return (
            f"at {self.moment:.3f} s: {self.late:.3f} late, told in {self.told:.3f}, done in {self.done:.3f}"
        )


@pytest.fixture(scope="session")
def durations() -> dict[str, float]:
    """How long each job takes when nobody stops it, in seconds."""
    return {}


@pytest.fixture
def scene(qtbot: QtBot, theme: Theme, material: Path, tmp_path: Path) -> Iterator[Scene]:
    """The whole window with the project open and the model loaded; the search index is not built."""
    with WorkerQueues() as workers:
        controllers = Controllers(workers, Settings(tmp_path / "settings.json"))
        window = make_window(controllers, theme)
        window.show()
        controllers.projects.warm_up()
        scene = Scene(window, controllers, tmp_path)
        scene.open(material)
        yield scene
        if window.isVisible():
            window.close()
            until(lambda: not window.isVisible())
        window.deleteLater()


def seconds_of(scene: Scene, kind: LongJob, durations: dict[str, float], material: Path) -> float:
    """From how many seconds moments are drawn; lets the job run to its end once to find out."""
    if kind.seconds is not None:
        return kind.seconds
    if kind.name not in durations:
        job = kind.start(scene)
        until(lambda: not job.active)
        assert job.state is JobState.FINISHED, job.error
        durations[kind.name] = job.seconds
        scene.open(material)
    return durations[kind.name]


def run_until_moment(job: Job, seconds: float) -> float | None:
    """Let the job run for so long; return by how much later the GUI thread came to it, None if it ended."""
    until(lambda: job.started_at is not None)
    assert job.started_at is not None
    due = job.started_at + seconds
    until(lambda: time.monotonic() >= due or not job.active)
    return time.monotonic() - due if job.active else None


def stop(scene: Scene, job: Job) -> None:
    """Press the button, if it is this job's."""
    if scene.window.status.progress.whole().startswith(job.title):
        QTest.mouseClick(scene.window.status.stop_button, Qt.MouseButton.LeftButton)
    else:
        job.cancel()


@pytest.mark.timeout(400)
@pytest.mark.parametrize("kind", JOBS, ids=str)
def test_stopped_at_random_moments(
    scene: Scene, kind: LongJob, durations: dict[str, float], material: Path
) -> None:
    span = seconds_of(scene, kind, durations, material)
    print(f"{kind}: runs {span:.2f} s")
    hits: list[Hit] = []
    for _ in range(DRAWS):
        if len(hits) == MOMENTS:
            break
        moment = random.uniform(0, span)
        job = kind.start(scene)
        late = run_until_moment(job, moment)
        if late is None:
            span = moment
            scene.open(material)
            continue
        asked, worked = time.monotonic(), time.thread_time()
        stop(scene, job)
        assert job.state is JobState.CANCELLING
        told = time.thread_time() - worked
        until(lambda job=job: not job.active)
        hits.append(Hit(moment, late, told, time.monotonic() - asked))
        print(hits[-1], job.state)
        until(lambda: scene.idle)
        if job.state is JobState.CANCELLED:
            kind.unharmed(scene)
        else:  # it was past its last check
            scene.open(material)
    assert len(hits) == MOMENTS
    assert median(hit.told for hit in hits) < ACKNOWLEDGED_S
    assert max(hit.told for hit in hits) < AT_WORST_S
    assert median(hit.late for hit in hits) < ACKNOWLEDGED_S
    assert median(hit.done for hit in hits) < DONE_S
    assert max(hit.done for hit in hits) < AT_WORST_S
    assert scene.project.verify() == []


@pytest.mark.parametrize("kind", JOBS, ids=str)
def test_closing_the_window_during_a_job(
    scene: Scene, kind: LongJob, durations: dict[str, float], material: Path
) -> None:
    span = seconds_of(scene, kind, durations, material)
    for _ in range(DRAWS):
        moment = random.uniform(0, span)
        job = kind.start(scene)
        if run_until_moment(job, moment) is not None:
            break
        span = moment
        scene.open(material)
    else:
        pytest.fail(f"{kind} is too short to be hit")
    path = scene.project.path
    runs = scene.project.runs()
    asked = time.monotonic()
    scene.window.close()
    until(lambda: not scene.window.isVisible())
    closed = time.monotonic() - asked
    print(f"{kind}: closed {moment:.3f} s after its start, in {closed:.3f} s, {job.state}")
    assert closed < AT_WORST_S
    assert not job.active
    assert all(
        worker.close(DONE_S) for worker in scene.controllers.workspace.workers
    )  # the guards of every test look, too
    assert not Path(f"{path}-wal").exists()
    with Project.open(path) as project:
        assert not project.read_only
        assert project.verify() == []
        if kind.name != "append" or job.state is JobState.CANCELLED:
            assert project.row_count() == ROWS
        kept = {run.id: run.scored for run in project.runs()}
    assert all(kept[run.id] >= run.scored for run in runs)
    if job.state is JobState.CANCELLED:
        assert not [name for name in scene.files() if name.endswith(".partial") or name == "new.sce"]


class Stopped(SilentProgress):
    """The stop button was pressed before anything began."""

    def check(self) -> None:
        raise Cancelled


def test_copying_can_be_stopped(material: Path, tmp_path: Path) -> None:
    """Here too because a copy is often done before a random moment."""
    shutil.copy(material / PROJECT, tmp_path)
    with Project.open(tmp_path / PROJECT) as project, pytest.raises(Cancelled):
        project.backup(tmp_path / "copy.sce", progress=Stopped())
    assert not list(tmp_path.glob("*copy*"))
