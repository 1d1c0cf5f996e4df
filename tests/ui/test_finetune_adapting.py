"""The text encoder fine-tuned too, in the panel: its cost, its choice, what it brought."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import tuning_work
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.choices import ImportChoices, ModelChoice
from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Epoch
from sce_desktop.core.tables import TableOptions
from sce_desktop.ml.finetune.recipes import AdapterPace
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.ui.finetune.finetune_panel import FineTunePanel
from tests.ml.tiny import DictCache
from tests.ui.finetune_bench import (  # noqa: F401
    FakeMethod,
    click,
    engine_fixture,
    label_enough,
    made,
    make_version,
    method_fixture,
    metrics,
    panel_fixture,
    project_fixture,
    wait_for_plan,
)
from tests.ui.panels import settle
from tests.ui.wiring import controllers_of

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
