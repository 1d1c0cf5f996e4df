"""The switch "Predict rows jointly (transductive)", in the program with real models, tiny ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot
from safetensors.torch import load

from sce_desktop.app import make_window
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.controllers.rows_data import scores_of
from sce_desktop.controllers.rows_text import run_title
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.choices import ExportChoices, ImportChoices
from sce_desktop.core.runs import Run
from sce_desktop.core.tables import TableOptions
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.core.versions import ModelVersion
from sce_desktop.ml import transductive
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.evidence import gather
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.tasks.scoring.scoring import KEPT_RUNS
from sce_desktop.tasks.tables.provenance import about_run
from sce_desktop.ui.evaluate.evaluate_panel import EvaluatePanel
from sce_desktop.ui.findings.findings_panel import FindingsPanel
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.rows.rows_model import RowsModel
from sce_desktop.ui.window.main_window import MainWindow
from sce_desktop.ui.window.run_bar import RunBar
from tests.ml.tiny import tiny_sce_model
from tests.tasks.test_joint import NAMES, ROWS, TEXTS
from tests.ui.panels import open_in

TITLE = "Predict rows jointly (transductive)"
Whole = tuple[MainWindow, Controllers]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model."""
    folder = tmp_path_factory.mktemp("models") / "ours"
    tiny_sce_model(says_none=True, name="ours").save_pretrained(folder)
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_project(tmp_path / "Parcels.sce", NAMES)


def write_project(path: Path, names: Sequence[str], *, multi_label: bool = False) -> Path:
    with Project.create(path) as project:
        rows = [[str(place), text] for place, text in enumerate([*TEXTS, ""])]
        project.add_rows(("ref", "text"), [rows], text_columns=[1], source={})
        project.set_labels([Label(name) for name in names], multi_label=multi_label)
    return path


@pytest.fixture
def window_on(qtbot: QtBot, theme: Theme, tmp_path: Path, models: Path) -> Iterator[Callable[[], Whole]]:
    """Make the window as the program does; one after the other, each a start of the program."""
    opened: list[WorkerQueues] = []

    def make() -> Whole:
        settings = Settings(tmp_path / "settings.json")
        settings["model"] = str(models)
        settings["baseline"] = ""
        workers = WorkerQueues()
        opened.append(workers)
        controllers = Controllers(workers, settings)
        window = make_window(controllers, theme)
        qtbot.addWidget(window, before_close_func=lambda _: close(qtbot, window, controllers))
        window.resize(1280, 800)
        window.show()
        return window, controllers

    yield make
    for workers in opened:
        for worker in workers:
            worker.close()


def close(qtbot: QtBot, window: MainWindow, controllers: Controllers) -> None:
    if window.isVisible():
        with qtbot.waitSignal(controllers.projects.settled):
            window.close()


@pytest.fixture
def whole(qtbot: QtBot, window_on: Callable[[], Whole], path: Path) -> Whole:
    """The window with a project that is scored, each row alone."""
    window, controllers = window_on()
    open_in(qtbot, controllers, path)
    scored(qtbot, controllers, controllers.scorer.score)
    return window, controllers


def scored(qtbot: QtBot, controllers: Controllers, do: Callable[[], object]) -> None:
    """Do what makes rows be scored, and wait for the scores."""
    do()
    qtbot.waitUntil(lambda: controllers.scorer.job is None and bool(controllers.workspace.runs))


def switch(window: MainWindow) -> QAction:
    found = [one for one in window.menus.all_actions() if one.text().replace("&", "") == TITLE]
    assert len(found) == 1
    return found[0]


def said(controllers: Controllers) -> FloatArray:
    assert controllers.workspace.project is not None
    return controllers.workspace.project.run_matrix(controllers.workspace.runs[0].id)[1]


def main_runs(controllers: Controllers) -> list[Run]:
    assert controllers.workspace.project is not None
    return [run for run in controllers.workspace.project.runs() if run.alias == MAIN_ALIAS]


