"""A project in the window, and a scoring of it that takes as long as a test wants."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job
from sce_desktop.controllers.scoring_states import ScoringStates
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Run
from sce_desktop.core.scored import ScoredChunk
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring import pace
from tests.ui.conftest import MakeProject
from tests.ui.scoring_bench import LABELS, FakeEngine


class Engine(FakeEngine):
    """Scores the rows of the screen alone where it is asked to."""

    def score(
        self,
        project: Project,
        model_cache: object,
        choice: ModelChoice,
        first_ids: IdArray,
        on_scored: Callable[[ScoredChunk], None],
        *,
        on_sample: object = None,
        on_draft: object = None,
        on_screen: object = None,
        screen_only: bool = False,
        progress: Progress,
    ) -> list[Run]:
        if not screen_only:
            return super().score(
                project, model_cache, choice, first_ids, on_scored, on_sample=on_sample, progress=progress
            )
        self.calls.append((choice, [-1]))
        return []


@pytest.fixture(name="engine")
def engine_fixture(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine()
    monkeypatch.setattr(work, "score", engine.score)
    monkeypatch.setattr(
        work.ModelCache, "load", lambda _self, choice, *, progress: engine.load(choice, progress=progress)
    )
    return engine


@pytest.fixture(name="battery")
def battery_fixture(monkeypatch: pytest.MonkeyPatch) -> list[bool | None]:
    """Whether the computer runs on its battery."""
    state: list[bool | None] = [None]
    monkeypatch.setattr(pace, "on_battery", lambda: state[0])
    return state


@pytest.fixture(name="path")
def path_fixture(make_project: MakeProject) -> Path:
    return make_project(labels=LABELS)


def open_it(qtbot: QtBot, controllers: Controllers, path: Path) -> Controllers:
    controllers.scorer.long._lasting_soon.setInterval(0)
    controllers.scorer.set_baselines(())
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(path)
    return controllers


def close_it(qtbot: QtBot, controllers: Controllers) -> None:
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()


@pytest.fixture(name="opened")
def opened_fixture(
    qtbot: QtBot, controllers: Controllers, path: Path, engine: Engine, battery: list[bool | None]
) -> Controllers:
    return open_it(qtbot, controllers, path)


def state_of(controllers: Controllers, path: Path) -> str | None:
    with Project.open(path, read_only=True) as project:
        made = project.created_at
    kept = ScoringStates(controllers.preferences.settings.file.with_name("scoring.json")).of(path, made)
    return kept.state if kept is not None else None


def start(qtbot: QtBot, controllers: Controllers, engine: Engine) -> Job:
    """Score until a row has its score and the scoring counts as long."""
    engine.go_on.clear()
    job = controllers.scorer.score()
    assert job is not None
    long = controllers.scorer.long
    qtbot.waitUntil(lambda: long.lasting and scored(controllers) == 1)
    return job


def scored(controllers: Controllers) -> int:
    project = controllers.workspace.project
    run = project.active_run("sce") if project is not None else None
    return run.scored if run is not None else 0
