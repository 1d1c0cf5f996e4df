"""A project of 500 rows for which all ways are taken that are for millions of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import rows_data
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Scores
from sce_desktop.store.content import found_rows
from sce_desktop.store.project import Project
from sce_desktop.ui.rows import rows_finder, rows_selection
from sce_desktop.ui.rows.rows_view import RowsView
from tests.ui.conftest import MakeProject
from tests.ui.panels import open_in, settle
from tests.ui.wiring import wired

ROWS = 500


@pytest.fixture(name="path")
def path_fixture(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(rows_data, "MANY_ROWS", 100)
    monkeypatch.setattr(rows_data, "FIRST_ROWS", 70)
    monkeypatch.setattr(rows_finder, "MANY_ROWS", 100)
    monkeypatch.setattr(rows_selection, "MOST_SELECTED", 100)
    path = make_project(texts=tuple(f"text {number % 250}" for number in range(ROWS)), labels=("a", "b"))
    with Project.open(path) as project:
        label_set = project.label_set()
        assert label_set is not None
        run = project.open_run("sce", "sce", "m", "f", label_set.labels)
        sure = np.random.default_rng(1).permutation(np.linspace(0.5, 1, ROWS)).astype(np.float32)
        project.add_scores(run.id, np.arange(1, ROWS + 1), Scores(np.stack([sure, 1 - sure], axis=1)))
        project.finish_run(run.id)
        project.activate(run.id)
    return path


@pytest.fixture(name="opened")
def opened_fixture(qtbot: QtBot, controllers: Controllers, path: Path) -> Iterator[RowsView]:
    view = wired(RowsView, controllers)()
    qtbot.addWidget(view)
    view.resize(760, 300)
    view.show()
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    yield view
    settle(qtbot, controllers)


@pytest.fixture(name="few_tested")
def few_tested_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found_rows, "_TESTED", (10, 20, 40))
    monkeypatch.setattr(found_rows, "_SCREENS", 8)


def without_end(_project: Project, *_args: object, progress: Progress, **_keywords: object) -> None:
    while True:
        progress.check()
        time.sleep(0.001)
