"""The ways to predict in the Fine-tune panel: what is said of each, and using another one."""

from __future__ import annotations

import json
from typing import Any

import torch
from pytestqt.qtbot import QtBot
from safetensors.torch import save

from sce_desktop.core.heads import Way
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.core.versions import ModelVersion
from sce_desktop.store.project import Project
from sce_desktop.ui.finetune.finetune_panel import FineTunePanel
from tests.ui.finetune_bench import (  # noqa: F401
    click,
    engine_fixture,
    label_enough,
    make_version,
    method_fixture,
    metrics,
    panel_fixture,
    project_fixture,
    two_versions,
)
from tests.ui.panels import settle
from tests.ui.wiring import controllers_of

BLOB = save({"correction.weight": torch.zeros(2, 3)}, metadata={"sce": json.dumps({"labels": []})})


def head(**changes: Any) -> dict[str, Any]:
    def way(accuracy: float, won: int, lost: int = 0, **more: Any) -> dict[str, Any]:
        figures = {
            "accuracy": accuracy,
            "interval": [accuracy - 0.1, accuracy + 0.1],
            "macro_f1": 0.5,
            "ece": 0.1,
        }
        return {**figures, "difference": {"won": won, "lost": lost}, **more}

    return {
        "way": "product",
        "reason": "Product of both (75.0%), the default.",
        "best": "product",
        "share": 0.2,
        "ways": {
            "zero-shot": way(0.5, 0),
            "sce": way(0.7, 8),
            "logistic": way(0.525, 2, 1),
            "product": way(0.75, 10),
            "adapted": way(0.7, 8, usable=False),
        },
        **changes,
    }


def with_ways(qtbot: QtBot, panel: FineTunePanel, **changes: Any) -> ModelVersion:
    controllers = controllers_of(panel)
    kept = controllers.workspace.project
    assert kept is not None
    version = make_version(kept, metrics=metrics(head=head(**changes)), weights=BLOB)
    controllers.workspace.versionsChanged.emit()
    qtbot.waitUntil(lambda: version in controllers.tuner.versions)
    panel.versions.select(version)
    qtbot.waitUntil(lambda: panel.result.versions == (version,))
    panel.result.tabs.setCurrentWidget(panel.result.ways)
    settle(qtbot, controllers)
    return version


def test_each_way_is_listed_with_its_figures(qtbot: QtBot, panel: FineTunePanel) -> None:
    with_ways(qtbot, panel)
    ways = panel.result.ways
    panel.result.tabs.setCurrentWidget(ways)
    assert ways.isVisible()
    assert ways.reason.text() == "Product of both (75.0%), the default."
    assert ways.texts == [
        ["Way", "Accuracy", "95% CI", "Gain"],
        ["Base model", "50.0%", "40.0 to 60.0%"],
        ["SCE head", "70.0%", "60.0 to 80.0%", "+20.0"],
        ["Logistic regression", "52.5%", "42.5 to 62.5%", "Not significant"],
        ["Product of both", "75.0%", "65.0 to 85.0%", "+25.0", "Best"],
        ["Fine-tuned text encoder", "70.0%", "60.0 to 80.0%", "+20.0"],
    ]
    assert "Product of both (75.0%), the default." in panel.result.notes.text()
    assert not ways.buttons[Way.ADAPTED].isEnabled()
    assert "not trained on all rows" in ways.buttons[Way.ADAPTED].toolTip()
    assert ways.buttons[Way.SCE].accessibleName() == "Use SCE head"


def test_another_way_is_used(qtbot: QtBot, panel: FineTunePanel) -> None:
    controllers = controllers_of(panel)
    first = with_ways(qtbot, panel)
    with qtbot.waitSignal(controllers.tuner.made) as made:
        click(qtbot, panel.result.ways.buttons[Way.SCE])
    second: ModelVersion = made.args[0]
    qtbot.waitUntil(lambda: controllers.scorer.version is not None)
    assert controllers.scorer.version is not None
    assert controllers.scorer.version.id == second.id != first.id
    assert second.name == "version 1, SCE head"
    qtbot.waitUntil(lambda: [one.id for one in panel.result.versions] == [second.id])
    qtbot.waitUntil(lambda: panel.result.ways.buttons[Way.SCE].text() == "In use")
    assert not panel.result.ways.buttons[Way.SCE].isEnabled()
    assert panel.result.ways.buttons[Way.PRODUCT].isEnabled()
    qtbot.waitUntil(lambda: panel.versions.list.topLevelItemCount() == 3)
    controllers.edits.undo()
    assert controllers.scorer.version is None
    settle(qtbot, controllers)


def test_the_way_that_was_chosen_is_used_again(qtbot: QtBot, panel: FineTunePanel) -> None:
    controllers = controllers_of(panel)
    first = with_ways(qtbot, panel)
    for way in (Way.LOGISTIC, Way.PRODUCT):
        with qtbot.waitSignal(controllers.tuner.made):
            click(qtbot, panel.result.ways.buttons[way])
        settle(qtbot, controllers)
    assert controllers.scorer.version is not None
    assert controllers.scorer.version.id == first.id
    assert controllers.workspace.project is not None
    assert len(controllers.workspace.project.versions()) == 2


def test_a_version_that_is_damaged_is_said_to_be(
    qtbot: QtBot, panel: FineTunePanel, project: Project
) -> None:
    controllers = controllers_of(panel)
    version = make_version(project, metrics=metrics(head=head()))
    controllers.workspace.versionsChanged.emit()
    qtbot.waitUntil(lambda: panel.result.versions == (version,))
    panel.result.tabs.setCurrentWidget(panel.result.ways)
    with qtbot.waitSignal(controllers.messages.notified) as told:
        click(qtbot, panel.result.ways.buttons[Way.SCE])
    assert "damaged" in str(told.args)
    assert project.versions() == (version,)


def test_an_older_version_has_no_ways(qtbot: QtBot, panel: FineTunePanel) -> None:
    two_versions(qtbot, panel)
    tabs = panel.result.tabs
    assert not tabs.isTabVisible(tabs.indexOf(panel.result.ways))
    with_ways(qtbot, panel)
    assert tabs.isTabVisible(tabs.indexOf(panel.result.ways))


def test_the_head_is_handed_over(qtbot: QtBot, panel: FineTunePanel) -> None:
    label_enough(qtbot, panel)
    start = panel.start
    assert start.entered.head is None
    start.head.setCurrentIndex(start.head.findData(Way.LOGISTIC))
    assert start.entered.head is Way.LOGISTIC
    assert isinstance(start.entered, FinetuneSettings)
