"""Scoring from the window: rows on the screen first, newer work in place of older, finished rows kept."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import JobState
from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.scored import ALL_SCORES, ScoredRows
from sce_desktop.store.project import Project
from tests.store.test_versions import add as add_version
from tests.ui.conftest import MakeProject
from tests.ui.scoring_bench import (  # noqa: F401
    LABELS,
    FakeEngine,
    engine_fixture,
    opened_fixture,
    score,
)


def test_all_rows_with_text_are_scored_and_shown(qtbot: QtBot, opened: Controllers) -> None:
    with qtbot.waitSignals(
        [score(opened).finished, opened.workspace.scoresChanged, opened.workspace.countsChanged]
    ):
        pass
    qtbot.waitUntil(lambda: opened.workspace.counts is not None and opened.workspace.counts.scored == 4)
    assert [run.alias for run in opened.workspace.runs] == ["sce", "similarity"]
    assert opened.scorer.job is None
    assert opened.scorer.ready


def test_rows_on_the_screen_go_first(qtbot: QtBot, opened: Controllers, engine: FakeEngine) -> None:
    opened.navigation.set_visible_rows([4, 5])
    engine.go_on.clear()
    job = score(opened)
    qtbot.waitUntil(lambda: bool(opened.workspace.runs))
    project = opened.workspace.project
    assert project is not None
    assert list(project.scores(opened.workspace.runs[0].id, [1, 2, 4, 5])) == [4]
    assert engine.calls[0][1] == [4, 5]
    opened.navigation.set_visible_rows([1, 2])  # by scrolling: the worker asks before each chunk
    assert engine.on_screen is not None
    assert engine.on_screen().tolist() == [1, 2]
    engine.go_on.set()
    with qtbot.waitSignal(job.finished):
        pass


def test_scores_show_while_they_come(qtbot: QtBot, opened: Controllers, engine: FakeEngine) -> None:
    engine.go_on.clear()
    job = score(opened)
    with qtbot.waitSignal(opened.workspace.scoresChanged):
        pass
    assert job.active
    engine.go_on.set()


def test_stop_keeps_what_is_scored(qtbot: QtBot, opened: Controllers, engine: FakeEngine) -> None:
    engine.go_on.clear()
    job = score(opened)
    qtbot.waitUntil(lambda: bool(opened.workspace.runs))
    with qtbot.waitSignal(job.cancelled, timeout=2000):
        opened.scorer.stop()
    assert opened.workspace.project is not None
    assert len(opened.workspace.project.scores(opened.workspace.runs[0].id, [1, 2, 4, 5])) == 1
    engine.go_on.set()
    with qtbot.waitSignal(score(opened).finished):
        pass
    assert len(opened.workspace.project.scores(opened.workspace.runs[0].id, [1, 2, 4, 5])) == 4


def test_newer_scoring_takes_the_place_of_the_older(
    qtbot: QtBot, opened: Controllers, engine: FakeEngine
) -> None:
    engine.go_on.clear()
    older = score(opened)
    qtbot.waitUntil(lambda: older.state is JobState.RUNNING)
    newer = score(opened)
    engine.go_on.set()
    with qtbot.waitSignal(newer.finished):
        pass
    assert older.state is JobState.CANCELLED
    assert not older.attached
    assert opened.scorer.job is None


def test_label_edit_is_scored_at_once_and_the_last_of_several_counts(
    qtbot: QtBot, opened: Controllers, engine: FakeEngine
) -> None:
    with qtbot.waitSignal(score(opened).finished):
        pass
    first_run = opened.workspace.runs[0].id
    opened.navigation.set_visible_rows([2])
    for name in ("R", "Re", "Refund"):
        opened.edits.set_labels([*opened.workspace.labels[:3], Label(name)])
        assert opened.scorer.job is not None
    qtbot.waitUntil(lambda: opened.scorer.job is None and opened.workspace.runs[0].id != first_run)
    assert engine.calls[-1][1] == [2]
    assert opened.workspace.runs[0].label_names == (*LABELS, "Refund")
    assert opened.workspace.runs[0].scored == 4


def test_new_scores_come_with_the_rows_that_have_them(
    qtbot: QtBot, opened: Controllers, engine: FakeEngine
) -> None:
    with qtbot.waitSignal(score(opened).finished):
        pass
    project = opened.workspace.project
    assert project is not None
    before = [run.id for run in opened.workspace.runs]
    changes: list[object] = []
    opened.workspace.scoresChanged.connect(changes.append)
    opened.edits.set_labels([*opened.workspace.labels, Label("Refund")])
    qtbot.waitUntil(lambda: opened.scorer.job is None)
    now = [run.id for run in opened.workspace.runs]
    assert set(now).isdisjoint(before)
    scored: dict[int, list[int]] = {run_id: [] for run_id in now}
    new: list[int] = []
    for change in changes:
        assert isinstance(change, ScoredRows)
        new += change.new_runs
        for chunk in change.chunks:
            scored[chunk.run.id] += chunk.row_ids.tolist()
            kept = project.scores(chunk.run.id, chunk.row_ids)
            for row_id, probabilities in zip(chunk.row_ids, chunk.scores.probabilities, strict=True):
                np.testing.assert_array_equal(kept[int(row_id)].probabilities, probabilities)
    assert {run_id: sorted(ids) for run_id, ids in scored.items()} == {run_id: [1, 2, 4, 5] for run_id in now}
    assert sorted(new) == sorted(now)
    changes.clear()
    opened.edits.undo()  # to labels for which every row has its score already
    qtbot.waitUntil(lambda: [run.id for run in opened.workspace.runs] == before)
    assert ALL_SCORES in changes


def test_a_label_edit_reads_the_labels_once(
    qtbot: QtBot, opened: Controllers, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with qtbot.waitSignal(score(opened).finished):
        pass
    read: list[int] = []
    plain = Project.label_set

    def label_set(self: Project) -> object:
        read.append(threading.get_ident())
        return plain(self)

    monkeypatch.setattr(Project, "label_set", label_set)
    opened.edits.set_labels([*opened.workspace.labels, Label("Refund")])
    assert opened.workspace.labels[-1].name == "Refund"
    assert opened.workspace.label_set == plain(opened.workspace.project)  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: opened.scorer.job is None)
    assert threading.get_ident() not in read  # what has written them knows them
    assert len(read) - len(set(read)) == 0  # a worker once: the one that scores, and one that reads beside it


def test_label_edit_before_the_first_scoring_scores_nothing(
    qtbot: QtBot, opened: Controllers, engine: FakeEngine
) -> None:
    opened.edits.set_labels([*opened.workspace.labels, Label("Refund")])
    qtbot.wait(600)
    assert engine.calls == []


def test_removing_all_labels_stops_scoring(qtbot: QtBot, opened: Controllers, engine: FakeEngine) -> None:
    engine.go_on.clear()
    job = score(opened)
    qtbot.waitUntil(lambda: bool(opened.workspace.runs))
    opened.edits.set_labels([])
    qtbot.waitUntil(lambda: job.state is JobState.CANCELLED)
    qtbot.wait(600)
    assert len(engine.calls) == 1


def test_failure_is_one_sentence_and_the_rest_lives(
    qtbot: QtBot, opened: Controllers, engine: FakeEngine
) -> None:
    engine.error = UserError("The model sce-mini is damaged: run models verify.")
    with qtbot.waitSignal(opened.messages.notified) as told:
        opened.scorer.score()
    assert told.args == ["The model sce-mini is damaged: run models verify.", "warn"]
    engine.error = None
    qtbot.waitUntil(lambda: opened.scorer.job is None)
    with qtbot.waitSignal(score(opened).finished):
        pass


def test_model_that_cannot_be_loaded_leaves_the_window_usable(
    qtbot: QtBot, controllers: Controllers, engine: FakeEngine
) -> None:
    engine.error = UserError("There is no model in this folder.")
    with qtbot.waitSignal(controllers.messages.notified) as told:
        controllers.scorer.set_model("/nowhere")
    assert told.args[1] == "warn"
    assert not controllers.scorer.ready
    engine.error = None
    with qtbot.waitSignals([controllers.scorer.modelsChanged, controllers.scorer.modelsChanged]):
        controllers.scorer.set_model("sce-mini")
    assert controllers.scorer.ready


def test_baselines_decide_which_runs_are_shown(qtbot: QtBot, opened: Controllers) -> None:
    with qtbot.waitSignal(score(opened).finished):
        pass
    with qtbot.waitSignal(opened.workspace.scoresChanged):
        opened.scorer.set_baselines(())
    assert [run.alias for run in opened.workspace.runs] == ["sce"]
    opened.scorer.set_baselines(("similarity",))
    assert [run.alias for run in opened.workspace.runs] == ["sce", "similarity"]


def test_runs_come_back_with_the_project(qtbot: QtBot, opened: Controllers) -> None:
    with qtbot.waitSignal(score(opened).finished):
        pass
    assert opened.workspace.project is not None
    path = opened.workspace.project.path
    with qtbot.waitSignal(opened.workspace.projectClosed):
        opened.projects.close_project()
    assert opened.workspace.runs == ()
    with qtbot.waitSignal(opened.workspace.projectOpened):
        opened.projects.open_project(path)
    assert [run.alias for run in opened.workspace.runs] == ["sce", "similarity"]


def test_read_only_project_is_not_scored(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, engine: FakeEngine
) -> None:
    path = make_project(labels=LABELS)
    with Project.open(path):
        with qtbot.waitSignal(controllers.workspace.projectOpened):
            controllers.projects.open_project(path)
        assert controllers.scorer.score() is None
        assert engine.calls == []
        with qtbot.waitSignal(controllers.workspace.projectClosed):
            controllers.projects.close_project()


def test_a_read_only_project_stays_with_its_version(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, engine: FakeEngine
) -> None:
    path = make_project(labels=("Late", "Damaged"))
    with Project.open(path) as project:
        version = add_version(project)
        project.activate_version(version.id)
        with qtbot.waitSignal(controllers.workspace.projectOpened):
            controllers.projects.open_project(path)
        assert controllers.workspace.read_only
        qtbot.waitUntil(lambda: controllers.scorer.version is not None)
        with qtbot.waitSignal(controllers.messages.notified) as told:
            controllers.scorer.set_model("another")
        assert told.args[1] == "warn"
        assert controllers.scorer.model == "sce-mini"
        assert controllers.scorer.version is not None
        with qtbot.waitSignal(controllers.workspace.projectClosed):
            controllers.projects.close_project()
        qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)


def test_sample_is_imported_and_scored_at_once(
    qtbot: QtBot, controllers: Controllers, engine: FakeEngine, tmp_path: Path
) -> None:
    controllers.preferences.settings["projects_folder"] = str(tmp_path)
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_sample()
    qtbot.waitUntil(lambda: len(engine.calls) == 1)
    assert len(controllers.workspace.labels) > 5
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_sample()  # the same one, with what was done in it
    assert [file.name for file in tmp_path.glob("*.sce")] == ["Parcel feedback.sce"]
