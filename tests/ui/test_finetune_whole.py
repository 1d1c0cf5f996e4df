"""A user's way through a fine-tune in the real window on the real model: label, learn, use, go back."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from sce_desktop import cli, paths
from sce_desktop.app import make_window
from sce_desktop.controllers import rows_text
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.controllers.rows_data import load_rows
from sce_desktop.core.annotations import Decision
from sce_desktop.ml.finetune import finetune_embedder
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from sce_desktop.ui.finetune.finetune_panel import FineTunePanel
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject

pytestmark = pytest.mark.model
PATIENCE_MS = 120_000


@pytest.fixture
def whole(qtbot: QtBot, theme: Theme, tmp_path: Path) -> Iterator[tuple[MainWindow, Controllers]]:
    with WorkerQueues() as workers:
        controllers = Controllers(workers, Settings(tmp_path / "settings.json"))
        window = make_window(controllers, theme)
        window.show()
        controllers.projects.warm_up()
        yield window, controllers
        window.close()
        qtbot.waitUntil(lambda: not window.isVisible(), timeout=PATIENCE_MS)
        window.deleteLater()


def labelled(
    qtbot: QtBot, whole: tuple[MainWindow, Controllers], make_project: MakeProject
) -> tuple[Project, FineTunePanel]:
    """Open a scored project of the sample with forty rows decided, and its Fine-tune panel."""
    window, controllers = whole
    sample = paths.resources_dir() / "sample"
    labels = (sample / "labels.txt").read_text(encoding="utf-8").split("\n")[:8]
    with (sample / "parcel_feedback.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["gold"] in labels][:60]
    with qtbot.waitSignal(controllers.workspace.projectOpened, timeout=PATIENCE_MS):
        controllers.projects.open_project(
            make_project(texts=tuple(row["message"] for row in rows), labels=tuple(labels))
        )
    project = controllers.workspace.project
    assert project is not None
    controllers.scorer.score()
    qtbot.waitUntil(
        lambda: bool(controllers.workspace.runs) and controllers.scorer.job is None, timeout=PATIENCE_MS
    )
    by_name = {label.name: label.id or 0 for label in controllers.workspace.labels}
    for row_id, row in enumerate(rows[:40], 1):
        controllers.edits.decide([row_id], Decision.LABEL, [by_name[row["gold"]]])

    window.docks["Fine-tune"].bring()
    panel = window.docks["Fine-tune"].build()
    assert isinstance(panel, FineTunePanel)
    qtbot.waitUntil(panel.start.start_button.isEnabled, timeout=PATIENCE_MS)
    return project, panel


def test_label_learn_use_and_go_back(
    qtbot: QtBot,
    whole: tuple[MainWindow, Controllers],
    make_project: MakeProject,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, controllers = whole
    project, panel = labelled(qtbot, whole, make_project)
    with qtbot.waitSignal(controllers.tuner.made, timeout=PATIENCE_MS) as signal:
        qtbot.mouseClick(panel.start.start_button, Qt.MouseButton.LeftButton)
    (version,) = signal.args
    assert version.report.measured > 30
    assert "similarity" in version.report.baselines
    qtbot.waitUntil(lambda: controllers.tuner.job is None and not controllers.workspace.workers.reads.busy)
    assert controllers.scorer.version is None  # nothing is used unasked

    (zero_shot,) = controllers.workspace.runs[:1]
    qtbot.mouseClick(panel.result.use_button, Qt.MouseButton.LeftButton)
    job = controllers.scorer.job
    assert job is not None
    stale = load_rows(project, [1], (zero_shot,), controllers.workspace.labels, progress=_Progress())[
        0
    ].scores[0]  # type: ignore[arg-type]
    assert stale is not None
    assert rows_text.stale_words(stale) == "From an older model"
    qtbot.waitUntil(lambda: controllers.scorer.job is None, timeout=PATIENCE_MS)
    run = controllers.workspace.runs[0]
    assert (run.model, run.scored) == ("sce-mini + version 1", zero_shot.scored)
    assert run.fingerprint != zero_shot.fingerprint
    fresh = load_rows(project, [1], (run,), controllers.workspace.labels, progress=_Progress())[0].scores[0]  # type: ignore[arg-type]
    assert fresh is not None
    assert not fresh.stale

    controllers.edits.undo()
    qtbot.waitUntil(lambda: controllers.scorer.job is None, timeout=PATIENCE_MS)
    assert controllers.workspace.runs[0].id == zero_shot.id
    controllers.edits.redo()
    qtbot.waitUntil(lambda: controllers.scorer.job is None, timeout=PATIENCE_MS)

    with qtbot.waitSignal(controllers.workspace.projectClosed, timeout=PATIENCE_MS):
        controllers.projects.close_project()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy, timeout=PATIENCE_MS)
    capsys.readouterr()
    assert cli.main(["project", "score", str(project.path), "--json"]) == 0
    with Project.open(project.path) as again:  # the command line goes on with the version in use
        active = again.active_run("sce")
        assert active is not None
        assert (active.id, active.model) == (run.id, "sce-mini + version 1")


def test_the_embedder_learns_and_its_vectors_are_used(
    qtbot: QtBot,
    whole: tuple[MainWindow, Controllers],
    make_project: MakeProject,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With PEFT on the real embedder; so short a training is taken whatever it brought."""
    pytest.importorskip("peft")
    monkeypatch.setattr(finetune_embedder, "_better", lambda *_: True)
    _, controllers = whole
    project, panel = labelled(qtbot, whole, make_project)
    start = panel.start
    qtbot.mouseClick(start.settings_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: "MB" in start.adapt_note.text() or "GB" in start.adapt_note.text(), timeout=PATIENCE_MS
    )
    start.epochs.setValue(1)
    start.adapt.setChecked(True)
    with qtbot.waitSignal(controllers.tuner.made, timeout=PATIENCE_MS) as signal:
        qtbot.mouseClick(start.start_button, Qt.MouseButton.LeftButton)
    (version,) = signal.args
    assert version.report.encoder.kept
    qtbot.waitUntil(lambda: controllers.tuner.job is None and not controllers.workspace.workers.reads.busy)
    before = controllers.scorer.known_vectors
    assert before is not None
    own = before.with_embedder(version.report.fit.encoder_key)  # read in the precision of this computer
    assert before.embedder != own.embedder

    qtbot.mouseClick(panel.result.use_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: controllers.scorer.job is None, timeout=PATIENCE_MS)
    assert controllers.workspace.runs[0].model == "sce-mini + version 1"
    known = controllers.scorer.known_vectors
    assert known is not None
    assert known.embedder == own.embedder
    assert known.embedder.startswith(version.report.fit.encoder_key)
    texts = project.texts(project.row_ids())
    assert known.cache.get(known.embedder, texts)[0].all()  # all rows were read again
    assert controllers.scorer.base_vectors == before

    with qtbot.waitSignal(controllers.workspace.projectClosed, timeout=PATIENCE_MS):
        controllers.projects.close_project()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy, timeout=PATIENCE_MS)


class _Progress:
    def check(self) -> None:
        """Go on."""
