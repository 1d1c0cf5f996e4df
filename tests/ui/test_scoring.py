"""Scoring from the window: rows on the screen first, newer work in place of older, finished rows kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job, JobState, WorkerQueues
from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Run, Scores
from sce_desktop.core.scored import ALL_SCORES, ScoredChunk, ScoredRows
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from tests.ml.tiny import tiny_sce
from tests.ml.tiny_llm import NOTHING, tiny_llm
from tests.store.test_versions import add as add_version
from tests.ui.conftest import MakeProject

LABELS = ("Late", "Damaged", "Praise")


class FakeEngine:
    """Scores by the length of the text, as slowly as a test wants, through the real project."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.go_on.set()
        self.calls: list[tuple[ModelChoice, list[int]]] = []
        self.error: Exception | None = None
        self.on_screen: Callable[[], IdArray] | None = None

    def load(self, choice: ModelChoice, *, progress: Progress) -> list[Any]:
        progress.check()
        if self.error is not None:
            raise self.error
        return []

    def score(
        self,
        project: Project,
        _model_cache: object,
        choice: ModelChoice,
        first_ids: IdArray,
        on_scored: Callable[[ScoredChunk], None],
        *,
        on_sample: object = None,
        on_draft: object = None,
        on_screen: Callable[[], IdArray] | None = None,
        progress: Progress,
    ) -> list[Run]:
        self.calls.append((choice, first_ids.tolist()))
        self.on_screen = on_screen
        if self.error is not None:
            raise self.error
        label_set = project.label_set()
        if label_set is None:
            raise UserError("There is no label: give at least one.")
        aliases = ("sce", *choice.baselines)
        runs = [project.open_run(a, "sce", choice.model, "fake", label_set.labels) for a in aliases]
        for run in runs:
            project.activate(run.id)
            ids = project.unscored_ids(run.id)
            first = first_ids[np.isin(first_ids, ids)]
            for row_id in (*first, *ids[~np.isin(ids, first)]):
                progress.check()
                shape = (1, len(label_set.labels))
                scores = Scores(np.full(shape, 1 / shape[1], dtype=np.float32))
                project.add_scores(run.id, [row_id], scores)
                on_scored(ScoredChunk(run, np.array([row_id]), scores))
                progress.report(1, len(ids), stage="scoring (sce)")
                while not self.go_on.wait(0.002):
                    progress.check()
            project.finish_run(run.id)
        return runs


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    engine = FakeEngine()
    monkeypatch.setattr(work, "score", engine.score)
    monkeypatch.setattr(
        work.ModelCache, "load", lambda _self, choice, *, progress: engine.load(choice, progress=progress)
    )
    return engine


@pytest.fixture
def opened(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, engine: FakeEngine
) -> Controllers:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(labels=LABELS))
    return controllers


def score(controllers: Controllers) -> Job:
    job = controllers.scorer.score()
    assert job is not None
    return job


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


def ask_estimate(controllers: Controllers) -> Job:
    scorer = controllers.scorer
    arguments = (controllers.workspace.project, scorer.model_cache, scorer.choice(), scorer._screen())
    return controllers.workspace.submit(work.estimate, *arguments, title="Estimating", worker="models")


def test_with_a_real_model(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    folder = str(tiny_sce(tmp_path / "my models"))
    controllers.scorer.set_baselines((f"similarity:{folder}",))
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(labels=LABELS))
    controllers.scorer.set_model(folder)
    qtbot.waitUntil(lambda: controllers.scorer.ready, timeout=60_000)
    assert controllers.scorer.device_text.startswith(("CPU", "CUDA", "MPS"))
    estimate = ask_estimate(controllers)
    with qtbot.waitSignal(estimate.finished, timeout=60_000) as estimated:
        pass
    assert 0 < estimated.args[0] < 60
    with qtbot.waitSignal(score(controllers).finished, timeout=60_000):
        pass
    assert [run.alias for run in controllers.workspace.runs] == ["sce", "similarity"]
    assert controllers.workspace.project is not None
    scores = controllers.workspace.project.scores(controllers.workspace.runs[0].id, [1, 2, 3, 4, 5])
    assert sorted(scores) == [1, 2, 4, 5]
    assert all(abs(s.probabilities.sum() - 1) < 1e-5 for s in scores.values())
    assert scores[1].probabilities == pytest.approx(scores[5].probabilities)  # the same text
    again = ask_estimate(controllers)
    with qtbot.waitSignal(again.finished, timeout=60_000) as nothing_left:
        pass
    assert nothing_left.args[0] == pytest.approx(0, abs=1e-6)


