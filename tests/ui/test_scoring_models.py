"""What scores: real models, LLMs beside them and in their place, baselines, and in which precision."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job, WorkerQueues
from sce_desktop.core.annotations import Label
from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.progress import Progress
from sce_desktop.settings import Settings
from tests.ml.tiny import tiny_sce
from tests.ml.tiny_llm import NOTHING, tiny_llm
from tests.ui.conftest import MakeProject
from tests.ui.scoring_bench import (  # noqa: F401
    LABELS,
    FakeEngine,
    engine_fixture,
    opened_fixture,
    score,
)


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
