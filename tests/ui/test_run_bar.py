"""The run bar: when scoring is possible, why not, how long it takes, and what it scores with."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import scoring_time, work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.core.annotations import Label
from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.errors import UserError
from sce_desktop.core.models import Device
from sce_desktop.core.progress import Progress
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.models import default_of
from sce_desktop.ui.models.models_dialog import ModelsDialog
from sce_desktop.ui.window.run_bar import RunBar
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, settle
from tests.ui.wiring import wired


class Engine:
    """Stands where the models are: scores nothing, as long as a test wants."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.go_on.set()
        self.seconds = 1.0
        self.broken: set[str] = set()
        self.choices: list[ModelChoice] = []

    def load(self, choice: ModelChoice, *, progress: Progress) -> list[Any]:
        for name in (choice.model, *choice.baselines):
            if name in self.broken:
                raise UserError(f"{name} has no weights: copy the whole folder.")
        return []

    def score(
        self,
        _project: Project,
        _model_cache: object,
        choice: ModelChoice,
        _first: object,
        _on_scored: object,
        *,
        on_sample: object = None,
        on_draft: object = None,
        on_screen: object = None,
        progress: Progress,
    ) -> list[Any]:
        self.choices.append(choice)
        while not self.go_on.wait(0.002):
            progress.check()
        return []

    def estimate(self, *_: object, progress: Progress) -> float:
        return self.seconds


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    engine = Engine()
    monkeypatch.setattr(work, "score", engine.score)
    monkeypatch.setattr(work, "estimate", engine.estimate)
    monkeypatch.setattr(
        work.ModelCache, "load", lambda _self, choice, *, progress: engine.load(choice, progress=progress)
    )
    yield engine
    engine.go_on.set()


@pytest.fixture
def bar(qtbot: QtBot, controllers: Controllers, engine: Engine) -> Iterator[RunBar]:
    bar = wired(RunBar, controllers)()
    qtbot.addWidget(bar)
    bar.show()
    yield bar
    settle(qtbot, controllers)


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, bar: RunBar, make_project: MakeProject) -> RunBar:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    settle(qtbot, controllers)
    return bar


@pytest.mark.parametrize(
    ("labels", "reason"),
    [((), "Add a label first"), (("complaint",), ""), (LABELS, "")],
)
def test_why_nothing_can_be_scored_is_reported(
    qtbot: QtBot,
    controllers: Controllers,
    bar: RunBar,
    make_project: MakeProject,
    labels: tuple[str, ...],
    reason: str,
) -> None:
    open_in(qtbot, controllers, make_project(labels=labels))
    assert bar.score_button.isEnabled() == (not reason)
    assert reason in bar.score_button.toolTip()
    assert bar.score_button.accessibleDescription() == controllers.scorer.why_not()
    settle(qtbot, controllers)


def test_it_is_enabled_as_soon_as_there_is_a_label(
    qtbot: QtBot, controllers: Controllers, bar: RunBar, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project())
    assert not bar.score_button.isEnabled()
    controllers.edits.set_labels([Label("A")])
    assert bar.score_button.isEnabled()


def test_score_becomes_stop_and_stops(
    qtbot: QtBot, controllers: Controllers, opened: RunBar, engine: Engine
) -> None:
    engine.go_on.clear()
    opened.score_button.click()
    job = controllers.scorer.job
    assert job is not None
    assert opened.score_button.text() == "Stop"
    with qtbot.waitSignal(job.cancelled, timeout=2_000):
        opened.score_button.click()
        assert not opened.score_button.isEnabled()  # acknowledged at once
    assert opened.score_button.text() == "Score"
    assert opened.score_button.isEnabled()


@pytest.mark.parametrize("by_key", [False, True])
@pytest.mark.parametrize(("seconds", "announced"), [(4.0, False), (240.0, True)])
def test_a_long_run_is_announced_and_starts(
    qtbot: QtBot,
    controllers: Controllers,
    opened: RunBar,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    announced: bool,
    by_key: bool,
) -> None:
    monkeypatch.setattr(scoring_time, "SURELY_SHORT", 0)
    engine.seconds = seconds
    heard: list[str] = []
    controllers.messages.notified.connect(lambda sentence, _tone: heard.append(sentence))
    if by_key:
        controllers.scorer.start()  # what F5 is connected to
    else:
        opened.score_button.click()
    assert opened.score_button.text() == "Stop"
    qtbot.waitUntil(lambda: len(engine.choices) == 1)
    assert any("4 min" in sentence for sentence in heard) == announced
    qtbot.waitUntil(lambda: controllers.scorer.job is None)


