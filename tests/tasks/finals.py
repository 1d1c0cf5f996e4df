"""A project with predictions and their gold labels, for tests of final labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.query import AUDIT
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.audits import draw, state


def scored_project(path: Path, rows: int = 600, seed: int = 0) -> tuple[Project, np.ndarray]:
    """Return a project of ``rows`` rows, scored over two labels, and the place (n,) of each right label.

    A prediction is right as often as its confidence squared, and the first label is predicted.
    """
    rng = np.random.default_rng(seed)
    project = Project.create(path)
    texts = [(f"r{number}", f"text {number}") for number in range(rows)]
    project.add_rows(("ref", "text"), [texts], text_columns=[1], source={})
    labels = project.set_labels([Label("late"), Label("damaged")]).labels
    run = project.open_run("sce", "sce", "sce-mini", "f", labels)
    sure = (0.5 + 0.5 * rng.beta(3, 1, rows)).astype(np.float32)
    project.add_scores(run.id, np.arange(1, rows + 1), Scores(np.stack([sure, 1 - sure], axis=1)))
    project.finish_run(run.id)
    return project, (rng.random(rows) > sure**2).astype(np.int64)


def audit(
    project: Project, gold: np.ndarray, size: int, *, seed: int = 0, labelled: int | None = None
) -> None:
    """Draw an audit sample and label its first ``labelled`` rows as ``gold`` says; None: all of them."""
    draw(project, size, seed=seed)
    now, label_set = state(project), project.label_set()
    assert now is not None
    assert label_set is not None
    drawn = now.row_ids[:labelled]
    for place, label in enumerate(label_set.labels):
        project.decide(drawn[gold[drawn - 1] == place], Decision.LABEL, [label.id or 0], queue=AUDIT)
