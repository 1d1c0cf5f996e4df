"""Somebody sets the clock back, or forward, while the program works: nothing that was decided is replaced."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store import sql
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight import bulk
from tests.faults import actions


class Clock:
    """A clock that can be set; it is the one of `store.sql` and of `tasks.insight.bulk`."""

    offset = timedelta()

    def now(self, _zone: object = None) -> datetime:
        """Return the moment that it shows."""
        return datetime.now(UTC) + self.offset


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (sql, bulk):
        monkeypatch.setattr(module, "datetime", clock)
    monkeypatch.setattr(bulk, "STEP", bulk.STEP)  # which the actions change
    return clock


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "p.sce") as project:
        actions.fill(project)
        yield project


@pytest.mark.parametrize("hours", [-25, -1, 0, 1])
def test_what_is_decided_during_a_bulk_action_stays(project: Project, clock: Clock, hours: int) -> None:
    """Whatever the clock says, a label that is given while others are given in bulk is newer than theirs."""

    class Person(SilentProgress):
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            if done == 20:  # in the middle; what follows is of later rows
                project.decide([100], Decision.LABEL, [3])
                clock.offset = timedelta(hours=hours)
                project.decide([101], Decision.LABEL, [4])

    bulk.STEP = 10  # type: ignore[misc]
    project.decide([102], Decision.LABEL, [2])
    answers = dict.fromkeys(range(1, actions.ROWS + 1), (1,))
    outcome = bulk.decide_all(project, answers, queue="", progress=Person())
    found = project.annotations(range(1, actions.ROWS + 1))
    assert {row: found[row].label_ids for row in (99, 100, 101, 102)} == {
        99: (1,),
        100: (3,),
        101: (4,),
        102: (1,),  # decided before it began
    }
    assert outcome.rows == actions.ROWS - 2
    assert {found[row].origin for row in (100, 101)} == {Origin.HAND}
    assert project.verify() == []


def test_the_order_of_the_history_is_not_that_of_the_clock(
    project: Project, clock: Clock, tmp_path: Path
) -> None:
    """The same actions make the same project, and are undone in the same order, under a clock that jumps."""
    draw = random.Random(3)
    with Project.create(tmp_path / "again.sce") as again:
        actions.fill(again)
        jumping, steady = actions.actions(project, seed=11), actions.actions(again, seed=11)
        for _ in range(40):
            clock.offset = timedelta(minutes=draw.randint(-600, 600))
            next(jumping)
            clock.offset = timedelta()
            next(steady)
        assert actions.state_of(project) == actions.state_of(again)
        while project.undo_text() and again.undo_text():
            clock.offset -= timedelta(hours=1)
            project.undo()
            again.undo()
        assert actions.state_of(project) == actions.state_of(again)
    assert project.verify() == []