def test_a_run_is_stopped_while_its_time_is_estimated(
    qtbot: QtBot, controllers: Controllers, opened: RunBar, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()

    def estimate(*_: object, progress: Progress) -> float:
        asked.set()
        while True:
            progress.check()

    monkeypatch.setattr(scoring_time, "SURELY_SHORT", 0)
    monkeypatch.setattr(work, "estimate", estimate)
    opened.score_button.click()
    qtbot.waitUntil(asked.is_set)
    opened.score_button.click()
    qtbot.waitUntil(lambda: not controllers.scorer.estimating)
    assert opened.score_button.text() == "Score"
    assert engine.choices == []


def test_f5_says_why_nothing_can_be_scored(
    qtbot: QtBot, controllers: Controllers, bar: RunBar, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project())
    with qtbot.waitSignal(controllers.messages.notified) as told:
        controllers.scorer.start()
    assert "Add a label first" in told.args[0]
    settle(qtbot, controllers)


def test_a_model_that_cannot_be_loaded_leaves_the_one_of_before(
    qtbot: QtBot, controllers: Controllers, opened: RunBar, engine: Engine
) -> None:
    controllers.projects.warm_up()
    qtbot.waitUntil(lambda: controllers.scorer.ready)
    folder = "/tmp/модели 1"
    engine.broken.add(folder)
    with qtbot.waitSignal(controllers.messages.notified) as told:
        opened.add_folder(folder)
    assert "no weights" in told.args[0]
    qtbot.waitUntil(lambda: controllers.scorer.ready)
    assert controllers.scorer.model == "sce-mini"
    assert opened.model_button.text() == "sce-mini ▾"


def test_a_folder_becomes_a_choice(qtbot: QtBot, controllers: Controllers, opened: RunBar) -> None:
    opened._ask_folder()
    dialog = opened.findChild(QFileDialog)
    assert dialog is not None
    dialog.fileSelected.emit(str(Path("/models/mine")))
    dialog.close()
    assert controllers.scorer.model == "/models/mine"
    assert opened.model_button.text() == "mine ▾"
    checked = {action.text(): action.isChecked() for action in opened.model_menu().actions()}
    assert checked["/models/mine"]
    assert not checked["sce-mini"]


def test_installed_models_are_listed_and_chosen(
    qtbot: QtBot, controllers: Controllers, opened: RunBar
) -> None:
    opened._on_models([("sce-mini", "sce"), ("mine", "sce"), ("all-MiniLM-L6-v2", "similarity")])
    actions = {action.text(): action for action in opened.model_menu().actions()}
    assert "all-MiniLM-L6-v2" not in actions  # it can only be a baseline
    actions["mine"].trigger()
    assert controllers.scorer.model == "mine"


def test_the_baseline_is_switched_off_and_on(qtbot: QtBot, controllers: Controllers, opened: RunBar) -> None:
    assert opened.baseline_button.isChecked()
    opened.baseline_button.click()
    assert controllers.scorer.baselines == ()
    assert opened.baseline_button.text() == "+ Similarity"
    opened.baseline_button.click()
    assert controllers.scorer.baselines == ("similarity",)
    assert opened.baseline_button.text() == "Similarity ✓"


def test_the_device_is_chosen(qtbot: QtBot, controllers: Controllers, opened: RunBar) -> None:
    actions = {action.text(): action for action in opened.device_menu().actions()}
    actions["CPU"].trigger()
    assert controllers.scorer.device == "cpu"
    assert opened.device_button.text() == "Device: CPU ▾"


def test_only_devices_of_this_machine_are_offered(controllers: Controllers, opened: RunBar) -> None:
    assert [action.text() for action in opened.device_menu().actions()] == ["Automatic", "CPU"]
    controllers.scorer._model_cache.devices = (
        Device("cpu", "x86_64", True),
        Device("cuda", "NVIDIA H100", True),
        Device("cuda:1", "NVIDIA K80", False, "the installed torch has no code for sm_37"),
    )
    actions = opened.device_menu().actions()
    assert [a.text() for a in actions if a.isCheckable()] == ["Automatic", "CPU", "NVIDIA H100"]
    assert "no code for sm_37" in actions[-1].text()  # told, with what to do, and not to be chosen
    assert not actions[-1].isEnabled()


def test_a_read_only_project_is_not_scored(
    qtbot: QtBot, controllers: Controllers, bar: RunBar, make_project: MakeProject
) -> None:
    path = make_project(labels=LABELS)
    with Project.open(path):
        open_in(qtbot, controllers, path)
        assert not bar.score_button.isEnabled()
        assert "open elsewhere" in bar.score_button.toolTip()
        settle(qtbot, controllers)


def test_an_llm_of_the_settings_stands_beside_similarity(
    qtbot: QtBot, workers: WorkerQueues, tmp_path: Path, make_project: MakeProject, engine: Engine
) -> None:
    controllers = Controllers(workers, Settings(tmp_path / "llm.json", {"baseline": "llm"}))
    bar = wired(RunBar, controllers)()
    qtbot.addWidget(bar)
    open_in(qtbot, controllers, make_project(labels=LABELS))
    settle(qtbot, controllers)
    assert bar.llm_button.text() == "LLM: visible ✓ ▾"
    assert bar.baseline_button.text() == "+ Similarity"
    bar._on_models([("sce-mini", "sce"), ("all-MiniLM-L6-v2", "similarity")])
    menus = [action.menu() for action in bar.model_menu().actions()]
    similar = next(menu for menu in menus if isinstance(menu, QMenu))
    assert not similar.actions()[0].isChecked()
    bar.baseline_button.click()
    assert controllers.scorer.baselines == ("llm", "similarity")
    llm_actions(bar)["Off"].trigger()
    assert controllers.scorer.baselines == ("similarity",)
    assert bar.llm_button.text() == "+ LLM ▾"
    assert not bar.llm_button.isChecked()
    with qtbot.waitSignal(controllers.projects.settled):
        controllers.projects.shut_down()


def llm_actions(bar: RunBar) -> dict[str, QAction]:
    return {action.text(): action for action in bar.llm_menu().actions() if action.text()}


def test_the_llm_is_switched_on_for_the_screen_then_for_all(
    qtbot: QtBot, controllers: Controllers, opened: RunBar, engine: Engine
) -> None:
    opened._on_models([("sce-mini", "sce"), ("tiny-chat", "llm"), ("other", "llm")])
    assert llm_actions(opened)["Off"].isChecked()
    llm_actions(opened)["For visible rows"].trigger()
    qtbot.waitUntil(lambda: controllers.scorer.llm == "llm:tiny-chat")
    assert controllers.scorer.baselines == ("similarity", "llm:tiny-chat")
    assert opened.llm_button.text() == "LLM: visible ✓ ▾"
    assert opened.llm_button.isChecked()
    assert engine.choices == []  # nothing has been scored yet, so nothing follows by itself
    actions = llm_actions(opened)
    assert actions["For visible rows"].isChecked()
    assert actions["tiny-chat"].isChecked()
    actions["other"].trigger()
    qtbot.waitUntil(lambda: controllers.scorer.llm == "llm:other")
    assert controllers.workspace.project is not None
    give_scores(controllers.workspace.project, [0, 1])
    controllers.scorer.refresh()
    heard: list[str] = []
    controllers.messages.notified.connect(lambda sentence, _tone: heard.append(sentence))
    engine.seconds = 7200.0
    llm_actions(opened)["For all rows"].trigger()
    assert opened.llm_button.text() == "LLM: all ✓ ▾"
    qtbot.waitUntil(lambda: len(engine.choices) == 1)
    assert any("2 h" in sentence or "120 min" in sentence for sentence in heard)  # never silently
    assert not engine.choices[0].llm_on_screen
    assert controllers.preferences.settings["llm_rows"] == "all"
    qtbot.waitUntil(lambda: controllers.scorer.job is None)


def test_an_llm_that_cannot_be_loaded_changes_nothing(
    qtbot: QtBot, controllers: Controllers, opened: RunBar, engine: Engine
) -> None:
    opened._on_models([("sce-mini", "sce"), ("cut", "llm")])
    engine.broken.add("llm:cut")
    with qtbot.waitSignal(controllers.messages.notified) as told:
        llm_actions(opened)["cut"].trigger()
    assert "no weights" in told.args[0]
    assert controllers.scorer.baselines == ("similarity",)
    assert opened.llm_button.text() == "+ LLM ▾"


def test_without_an_llm_the_way_to_one_is_shown(
    qtbot: QtBot, controllers: Controllers, opened: RunBar
) -> None:
    opened._on_models([("sce-mini", "sce")])
    actions = llm_actions(opened)
    assert not actions["For all rows"].isEnabled()
    actions["Download an LLM…"].trigger()
    dialogs = [child for child in opened.window().findChildren(ModelsDialog) if child.isVisible()]
    assert len(dialogs) == 1
    qtbot.waitUntil(lambda: dialogs[0].models.chosen() == default_of("llm"))
    dialogs[0].reject()
