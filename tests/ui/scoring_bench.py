"""A project in the window, scored by what costs nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Run, Scores
from sce_desktop.core.scored import ScoredChunk
from sce_desktop.store.project import Project
from tests.ui.conftest import MakeProject

LABELS = ("Late", "Damaged", "Praise")


class FakeEngine:
    """Scores by the length of the text, as slowly as a test wants, through the real project."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.go_on.set()
        self.calls: list[tuple[ModelChoice, list[int]]] = []
        self.error: Exception | None = None
        self.on_screen: Callable[[], IdArray] | None = None

    def load(self, choice: ModelChoice, *, progress: Progress) -> list[Any]:
        progress.check()
        if self.error is not None:
            raise self.error
        return []

    def score(
        self,
        project: Project,
        _model_cache: object,
        choice: ModelChoice,
        first_ids: IdArray,
        on_scored: Callable[[ScoredChunk], None],
        *,
        on_sample: object = None,
        on_draft: object = None,
        on_screen: Callable[[], IdArray] | None = None,
        progress: Progress,
    ) -> list[Run]:
        self.calls.append((choice, first_ids.tolist()))
        self.on_screen = on_screen
        if self.error is not None:
            raise self.error
        label_set = project.label_set()
        if label_set is None:
            raise UserError("There is no label: give at least one.")
        aliases = ("sce", *choice.baselines)
        runs = [project.open_run(a, "sce", choice.model, "fake", label_set.labels) for a in aliases]
        for run in runs:
            project.activate(run.id)
            ids = project.unscored_ids(run.id)
            first = first_ids[np.isin(first_ids, ids)]
            for row_id in (*first, *ids[~np.isin(ids, first)]):
                progress.check()
                shape = (1, len(label_set.labels))
                scores = Scores(np.full(shape, 1 / shape[1], dtype=np.float32))
                project.add_scores(run.id, [row_id], scores)
                on_scored(ScoredChunk(run, np.array([row_id]), scores))
                progress.report(1, len(ids), stage="scoring (sce)")
                while not self.go_on.wait(0.002):
                    progress.check()
            project.finish_run(run.id)
        return runs


@pytest.fixture(name="engine")
def engine_fixture(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    engine = FakeEngine()
    monkeypatch.setattr(work, "score", engine.score)
    monkeypatch.setattr(
        work.ModelCache, "load", lambda _self, choice, *, progress: engine.load(choice, progress=progress)
    )
    return engine


@pytest.fixture(name="opened")
def opened_fixture(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, engine: FakeEngine
) -> Controllers:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(labels=LABELS))
    return controllers


def score(controllers: Controllers) -> Job:
    job = controllers.scorer.score()
    assert job is not None
    return job