def test_with_an_llm_beside_the_model(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    """On the screen first, wherever the table rests; then, asked for, all rows."""
    sce, llm = str(tiny_sce(tmp_path / "my models")), str(tiny_llm(tmp_path))
    controllers.preferences.settings["baseline"] = f"llm:{llm}"
    controllers.scorer.settings_changed({"baseline"})
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(labels=LABELS))
    controllers.scorer.set_model(sce)
    qtbot.waitUntil(lambda: controllers.scorer.ready, timeout=60_000)
    controllers.navigation.set_visible_rows([2, 3])
    with qtbot.waitSignal(ask_estimate(controllers).finished, timeout=60_000) as few:
        pass
    controllers.scorer.set_llm_rows("all")
    with qtbot.waitSignal(ask_estimate(controllers).finished, timeout=60_000) as all_rows:
        pass
    assert 0 < few.args[0] < 60
    assert 0 < all_rows.args[0] < 120
    controllers.scorer.set_llm_rows("screen")
    with qtbot.waitSignal(score(controllers).finished, timeout=60_000):
        pass
    assert [(run.alias, run.scored) for run in controllers.workspace.runs] == [
        ("sce", 4),
        ("llm", 1),
    ]  # row 3 is blank
    assert controllers.workspace.runs[1].finished_at is None
    controllers.navigation.set_visible_rows([4, 5])
    qtbot.waitUntil(lambda: controllers.workspace.runs[1].scored == 3, timeout=60_000)
    kept = (
        controllers.workspace.project.scores(controllers.workspace.runs[1].id, [2])[2].probabilities
        if controllers.workspace.project
        else None
    )
    controllers.scorer.set_llm_rows("all")
    controllers.scorer.go_on()
    qtbot.waitUntil(lambda: controllers.workspace.runs[1].scored == 4, timeout=60_000)
    qtbot.waitUntil(lambda: controllers.scorer.job is None)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.scores(controllers.workspace.runs[1].id, [2])[
        2
    ].probabilities == pytest.approx(kept)
    assert controllers.scorer.known_vectors is not None


def test_what_follows_by_itself_asks_the_llm_about_the_screen_alone(
    qtbot: QtBot, opened: Controllers, engine: FakeEngine
) -> None:
    scorer = opened.scorer
    scorer.show_baseline("llm")
    scorer.set_llm_rows("all")
    with qtbot.waitSignal(score(opened).finished):
        pass
    assert not engine.calls[-1][0].llm_on_screen
    opened.edits.set_labels([*opened.workspace.labels, Label("Refund")])
    qtbot.waitUntil(lambda: len(engine.calls) == 2)
    assert engine.calls[-1][0].llm_on_screen
    qtbot.waitUntil(lambda: scorer.job is None)
    opened.navigation.set_visible_rows([1, 2])
    assert not scorer._rest.isActive()  # all are asked about when the user says so
    scorer.set_llm_rows("screen")
    opened.navigation.set_visible_rows([3, 4])
    assert scorer._rest.isActive()
    scorer.stop()
    assert not scorer._rest.isActive()


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (tuple(f"category number {n}" for n in range(200)), "200 labels leave no room"),
        (("Late", NOTHING * 3), "has no meaning for"),
    ],
    ids=["200 labels", "a label of no tokens"],
)
def test_labels_that_an_llm_cannot_take_are_reported_and_the_model_scores_on(
    qtbot: QtBot,
    controllers: Controllers,
    make_project: MakeProject,
    tmp_path: Path,
    labels: tuple[str, ...],
    sentence: str,
) -> None:
    controllers.scorer.set_baselines((f"llm:{tiny_llm(tmp_path)}",))
    controllers.scorer.set_model(str(tiny_sce(tmp_path)))
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(texts=("late " * 9000, "Box crushed"), labels=labels))
    controllers.navigation.set_visible_rows([1, 2])
    with qtbot.waitSignal(controllers.messages.notified, timeout=60_000) as told:
        score(controllers)
    assert sentence in told.args[0]
    assert "\n" not in told.args[0]
    qtbot.waitUntil(lambda: controllers.scorer.job is None)
    assert [(run.alias, run.scored) for run in controllers.workspace.runs] == [("sce", 2), ("llm", 0)]


