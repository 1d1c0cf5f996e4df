"""A scoring that takes long: paused, resumed, and continued at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.store.file.opening import is_free
from sce_desktop.ui.window.run_bar import RunBar
from sce_desktop.ui.window.status_bar import StatusBar
from tests.ui.conftest import MakeProject
from tests.ui.long_scoring_bench import (  # noqa: F401
    Engine,
    battery_fixture,
    close_it,
    engine_fixture,
    open_it,
    opened_fixture,
    path_fixture,
    scored,
    start,
    state_of,
)
from tests.ui.scoring_bench import LABELS


def test_paused_it_keeps_its_scores_and_resumes_with_the_rest(
    qtbot: QtBot, opened: Controllers, engine: Engine, path: Path
) -> None:
    long = opened.scorer.long
    job = start(qtbot, opened, engine)
    with qtbot.waitSignal(job.cancelled):
        long.pause()
    qtbot.waitUntil(lambda: long.text == "Scoring is paused: 1 of 4 rows are scored")
    assert (opened.scorer.job, long.lasting) == (None, False)
    assert state_of(opened, path) == "paused"
    engine.go_on.set()
    long.resume()
    assert opened.scorer.job is not None
    with qtbot.waitSignal(opened.scorer.job.finished):
        pass
    assert scored(opened) == 4
    assert (long.paused, long.text, state_of(opened, path)) == ("", "", None)


def test_it_stays_paused_when_the_program_starts_again(
    qtbot: QtBot, opened: Controllers, engine: Engine, path: Path
) -> None:
    start(qtbot, opened, engine)
    opened.scorer.long.pause()
    close_it(qtbot, opened)
    assert opened.scorer.long.paused == ""
    calls = len(engine.calls)
    open_it(qtbot, opened, path)
    qtbot.waitUntil(lambda: bool(opened.scorer.long.text.startswith("Scoring is paused: 1 of 4")))
    assert opened.scorer.job is None
    assert len(engine.calls) == calls


def test_what_was_running_continues_by_itself(
    qtbot: QtBot, opened: Controllers, engine: Engine, path: Path
) -> None:
    start(qtbot, opened, engine)
    assert state_of(opened, path) == "running"  # on the disk: from here on it may be killed
    messages: list[str] = []
    close_it(qtbot, opened)
    assert state_of(opened, path) == "running"
    engine.go_on.set()
    opened.messages.notified.connect(lambda text, _tone: messages.append(text))
    open_it(qtbot, opened, path)
    qtbot.waitUntil(lambda: scored(opened) == 4 and opened.scorer.job is None)
    assert messages == ["Scoring continues where it stopped: 1 row is already scored."]
    assert state_of(opened, path) is None


@pytest.mark.parametrize("by", ["scorer", "status bar"])
def test_what_was_stopped_does_not(
    qtbot: QtBot, opened: Controllers, engine: Engine, path: Path, by: str, workers: WorkerQueues
) -> None:
    bar = StatusBar(workers)
    qtbot.addWidget(bar)
    bar.stopAsked.connect(opened.scorer.long.stopped)
    job = start(qtbot, opened, engine)
    qtbot.waitUntil(lambda: bar._job is job)
    with qtbot.waitSignal(job.cancelled):
        if by == "scorer":
            opened.scorer.stop()
        else:
            bar.stop_button.click()
    assert state_of(opened, path) is None


def test_what_is_being_stopped_is_neither_long_nor_paused(
    qtbot: QtBot, opened: Controllers, engine: Engine, battery: list[bool | None], path: Path
) -> None:
    scorer, long = opened.scorer, opened.scorer.long
    opened.preferences.change_setting("on_battery", "pause")
    battery[0] = True
    long._lasting_soon.setInterval(1_000_000)
    engine.go_on.clear()
    job = scorer.score()
    assert job is not None
    qtbot.waitUntil(lambda: scored(opened) == 1)
    scorer.stop()
    assert (scorer.job, job.active) == (job, True)  # its batch is not through
    assert not long._lasting_soon.isActive()
    long._on_lasting()
    long.pause()
    long._look_often.start()
    long.lasting = True
    long._look()
    assert (long.paused, state_of(opened, path)) == ("", None)
    with qtbot.waitSignal(job.ended):
        pass
    assert (long.lasting, state_of(opened, path)) == (False, None)


def test_a_long_scoring_that_is_stopped_is_no_longer_long(
    qtbot: QtBot, opened: Controllers, engine: Engine
) -> None:
    long = opened.scorer.long
    start(qtbot, opened, engine)
    opened.scorer.stop()
    assert (long.lasting, long._look_often.isActive()) == (False, False)


def test_without_labels_nothing_is_long_or_continued(
    qtbot: QtBot, opened: Controllers, engine: Engine, path: Path
) -> None:
    long = opened.scorer.long
    start(qtbot, opened, engine)
    qtbot.waitUntil(lambda: bool(opened.workspace.runs))
    opened.edits.set_labels([])
    assert opened.scorer.job is None
    assert (long.lasting, long._look_often.isActive(), state_of(opened, path)) == (False, False, None)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("by", ["battery", "restart", "user", "user, restart"])
def test_it_continues_as_what_it_was(
    qtbot: QtBot,
    opened: Controllers,
    engine: Engine,
    battery: list[bool | None],
    path: Path,
    by: str,
    whole: bool,
) -> None:
    """Only if the user asked for it, an LLM scores all rows."""
    scorer, long = opened.scorer, opened.scorer.long
    scorer.set_llm_rows("all")
    opened.preferences.change_setting("on_battery", "pause")
    engine.go_on.clear()
    assert (scorer.score() if whole else scorer.follow()) is not None
    qtbot.waitUntil(lambda: long.lasting and scored(opened) == 1)
    if by == "battery":
        battery[0] = True
        long._look()
        battery[0] = False
    elif by != "restart":
        long.pause()
    if "restart" in by:
        close_it(qtbot, opened)
        engine.go_on.set()
        open_it(qtbot, opened, path)
    else:
        qtbot.waitUntil(lambda: scorer.job is None)
        engine.go_on.set()
    if by == "battery":
        long._look()
    elif by != "restart":
        long.resume()
    qtbot.waitUntil(lambda: scored(opened) == 4 and scorer.job is None)
    assert [choice.llm_on_screen for choice, _ids in engine.calls] == [not whole] * 2


def test_while_paused_an_edit_of_the_labels_scores_the_screen_alone(
    qtbot: QtBot, opened: Controllers, engine: Engine
) -> None:
    start(qtbot, opened, engine)
    opened.scorer.long.pause()
    qtbot.waitUntil(lambda: opened.scorer.job is None)
    opened.scorer.follow()
    qtbot.waitUntil(lambda: opened.scorer.job is None)
    assert engine.calls[-1][1] == [-1]
    assert opened.scorer.long.paused == "user"


def test_short_scorings_leave_nothing_behind(
    qtbot: QtBot, opened: Controllers, engine: Engine, path: Path
) -> None:
    opened.scorer.long._lasting_soon.setInterval(1_000_000)
    job = opened.scorer.score()
    assert job is not None
    with qtbot.waitSignal(job.finished):
        pass
    file = opened.preferences.settings.file.with_name("scoring.json")
    assert not file.exists()


def test_the_run_bar_and_the_status_bar_say_it(
    qtbot: QtBot, opened: Controllers, engine: Engine, workers: WorkerQueues
) -> None:
    long = opened.scorer.long
    bar = RunBar(
        opened.workspace, opened.scorer, opened.tuner, opened.models, opened.advice, opened.preferences
    )
    status = StatusBar(workers)
    for widget in (bar, status):
        qtbot.addWidget(widget)
        widget.show()
    following = long.changed.connect(lambda: status.set_paused(long.text))
    assert bar.pause_button.isHidden()
    start(qtbot, opened, engine)
    assert not bar.pause_button.isHidden()
    bar.pause_button.click()
    qtbot.waitUntil(lambda: bar.score_button.text() == "Resume")
    assert bar.pause_button.isHidden()
    qtbot.waitUntil(lambda: status.progress.isVisible() and "paused" in status.progress.whole())
    engine.go_on.set()
    bar.score_button.click()
    assert opened.scorer.job is not None
    with qtbot.waitSignal(opened.scorer.job.finished):
        pass
    qtbot.waitUntil(lambda: bar.score_button.text() == "Score")
    assert "paused" not in status.progress.whole()
    long.changed.disconnect(following)


def test_the_menu_pauses_and_resumes(qtbot: QtBot, opened: Controllers, engine: Engine) -> None:
    said: list[str] = []
    opened.messages.notified.connect(lambda text, _tone: said.append(text))
    opened.scorer.long.toggle()
    assert said == ["Nothing is being scored."]
    start(qtbot, opened, engine)
    opened.scorer.long.toggle()
    qtbot.waitUntil(lambda: opened.scorer.job is None)
    assert opened.scorer.long.paused == "user"
    engine.go_on.set()
    opened.scorer.long.toggle()
    qtbot.waitUntil(lambda: scored(opened) == 4)


@pytest.mark.parametrize("state", ["running", "paused"])
def test_a_new_project_in_the_place_of_another_has_no_state(
    qtbot: QtBot, opened: Controllers, engine: Engine, path: Path, make_project: MakeProject, state: str
) -> None:
    start(qtbot, opened, engine)
    if state == "paused":
        opened.scorer.long.pause()
    close_it(qtbot, opened)
    assert state_of(opened, path) == state
    qtbot.waitUntil(lambda: is_free(path))
    path.unlink()
    make_project(labels=LABELS)
    calls = len(engine.calls)
    open_it(qtbot, opened, path)
    qtbot.waitUntil(lambda: opened.workspace.counts is not None)  # asked for before it would continue
    assert (opened.scorer.long.paused, opened.scorer.job, len(engine.calls)) == ("", None, calls)
