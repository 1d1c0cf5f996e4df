"""The Findings panel over a project of 120 rows with labels, scores and a date."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.query import AUDIT, RowQuery
from sce_desktop.core.runs import Scores
from sce_desktop.core.text import exact_share_text
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.audits import sample
from sce_desktop.tasks.evaluation.evidence import Evidence, gather
from sce_desktop.tasks.insight.findings import Findings
from sce_desktop.ui.findings.findings_panel import FindingsPanel
from tests.ui.panels import open_in
from tests.ui.wiring import wired

LABELS = ("Delivery > Late", "Delivery > Lost", "Praise")
ROWS = 120


@pytest.fixture(name="path")
def path_fixture(tmp_path: Path) -> Path:
    """120 rows in three channels and four months, scored; 40 of them drawn at random and decided."""
    path = tmp_path / "Feedback.sce"
    rng = np.random.default_rng(3)
    with Project.create(path, name="Feedback") as project:
        rows = [
            (
                ("mail", "chat", "=shop")[n % 3],
                "soon" if n == 7 else f"2024-{1 + n // 30:02d}-10",
                f"text {n}",
            )
            for n in range(ROWS)
        ]
        project.add_rows(("channel", "date", "text"), [rows], text_columns=[2], source={})
        labels = project.set_labels([Label(name) for name in LABELS]).labels
        run = project.open_run("sce", "sce", "m", "f", labels)
        project.activate(run.id)
        shares = rng.dirichlet((3, 1, 2), ROWS).astype(np.float32)
        project.add_scores(run.id, project.unscored_ids(run.id), Scores(shares))
        project.finish_run(run.id)
        drawn = rng.permutation(project.row_ids(RowQuery(blank=False)))[:40]
        project.create_audit(drawn, 3)
        for row_id in drawn.tolist():
            given = labels[int(shares[row_id - 1].argmax())].id
            assert given is not None
            project.decide([row_id], Decision.LABEL, [given], queue=AUDIT)
    return path


@pytest.fixture(name="panel")
def panel_fixture(qtbot: QtBot, controllers: Controllers) -> FindingsPanel:
    panel = wired(FindingsPanel, controllers)()
    qtbot.addWidget(panel)
    panel.resize(1280, 320)
    panel.show()
    return panel


def wait(qtbot: QtBot, panel: FindingsPanel) -> None:
    """Until the panel shows what it was asked, about what there is."""

    def ready() -> bool:
        return not panel._dirty and panel.visibility.idle and panel._cell_job is None

    qtbot.waitUntil(ready)


def opened(qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path) -> Project:
    project = open_in(qtbot, controllers, path)
    wait(qtbot, panel)
    return project


def evidence(project: Project, alias: str = "sce") -> Evidence:
    return gather(project, [alias] if alias else [], sample(project))


def shown_shares(panel: FindingsPanel) -> list[str]:
    return [panel.shares_model.index(row, 0).data() for row in range(panel.shares_model.rowCount())]


def written(found: Findings) -> list[str]:
    return [exact_share_text(one.share.value) for one in found.whole.shares]