def test_a_text_longer_than_the_context_has_its_score(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    controllers.scorer.set_baselines((f"llm:{tiny_llm(tmp_path)}",))
    controllers.scorer.set_model(str(tiny_sce(tmp_path)))
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(texts=("late " * 9000, "Box crushed"), labels=LABELS))
    controllers.navigation.set_visible_rows([1])
    with qtbot.waitSignal(score(controllers).finished, timeout=60_000):
        pass
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.scores(controllers.workspace.runs[1].id, [1])[
        1
    ].probabilities.sum() == pytest.approx(1, abs=1e-5)


def test_an_llm_whose_loading_is_stopped_changes_nothing(
    qtbot: QtBot, opened: Controllers, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading = threading.Event()

    def load(_self: object, _choice: ModelChoice, *, progress: Progress) -> list[Any]:
        loading.set()
        while True:
            progress.check()

    monkeypatch.setattr(work.ModelCache, "load", load)
    job = opened.scorer.try_baseline("llm:slow")
    qtbot.waitUntil(loading.is_set)
    with qtbot.waitSignal(job.cancelled):
        job.cancel()
    assert opened.scorer.baselines == ("similarity",)
    assert engine.calls == []


def test_similarity_and_the_llm_are_shown_side_by_side(opened: Controllers) -> None:
    scorer = opened.scorer
    scorer.show_baseline("llm:one")
    scorer.show_baseline("llm:two")
    assert scorer.baselines == ("similarity", "llm:two")
    scorer.show_baseline("similarity:other")
    assert scorer.baselines == ("llm:two", "similarity:other")
    scorer.hide_baselines("llm")
    assert (scorer.baselines, scorer.llm) == (("similarity:other",), "")


def test_an_llm_as_the_model_makes_no_vectors(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    controllers.scorer.set_baselines(())
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(labels=LABELS))
    controllers.scorer.set_model(f"llm:{tiny_llm(tmp_path)}")
    qtbot.waitUntil(lambda: controllers.scorer.ready, timeout=60_000)
    assert controllers.scorer.known_vectors is None
    with qtbot.waitSignal(controllers.scorer.count_tokens("late late").finished, timeout=60_000) as counted:
        pass
    assert counted.args[0][0] > 1
    with qtbot.waitSignal(ask_estimate(controllers).finished, timeout=60_000) as estimated:
        pass
    assert estimated.args[0] > 0
    with qtbot.waitSignal(score(controllers).finished, timeout=60_000):
        pass
    assert controllers.workspace.runs[0].scored == 4
    with qtbot.waitSignal(controllers.messages.notified) as told:
        controllers.review.show_similar(1)
    assert "LLMs make none" in told.args[0]


def test_a_baseline_that_is_none_is_reported_and_left_out(
    qtbot: QtBot, workers: WorkerQueues, tmp_path: Path, make_project: MakeProject, engine: FakeEngine
) -> None:
    controllers = Controllers(workers, Settings(tmp_path / "settings.json", {"baseline": "nothing"}))
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(labels=LABELS))
    assert controllers.scorer.baselines == ()
    with qtbot.waitSignal(controllers.messages.notified) as told:
        controllers.scorer.settings_changed({"baseline"})
    assert "nothing" in told.args[0]
    with qtbot.waitSignal(controllers.projects.settled):
        controllers.projects.shut_down()


def test_the_precision_of_the_settings_is_that_of_the_next_scoring(
    controllers: Controllers, engine: FakeEngine
) -> None:
    assert controllers.scorer.choice().precision == "auto"
    controllers.preferences.settings["precision"] = "float32"
    controllers.scorer.settings_changed({"precision"})
    assert controllers.scorer.choice().precision == "float32"
    controllers.scorer.ready = True
    model_cache = controllers.scorer.model_cache
    model_cache.device, model_cache.precision = "cpu", "float32"
    assert controllers.scorer.device_text.endswith("cores")
    model_cache.precision = "bfloat16"
    assert controllers.scorer.device_text.endswith("cores, bfloat16")
