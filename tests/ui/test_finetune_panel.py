"""The Fine-tune panel before, while and after it runs, with a stand-in for the method of the worker."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.core.annotations import Origin
from sce_desktop.core.errors import UserError
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.store.project import Project
from sce_desktop.ui.finetune.finetune_panel import FineTunePanel
from sce_desktop.ui.finetune.finetune_result import EMPTY
from sce_desktop.ui.finetune.versions_list import short_result
from tests.ui.finetune_bench import (  # noqa: F401
    FakeMethod,
    click,
    engine_fixture,
    label,
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
