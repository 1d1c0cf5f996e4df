"""A Fine-tune panel over a project of labelled rows, with a method that costs nothing."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import tuning_work, work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.tuning_work import Watch
from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.progress import Progress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.core.versions import ModelVersion
from sce_desktop.store.project import Project
from sce_desktop.ui.finetune.finetune_panel import FineTunePanel
from tests.store.test_versions import add
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, open_in, settle
from tests.ui.scoring_bench import FakeEngine
from tests.ui.wiring import controllers_of, wired

TEXTS = tuple(f"text {n}" for n in range(1, 41))


def metrics(**changes: Any) -> dict[str, Any]:
    one = {"accuracy": 0.5, "interval": [0.4, 0.6], "macro_f1": 0.5, "ece": 0.1}
    return {
        "measured": 40,
        "difference": {
            "mean": 0.2,
            "interval": [0.1, 0.3],
            "won": 8,
            "lost": 0,
            "sentence": "Better: +8 to +32 points (95% CI, 40 rows).",
        },
        "before": one,
        "after": one | {"accuracy": 0.7},
        "logistic_regression": one | {"accuracy": 0.6},
        "baselines": {"similarity": one | {"accuracy": 0.4}},
        "since": None,
        "left_out": {},
        "cut_short": False,
        "untested_labels": ["Praise"],
        "losses": [1.0, 0.6, 0.5],
        "labels_changed": {
            "Late": {"rows": 20, "before": {"f1": 0.5}, "after": {"f1": 0.75}},
            "Praise": {"rows": 0, "before": {"f1": 0.0}, "after": {"f1": None}},  # given by the old one alone
        },
        "changed_rows": [{"row_id": 3, "before": "Late", "after": "Damaged", "gold": "Damaged"}],
        **changes,
    }


def make_version(project: Project, **changes: Any) -> ModelVersion:
    facts = {
        "name": "",
        "metrics": metrics(),
        "settings": {"epochs": 100, "calibrated": True},
        "train_rows": 40,
    }
    return add(project, **facts | changes)


class FakeMethod:
    """Makes versions as slowly as a test wants."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.go_on.set()
        self.error: Exception | None = None
        self.choices: list[FinetuneSettings] = []
        self.better = True
        self.improved = 0
        self.committed = False  # nothing stops the version any more

    def finetune(
        self,
        project: Project,
        _model_cache: object,
        choice: object,
        choices: FinetuneSettings,
        watch: Watch,
        *,
        progress: Progress,
    ) -> ModelVersion:
        self.choices.append(choices)
        if self.error is not None:
            raise self.error
        progress.report(1, 31, stage="fine-tuning")
        watch.measured += [(1, 1, 1.0, 1.2), (1, 2, 0.8, 1.1)]
        while not self.go_on.wait(0.002) and not watch.stop_early.is_set():
            progress.check()
        return make_version(project, metrics=metrics(cut_short=watch.stop_early.is_set()))

    def improve(
        self, project: Project, _model_cache: object, choice: object, *, progress: Progress
    ) -> tuple[str, ModelVersion | None]:
        self.improved += 1
        while not self.go_on.wait(0.002):
            if not self.committed:
                progress.check()
        if not self.better:
            return "No clear difference yet (12 rows, too few).", None
        version = make_version(project)
        project.activate_version(version.id)
        return "Better: +8 to +32 points (95% CI, 40 rows).", version


@pytest.fixture(name="method")
def method_fixture(monkeypatch: pytest.MonkeyPatch) -> FakeMethod:
    method = FakeMethod()
    monkeypatch.setattr(tuning_work, "finetune", method.finetune)
    monkeypatch.setattr(tuning_work, "improve", method.improve)
    return method


@pytest.fixture(name="engine")
def engine_fixture(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    engine = FakeEngine()
    monkeypatch.setattr(work, "score", engine.score)
    monkeypatch.setattr(
        work.ModelCache, "load", lambda _self, choice, *, progress: engine.load(choice, progress=progress)
    )
    return engine


@pytest.fixture(name="project")
def project_fixture(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, method: FakeMethod, engine: FakeEngine
) -> Project:
    return open_in(qtbot, controllers, make_project(texts=TEXTS, labels=LABELS))


@pytest.fixture(name="panel")
def panel_fixture(qtbot: QtBot, controllers: Controllers, project: Project, theme: object) -> FineTunePanel:
    panel = wired(FineTunePanel, controllers)()
    qtbot.addWidget(panel)
    panel.resize(1280, 320)
    panel.show()
    wait_for_plan(qtbot, panel)
    return panel


def wait_for_plan(qtbot: QtBot, panel: FineTunePanel) -> None:
    qtbot.waitUntil(lambda: panel.visibility.idle)


def label(controllers: Controllers, rows: range, place: int, origin: Origin = Origin.HAND) -> None:
    controllers.edits.decide(
        list(rows), Decision.LABEL, [controllers.workspace.labels[place].id or 0], origin=origin
    )


def label_enough(qtbot: QtBot, panel: FineTunePanel) -> None:
    label(controllers_of(panel), range(1, 11), 0)
    label(controllers_of(panel), range(11, 21), 1)
    qtbot.waitUntil(panel.start.start_button.isEnabled)


def click(qtbot: QtBot, button: Any) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def made(qtbot: QtBot, panel: FineTunePanel) -> ModelVersion:
    tuner = controllers_of(panel).tuner
    with qtbot.waitSignal(tuner.made) as signal:
        click(qtbot, panel.start.start_button)
    qtbot.waitUntil(lambda: tuner.job is None)
    settle(qtbot, controllers_of(panel))
    version: ModelVersion = signal.args[0]
    return version


def two_versions(qtbot: QtBot, panel: FineTunePanel) -> tuple[ModelVersion, ModelVersion]:
    controllers = controllers_of(panel)
    assert controllers.workspace.project is not None
    two = (
        make_version(controllers.workspace.project),
        make_version(controllers.workspace.project, train_rows=80),
    )
    controllers.workspace.versionsChanged.emit()
    qtbot.waitUntil(lambda: controllers.tuner.versions == two)
    settle(qtbot, controllers)
    return two
