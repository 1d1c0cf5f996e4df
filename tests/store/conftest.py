"""A project to test on, and rows to fill it with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.store.content.rows import ImportReport
from sce_desktop.store.project import Project


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "survey.sce"


@pytest.fixture
def project(path: Path) -> Iterator[Project]:
    with Project.create(path) as project:
        yield project


def fill(project: Project, texts: Sequence[str | None]) -> ImportReport:
    """Import texts under the columns ref and text."""
    batch = [(f"r{number}", text) for number, text in enumerate(texts)]
    return project.add_rows(("ref", "text"), [batch], text_columns=[1], source={})


def use_labels(project: Project, *names: str, multi_label: bool = False) -> list[int]:
    """Make a label set of names and return the ids."""
    label_set = project.set_labels([Label(name) for name in names], multi_label=multi_label)
    return [label.id for label in label_set.labels if label.id is not None]
