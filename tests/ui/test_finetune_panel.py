"""The Fine-tune panel and the tuner behind it, with a stand-in for the method that the worker would run."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel, QMessageBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import tuning_work, work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.tuning_work import Watch
from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.choices import ImportChoices, ModelChoice
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Epoch, Run
from sce_desktop.core.scored import ALL_SCORES
from sce_desktop.core.tables import TableOptions
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.core.versions import ModelVersion
from sce_desktop.ml.finetune.recipes import AdapterPace
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation import card
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.tasks.training import version_models
from sce_desktop.ui.finetune.finetune_panel import FineTunePanel
from sce_desktop.ui.finetune.finetune_result import EMPTY
from sce_desktop.ui.finetune.versions_list import short_result
from tests.ml.tiny import DictCache
from tests.store.test_versions import add
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, settle
from tests.ui.test_scoring import FakeEngine
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


@pytest.fixture
def method(monkeypatch: pytest.MonkeyPatch) -> FakeMethod:
    method = FakeMethod()
    monkeypatch.setattr(tuning_work, "finetune", method.finetune)
    monkeypatch.setattr(tuning_work, "improve", method.improve)
    return method


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    engine = FakeEngine()
    monkeypatch.setattr(work, "score", engine.score)
    monkeypatch.setattr(
        work.ModelCache, "load", lambda _self, choice, *, progress: engine.load(choice, progress=progress)
    )
    return engine


@pytest.fixture
def project(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, method: FakeMethod, engine: FakeEngine
) -> Project:
    return open_in(qtbot, controllers, make_project(texts=TEXTS, labels=LABELS))


@pytest.fixture
def panel(qtbot: QtBot, controllers: Controllers, project: Project, theme: object) -> FineTunePanel:
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


# --- before ------------------------------------------------------------------------------------------------


def test_without_labelled_rows_it_says_what_to_do(panel: FineTunePanel) -> None:
    assert panel.result.sentence.text() == EMPTY
    assert not panel.start.start_button.isEnabled()
    assert "at least two labels with examples" in panel.start.problem.text()
    assert panel.versions.list.topLevelItemCount() == 1  # the base model


def test_what_an_older_program_claimed_of_a_version_is_not_repeated(
    panel: FineTunePanel,
) -> None:
    """Four won and none lost of 30 rows were called better by the bootstrap's interval."""
    claimed = {"mean": 0.13, "interval": [0.03, 0.27], "won": 4, "lost": 0}
    sentence = "Better by 3 to 27 points on 30 rows."
    kept = metrics() | {"measured": 30, "difference": claimed | {"sentence": sentence}}
    assert controllers_of(panel).workspace.project is not None
    version = make_version(controllers_of(panel).workspace.project, metrics=kept)
    panel.result.show_versions([version])
    no_claim = "No clear difference yet (+0 to +27 points, 95% CI, 30 rows)."
    assert panel.result.sentence.text() == no_claim
    assert panel.result.sentence.property("role") == "muted"
    assert short_result(version) == "Not significant"


def test_examples_are_counted_while_one_decides(qtbot: QtBot, panel: FineTunePanel) -> None:
    controllers = controllers_of(panel)
    label(controllers, range(1, 8), 0)
    label(controllers, range(8, 11), 1, Origin.BULK)
    qtbot.waitUntil(lambda: panel.start.origins[Origin.HAND].text() == "By hand 7")
    assert panel.start.origins[Origin.BULK].text() == "In bulk 3"
    assert not panel.start.origins[Origin.BULK].isChecked()
    assert "(only “Late” has some)" in panel.start.problem.text()
    panel.start.origins[Origin.BULK].setChecked(True)
    qtbot.waitUntil(lambda: "Excluded: 3 rows labelled in bulk." in panel.start.validation.text())
    first = panel.result.examples.topLevelItem(0)
    assert first is not None
    assert [first.text(column) for column in range(5)] == ["Late", "7", "0", "0", "7"]
    assert panel.start.validation.text().startswith(
        "5-fold cross-validation on 7 rows. Excluded: 3 rows labelled in bulk."
    )
    assert panel.start.takes.text().startswith("About ")
    panel.start.origins[Origin.BULK].setChecked(False)
    qtbot.waitUntil(lambda: "(only “Late” has some)" in panel.start.problem.text())
    assert not panel.start.start_button.isEnabled()


def test_rows_of_a_random_sample_are_reported_as_left_out(qtbot: QtBot, panel: FineTunePanel) -> None:
    assert controllers_of(panel).workspace.project is not None
    controllers_of(panel).workspace.project.create_audit([1, 2], seed=0)
    label_enough(qtbot, panel)
    qtbot.waitUntil(lambda: panel.start.excluded.text() != "")
    assert panel.start.excluded.text() == "2 rows of audit samples, with duplicates"


