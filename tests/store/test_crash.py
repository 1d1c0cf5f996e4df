"""The program dies at any moment; nothing decided is lost, nothing half done is seen."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from tests.store.conftest import fill

START = """
import os, sys, threading, time
import numpy as np
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.runs import Scores
from sce_desktop.core.training import FinetuneSettings, TrainingReport
from sce_desktop.store.project import Project
project = Project.open(sys.argv[1])
def tell(*what):
    os.write(1, (" ".join(map(str, what)) + "\\n").encode())
"""

DECIDE_WHILE_SCORING = (
    START
    + """
labels = project.label_set().labels
run = project.open_run("sce", "sce", "m", "f", labels)
def score():
    p = np.full((200, 2), 0.5, np.float32)
    while len(ids := project.unscored_ids(run.id)[:200]):
        project.add_scores(run.id, ids, Scores(p[:len(ids)]))
        tell("scored", ids[-1])
threading.Thread(target=score, daemon=True).start()
for row_id in range(1, 301):
    project.decide([row_id], Decision.LABEL, [labels[row_id % 2].id])
    tell("decided", row_id)
    time.sleep(0.005)
os._exit(1)
"""
)

IMPORT = (
    START
    + """
def batches():
    number = 0
    while True:
        yield [(f"r{number}", f"new {number} " * 20)] * 5000
        number += 1
        tell("imported", number)
project.add_rows(("ref", "text"), batches(), text_columns=[1], source={})
"""
)

INDEX = (
    START
    + """
import sce_desktop.store.content.search as search
search._BATCH_CHARACTERS = 2000
tell("building")
project.build_search_index()
"""
)

FINE_TUNE = (
    START
    + """
facts = dict(base="m", base_fingerprint="f", data_hash="d", train_rows=1, held_out_rows=0,
             settings=FinetuneSettings(), report=TrainingReport(), seconds=1.0)
first = project.add_version(name="", weights=b"first", **facts)
project.activate_version(first.id)
weights = os.urandom(1) * 20_000_000  # long enough to be hit in the middle
number = 1
while True:
    tell("saving", number)
    project.add_version(name="", weights=weights, **facts)
    number += 1
"""
)


def run_until_death(script: str, path: Path, *, kill_at: str | None = None) -> list[str]:
    """Run ``script`` on the project and return its lines; kill it at the first line that is ``kill_at``."""
    command = [sys.executable, "-c", script, str(path)]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.strip())
            if line.strip() == kill_at:
                process.kill()
    assert process.returncode != 0
    return lines


def numbers(lines: list[str], kind: str) -> list[int]:
    return [int(line.split()[1]) for line in lines if line.split()[0] == kind]


@pytest.fixture
def filled(path: Path) -> Path:
    with Project.create(path) as project:
        fill(project, [f"text {number}" for number in range(40_000)])
        project.set_labels([Label("a"), Label("b")])
    return path


@pytest.mark.parametrize("kill_at", [None, "decided 7", "decided 120"], ids=["exit", "early", "later"])
def test_everything_decided_is_there_after_a_crash_while_scoring(filled: Path, kill_at: str | None) -> None:
    lines = run_until_death(DECIDE_WHILE_SCORING, filled, kill_at=kill_at)
    decided = numbers(lines, "decided")
    if kill_at is None:
        assert decided == list(range(1, 301))
    with Project.open(filled) as project:
        assert not project.read_only
        assert project.verify() == []
        found = project.annotations(range(1, 302))
        assert set(found) >= set(decided)
        assert len(found) - len(decided) <= 2  # decided, and dead before it could tell
        for row_id, annotation in found.items():
            assert annotation.label_ids == (row_id % 2 + 1,)
        (run,) = project.runs()
        scored = numbers(lines, "scored")
        assert run.scored >= max(scored, default=0)
        again = project.open_run("sce", "sce", "m", "f", run.labels)
        assert again.id == run.id
        rest = project.unscored_ids(run.id)
        assert len(rest) == 40_000 - run.scored  # scoring goes on where it stopped
        project.add_scores(run.id, rest, Scores(np.full((len(rest), 2), 0.5, np.float32)))
        assert len(project.unscored_ids(run.id)) == 0
    assert [entry.name for entry in filled.parent.iterdir() if entry.name.startswith("survey")] == [
        "survey.sce"
    ]


@pytest.mark.parametrize("before", [0, 3])
def test_killed_import_leaves_nothing(path: Path, before: int) -> None:
    with Project.create(path) as project:
        if before:
            fill(project, ["old"] * before)
    size = path.stat().st_size
    lines = run_until_death(IMPORT, path, kill_at="imported 6")
    assert path.stat().st_size + path.with_name("survey.sce-wal").stat().st_size > size + 1_000_000
    assert len(lines) >= 6
    with Project.open(path) as project:
        assert project.row_count() == before
        assert project.columns == (("ref", "text") if before else ())
        assert project.verify() == []
        assert fill(project, ["after"]).rows == 1
        assert project.texts(project.row_ids()) == ["old"] * before + ["after"]


def test_killed_indexing_goes_on_later(filled: Path) -> None:
    run_until_death(INDEX, filled, kill_at="building")
    with Project.open(filled) as project:
        project.build_search_index()
        assert project.verify() == []
        assert project.row_ids(RowQuery(search="text 39999")).tolist() == [40_000]
        assert project.row_ids(RowQuery(search="TEXT 1")).tolist()[:3] == [2, 11, 12]


def test_decisions_do_not_wait_for_scoring(filled: Path) -> None:
    """The wait is bounded by one short transaction; the bound here is generous, as machines are busy."""
    with Project.open(filled) as project:
        label_set = project.label_set()
        assert label_set is not None
        run = project.open_run("sce", "sce", "m", "f", label_set.labels)
        stop = threading.Event()

        def score() -> None:
            ids = project.unscored_ids(run.id)
            for start in range(0, len(ids), 4_000):
                if stop.is_set():
                    return
                batch = ids[start : start + 4_000]
                project.add_scores(run.id, batch, Scores(np.full((len(batch), 2), 0.5, np.float32)))

        scoring = threading.Thread(target=score)
        scoring.start()
        waits = []
        try:
            while scoring.is_alive() and len(waits) < 50:
                started = time.perf_counter()
                project.decide([len(waits) + 1], Decision.NONE)
                waits.append(time.perf_counter() - started)
        finally:
            stop.set()
            scoring.join()
        assert project.state_counts()
        assert len(waits) > 10
        assert sorted(waits)[len(waits) // 2] < 0.5
        assert project.verify() == []


@pytest.mark.parametrize("kill_at", ["saving 1", "saving 3"])
def test_the_version_in_use_survives_a_crash_while_another_is_saved(filled: Path, kill_at: str) -> None:
    run_until_death(FINE_TUNE, filled, kill_at=kill_at)
    with Project.open(filled) as project:
        assert project.verify() == []
        active = project.active_version()
        assert active is not None
        assert project.version_weights(active.id) == b"first"
        for version in project.versions()[1:]:
            assert len(project.version_weights(version.id)) == 20_000_000
