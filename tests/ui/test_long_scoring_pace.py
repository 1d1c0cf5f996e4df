"""A scoring that takes long is slower or paused on battery, and slower beside other programs."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job
from sce_desktop.tasks.scoring import pace
from tests.ui.long_scoring_bench import (  # noqa: F401
    Engine,
    battery_fixture,
    engine_fixture,
    opened_fixture,
    path_fixture,
    scored,
    start,
    state_of,
)


def test_paused_on_battery_it_resumes_by_itself(
    qtbot: QtBot, opened: Controllers, engine: Engine, battery: list[bool | None], path: Path
) -> None:
    long = opened.scorer.long
    opened.preferences.change_setting("on_battery", "pause")
    start(qtbot, opened, engine)
    battery[0] = True
    long._look()
    qtbot.waitUntil(lambda: opened.scorer.job is None)
    qtbot.waitUntil(lambda: long.text == "Scoring is paused on battery: 1 of 4 rows are scored")
    assert state_of(opened, path) == "running"  # whoever starts the program again goes on
    long._look()
    assert opened.scorer.job is None
    engine.go_on.set()
    battery[0] = False
    long._look()
    qtbot.waitUntil(lambda: scored(opened) == 4)
    assert long.paused == ""


@pytest.mark.parametrize("known", [True, False])
def test_on_battery_it_waits_for_a_long_edit(
    qtbot: QtBot,
    opened: Controllers,
    engine: Engine,
    battery: list[bool | None],
    monkeypatch: pytest.MonkeyPatch,
    known: bool,
) -> None:
    long = opened.scorer.long
    said: list[str] = []
    opened.preferences.change_setting("on_battery", "pause")
    start(qtbot, opened, engine)
    battery[0] = True
    long._look()
    qtbot.waitUntil(lambda: opened.scorer.job is None)
    engine.go_on.set()
    battery[0] = False
    opened.messages.notified.connect(lambda text, _tone: said.append(text))
    with monkeypatch.context() as during:
        if known:
            during.setattr(opened.workspace, "writing", Job(Mock(), "An edit", Mock(), quiet=True))
        else:
            during.setattr(opened.workspace, "refuses_edit", lambda: True)
        long._look()
        assert (long.paused, long._look_often.isActive()) == ("battery", True)
        assert said == []  # nobody has asked for anything
    long._look()
    qtbot.waitUntil(lambda: scored(opened) == 4)
    assert long.paused == ""


def test_the_user_may_resume_on_battery(
    qtbot: QtBot, opened: Controllers, engine: Engine, battery: list[bool | None]
) -> None:
    long = opened.scorer.long
    opened.preferences.change_setting("on_battery", "pause")
    start(qtbot, opened, engine)
    battery[0] = True
    long._look()
    qtbot.waitUntil(lambda: opened.scorer.job is None)
    long.resume()
    qtbot.waitUntil(lambda: long.lasting)
    long._look()
    assert (long.paused, opened.scorer.job is not None) == ("", True)


@pytest.mark.parametrize(
    ("on_battery", "slow_in_background", "battery_now", "in_front", "expected"),
    [
        ("slow", False, True, True, pace.ON_BATTERY),
        ("full", False, True, True, pace.FULL),
        ("slow", False, None, True, pace.FULL),
        ("slow", False, False, False, pace.FULL),
        ("slow", True, False, False, pace.IN_BACKGROUND),
        ("slow", True, False, True, pace.FULL),
    ],
)
def test_how_fast_it_is(
    qtbot: QtBot,
    opened: Controllers,
    engine: Engine,
    battery: list[bool | None],
    monkeypatch: pytest.MonkeyPatch,
    on_battery: str,
    slow_in_background: bool,
    battery_now: bool | None,
    in_front: bool,
    expected: str,
) -> None:
    states = Qt.ApplicationState
    monkeypatch.setattr(
        QGuiApplication,
        "applicationState",
        staticmethod(lambda: states.ApplicationActive if in_front else states.ApplicationInactive),
    )
    battery[0] = battery_now
    start(qtbot, opened, engine)
    opened.preferences.change_setting("on_battery", on_battery)
    opened.preferences.change_setting("slow_in_background", slow_in_background)
    assert opened.scorer.long.pace.slow == expected
