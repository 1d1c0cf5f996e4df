"""A scoring that takes long: paused, resumed, continued at the next start, slower or paused on battery."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job, WorkerQueues
from sce_desktop.controllers.scoring_states import Kept, ScoringStates
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Run
from sce_desktop.core.scored import ScoredChunk
from sce_desktop.store.file.opening import is_free
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring import pace
from sce_desktop.ui.window.run_bar import RunBar
from sce_desktop.ui.window.status_bar import StatusBar
from tests.ui.conftest import MakeProject
from tests.ui.test_scoring import LABELS, FakeEngine

MADE = "2026-01-02"  # when a project was created


class Engine(FakeEngine):
    """Scores the rows of the screen alone where it is asked to."""

    def score(
        self,
        project: Project,
        model_cache: object,
        choice: ModelChoice,
        first_ids: IdArray,
        on_scored: Callable[[ScoredChunk], None],
        *,
        on_sample: object = None,
        on_draft: object = None,
        on_screen: object = None,
        screen_only: bool = False,
        progress: Progress,
    ) -> list[Run]:
        if not screen_only:
            return super().score(
                project, model_cache, choice, first_ids, on_scored, on_sample=on_sample, progress=progress
            )
        self.calls.append((choice, [-1]))
        return []


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine()
    monkeypatch.setattr(work, "score", engine.score)
    monkeypatch.setattr(
        work.ModelCache, "load", lambda _self, choice, *, progress: engine.load(choice, progress=progress)
    )
    return engine


@pytest.fixture
def battery(monkeypatch: pytest.MonkeyPatch) -> list[bool | None]:
    """Whether the computer runs on its battery."""
    state: list[bool | None] = [None]
    monkeypatch.setattr(pace, "on_battery", lambda: state[0])
    return state


@pytest.fixture
def path(make_project: MakeProject) -> Path:
    return make_project(labels=LABELS)


def open_it(qtbot: QtBot, controllers: Controllers, path: Path) -> Controllers:
    controllers.scorer.long._lasting_soon.setInterval(0)
    controllers.scorer.set_baselines(())
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(path)
    return controllers


def close_it(qtbot: QtBot, controllers: Controllers) -> None:
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()


@pytest.fixture
def opened(
    qtbot: QtBot, controllers: Controllers, path: Path, engine: Engine, battery: list[bool | None]
) -> Controllers:
    return open_it(qtbot, controllers, path)


def state_of(controllers: Controllers, path: Path) -> str | None:
    with Project.open(path, read_only=True) as project:
        made = project.created_at
    kept = ScoringStates(controllers.preferences.settings.file.with_name("scoring.json")).of(path, made)
    return kept.state if kept is not None else None


def start(qtbot: QtBot, controllers: Controllers, engine: Engine) -> Job:
    """Score until a row has its score and the scoring counts as long."""
    engine.go_on.clear()
    job = controllers.scorer.score()
    assert job is not None
    long = controllers.scorer.long
    qtbot.waitUntil(lambda: long.lasting and scored(controllers) == 1)
    return job


def scored(controllers: Controllers) -> int:
    project = controllers.workspace.project
    run = project.active_run("sce") if project is not None else None
    return run.scored if run is not None else 0


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


# --- battery, other programs


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


# --- the file


@pytest.mark.parametrize("content", ["", "[1]", '{"a": 1}', "\x00", '{"/p.sce": "exploded"}'])
def test_states_that_make_no_sense_are_none(tmp_path: Path, content: str) -> None:
    file = tmp_path / "scoring.json"
    file.write_text(content)
    project = tmp_path / "p.sce"
    project.touch()
    states = ScoringStates(file)
    assert states.of(Path("/p.sce"), MADE) is None
    states.keep(project, Kept("paused", True), MADE)
    assert ScoringStates(file).of(project, MADE) == Kept("paused", True)
    states.keep(project, None, MADE)
    assert ScoringStates(file).of(project, MADE) is None


def test_the_oldest_states_are_forgotten(tmp_path: Path) -> None:
    states = ScoringStates(tmp_path / "scoring.json")
    projects = [tmp_path / f"{number}.sce" for number in range(40)]
    for project in projects:
        project.touch()
        states.keep(project, Kept("running", False), MADE)
    found: list[Any] = [states.of(project, MADE) for project in projects]
    assert found == [None] * 10 + [Kept("running", False)] * 30


def test_states_of_projects_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "scoring.json"
    states = ScoringStates(file)
    gone, other = tmp_path / "gone.sce", tmp_path / "other.sce"
    for project in (gone, other):
        project.touch()
    states.keep(gone, Kept("running", False), MADE)
    gone.unlink()
    states.keep(other, Kept("running", False), MADE)
    assert list(json.loads(file.read_text())) == [str(other)]


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


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('"running"', Kept("running", False)),  # by an older version
        ('"paused"', Kept("paused", True)),
        ('{"state": "running"}', Kept("running", False)),
        ('{"state": "running", "whole": true}', Kept("running", True)),
        ('{"state": "paused", "whole": false}', Kept("paused", False)),
        ('{"state": "running", "whole": []}', Kept("running", False)),
        ('{"state": "running", "made": "2026-01-02"}', Kept("running", False)),
        ('{"state": "running", "made": "2026-01-03"}', None),
        ('{"state": "running", "made": null}', None),
        ('{"state": ["running"]}', None),
        ("{}", None),
    ],
)
def test_what_stands_in_the_file(tmp_path: Path, content: str, expected: Kept | None) -> None:
    file = tmp_path / "scoring.json"
    file.write_text('{"/p.sce": ' + content + "}")
    assert ScoringStates(file).of(Path("/p.sce"), MADE) == expected
