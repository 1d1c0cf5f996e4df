"""Fine-tuning that begins by itself: when, and how one goes back."""

from __future__ import annotations

from collections.abc import Callable

from pytestqt.qtbot import QtBot

from sce_desktop.controllers import tuning_work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Origin
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.store.project import Project
from tests.ui.finetune_bench import (  # noqa: F401
    FakeMethod,
    engine_fixture,
    label,
    made,
    make_version,
    method_fixture,
    project_fixture,
)
from tests.ui.panels import settle


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
