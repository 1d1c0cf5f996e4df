from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sce_desktop.core.annotations import NO_LABEL, SKIPPED, Annotation, ChangeKind, Decision, Label, Origin
from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.store.sql import now
from sce_desktop.tasks.insight import bulk
from sce_desktop.tasks.insight.bulk import BulkOutcome, decide_all
from tests.tasks.fakes import StoppingProgress

ROWS = 10


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setattr(bulk, "STEP", 3)
    with Project.create(tmp_path / "p.sce") as project:
        rows = [(f"text {n}",) for n in range(ROWS)]
        project.add_rows(["text"], [rows], text_columns=[0], source={})
        project.set_labels([Label("late"), Label("a, b, 3 rows")])
        yield project


@pytest.fixture
def steps(project: Project, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each transaction."""
    sizes: list[int] = []
    annotate = project.annotate_part

    def noted(annotations: list[Annotation], *, last: bool, action: int | None = None) -> int | None:
        sizes.append(len(annotations))
        return annotate(annotations, last=last, action=action)

    monkeypatch.setattr(project, "annotate_part", noted)
    return sizes


def everything(answer: int) -> dict[int, tuple[int, ...]]:
    return dict.fromkeys(range(1, ROWS + 1), (answer,))


def test_many_rows_are_written_in_steps_and_undone_at_once(project: Project, steps: list[int]) -> None:
    outcome = decide_all(project, everything(2), queue="file", progress=SilentProgress())
    assert outcome == BulkOutcome(ROWS)
    assert steps == [3, 3, 3, 1]
    assert {a.origin for a in project.annotations(range(1, ROWS + 1)).values()} == {Origin.BULK}
    assert project.undo_text() == "Label “a, b, 3 rows”, 10 rows"
    project.undo()
    assert project.annotations(range(1, ROWS + 1)) == {}
    assert project.undo_text() == "Add 2 labels"
    project.redo()
    assert len(project.annotations(range(1, ROWS + 1))) == ROWS


def test_rows_without_text_are_left_out(project: Project) -> None:
    project.add_rows(["text"], [[(" ",), ("more",)]], text_columns=[0], source={})
    answers = dict.fromkeys((1, ROWS + 1, ROWS + 2), (2,))
    outcome = decide_all(project, answers, queue="file", progress=SilentProgress())
    assert outcome == BulkOutcome(2, blank=1)
    assert set(project.annotations([1, ROWS + 1, ROWS + 2])) == {1, ROWS + 2}


def test_different_answers_of_one_step_of_the_history_are_reported_together(project: Project) -> None:
    answers = everything(1) | {9: (NO_LABEL,), 10: (SKIPPED,)}
    decide_all(project, answers, queue="file", progress=SilentProgress())
    found = project.annotations([8, 9, 10])
    assert [found[n].decision for n in (8, 9, 10)] == [Decision.LABEL, Decision.NONE, Decision.SKIPPED]
    assert project.undo_text() == "Label rows, 10 rows"


def test_rows_of_random_samples_are_left_out(project: Project) -> None:
    project.create_audit([7, 2], seed=0)
    project.create_audit([2, 5], seed=0)
    outcome = decide_all(project, everything(1), queue="file", progress=SilentProgress())
    assert outcome == BulkOutcome(7, spared=3)
    assert project.annotations([2, 5, 7]) == {}


def test_what_was_done_until_it_is_stopped_stays_and_is_undone_at_once(project: Project) -> None:
    with pytest.raises(Cancelled):
        decide_all(project, everything(1), queue="file", progress=StoppingProgress(2))
    assert len(project.answers().row_ids) == 3
    project.undo()
    assert not len(project.answers().row_ids)


def test_a_decision_by_hand_in_between_stays(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    annotate = project.annotate_part

    def disturbed(annotations: list[Annotation], *, last: bool, action: int | None = None) -> int | None:
        if action is None:  # before the first step
            began = now()
            while now() == began:  # a project tells milliseconds
                pass
            project.decide([8], Decision.LABEL, [2])
        return annotate(annotations, last=last, action=action)

    monkeypatch.setattr(project, "annotate_part", disturbed)
    outcome = decide_all(project, everything(1), queue="file", progress=SilentProgress())
    assert outcome.rows == ROWS - 1
    assert project.annotations([8])[8].label_ids == (2,)


def test_the_project_knows_that_it_broke_off_until_it_is_through(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    class Looking(SilentProgress):
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            seen.append(project.interrupted())  # what a program finds that opens it after a crash here
            if done == 6:
                project.decide([1], Decision.LABEL, [2])  # from here on it is another action

    decide_all(project, everything(1), queue="file", progress=Looking())
    assert seen == [(3, True), (6, True), (9, True), (0, False)]
    project.undo()
    project.undo()
    assert project.annotations([1])[1].origin is Origin.BULK
    change = project.undo()
    assert change is not None
    assert (change.kind, change.rows) == (ChangeKind.BULK, 6)
    assert not len(project.answers().row_ids)


def test_who_stops_it_knows_how_far_it_came(project: Project) -> None:
    with pytest.raises(Cancelled):
        decide_all(project, everything(1), queue="file", progress=StoppingProgress(2))
    assert project.interrupted() == (0, False)
    assert project.undo_rows() == 3


_KILLED = """
import os, signal, sys
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight import bulk

class Deadly(SilentProgress):
    def report(self, done, total=None, *, stage=""):
        if done == 6:
            os.kill(os.getpid(), signal.SIGKILL)

bulk.STEP = 3
bulk.decide_all(Project.open(sys.argv[1]), {n: (1,) for n in range(1, 11)}, queue="", progress=Deadly())
"""


@pytest.mark.skipif(os.name != "posix", reason="kills by a signal")
def test_a_bulk_action_that_was_killed_is_known_when_the_project_is_opened(project: Project) -> None:
    project.close()
    subprocess.run([sys.executable, "-c", _KILLED, str(project.path)], check=False)
    with Project.open(project.path) as opened:
        assert len(opened.answers().row_ids) == 6
        assert opened.interrupted() == (6, True)
        opened.end_parts()
        assert opened.interrupted() == (0, False)
        opened.undo()
        assert not len(opened.answers().row_ids)
