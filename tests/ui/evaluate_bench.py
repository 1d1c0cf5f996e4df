"""The Evaluate panel over a project with decided and scored rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.evidence import gather, rolled_up
from sce_desktop.tasks.evaluation.quality import Quality, assess
from sce_desktop.ui.evaluate.evaluate_panel import EvaluatePanel
from tests.ui.conftest import MakeProject
from tests.ui.panels import give_scores, open_in, settle
from tests.ui.wiring import wired

LABELS = ("Late", "Damaged", "Praise")
TEXTS = tuple(f"text number {n}" for n in range(12))
TOPS = [0, 1, 2] * 4
GOLD = [0, 1, 2, 0, 1, 0, 1, 1, 2, 0]  # rows 6 and 7 are wrong: Praise for Late, Late for Damaged
Open = Callable[..., EvaluatePanel]


@pytest.fixture(name="show")
def show_fixture(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> Iterator[Open]:
    """Open a project that was scored, and some of it decided, and show the panel."""

    def show(
        gold: list[int] = GOLD,
        *,
        labels: tuple[str, ...] = LABELS,
        scored: bool = True,
        origin: Origin = Origin.HAND,
        prepare: Callable[[Project], object] = lambda _: None,
    ) -> EvaluatePanel:
        path = make_project(texts=TEXTS, labels=labels)
        with Project.open(path) as project:
            prepare(project)
            if scored:
                give_scores(project, TOPS)
                give_scores(project, [0] * 12, alias="similarity", share=0.5)
            label_set = project.label_set()
            for row_id, place in enumerate(gold, 1):
                assert label_set is not None
                project.decide([row_id], Decision.LABEL, [label_set.labels[place].id or 0], origin=origin)
        open_in(qtbot, controllers, path)
        panel = wired(EvaluatePanel, controllers)()
        qtbot.addWidget(panel)
        panel.resize(1280, 300)
        panel.show()
        if scored:
            # Long enough for the import of scikit-learn.
            qtbot.waitUntil(lambda: panel.measuring.found is not None, timeout=60_000)
        return panel

    yield show
    settle(qtbot, controllers)


def quality(controllers: Controllers, *, rolled: bool = False) -> Quality:
    assert controllers.workspace.project is not None
    evidence = gather(controllers.workspace.project, ["sce", "similarity"])
    return assess(rolled_up(evidence) if rolled else evidence)


def cells(panel: EvaluatePanel, table: str = "models") -> list[list[str]]:
    model = getattr(panel, table).figures
    return [
        [model.data(model.index(row, column)) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]
