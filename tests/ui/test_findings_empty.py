"""The Findings panel where there is little or nothing to show, and where it is hidden."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.query import AUDIT, RowQuery
from sce_desktop.core.scored import ALL_SCORES
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.findings import find
from sce_desktop.ui.findings.findings_panel import FindingsPanel
from tests.ui.conftest import MakeProject
from tests.ui.findings_bench import (  # noqa: F401
    ROWS,
    evidence,
    opened,
    panel_fixture,
    path_fixture,
    shown_shares,
    wait,
    written,
)
from tests.ui.panels import give_scores, settle


def test_a_project_without_labels(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, make_project: MakeProject
) -> None:
    opened(qtbot, controllers, panel, make_project())
    assert "No labels yet" in panel.empty.text()
    assert not panel.bar.copy.isEnabled()
    controllers.edits.set_labels([Label("Late"), Label("Damaged")])
    controllers.edits.decide([1], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    wait(qtbot, panel)
    assert panel.shares.isVisible()
    assert panel.bar.copy.isEnabled()


def test_nothing_decided_and_nothing_scored(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, make_project: MakeProject
) -> None:
    project = opened(qtbot, controllers, panel, make_project(labels=("Late", "Damaged")))
    assert "No rows are labelled or scored yet" in panel.empty.text()
    assert panel.score.isVisible()
    give_scores(project, [0, 1, 0, 0])
    controllers.scorer.refresh()
    controllers.workspace.scoresChanged.emit(ALL_SCORES)
    wait(qtbot, panel)
    assert panel.shares.isVisible()
    assert panel.sample.isVisible()  # no random sample: the shares have no interval
    assert panel.shares.isColumnHidden(1)
    with qtbot.waitSignal(controllers.navigation.panelAsked) as asked:
        panel.sample.click()
    assert asked.args == ["Evaluate"]


def test_a_run_without_scores_and_skipped_rows_of_the_sample_are_no_figures(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, make_project: MakeProject
) -> None:
    project = opened(qtbot, controllers, panel, make_project(labels=("Late", "Damaged")))
    give_scores(project, [])
    controllers.scorer.refresh()
    controllers.workspace.scoresChanged.emit(ALL_SCORES)
    wait(qtbot, panel)
    assert "No rows are labelled or scored yet" in panel.empty.text()
    drawn = project.row_ids(RowQuery(blank=False))
    project.create_audit(drawn, 3)
    project.decide(drawn[:1].tolist(), Decision.SKIPPED, queue=AUDIT)
    project.decide(drawn[1:2].tolist(), Decision.NONE, queue=AUDIT)
    controllers.workspace.annotationsChanged.emit(None)
    wait(qtbot, panel)
    said = panel.basis.text()
    assert "Estimated from a random sample of 1 row." in said  # no model helped
    assert "1 skipped row excluded (assumed missing at random)." in said
    assert f"{len(drawn) - 2} rows of the audit sample are still unlabelled." in said


def test_a_table_of_blank_rows(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, make_project: MakeProject
) -> None:
    opened(qtbot, controllers, panel, make_project(texts=("", " "), labels=("Late", "Damaged")))
    assert "no rows with text" in panel.empty.text()


def test_a_column_without_dates_and_a_table_without_columns(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, make_project: MakeProject, tmp_path: Path
) -> None:
    project = opened(qtbot, controllers, panel, make_project(labels=("Late", "Damaged")))
    give_scores(project, [0, 1, 0, 0])
    controllers.scorer.refresh()
    panel.bar.views["time"].click()
    controllers.workspace.scoresChanged.emit(ALL_SCORES)
    wait(qtbot, panel)
    assert panel.empty.text().startswith("No dates found in this column")
    with Project.create(tmp_path / "bare.sce", name="Bare") as bare:
        bare.add_rows(("text",), [[("a",), ("b",)]], text_columns=[0], source={})
        bare.set_labels([Label("Late"), Label("Damaged")])
        give_scores(bare, [0, 1])
    opened(qtbot, controllers, panel, tmp_path / "bare.sce")
    assert panel.empty.text().startswith("The table has no column to compare by")


def test_several_labels_a_row(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, make_project: MakeProject
) -> None:
    project = opened(qtbot, controllers, panel, make_project(labels=("Late", "Damaged")))
    controllers.edits.set_labels(controllers.workspace.labels, multi_label=True)
    first, second = (label.id or 0 for label in controllers.workspace.labels)
    controllers.edits.decide([1], Decision.LABEL, [first, second])
    controllers.edits.decide([2], Decision.LABEL, [first])
    wait(qtbot, panel)
    assert shown_shares(panel) == ["100.0%", "50.0%", "0.0%"]
    assert [panel.shares_model.index(row, 1).data() for row in range(3)] == [""] * 3
    controllers.edits.decide([4, 5], Decision.LABEL, [first])  # that is every row with text
    wait(qtbot, panel)
    assert [panel.shares_model.index(row, 1).data() for row in range(3)] == ["counted"] * 3
    assert "need not sum to 100%" in panel.basis.text()
    assert project.label_set().multi_label  # type: ignore[union-attr]


def test_rows_that_came_after_the_sample_are_reported(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path
) -> None:
    project = opened(qtbot, controllers, panel, path)
    assert "was not drawn from" not in panel.basis.text()
    more = [("mail", "2024-05-01", f"another {n}") for n in range(3)]
    project.add_rows(("channel", "date", "text"), [more], text_columns=[2], source={})
    controllers.workspace.rowsChanged.emit()
    wait(qtbot, panel)
    assert "The audit sample was not drawn from 3 unlabelled rows: draw another sample." in panel.basis.text()
    assert panel.answer is not None
    assert panel.answer.findings.rows == ROWS + 3


def test_blind_review_hides_what_models_say(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path
) -> None:
    project = opened(qtbot, controllers, panel, path)
    panel.show_cell(0, -1)
    wait(qtbot, panel)
    assert panel.examples.found is not None
    panel.show_cell(1, -1)  # on its way
    QGuiApplication.clipboard().setText("before")
    controllers.preferences.change_setting("blind", True)
    assert panel.answer is None  # at once
    assert panel.shares_model.rowCount() == 0
    assert panel.examples.found is None
    panel.copy()
    settle(qtbot, controllers)
    assert QGuiApplication.clipboard().text() == "before"
    wait(qtbot, panel)
    assert panel.examples.found is None
    assert shown_shares(panel) == written(find(evidence(project, "")))
    assert [panel.shares_model.index(row, 4).data() for row in range(4)] == [""] * 4
    assert panel.bar.model.count() == 1


def test_the_project_may_be_closed_meanwhile(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path, make_project: MakeProject
) -> None:
    """No result of a project that is gone, and no hanging."""
    opened(qtbot, controllers, panel, path)
    panel._on_asked()
    panel._look()
    panel.show_cell(0, -1)
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.reads.busy)
    assert panel.answer is None
    assert panel.shares_model.rowCount() == 0
    assert panel.examples.found is None
    opened(qtbot, controllers, panel, make_project(labels=("Late", "Damaged")))
    assert "No rows are labelled" in panel.empty.text()
