"""A version that is used in another way than the one that was chosen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.heads import Way
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.finetune.versions import in_way as model_in_way
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.store.project import Project
from sce_desktop.store.runs.training_json import head_json
from sce_desktop.tasks.scoring.scoring import score_project
from sce_desktop.tasks.training.version_models import export_version, project_models, version_model
from sce_desktop.tasks.training.ways import in_way
from tests.ml.test_finetune import TEXTS
from tests.tasks.version_bench import NAMES, OneModel, base_fixture, make, project_fixture

__all__ = ["base_fixture", "project_fixture"]
LABELS = [Label(name) for name in NAMES]


def test_the_report_of_a_version_has_every_way(project: Project, base: SCEModel) -> None:
    version = make(project, base).version
    (kept,) = project.versions()
    head = kept.report.head
    assert head is not None
    assert kept == version
    assert [one.way for one in head.ways] == [Way.ZERO_SHOT, Way.SCE, Way.LOGISTIC, Way.PRODUCT]
    assert head.of(Way.ZERO_SHOT).figures == kept.report.before  # type: ignore[union-attr]
    assert head.of(head.way).figures == kept.report.after or head.way is not head.best  # type: ignore[union-attr]
    assert all(one.usable and one.paired.rows == kept.report.measured for one in head.ways)
    assert "validation rows" in head.reason
    assert "changed_rows" not in json.dumps(head_json(head))


def test_another_way_is_a_version_of_its_own(project: Project, base: SCEModel) -> None:
    made = make(project, base)
    first = made.version
    other = Way.LOGISTIC if first.report.head.way is not Way.LOGISTIC else Way.SCE  # type: ignore[union-attr]
    second = in_way(project, first, other)
    assert project.versions() == (first, second)
    assert (second.report.head.way, second.report.head.source) == (other, first.number)  # type: ignore[union-attr]
    assert second.report.after == first.report.head.of(other).figures  # type: ignore[union-attr]
    assert second.report.fit.row_ids == first.report.fit.row_ids
    assert "chosen by you" in second.report.head.reason  # type: ignore[union-attr]
    want = model_in_way(base, made.tuned.heads.fitted, other).probabilities(TEXTS, LABELS).probabilities
    found = version_model(project, second, OneModel(base)).probabilities(TEXTS, LABELS).probabilities
    np.testing.assert_array_equal(found, want)


def test_a_way_is_made_once_and_leads_back(project: Project, base: SCEModel) -> None:
    first = make(project, base).version
    way = first.report.head.way  # type: ignore[union-attr]
    assert in_way(project, first, way) == first
    other = in_way(project, first, Way.ZERO_SHOT)
    assert in_way(project, first, Way.ZERO_SHOT) == other
    assert in_way(project, other, way) == first
    third = in_way(project, other, Way.SCE)
    assert third.name == f"{first.name}, SCE head"
    assert len(project.versions()) == (2 if third == first else 3)


def test_scores_come_from_the_way_in_use(project: Project, base: SCEModel) -> None:
    first = make(project, base).version
    runs = []
    for way in (Way.SCE, Way.LOGISTIC):
        version = in_way(project, first, way)
        project.activate_version(version.id)
        models = project_models(project, OneModel(base), "tiny", [], SilentProgress()).models
        (run,) = score_project(project, models, progress=SilentProgress())
        project.activate(run.id)
        runs.append(run)
    assert runs[0].id != runs[1].id
    sce, logistic = (project.run_matrix(run.id)[1] for run in runs)
    assert np.abs(sce - logistic).max() > 0.01


def test_a_way_is_exported(project: Project, base: SCEModel, tmp_path: Path) -> None:
    version = in_way(project, make(project, base).version, Way.LOGISTIC)
    export_version(project, version, OneModel(base), tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Head: logistic regression" in card
    again = SCEModel.from_pretrained(tmp_path / "out")
    want = version_model(project, version, OneModel(base)).probabilities(TEXTS, LABELS).probabilities
    np.testing.assert_allclose(again.probabilities(TEXTS, LABELS).probabilities, want, atol=0.02)


def test_a_way_that_is_not_there(project: Project, base: SCEModel) -> None:
    version = make(project, base).version
    with pytest.raises(UserError, match="fine-tune again"):
        in_way(project, version, Way.ADAPTED)
    older = replace(version, report=replace(version.report, head=None))
    with pytest.raises(UserError, match="fine-tune again"):
        in_way(project, older, Way.LOGISTIC)


def test_a_way_that_was_asked_for(project: Project, base: SCEModel) -> None:
    version = make(project, base, settings=FinetuneSettings(epochs=30, head=Way.LOGISTIC)).version
    (kept,) = project.versions()
    assert kept.settings is not None
    assert kept.settings.head is Way.LOGISTIC
    assert version.report.head.way is Way.LOGISTIC  # type: ignore[union-attr]
