"""What tests of versions need: a small base, a project, and labels by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch

from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.store.project import Project
from sce_desktop.tasks.training.versions import NewVersion, finetune_project
from tests.ml.test_finetune import GOLD, TEXTS, WORDS
from tests.ml.tiny import tiny_sce_model

NAMES = [*WORDS, "music"]


class OneModel:
    """Where models come from: there is one."""

    def __init__(self, model: SCEModel) -> None:
        self._model = model

    def model(self, name: str) -> SCEModel:
        return self._model

    def baseline(self, spec: str) -> SCEModel:
        raise NotImplementedError


@pytest.fixture(name="base", scope="module")
def base_fixture() -> SCEModel:
    return tiny_sce_model()


@pytest.fixture(autouse=True, scope="module")
def one_thread_fixture() -> Iterator[None]:
    """A tiny model has no work for two."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(name="project")
def project_fixture(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(["text"], [[(text,) for text in [*TEXTS, "", "team"]]], text_columns=[0], source={})
        ids = {label.name: label.id for label in project.set_labels(clean_labels(NAMES)).labels}
        for row, place in enumerate(GOLD, 1):
            decide(project, [row], [ids[NAMES[place]]])
        yield project


def decide(
    project: Project,
    rows: Sequence[int],
    label_ids: Sequence[int | None],
    decision: Decision = Decision.LABEL,
    origin: Origin = Origin.HAND,
) -> None:
    project.decide(rows, decision, [i for i in label_ids if i is not None], origin=origin)


def make(project: Project, base: SCEModel, **options: object) -> NewVersion:
    arguments = {"settings": FinetuneSettings(epochs=30), "progress": SilentProgress(), **options}
    return finetune_project(project, base, "tiny", **arguments)  # type: ignore[arg-type]