def test_settings_are_folded_away_and_handed_over(
    qtbot: QtBot, panel: FineTunePanel, method: FakeMethod
) -> None:
    label_enough(qtbot, panel)
    assert not panel.start.settings.isVisible()
    click(qtbot, panel.start.settings_button)
    assert panel.start.settings.isVisible()
    panel.start.epochs.setValue(7)
    panel.start.rate.setValue(1.5)
    panel.start.seed.setValue(3)
    panel.start.balanced.setChecked(False)
    panel.start.origins[Origin.IMPORTED].setChecked(False)
    wait_for_plan(qtbot, panel)
    made(qtbot, panel)
    assert method.choices == [FinetuneSettings(7, 1.5, 3, False, origins=(Origin.HAND,))]


def test_a_table_too_large_cannot_be_started(
    qtbot: QtBot, panel: FineTunePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sce_desktop.tasks.training.cost.free_memory", lambda: 1_000_000)
    label(controllers_of(panel), range(1, 11), 0)
    label(controllers_of(panel), range(11, 21), 1)
    qtbot.waitUntil(lambda: "is free" in panel.start.problem.text())
    assert not panel.start.start_button.isEnabled()


# --- while it runs -----------------------------------------------------------------------------------------


def test_what_comes_is_shown_and_stop_keeps_a_version(
    qtbot: QtBot, panel: FineTunePanel, method: FakeMethod
) -> None:
    label_enough(qtbot, panel)
    method.go_on.clear()
    click(qtbot, panel.start.start_button)
    qtbot.waitUntil(lambda: panel.result.curve._held_out == [1.2, 1.1])
    assert panel.start.keep_button.isVisible()
    assert not panel.start.start_button.isVisible()
    qtbot.waitUntil(lambda: "fold 1" in panel.start.problem.text())
    with qtbot.waitSignal(controllers_of(panel).tuner.made, timeout=2000):
        click(qtbot, panel.start.keep_button)
    qtbot.waitUntil(lambda: controllers_of(panel).tuner.job is None)
    assert "Stopped before the validation was complete" in panel.result.notes.text()
    assert panel.start.start_button.isVisible()


def test_cancel_keeps_nothing(qtbot: QtBot, panel: FineTunePanel, method: FakeMethod) -> None:
    label_enough(qtbot, panel)
    method.go_on.clear()
    click(qtbot, panel.start.start_button)
    job = controllers_of(panel).tuner.job
    assert job is not None
    qtbot.waitUntil(lambda: panel.start.cancel_button.isVisible() and job.state == "running")
    with qtbot.waitSignal(job.cancelled, timeout=2000):
        click(qtbot, panel.start.cancel_button)
    qtbot.waitUntil(lambda: controllers_of(panel).tuner.job is None)
    assert controllers_of(panel).workspace.project is not None
    assert controllers_of(panel).workspace.project.versions() == ()
    assert panel.result.sentence.text() == EMPTY


def test_the_base_model_says_what_it_is_and_which_versions_there_are(
    qtbot: QtBot, panel: FineTunePanel, project: Project
) -> None:
    controllers, result = controllers_of(panel), panel.result
    panel.versions.select(None)
    assert result.sentence.text() == EMPTY  # there is no version yet
    label_enough(qtbot, panel)
    first = made(qtbot, panel)
    assert result.title.text().startswith(first.name)
    panel.versions.select(None)
    assert result.title.isVisible()
    assert result.title.text() == "sce-mini, the base model"
    assert result.sentence.text() == (
        "The model before any fine-tuning. It is in use. "
        "1 fine-tuned version exists, version 1: select it to see its results."
    )
    assert not result.use_button.isVisible()
    controllers.scorer.use_version(first.id, score=False)
    qtbot.waitUntil(lambda: "Not in use: version 1 is." in result.sentence.text())
    assert result.title.text() == "sce-mini, the base model"  # what is selected stays selected
    second = make_version(project)
    controllers.workspace.versionsChanged.emit()
    qtbot.waitUntil(lambda: "2 fine-tuned versions exist, version 2 is the newest" in result.sentence.text())
    panel.versions.select(second)
    assert result.title.text().startswith("version 2")
    panel.versions.list.selectAll()  # the base model among them: that is compared with anyway
    assert "version 1 and version 2" in result.title.text()
    settle(qtbot, controllers)


def test_a_failure_is_reported_and_the_version_in_use_stays(
    qtbot: QtBot, panel: FineTunePanel, method: FakeMethod
) -> None:
    controllers = controllers_of(panel)
    label_enough(qtbot, panel)
    first = made(qtbot, panel)
    controllers.scorer.use_version(first.id)
    method.error = UserError("The disk is full: make room.")
    with qtbot.waitSignal(controllers.messages.notified) as told:
        click(qtbot, panel.start.start_button)
    assert told.args == ["The disk is full: make room.", "warn"]
    qtbot.waitUntil(lambda: controllers.tuner.job is None)
    assert controllers.scorer.version is not None
    assert controllers.scorer.version.id == first.id


def test_closing_the_project_while_it_runs(qtbot: QtBot, panel: FineTunePanel, method: FakeMethod) -> None:
    controllers = controllers_of(panel)
    label_enough(qtbot, panel)
    method.go_on.clear()
    click(qtbot, panel.start.start_button)
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert controllers.tuner.job is None
    assert controllers.tuner.versions == ()
    assert not panel.start.start_button.isEnabled()


# --- what it brought ---------------------------------------------------------------------------------------


def test_before_and_after_stand_beside_the_baselines(qtbot: QtBot, panel: FineTunePanel) -> None:
    label_enough(qtbot, panel)
    made(qtbot, panel)
    assert panel.result.title.text() == "version 1, trained on 40 rows"
    assert panel.result.sentence.text() == "Better: +8 to +32 points (95% CI, 40 rows)."
    assert [line[:2] for line in panel.result.figures.texts] == [
        ["Before: sce-mini", "50.0%"],
        ["Similarity", "40.0%"],
        ["Logistic regression", "60.0%"],
        ["After: version 1", "70.0%"],
    ]
    assert "Too few examples to validate: “Praise”." in panel.result.notes.text()
    changes = [panel.result.by_label.topLevelItem(place) for place in range(2)]
    assert [[change.text(column) for column in range(5)] for change in changes if change is not None] == [
        ["Late", "20", "0.50", "0.75", "+0.25"],
        ["Praise", "0", "0.00", "–", "–"],
    ]


def test_a_changed_row_is_gone_to(qtbot: QtBot, panel: FineTunePanel) -> None:
    label_enough(qtbot, panel)
    made(qtbot, panel)
    item = panel.result.changed.topLevelItem(0)
    assert item is not None
    qtbot.waitUntil(lambda: item.text(1) == "text 3")
    with qtbot.waitSignal(controllers_of(panel).navigation.rowAsked) as asked:
        panel.result.changed.itemActivated.emit(item, 0)
    assert asked.args == [3]


def test_labels_of_changed_rows_are_hidden_while_one_decides_blindly(
    qtbot: QtBot, panel: FineTunePanel
) -> None:
    label_enough(qtbot, panel)
    made(qtbot, panel)
    changed, controllers = panel.result.changed, controllers_of(panel)
    assert [changed.isColumnHidden(column) for column in range(5)] == [False] * 5
    controllers.navigation.toggle_blind()
    assert [changed.isColumnHidden(column) for column in range(5)] == [False, False, True, True, False]
    controllers.navigation.toggle_blind()
    assert not changed.isColumnHidden(2)


def test_what_is_not_calibrated_is_said_to_be(qtbot: QtBot, panel: FineTunePanel, project: Project) -> None:
    version = make_version(project, settings={"calibrated": False, "stopped": "non-finite"})
    controllers_of(panel).workspace.versionsChanged.emit()
    qtbot.waitUntil(lambda: panel.result.versions == (version,))
    assert "not calibrated yet" in panel.result.notes.text()
    assert "Lower the learning rate" in panel.result.notes.text()


# --- versions ----------------------------------------------------------------------------------------------


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


def test_a_version_is_used_and_the_base_model_comes_back(qtbot: QtBot, panel: FineTunePanel) -> None:
    controllers = controllers_of(panel)
    assert controllers.workspace.project is not None
    give_scores(controllers.workspace.project, [0, 1, 2])
    controllers.scorer.refresh()
    first, _ = two_versions(qtbot, panel)
    panel.versions.select(first)
    with qtbot.waitSignal(controllers.scorer.modelsChanged):
        click(qtbot, panel.versions.use_button)
    assert controllers.scorer.title == "sce-mini + version 1"
    assert controllers.scorer.job is not None  # what was scored gets new scores
    qtbot.waitUntil(lambda: controllers.scorer.job is None)
    assert not panel.result.use_button.isEnabled()
    assert panel.result.use_button.text() == "In use"
    controllers.edits.undo()
    assert controllers.scorer.version is None
    controllers.edits.redo()
    assert controllers.scorer.title == "sce-mini + version 1"
    panel.versions.select(None)
    assert panel.versions.use_button.text() == "Use base model"
    click(qtbot, panel.versions.use_button)
    assert controllers.workspace.project.active_version() is None
    qtbot.waitUntil(lambda: controllers.scorer.job is None)


def test_two_versions_are_compared(qtbot: QtBot, panel: FineTunePanel) -> None:
    controllers = controllers_of(panel)
    two = two_versions(qtbot, panel)
    panel.versions.list.clearSelection()
    for place in (0, 1):
        item = panel.versions.list.topLevelItem(place)
        assert item is not None
        item.setSelected(True)
    assert sorted(version.id for version in panel.result.versions) == [version.id for version in two]
    assert panel.result.title.text() == "version 1 and version 2"
    assert len(panel.result.figures.texts) == 4
    with qtbot.waitSignal(controllers.messages.notified) as told:
        click(qtbot, panel.result.differ_button)
    assert "has not scored any rows yet" in told.args[0]
    assert controllers.workspace.project is not None
    runs = [
        give_scores(controllers.workspace.project, tops, fingerprint=f"f{n}")
        for n, tops in enumerate(([0, 1], [0, 2]))
    ]
    for run, version in zip(runs, two, strict=True):
        describe(controllers.workspace.project, run, model=version.title)
    click(qtbot, panel.result.differ_button)
    shown(qtbot, controllers, [2])
    assert controllers.navigation.query.name == "version 1 and version 2 differ"
    controllers.workspace.scoresChanged.emit(ALL_SCORES)  # other scores come in: the comparison stays
    assert controllers.navigation.query.given == (2,)
    # With joint prediction on, or off: the versions are compared as both have scored.
    describe(controllers.workspace.project, runs[0], whole_table=True)
    with qtbot.waitSignal(controllers.messages.notified) as told:
        click(qtbot, panel.result.differ_button)
    assert told.args[0].startswith("version 1 has not scored any rows yet")
    describe(controllers.workspace.project, runs[1], whole_table=True)
    controllers.navigation.set_query(RowQuery())
    click(qtbot, panel.result.differ_button)
    shown(qtbot, controllers, [2])
    for run in runs:
        describe(controllers.workspace.project, run, whole_table=False)
    give_scores(
        controllers.workspace.project, [0, 1, 1], fingerprint="base"
    )  # of "sce-mini", the base of both
    panel.versions.select(two[1])
    controllers.navigation.set_query(RowQuery())
    click(qtbot, panel.result.differ_button)
    shown(qtbot, controllers, [2])
    # Scores for labels that have been edited since are of another question.
    controllers.edits.set_labels(
        [replace(label, name=f"{label.name}!") for label in controllers.workspace.labels]
    )
    for tops, model in (([0, 1], "sce-mini"), ([1, 0], two[1].title)):
        run = give_scores(controllers.workspace.project, tops, fingerprint=f"late {model}")
        describe(controllers.workspace.project, run, model=model)
    controllers.edits.undo()
    controllers.navigation.set_query(RowQuery())
    click(qtbot, panel.result.differ_button)
    shown(qtbot, controllers, [2])


def shown(qtbot: QtBot, controllers: Controllers, rows: list[int]) -> None:
    """Wait until these rows are shown alone."""
    qtbot.waitUntil(lambda: list(controllers.navigation.query.given) == rows)


def describe(project: Project, run: Run, **said: object) -> None:
    """Let a run be of another model: what really scores with it needs one."""
    import sqlalchemy as sa

    from sce_desktop.store.file import schema

    with project._database.write() as connection:
        connection.execute(sa.update(schema.runs).where(schema.runs.c.id == run.id).values(**said))


def test_a_version_is_deleted_after_a_question(qtbot: QtBot, panel: FineTunePanel) -> None:
    controllers = controllers_of(panel)
    first, second = two_versions(qtbot, panel)
    controllers.scorer.use_version(second.id)
    panel.versions.select(second)
    panel.versions.ask_delete()
    (box,) = panel.versions.findChildren(QMessageBox)
    click(qtbot, box.button(QMessageBox.StandardButton.Yes))
    qtbot.waitUntil(lambda: [v.id for v in controllers.tuner.versions] == [first.id])
    assert controllers.scorer.version is None
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.active_version() is None


def test_a_version_is_exported(
    qtbot: QtBot, panel: FineTunePanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[str, Path]] = []

    def export(
        _project: object,
        _model_cache: object,
        _choice: object,
        version: ModelVersion,
        folder: Path,
        **_: object,
    ) -> None:
        written.append((version.name, folder))

    monkeypatch.setattr(tuning_work, "export", export)
    first, _ = two_versions(qtbot, panel)
    panel.versions.select(first)
    panel.versions.ask_export()
    (dialog,) = panel.versions.findChildren(QFileDialog)
    with qtbot.waitSignal(controllers_of(panel).messages.notified):
        dialog.fileSelected.emit(str(tmp_path))
    dialog.reject()
    assert written == [("version 1", tmp_path / "sce-mini-+-version-1")]


def test_an_export_leaves_the_vectors_of_the_window_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written: list[tuple[Path, str]] = []

    class Model:
        def save_pretrained(self, folder: Path, *, card: str) -> None:
            written.append((folder, card))

    model_cache = work.ModelCache(cache_megabytes=1)
    known = model_cache.known_vectors = KnownVectors("of the window", DictCache())
    monkeypatch.setattr(work.ModelCache, "open", lambda *_, **__: None)
    monkeypatch.setattr(work.ModelCache, "version_model", lambda *_: Model())
    monkeypatch.setattr(card, "version_card", lambda version, _model: f"from {version.base}")
    version = make_version(project, base="another")
    choice = ModelChoice("another", (), "cpu", 1)
    tuning_work.export(project, model_cache, choice, version, tmp_path / "out", progress=SilentProgress())
    assert written == [(tmp_path / "out", "from another")]
    assert model_cache.known_vectors is known


def test_a_project_of_the_same_name_gets_its_own_version(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_cache = work.ModelCache(cache_megabytes=1)
    model_cache._session = object()  # type: ignore[assignment]
    monkeypatch.setattr(version_models, "version_model", lambda _project, version, _source: version)
    first = make_version(project)
    for other in (
        replace(first, data_hash="other"),
        replace(first, created_at="2030-01-01"),
        replace(first, base_fingerprint="other"),
    ):
        found: object = model_cache.version_model(project, first)
        assert found is first
        found = model_cache.version_model(project, other)
        assert found is other


# --- the text embedder adapted -----------------------------------------------------------------------------

ADAPT = "Also fine-tune the text encoder (LoRA, slower)"


def unfold(
    qtbot: QtBot, panel: FineTunePanel, monkeypatch: pytest.MonkeyPatch, found: AdapterPace | str
) -> list[object]:
    """Open the settings with a trial that finds ``found``; return what it was tried on."""
    tried: list[object] = []

    def pace(project: Project, _model_cache: object, choice: ModelChoice, *, progress: Progress) -> object:
        tried.append((project, choice.model))
        return found

    monkeypatch.setattr(tuning_work, "adapter_pace", pace)
    controllers = controllers_of(panel)
    controllers.scorer.warm_up()
    qtbot.waitUntil(lambda: controllers.scorer.ready)
    assert not tried  # not before somebody looks
    click(qtbot, panel.start.settings_button)
    qtbot.waitUntil(lambda: bool(tried) and not controllers.workspace.workers.models.busy)
    wait_for_plan(qtbot, panel)
    return tried


def test_the_whole_note_on_adapting_is_in_view(
    qtbot: QtBot, panel: FineTunePanel, method: FakeMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes after the settings were unfolded, and is longer than what stood there."""
    label_enough(qtbot, panel)
    panel.resize(900, 270)
    unfold(qtbot, panel, monkeypatch, AdapterPace(step=1.0, read=50.0, step_bytes=900_000_000))
    note, view = panel.start.adapt_note, panel.start._scroll.viewport()
    qtbot.waitUntil(lambda: "to embed all rows again" in note.text())
    qtbot.waitUntil(lambda: note.mapTo(view, note.rect().bottomLeft()).y() < view.height())
    assert note.height() >= note.heightForWidth(note.width())


def test_how_long_adapting_takes_stands_beside_its_choice(
    qtbot: QtBot, panel: FineTunePanel, method: FakeMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_enough(qtbot, panel)
    start = panel.start
    assert not start.adapt.isVisible()
    assert not start.adapt.isEnabled()
    fast = start.takes.text().partition(",")[0]  # without the memory, which is what the program has now
    tried = unfold(qtbot, panel, monkeypatch, AdapterPace(step=1.0, read=0.5, step_bytes=900_000_000))
    assert (start.adapt.text(), start.adapt.isVisible(), start.adapt.isEnabled()) == (ADAPT, True, True)
    note = start.adapt_note.text()
    assert re.fullmatch(
        r"About \d min.*, \d\.\d GB, then 20 s to embed all rows again once it is in use", note
    )
    assert start.takes.text().partition(",")[0] == fast
    start.adapt.setChecked(True)
    assert start.takes.text().partition(",")[0] == note.partition(",")[0]
    click(qtbot, start.settings_button)
    click(qtbot, start.settings_button)
    wait_for_plan(qtbot, panel)
    assert len(tried) == 1
    made(qtbot, panel)
    assert method.choices[-1].adapt_embedder
    start.adapt.setChecked(False)
    assert start.takes.text().partition(",")[0] == fast
    assert not start.entered.adapt_embedder


def test_the_estimates_follow_the_epochs(
    qtbot: QtBot, panel: FineTunePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_enough(qtbot, panel)
    start = panel.start
    unfold(qtbot, panel, monkeypatch, AdapterPace(step=1.0, read=0.0, step_bytes=9_000_000))
    before = start.slower
    start.epochs.setValue(1)
    qtbot.waitUntil(lambda: start.slower != before)
    assert before is not None
    assert start.slower is not None
    assert before.adapt - start.slower.adapt == 6 * (40 - 2)  # two steps go through 20 rows once
    assert start.cost is not None
    assert start.cost.fit < before.fit


def test_what_cannot_be_adapted_says_why(
    qtbot: QtBot, panel: FineTunePanel, method: FakeMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_enough(qtbot, panel)
    reason = "Fine-tuning the text encoder needs the package peft: install it (pip install peft)."
    unfold(qtbot, panel, monkeypatch, reason)
    assert not panel.start.adapt.isEnabled()
    assert panel.start.adapt_note.text() == reason
    assert panel.start.start_button.isEnabled()
    made(qtbot, panel)
    assert not method.choices[-1].adapt_embedder


def test_the_choice_to_adapt_is_kept_and_waits_for_a_pace(
    qtbot: QtBot, panel: FineTunePanel, method: FakeMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_enough(qtbot, panel)
    start, controllers = panel.start, controllers_of(panel)
    tried = unfold(qtbot, panel, monkeypatch, AdapterPace(0.1, 0.01, 9_000_000))
    start.adapt.setChecked(True)
    click(qtbot, start.settings_button)
    controllers.scorer.ready = False  # as while another model is loaded
    controllers.edits.set_labels([*controllers.workspace.labels, Label("one more")])
    wait_for_plan(qtbot, panel)
    assert "is estimated as soon as the model is free" in start.problem.text()
    assert not start.start_button.isEnabled()
    assert start.adapt.isEnabled()  # to undo it
    controllers.scorer.ready = True
    controllers.scorer.modelsChanged.emit()  # the settings are still folded away
    qtbot.waitUntil(start.start_button.isEnabled)
    assert len(tried) == 2
    made(qtbot, panel)
    assert method.choices[-1].adapt_embedder


def test_an_embedder_that_cannot_be_adapted_any_more_is_not_chosen(
    qtbot: QtBot, panel: FineTunePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_enough(qtbot, panel)
    unfold(qtbot, panel, monkeypatch, AdapterPace(0.1, 0.01, 9_000_000))
    panel.start.adapt.setChecked(True)
    panel.start.show_pace("No other model is to be had.")
    assert not panel.start.adapt.isChecked()
    assert panel.start.start_button.isEnabled()


def test_the_pace_is_tried_again_for_other_labels_and_rows(
    qtbot: QtBot, panel: FineTunePanel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    controllers = controllers_of(panel)
    tried = unfold(qtbot, panel, monkeypatch, "There are no texts to try it on.")
    assert len(tried) == 1
    controllers.edits.set_labels([*controllers.workspace.labels, Label("one more")])
    qtbot.waitUntil(lambda: len(tried) == 2)
    assert controllers.workspace.project is not None
    table = tmp_path / "more.csv"
    table.write_text("ref,text\n41,one more text\n", encoding="utf-8")
    choices = ImportChoices(table, TableOptions(), (1,), append=True)
    with qtbot.waitSignal(controllers.workspace.rowsChanged):
        controllers.projects.import_table(choices)
    qtbot.waitUntil(lambda: len(tried) == 3)
    controllers.edits.decide([3], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    settle(qtbot, controllers)
    assert len(tried) == 3


def test_a_trial_that_came_to_nothing_can_be_asked_for_again(
    qtbot: QtBot, panel: FineTunePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_enough(qtbot, panel)
    tried = 0

    def cancelled_once(*_: object, **__: object) -> AdapterPace:
        nonlocal tried
        tried += 1
        if tried == 1:
            raise Cancelled
        return AdapterPace(0.1, 0.01, 9_000_000)

    monkeypatch.setattr(tuning_work, "adapter_pace", cancelled_once)
    controllers, start = controllers_of(panel), panel.start
    controllers.scorer.warm_up()
    qtbot.waitUntil(lambda: controllers.scorer.ready)
    click(qtbot, start.settings_button)
    qtbot.waitUntil(lambda: "could not be estimated" in start.adapt_note.text())
    assert not start.adapt.isEnabled()
    click(qtbot, start.settings_button)
    click(qtbot, start.settings_button)
    qtbot.waitUntil(start.adapt.isEnabled)
    assert tried == 2


def test_too_little_memory_stops_the_slower_way_alone(
    qtbot: QtBot, panel: FineTunePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sce_desktop.tasks.training.cost.free_memory", lambda: 600_000_000)
    label_enough(qtbot, panel)
    unfold(qtbot, panel, monkeypatch, AdapterPace(0.1, 0.01, 900_000_000))
    assert panel.start.start_button.isEnabled()
    panel.start.adapt.setChecked(True)
    assert "needs about 1.4 GB" in panel.start.problem.text()
    assert not panel.start.start_button.isEnabled()
    panel.start.adapt.setChecked(False)
    assert panel.start.start_button.isEnabled()


def test_the_training_of_the_embedder_is_watched(
    qtbot: QtBot, panel: FineTunePanel, method: FakeMethod
) -> None:
    label_enough(qtbot, panel)
    method.go_on.clear()
    click(qtbot, panel.start.start_button)
    watch = controllers_of(panel).tuner.watch
    qtbot.waitUntil(lambda: bool(watch.measured))
    for fold, step, loss in ((1, 1, 2.0), (2, 1, 3.0), (2, 2, 1.5)):
        assert watch.on_epoch(Epoch("adapting", step, loss, None, fold))
    told = "Fine-tuning the text encoder, fold 2…"
    qtbot.waitUntil(lambda: panel.start.problem.text() == told)
    kept = "“Stop and keep” keeps the standard fine-tune with the base text encoder."
    assert panel.start.kept_note.isVisible()
    assert panel.start.kept_note.text() == panel.start.keep_button.toolTip() == kept
    watch.kept.append((1, 2.0))
    qtbot.waitUntil(lambda: "text encoder on all rows" in panel.start.problem.text())
    assert "trained so far if it was better" in panel.start.kept_note.text()
    controllers_of(panel).tuner.stop_and_keep()
    assert not watch.on_epoch(Epoch("adapting", 3, 1.0, None, 2))
    qtbot.waitUntil(lambda: controllers_of(panel).tuner.job is None)


@pytest.mark.parametrize("kept", [True, False])
def test_what_adapting_brought_stands_beside_the_fast_way(
    qtbot: QtBot, panel: FineTunePanel, project: Project, kept: bool
) -> None:
    fast = metrics()["logistic_regression"] | {"accuracy": 0.66}
    told = {"kept": kept, "steps": 40, "seconds": 60.0, "sentence": "So it was.", "fast": fast}
    make_version(project, metrics=metrics(embedder=told))
    controllers_of(panel).workspace.versionsChanged.emit()
    qtbot.waitUntil(lambda: bool(panel.result.versions))
    assert "So it was." in panel.result.notes.text()
    shown = " ".join(label.text() for label in panel.result.figures.findChildren(QLabel))
    assert ("Standard fine-tune" in shown) == ("66.0" in shown) == kept


def test_the_vectors_of_an_adapted_version_are_its_own(
    qtbot: QtBot, panel: FineTunePanel, project: Project
) -> None:
    controllers = controllers_of(panel)
    known = controllers.scorer._model_cache.known_vectors = KnownVectors("as it was", DictCache())
    version = make_version(project, settings={"epochs": 100, "calibrated": True, "embedder": "adapted"})
    plain = make_version(project)
    controllers.scorer.use_version(version.id)
    assert controllers.scorer.known_vectors == KnownVectors("adapted", known.cache)
    assert controllers.scorer.base_vectors is known
    controllers.scorer.use_version(plain.id)
    assert controllers.scorer.known_vectors is known
    fewer = controllers.scorer._model_cache.known_vectors = KnownVectors(
        "e:bfloat16", known.cache, "bfloat16"
    )
    controllers.scorer.use_version(version.id)
    assert controllers.scorer.known_vectors == replace(fewer, embedder="adapted:bfloat16")
    controllers.scorer.use_version(None)
    assert controllers.scorer.known_vectors is fewer


# --- automatic ---------------------------------------------------------------------------------------------


def wait_counted(qtbot: QtBot, controllers: Controllers, act: Callable[[], object]) -> None:
    with qtbot.waitSignal(controllers.workspace.countsChanged):
        act()


def ready_to_fine_tune_automatically(qtbot: QtBot, controllers: Controllers, every: int = 10) -> None:
    controllers.scorer.ready = True
    controllers.preferences.settings["auto_finetune"] = every
    settle(qtbot, controllers)


def test_it_is_off_unless_asked_for(
    qtbot: QtBot, controllers: Controllers, project: Project, method: FakeMethod
) -> None:
    ready_to_fine_tune_automatically(qtbot, controllers, 0)
    wait_counted(qtbot, controllers, lambda: label(controllers, range(1, 31), 0))
    assert controllers.tuner.job is None
    assert method.improved == 0


def test_it_is_automatic_and_one_click_goes_back(
    qtbot: QtBot, controllers: Controllers, project: Project, method: FakeMethod
) -> None:
    ready_to_fine_tune_automatically(qtbot, controllers)
    wait_counted(qtbot, controllers, lambda: label(controllers, range(1, 10), 0))
    settle(qtbot, controllers)
    assert controllers.tuner.job is None  # nine are fewer than ten
    with qtbot.waitSignal(controllers.messages.offered) as offered:
        label(controllers, range(10, 11), 1)
    sentence, button, go_back, _ = offered.args
    assert "version 1 is in use now. Better: +8 to +32 points" in sentence
    assert button == "Use the base model again"
    assert controllers.scorer.version is not None
    go_back()
    assert controllers.scorer.version is None
    settle(qtbot, controllers)
    assert method.improved == 1


def test_what_is_not_better_is_reported_and_not_used(
    qtbot: QtBot, controllers: Controllers, project: Project, method: FakeMethod
) -> None:
    method.better = False
    ready_to_fine_tune_automatically(qtbot, controllers)
    with qtbot.waitSignal(controllers.messages.notified) as told:
        label(controllers, range(1, 13), 0)
    assert told.args[0].startswith("Automatic fine-tuning made no better version. No clear difference yet")
    assert controllers.scorer.version is None
    wait_counted(qtbot, controllers, lambda: label(controllers, range(13, 15), 1))
    settle(qtbot, controllers)
    assert method.improved == 1  # not again before ten more


def test_only_rows_that_it_would_learn_from_are_new(
    qtbot: QtBot, controllers: Controllers, project: Project, method: FakeMethod
) -> None:
    ready_to_fine_tune_automatically(qtbot, controllers)
    project.create_audit(range(21, 35), seed=0)
    label(controllers, range(1, 15), 0, Origin.BULK)
    wait_counted(qtbot, controllers, lambda: label(controllers, range(21, 35), 0))
    settle(qtbot, controllers)
    assert method.improved == 0
    label(controllers, range(1, 11), 0)  # accepted before, looked at now
    qtbot.waitUntil(lambda: method.improved == 1)
    qtbot.waitUntil(lambda: controllers.tuner.job is None)


def test_rows_of_the_newest_version_are_not_new(
    qtbot: QtBot, controllers: Controllers, project: Project, method: FakeMethod
) -> None:
    label(controllers, range(1, 21), 0)
    make_version(project, settings={"row_ids": list(range(1, 11))})
    assert tuning_work.learnable(project, progress=SilentProgress()) == (20, 10)
    make_version(project, settings={}, train_rows=5)  # of an older program
    assert tuning_work.learnable(project, progress=SilentProgress()) == (20, 5)


def test_what_was_put_in_use_before_it_could_stop_is_seen(
    qtbot: QtBot, controllers: Controllers, project: Project, method: FakeMethod
) -> None:
    ready_to_fine_tune_automatically(qtbot, controllers)
    method.go_on.clear()
    method.committed = True
    label(controllers, range(1, 13), 0)
    qtbot.waitUntil(lambda: controllers.tuner.job is not None and controllers.tuner.job.state == "running")
    assert controllers.tuner.start(FinetuneSettings()) is not None
    assert not controllers.tuner.automatic
    with qtbot.waitSignals([controllers.messages.offered, controllers.tuner.made]):
        method.go_on.set()
    qtbot.waitUntil(lambda: controllers.tuner.job is None)
    active = project.active_version()
    assert active is not None
    assert controllers.scorer.version == active
    settle(qtbot, controllers)


def test_scoring_goes_first(
    qtbot: QtBot, controllers: Controllers, project: Project, method: FakeMethod
) -> None:
    ready_to_fine_tune_automatically(qtbot, controllers)
    method.go_on.clear()
    label(controllers, range(1, 13), 0)
    qtbot.waitUntil(lambda: controllers.tuner.job is not None and controllers.tuner.job.state == "running")
    scoring = controllers.scorer.score()
    assert scoring is not None
    with qtbot.waitSignal(scoring.finished):
        pass
    method.go_on.set()
    qtbot.waitUntil(lambda: method.improved == 2)  # again, once that is done
    qtbot.waitUntil(lambda: controllers.tuner.job is None)
