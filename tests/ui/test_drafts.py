"""Drafts in the window: marked wherever they stand, no answer to anything, gone where the model has been."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.runs import Scores
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring import draft as drafting
from sce_desktop.ui.rows.row_panel import RowPanel
from sce_desktop.ui.rows.rows_model import Column
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.transfer.export_dialog import ExportDialog
from sce_desktop.ui.window.main_window import MainWindow
from tests.ml.test_draft import vectors
from tests.ml.tiny import tiny_sce
from tests.ui.conftest import MakeProject
from tests.ui.panels import open_in, settle

LABELS = ("Late", "Damaged")
TEXTS = ("Two days late", "Box crushed", "", "Driver was kind")


def predict(texts: Sequence[str]) -> Scores:
    """The draft says Damaged, at 80%, of every text."""
    return Scores(np.tile(np.array([0.2, 0.8], np.float32), (len(texts), 1)))


def draft(controllers: Controllers) -> Project:
    """Score the first row, and make a draft of the others."""
    project = controllers.workspace.project
    assert project is not None
    run = project.open_run("sce", "sce", "sce-mini", "f", controllers.workspace.labels)
    project.activate(run.id)
    project.add_scores(run.id, [1], Scores(np.array([[0.6, 0.4]], np.float32)))
    ids = project.unscored_ids(run.id)
    project.begin_draft(run.id, predict)
    project.add_draft(run.id, ids, predict(project.texts(ids)))
    controllers.scorer.refresh()
    controllers.scorer.new_scores.show_drafts()
    return project


@pytest.fixture
def window(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject
) -> MainWindow:
    open_in(qtbot, controllers, make_project(texts=TEXTS, labels=LABELS))
    settle(qtbot, controllers)
    return real_window


def cell(window: MainWindow, place: int, column: Column, role: Qt.ItemDataRole) -> str:
    model = rows(window).model
    return str(model.data(model.index(place, column), role) or "")


def rows(window: MainWindow) -> RowsView:
    found = window.findChild(RowsView)
    assert isinstance(found, RowsView)
    return found


def words(window: MainWindow, place: int, column: Column = Column.SCE) -> str:
    return cell(window, place, column, Qt.ItemDataRole.DisplayRole)


def test_a_draft_is_marked_in_every_place(qtbot: QtBot, controllers: Controllers, window: MainWindow) -> None:
    draft(controllers)
    qtbot.waitUntil(lambda: words(window, 1) == "Damaged, 80%, draft")
    assert words(window, 0) == "Late, 60%"
    assert words(window, 1, Column.CELLS).endswith(", draft")
    assert "Draft: a rough, fast score" in cell(window, 1, Column.SCE, Qt.ItemDataRole.ToolTipRole)
    assert words(window, 1, Column.FINAL) == "To review"
    qtbot.waitUntil(lambda: "Draft for 2 rows; model scores for 1" in window.status.counts.whole())
    controllers.navigation.set_current_row(2)
    panel = window.findChild(RowPanel)
    assert isinstance(panel, RowPanel)
    qtbot.waitUntil(lambda: panel.labels._titles == ("SCE (draft)",))
    assert panel._standing() is None  # Enter accepts no draft


def test_the_table_is_ordered_by_drafts_and_the_model_takes_their_place(
    qtbot: QtBot, controllers: Controllers, window: MainWindow
) -> None:
    project = draft(controllers)
    run = controllers.workspace.runs[0]
    controllers.navigation.set_query(RowQuery(order=RowOrder.CONFIDENCE, descending=True, run_id=run.id))
    qtbot.waitUntil(lambda: rows(window).model.ids.tolist() == [2, 4, 1])
    project.add_scores(run.id, [2], Scores(np.array([[0.55, 0.45]], np.float32)))
    controllers.scorer.rescore(score=False)
    qtbot.waitUntil(lambda: words(window, 0) == "Late, 55%")
    controllers.preferences.settings["draft"] = False
    controllers.scorer.settings_changed({"draft"})
    qtbot.waitUntil(lambda: words(window, 1) == "not scored")


def test_an_export_asks_whether_drafts_go_along(
    qtbot: QtBot, controllers: Controllers, window: MainWindow
) -> None:
    draft(controllers)
    settle(qtbot, controllers)
    dialog = ExportDialog(controllers.workspace, controllers.navigation, controllers.projects, parent=window)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog._facts is not None)
    assert dialog.target.drafts.isVisible()
    assert not dialog.target.drafts.isChecked()
    assert dialog._facts is not None
    assert (dialog._facts.drafts, dialog._facts.shown_drafts) == (2, 4)


def test_a_scoring_makes_a_draft_first_and_leaves_none(
    qtbot: QtBot,
    controllers: Controllers,
    make_project: MakeProject,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drafting, "DRAFT_FROM", 5)
    folder = tiny_sce(tmp_path / "my models", attention="shared")
    vectors(SCEModel.from_pretrained(folder)).save(folder)
    controllers.scorer.set_baselines(())
    texts = tuple(f"text {number}" for number in range(40))
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(texts=texts, labels=LABELS))
    controllers.scorer.set_model(str(folder))
    qtbot.waitUntil(lambda: controllers.scorer.ready, timeout=60_000)
    controllers.navigation.set_visible_rows([7, 8])
    project = controllers.workspace.project
    assert project is not None
    begun: list[int] = []
    begin = project.begin_draft

    def spy(run_id: int, how: object) -> None:
        begun.append(len(project.run_arrays(run_id).row_ids))
        begin(run_id, how)  # type: ignore[arg-type]

    monkeypatch.setattr(project, "begin_draft", spy)
    job = controllers.scorer.score()
    assert job is not None
    with qtbot.waitSignals([job.finished, controllers.workspace.draftChanged], timeout=60_000):
        pass
    assert begun == [2]  # the rows on the screen come first
    run = controllers.workspace.runs[0]
    assert run.scored == 40
    assert not project.has_draft(run.id)
