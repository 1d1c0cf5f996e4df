from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.core.figures import Figures, PairedCounts
from sce_desktop.core.training import FinetuneSettings, TrainingReport
from sce_desktop.core.versions import ModelVersion
from sce_desktop.store.project import Project
from sce_desktop.store.runs.training_json import read_version

FIGURES = Figures(0.5, (0.4, 0.6), 0.5, 0.1)


def add(project: Project, **changes: Any) -> ModelVersion:
    """Keep a version; ``settings`` and ``metrics`` may be given as a project's JSON has them."""
    if "metrics" in changes or isinstance(changes.get("settings"), dict):
        texts = (json.dumps(changes.pop(name, {})) for name in ("settings", "metrics"))
        settings, changes["report"] = read_version(*texts)
        changes["settings"] = settings or FinetuneSettings()
    fields: dict[str, Any] = {
        "name": "first",
        "base": "sce-mini",
        "base_fingerprint": "f",
        "data_hash": "d",
        "train_rows": 80,
        "held_out_rows": 20,
        "settings": FinetuneSettings(epochs=3, seed=7),
        "report": TrainingReport(PairedCounts(40, 10, 0), FIGURES, replace(FIGURES, accuracy=0.75), FIGURES),
        "seconds": 1.5,
        "weights": b"\x00weights\xff",
    }
    return project.add_version(**fields | changes)


def test_version_comes_back_as_it_was_given(project: Project, path: Path) -> None:
    version = add(project)
    assert (version.number, version.name, version.active) == (1, "first", False)
    project.close()
    with Project.open(path) as again:
        assert again.versions() == (version,)
        assert again.version_weights(version.id) == b"\x00weights\xff"
        assert again.versions()[0].report.after == replace(FIGURES, accuracy=0.75)
        assert again.verify() == []


def test_one_version_at_most_is_active(project: Project) -> None:
    first, second = add(project), add(project, name="second")
    assert project.active_version() is None
    project.activate_version(first.id)
    project.activate_version(second.id)
    assert project.active_version() == replace(second, active=True)
    assert [version.active for version in project.versions()] == [False, True]
    project.activate_version(None)
    assert project.active_version() is None


def test_deleted_version_is_gone_and_its_number_too(project: Project) -> None:
    first, second = add(project), add(project)
    project.activate_version(second.id)
    project.delete_version(second.id)
    assert project.active_version() is None
    assert project.versions() == (first,)
    assert add(project).number == 3


def test_unknown_version_is_refused_and_changes_nothing(project: Project) -> None:
    version = add(project)
    project.activate_version(version.id)
    for call in (project.activate_version, project.delete_version, project.version_weights):
        with pytest.raises(KeyError):
            call(version.id + 1)
    assert project.active_version() == replace(version, active=True)


def test_repair_brings_versions_over(project: Project, tmp_path: Path) -> None:
    version = add(project)
    project.close()
    copy = tmp_path / "copy.sce"
    assert Project.repair_file(project.path, copy).problems == ()
    with Project.open(copy) as again:
        assert again.versions() == (version,)
        assert again.version_weights(version.id) == b"\x00weights\xff"


def test_a_version_without_a_name_is_called_by_its_number(project: Project) -> None:
    add(project)
    project.delete_version(add(project).id)
    version = add(project, name="", base="/models/mine")
    assert (version.name, version.number) == ("version 3", 3)
    assert version.title == "mine + version 3"