def test_on_changes_the_scores_and_says_so_everywhere(qtbot: QtBot, whole: Whole, tmp_path: Path) -> None:
    window, controllers = whole
    alone, bar = said(controllers), window.findChild(RunBar)
    assert not switch(window).isChecked()
    scored(qtbot, controllers, switch(window).trigger)
    assert switch(window).isChecked()
    assert np.abs(said(controllers) - alone).max() > 0.01
    (run,) = controllers.workspace.runs
    assert (run.title, run.scored) == (f"{controllers.scorer.model}, whole table", len(TEXTS))
    assert bar is not None
    qtbot.waitUntil(lambda: bar.model_button.text() == "ours (joint) ▾")
    assert bar.model_button.toolTip().endswith(" (joint)")
    model = window.findChild(RowsModel)
    assert model is not None
    tip = model.headerData(3, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert tip.startswith(f"Predicted jointly by {run.model}.")
    controllers.navigation.set_current_row(1)
    legend = window.workspace.row.labels.legend
    qtbot.waitUntil(lambda: legend.accessibleDescription() == "SCE (joint)")
    controllers.edits.decide([1], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    window.docks["Evaluate"].bring()
    evaluate = window.docks["Evaluate"].build()
    assert isinstance(evaluate, EvaluatePanel)
    counted = "SCE predicts rows jointly (transductive)."
    qtbot.waitUntil(lambda: counted in evaluate.bar.info.toolTip())
    window.docks["Findings"].bring()
    findings = window.docks["Findings"].build()
    assert isinstance(findings, FindingsPanel)
    qtbot.waitUntil(lambda: findings.bar.model.itemText(0) == "With SCE (joint)")
    file = tmp_path / "out.csv"
    job = controllers.projects.export_table(ExportChoices(file, note=True))
    assert job is not None
    with qtbot.waitSignal(job.finished):
        pass
    assert ", whole table; 60 rows scored" in file.with_name("out.csv.about.txt").read_text()


def test_off_the_old_scores_come_back_and_nothing_is_scored(
    qtbot: QtBot, whole: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, controllers = whole
    (alone,) = controllers.workspace.runs
    scored(qtbot, controllers, switch(window).trigger)
    (known,) = controllers.workspace.runs
    monkeypatch.setattr(Project, "add_scores", lambda *_: pytest.fail("scored again"))
    scored(qtbot, controllers, switch(window).trigger)
    assert (switch(window).isChecked(), controllers.workspace.runs[0].id) == (False, alone.id)
    scored(qtbot, controllers, switch(window).trigger)
    assert (switch(window).isChecked(), controllers.workspace.runs[0].id) == (True, known.id)


def test_what_was_scored_the_other_way_is_marked_meanwhile(whole: Whole) -> None:
    _, controllers = whole
    (alone,) = controllers.workspace.runs
    assert controllers.workspace.project is not None

    def marked() -> bool:
        assert controllers.workspace.project is not None
        return scores_of(controllers.workspace.project, [1], alone, controllers.workspace.labels)[
            1
        ].older_model

    assert not marked()
    controllers.workspace.project.use_whole_table(True)
    assert marked()


def test_without_scores_of_rows_alone_none_are_made(
    qtbot: QtBot, window_on: Callable[[], Whole], path: Path
) -> None:
    window, controllers = window_on()
    open_in(qtbot, controllers, path)
    switch(window).trigger()
    assert controllers.scorer.job is None  # nothing was scored before
    stages: list[str] = []
    job = controllers.scorer.score()
    assert job is not None
    job.progressed.connect(
        lambda _done, _total, stage: stages.append(stage), Qt.ConnectionType.DirectConnection
    )
    scored(qtbot, controllers, lambda: None)
    assert [run.title for run in main_runs(controllers)] == [f"{controllers.scorer.model}, whole table"]
    assert "reading the table" in stages


def test_a_model_folder_that_is_called_so_is_an_ordinary_one(
    qtbot: QtBot, window_on: Callable[[], Whole], path: Path, models: Path
) -> None:
    folder = shutil.copytree(models, path.parent / "ours (joint)")
    window, controllers = window_on()
    controllers.scorer.set_model(str(folder))
    open_in(qtbot, controllers, path)
    scored(qtbot, controllers, controllers.scorer.score)
    bar, model = window.findChild(RunBar), window.findChild(RowsModel)
    assert bar is not None
    assert model is not None

    def shown() -> tuple[str, str, bool, bool]:
        tip = model.headerData(3, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        (run,) = controllers.workspace.runs
        older = scores_of(controllers.workspace.project, [1], run, controllers.workspace.labels)[
            1
        ].older_model
        return bar.model_button.accessibleDescription(), run_title(run), "jointly" in tip, older

    assert shown() == ("ours (joint)", "SCE", False, False)
    scored(qtbot, controllers, switch(window).trigger)
    assert shown() == ("ours (joint) (joint)", "SCE (joint)", True, False)
    scored(qtbot, controllers, switch(window).trigger)
    assert shown() == ("ours (joint)", "SCE", False, False)


def test_it_is_kept_in_the_project(qtbot: QtBot, window_on: Callable[[], Whole], path: Path) -> None:
    window, controllers = window_on()
    open_in(qtbot, controllers, path)
    scored(qtbot, controllers, controllers.scorer.score)
    scored(qtbot, controllers, switch(window).trigger)
    before = said(controllers)
    close(qtbot, window, controllers)

    window, controllers = window_on()
    assert not switch(window).isEnabled()
    assert switch(window).toolTip() == "Open a table or a project first."
    open_in(qtbot, controllers, path)
    assert switch(window).isChecked()
    assert controllers.workspace.runs[0].whole_table
    scored(qtbot, controllers, controllers.scorer.score)
    assert len(main_runs(controllers)) == 2
    np.testing.assert_array_equal(said(controllers), before)


@pytest.mark.parametrize(
    ("names", "several", "reason"),
    [(NAMES, True, "not available with one label or in multi-label"), (NAMES[:1], False, "with one label")],
)
def test_where_rows_cannot_help_it_is_grey_and_says_why(
    qtbot: QtBot,
    window_on: Callable[[], Whole],
    tmp_path: Path,
    names: list[str],
    several: bool,
    reason: str,
) -> None:
    window, controllers = window_on()
    open_in(qtbot, controllers, write_project(tmp_path / "p.sce", names, multi_label=several))
    assert controllers.workspace.project is not None
    for entry in (switch(window), in_model_menu(window)):
        assert not entry.isEnabled()
        assert reason in entry.toolTip()
    controllers.workspace.project.use_whole_table(
        True
    )  # it was on before labels went, or became several a row
    controllers.scorer.follow_version()
    scored(qtbot, controllers, controllers.scorer.score)
    assert controllers.workspace.runs[0].title == controllers.scorer.model
    bar = window.findChild(RunBar)
    assert bar is not None
    assert bar.model_button.accessibleDescription() == "ours"
    assert not switch(window).isChecked()


def test_an_llm_cannot_know_the_table(qtbot: QtBot, whole: Whole) -> None:
    window, controllers = whole
    controllers.scorer.model = "llm:some"
    controllers.scorer.modelsChanged.emit()
    assert not switch(window).isEnabled()
    assert switch(window).toolTip().startswith("Joint prediction needs an SCE model")


def in_model_menu(window: MainWindow) -> QAction:
    bar = window.findChild(RunBar)
    assert bar is not None
    (found,) = [one for one in bar.model_menu().actions() if one.text().replace("&", "") == TITLE]
    return found


def test_a_label_edit_reads_no_text_again(
    qtbot: QtBot, whole: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, controllers = whole
    scored(qtbot, controllers, in_model_menu(window).trigger)
    before = said(controllers)
    monkeypatch.setattr(transductive, "cached_encode", only(transductive.cached_encode, most=len(TEXTS)))
    labels = [*controllers.workspace.labels, Label("weather")]
    scored(qtbot, controllers, lambda: controllers.edits.set_labels(labels))
    qtbot.waitUntil(lambda: said(controllers).shape == (len(TEXTS), 4) and controllers.scorer.job is None)
    assert controllers.workspace.runs[0].whole_table
    scored(qtbot, controllers, controllers.edits.undo)
    qtbot.waitUntil(lambda: said(controllers).shape == (len(TEXTS), 3) and controllers.scorer.job is None)
    np.testing.assert_array_equal(said(controllers), before)


def only(encode: Callable[..., FloatArray], *, most: int) -> Callable[..., FloatArray]:
    """Embed ``most`` texts as before, those that are scored, and fail beyond: the table need not be read."""
    seen = [0]

    def cached_encode(embedder: object, texts: Sequence[str], *args: object) -> FloatArray:
        seen[0] += len(texts)
        assert seen[0] <= most, "the table was read again"
        return encode(embedder, texts, *args)

    return cached_encode


def test_added_rows_count_for_all_and_that_is_reported(qtbot: QtBot, whole: Whole, tmp_path: Path) -> None:
    window, controllers = whole
    scored(qtbot, controllers, switch(window).trigger)
    before, told = controllers.workspace.runs[0], []
    controllers.messages.notified.connect(lambda sentence, _tone: told.append(sentence))
    more = tmp_path / "more.csv"
    more.write_text("ref,text\n61,the parcel bill\n62,my login fee\n")
    job = controllers.projects.import_table(
        ImportChoices(more, TableOptions(), text_columns=(1,), append=True)
    )
    assert job is not None
    with qtbot.waitSignal(controllers.workspace.rowsChanged):
        pass
    assert told[-1] == "2 rows were added. All rows are being rescored because rows are predicted jointly."
    scored(qtbot, controllers, controllers.scorer.score)
    (run,) = controllers.workspace.runs
    assert (run.scored, run.model) == (len(TEXTS) + 2, before.model)
    assert run.fingerprint != before.fingerprint
    for number in range(3):  # what earlier tables left does not pile up
        more.write_text(f"ref,text\n7{number},bill number {number}\n")
        job = controllers.projects.import_table(
            ImportChoices(more, TableOptions(), text_columns=(1,), append=True)
        )
        with qtbot.waitSignal(controllers.workspace.rowsChanged):
            pass
        scored(qtbot, controllers, controllers.scorer.score)
    assert [run.whole_table for run in main_runs(controllers)].count(True) <= KEPT_RUNS + 1


def weights(project: Project, version: ModelVersion) -> dict[str, list[float]]:
    """The numbers of a version: the order of what lies about them in the file is any."""
    blob = project.version_weights(version.id)
    assert blob is not None
    return {name: tensor.flatten().tolist() for name, tensor in load(blob).items()}


def test_a_version_knows_the_table_too_and_learns_without(qtbot: QtBot, whole: Whole) -> None:
    window, controllers = whole
    project = controllers.workspace.project
    assert project is not None
    by_name = {label.name: label.id or 0 for label in controllers.workspace.labels}
    for place, (_, name) in enumerate(ROWS):
        if place % 2:
            controllers.edits.decide([place + 1], Decision.LABEL, [by_name[name]])

    def made() -> ModelVersion:
        with qtbot.waitSignal(controllers.tuner.made) as signal:
            assert controllers.tuner.start(FinetuneSettings(epochs=20)) is not None
        return signal.args[0]

    alone = made()
    scored(qtbot, controllers, switch(window).trigger)
    known = made()
    # What was measured and learned is of the model itself: the switch changes no figure.
    first, second = alone.report, known.report
    assert (first.before, first.after, first.measured) == (second.before, second.after, second.measured)
    assert first.fit.losses == second.fit.losses
    assert weights(project, alone) == weights(project, known)

    scored(qtbot, controllers, lambda: controllers.scorer.use_version(known.id))
    (run,) = controllers.workspace.runs
    assert run.title == f"{known.title}, whole table"
    assert run.scored == len(TEXTS)
    found = scores_of(project, [1], run, controllers.workspace.labels)[1]
    assert not found.stale
    assert f"“{known.name}”, fine-tuned from" in about_run(run, project.versions())
    evidence = gather(project, [MAIN_ALIAS])
    assert (evidence.learned_by, len(evidence.learned)) == (known.name, len(TEXTS) // 2)
    assert evidence.whole_table
    scored(qtbot, controllers, lambda: controllers.scorer.use_version(None))
    assert controllers.workspace.runs[0].title == f"{controllers.scorer.model}, whole table"
    controllers.tuner.delete(known)
    assert scores_of(project, [1], run, controllers.workspace.labels)[1].older_model
