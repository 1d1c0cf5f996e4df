from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.types import Decision, Label, Scores
from sce_desktop.store.project import Project
from sce_desktop.tasks.suggest import suggest_labels, unfitting_rows

THEMES = {"refund": "money invoice charged", "courier": "driver polite kind", "login": "password app account"}


def make(path: Path, each: int) -> Project:
    project = Project.create(path)
    rows = [(f"{theme} {words} case {n}",) for n in range(each) for theme, words in THEMES.items()]
    project.add_rows(["text"], [rows], text_columns=[0], source={})
    return project


def test_groups_are_named_by_their_words(tmp_path: Path) -> None:
    with make(tmp_path / "p.sce", 20) as project:
        found = suggest_labels(project, None, progress=SilentProgress())
        assert 50 <= sum(count for _, count in found) <= 60  # what is like nothing else is left out
        words = " ".join(f"{label.name} {label.description}".lower() for label, _ in found)
        assert all(any(word in words for word in (theme, *more.split())) for theme, more in THEMES.items())
        assert found == suggest_labels(project, None, progress=SilentProgress())


def test_few_texts_are_told(tmp_path: Path) -> None:
    with make(tmp_path / "p.sce", 2) as project, pytest.raises(UserError, match="too few texts"):
        suggest_labels(project, None, progress=SilentProgress())


def test_least_certain_rows_and_those_without_a_fitting_label(tmp_path: Path) -> None:
    with make(tmp_path / "p.sce", 40) as project:
        labels = project.set_labels([Label("A"), Label("B")]).labels
        run = project.open_run("sce", "sce", "m", "f", labels)
        ids = project.row_ids()
        sure = np.linspace(0.99, 0.51, len(ids), dtype=np.float32)
        project.add_scores(run.id, ids, Scores(np.stack([sure, 1 - sure], axis=1)))
        project.decide([1], Decision.NONE)
        run = project.active_run("sce") or run
        assert unfitting_rows(project, run).tolist() == [1, *ids[-30:].tolist()]
