"""Small projects with scores for the tests of panels, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.runs import Run, Scores
from sce_desktop.core.training import FinetuneSettings, Fit, TrainingReport
from sce_desktop.core.versions import ModelVersion
from sce_desktop.store.project import Project

TEXTS = ("Two days late", "Box crushed", "", "Driver was kind", "وصلت الشحنة متأخرة")
LABELS = ("Late", "Damaged", "Praise")


def give_scores(
    project: Project,
    tops: Sequence[int],
    *,
    alias: str = "sce",
    share: float = 0.8,
    fingerprint: str = "fake",
    finish: bool = True,
) -> Run:
    """Score the first rows with text: ``tops`` are the places of their best labels, ``share`` its part."""
    label_set = project.label_set()
    assert label_set is not None
    count = len(label_set.labels)
    run = project.open_run(
        alias, "sce" if alias == "sce" else "similarity", "sce-mini", fingerprint, label_set.labels
    )
    project.activate(run.id)
    table = np.full((len(tops), count), (1 - share) / (count - 1), np.float32)
    table[np.arange(len(tops)), tops] = share
    project.add_scores(run.id, project.unscored_ids(run.id)[: len(tops)], Scores(table))
    if finish:
        project.finish_run(run.id)
    return run


def give_yes(project: Project, yes: Sequence[float], *, none: bool = True) -> Run:
    """Score the first rows with text about the one label that there is: ``yes`` says how likely it fits."""
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "sce-mini", "yes", label_set.labels)
    project.activate(run.id)
    fits = np.array(yes, np.float32)
    scores = Scores(fits[:, None], 1 - fits if none else None)
    project.add_scores(run.id, project.unscored_ids(run.id)[: len(fits)], scores)
    project.finish_run(run.id)
    return run


def score_no_edits(controllers: Controllers) -> None:
    """Let an edit of the labels be followed by no scoring: there is no model, or it is not what is tested."""
    controllers.scorer.labels_changed = lambda: None  # type: ignore[method-assign]


def add_version(project: Project, fit: Fit, *, base: str = "sce-mini") -> ModelVersion:
    """Keep a version of the model, which is not in use yet."""
    return project.add_version(
        name="",
        base=base,
        base_fingerprint="f",
        data_hash="h",
        train_rows=1,
        held_out_rows=0,
        settings=FinetuneSettings(),
        report=TrainingReport(fit=fit),
        seconds=1.0,
        weights=b"w",
    )


def open_in(qtbot: QtBot, controllers: Controllers, path: Path) -> Project:
    """Open a project and wait until it has been counted."""
    with qtbot.waitSignals([controllers.workspace.projectOpened, controllers.workspace.countsChanged]):
        controllers.projects.open_project(path)
    assert controllers.workspace.project is not None
    return controllers.workspace.project


def settle(qtbot: QtBot, controllers: Controllers) -> None:
    """Wait until nothing is being read."""
    qtbot.waitUntil(
        lambda: (
            not controllers.workspace.workers.reads.busy and not controllers.workspace._count_soon.isActive()
        )
    )
    qtbot.wait(1)
    qtbot.waitUntil(lambda: not controllers.workspace.workers.reads.busy)
