"""How far a scoring is, wherever it is shown: the counts, the per cent and the time left are one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job, WorkerQueue
from sce_desktop.controllers.words import progress_text, share_done
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Run
from sce_desktop.core.scored import ScoredChunk
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring import scoring
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.ui.labels.labels_model import LabelsModel
from sce_desktop.ui.rows.filter_bar import FilterBar
from sce_desktop.ui.window.jobs_panel import JobsPanel
from sce_desktop.ui.window.main_window import MainWindow
from tests.tasks.fakes import FakeModel
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, open_in, settle
from tests.ui.wiring import wired

ROWS, CHUNK = 30, 5


class Gate:
    """Lets two models score one chunk after the other, as a test says."""

    def __init__(self) -> None:
        self.chunks = threading.Semaphore(0)
        self.waiting = threading.Event()
        self.ended = False

    def wait(self) -> None:
        self.waiting.set()
        while not self.ended and not self.chunks.acquire(timeout=0.05):
            pass
        self.waiting.clear()

    def score(
        self,
        project: Project,
        _model_cache: object,
        _choice: object,
        first: IdArray,
        on_scored: Callable[[ScoredChunk], None],
        *,
        on_sample: object = None,
        on_draft: object = None,
        on_screen: object = None,
        progress: Progress,
    ) -> list[Run]:
        gate = self

        class Gated(FakeModel):
            def probabilities(self, *args: Any, **keywords: Any) -> Any:
                gate.wait()
                return super().probabilities(*args, **keywords)

        models = [
            NamedModel("sce", "fake", Gated()),
            NamedModel("similarity", "near", Gated("near", kind="similarity")),
        ]
        return scoring.score_project(
            project, models, first_ids=first[:0], on_scored=on_scored, progress=progress
        )


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate()
    monkeypatch.setattr(work, "score", gate.score)
    monkeypatch.setattr(scoring, "FIRST_CHUNK", CHUNK)
    monkeypatch.setattr(scoring, "next_chunk", lambda *_: CHUNK)
    yield gate
    gate.ended = True


def let_through(qtbot: QtBot, gate: Gate, chunks: int) -> None:
    for _ in range(chunks):
        qtbot.waitUntil(gate.waiting.is_set)
        gate.waiting.clear()
        gate.chunks.release()
    qtbot.waitUntil(gate.waiting.is_set)


def test_counts_and_per_cent_agree_everywhere(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject, gate: Gate
) -> None:
    texts = tuple(f"Text {n}" for n in range(ROWS))
    open_in(qtbot, controllers, make_project(texts=texts, labels=LABELS))
    panel = real_window.docks["Jobs and log"].build()
    assert isinstance(panel, JobsPanel)
    job = controllers.scorer.score()
    assert job is not None

    def all_say(scored: int, percent: int, stage: str) -> bool:
        shown = real_window.status.progress.whole()
        in_list = panel.model.index(panel.model.jobs.index(job), 3).data()
        return (
            real_window.status.counts.whole().endswith(f" {scored} scored")
            and f"· {percent}%" in shown
            and f"· {percent}%" in in_list
            and shown.startswith(stage)
            and in_list.startswith(stage)
            and abs(real_window.status.bar.value() - 10 * percent) < 10
            and sum(
                wired(LabelsModel, controllers)().counts(label)[1] for label in controllers.workspace.labels
            )
            == scored
        )

    let_through(qtbot, gate, 2)
    qtbot.waitUntil(lambda: all_say(10, 33, "Scoring with SCE"))
    let_through(qtbot, gate, 3)
    qtbot.waitUntil(lambda: all_say(25, 83, "Scoring with SCE"))
    let_through(qtbot, gate, 2)  # the other model has begun: all rows have the first one's scores
    qtbot.waitUntil(lambda: all_say(30, 16, "Scoring with similarity"))
    gate.ended = True
    qtbot.waitUntil(lambda: controllers.scorer.job is None)
    settle(qtbot, controllers)
    assert real_window.status.counts.whole().endswith(" 30 scored")


def test_how_many_rows_disagree_follows_the_scores(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject, gate: Gate
) -> None:
    texts = tuple(f"Text {n}" for n in range(ROWS))
    open_in(qtbot, controllers, make_project(texts=texts, labels=LABELS))
    bar = real_window.findChild(FilterBar)
    assert bar is not None

    def right() -> bool:
        project, runs = controllers.workspace.project, controllers.workspace.runs
        if project is None or len(runs) < 2:
            return False
        pair = (runs[0].id, runs[1].id)
        differ = len(project.row_ids(RowQuery(compare=pair, disagree=True)))
        return bar.disagree.text() in (f"Models disagree {differ}", f"Disagree {differ}")

    controllers.scorer.score()
    let_through(qtbot, gate, ROWS // CHUNK + 2)
    qtbot.waitUntil(right)
    gate.ended = True
    qtbot.waitUntil(lambda: controllers.scorer.job is None)
    qtbot.waitUntil(right)  # though it was perhaps being counted when the last scores came


def test_rate_and_time_left_are_those_of_the_last_report(
    qtbot: QtBot, workers: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("sce_desktop.controllers.jobs.time.monotonic", lambda: now)
    worker = WorkerQueue("files")
    job = Job.__new__(Job)
    try:
        job = worker.submit(lambda *, progress: None, title="Scoring")
        job.state = type(job.state).RUNNING
        job._receive("progressed", (0, 100, "scoring", 100.0))
        job._receive("progressed", (20, 100, "scoring", 110.0))
        said = progress_text(job)
        assert said == "Scoring · 20% · 2.0/s · 40 s left"
        now = 150.0  # whoever asks later hears the same, until there is news
        assert progress_text(job) == said
        assert job.rate == pytest.approx(2.0)
    finally:
        worker.close()


@pytest.mark.parametrize(
    ("done", "total", "said"), [(0, 3, "0%"), (999, 1000, "99%"), (1000, 1000, "100%"), (5, 0, "")]
)
def test_a_hundred_per_cent_is_all(done: int, total: int, said: str) -> None:
    job = type("Job", (), {"done": done, "total": total})()
    assert share_done(job) == said
    assert np.isfinite(done)
