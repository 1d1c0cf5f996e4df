from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.tasks.training import cost as costs
from sce_desktop.tasks.training import training
from sce_desktop.tasks.training.cost import cost, pace_of
from sce_desktop.tasks.training.training import chosen_rows, plan
from tests.ml.tiny import DictCache
from tests.store.test_versions import add


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "p.sce") as project:
        texts = [(f"text {n}",) for n in range(30)]
        project.add_rows(["text"], [[*texts, ("",)]], text_columns=[0], source={})
        project.set_labels(clean_labels(["a", "b", "c"]))
        yield project


def decide(project: Project, rows: range, place: int, origin: Origin = Origin.HAND) -> None:
    labels = project.label_set().labels  # type: ignore[union-attr]
    project.decide(rows, Decision.LABEL, [labels[place].id or 0], origin=origin)


def test_rows_are_counted_by_label_and_origin(project: Project) -> None:
    decide(project, range(1, 6), 0)
    decide(project, range(6, 9), 0, Origin.BULK)
    decide(project, range(9, 10), 1, Origin.IMPORTED)
    decide(project, range(31, 32), 1)  # no text
    project.create_audit([1, 9], seed=0)
    rows = chosen_rows(project, [Origin.HAND, Origin.IMPORTED])
    assert rows.counts.tolist() == [[4, 3, 0], [0, 0, 0], [0, 0, 0]]
    assert rows.left_out == {"origin": 3, "blank": 1, "several": 0, "audit": 2}
    assert rows.ids.tolist() == [2, 3, 4, 5]
    assert rows.examples.tolist() == [4, 0, 0]


def test_a_plan_says_what_stands_in_the_way(project: Project, tmp_path: Path) -> None:
    def problem() -> str:
        return plan(project, training.ORIGINS, None, progress=SilentProgress()).problem

    assert problem() == "Fine-tuning needs at least two labels with examples: label more rows."
    decide(project, range(1, 11), 0)
    assert "(only “a” has some)" in problem()
    decide(project, range(11, 12), 1, Origin.BULK)
    found = plan(project, training.MEASURED_ON, None, progress=SilentProgress())
    assert found.problem.endswith("(only “a” has some): label more rows, or include other kinds of rows.")
    decide(project, range(11, 12), 1)
    assert problem() == ""
    with Project.create(tmp_path / "empty.sce") as empty:
        found = plan(empty, training.ORIGINS, None, progress=SilentProgress())
        assert found.rows is None
        assert "no labels yet" in found.problem


def test_where_nothing_can_be_held_out_a_plan_says_why(project: Project) -> None:
    decide(project, range(1, 2), 0)
    decide(project, range(2, 3), 1)  # the others have none
    found = plan(project, training.ORIGINS, None, progress=SilentProgress())
    assert found.held_out == "None: no label has more than one example."


def test_a_plan_says_what_is_held_out(project: Project) -> None:
    decide(project, range(1, 11), 0)
    decide(project, range(11, 12), 1)
    found = plan(project, training.ORIGINS, None, progress=SilentProgress())
    assert found.held_out == (
        "5-fold cross-validation on 10 rows. 1 label has a single example and is not validated."
    )
    assert found.hint == "1 of 2 labels has fewer than 5 examples."


def test_a_plan_says_what_is_not_measured_on(project: Project) -> None:
    def held_out() -> str:
        return plan(project, training.ORIGINS, None, progress=SilentProgress()).held_out

    decide(project, range(1, 11), 0, Origin.BULK)
    decide(project, range(11, 21), 1, Origin.BULK)
    assert held_out() == "None: rows labelled in bulk are not used for validation."
    decide(project, range(11, 21), 1)
    assert held_out() == (
        "5-fold cross-validation on 10 rows. Excluded: 10 rows labelled in bulk. "
        "Too few rows to show a difference."
    )


def test_texts_without_a_vector_take_time(project: Project) -> None:
    decide(project, range(1, 11), 0)
    decide(project, range(11, 21), 1)
    cache = DictCache()
    known = KnownVectors("e", cache)

    def read() -> float:
        found = plan(project, training.ORIGINS, known, progress=SilentProgress())
        assert found.cost is not None
        return found.cost.read

    assert read() == pytest.approx(20 * costs.TEXT_SECONDS)
    cache.put("e", project.texts(list(range(1, 21))), np.zeros((20, 4), np.float32))
    assert read() == 0


def test_a_table_too_large_is_known_beforehand(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    decide(project, range(1, 11), 0)
    decide(project, range(11, 21), 1)
    monkeypatch.setattr(costs, "free_memory", lambda: 10_000_000)
    found = plan(project, training.ORIGINS, None, progress=SilentProgress())
    assert "10 MB is free" in found.problem


def test_costs_grow_with_the_rows_and_the_pace() -> None:
    small, large = cost(100, 5, 5), cost(10_000, 20, 20)
    assert small.fit < large.fit
    assert small.memory < large.memory
    assert cost(100, 5, 5, pace=3.0).fit == pytest.approx(3 * small.fit)
    # few rows that may be measured are measured one part after the other, whatever else is learned from
    assert cost(1000, 5, 5, measurable=100).fit > 2 * cost(1000, 5, 5).fit


def test_the_memory_that_is_named_is_that_of_the_whole_program() -> None:
    """A list of processes shows what was there before too; only what comes on top of it must be free."""
    found = cost(1_000, 10, 10)
    assert found.held == pytest.approx(psutil.Process().memory_info().rss, rel=0.2)
    assert 0 <= found.peak - found.held - found.memory < 50_000_000
    assert replace(found, free=found.memory).too_large == ""
    assert "of memory" in replace(found, free=found.memory - 1).too_large
    # to read texts takes some too
    assert cost(1_000, 10, 10, unread=1).memory == found.memory + costs.READ_BYTES


@pytest.mark.parametrize(("rows", "labels", "taken"), [(80, 10, 4.5), (5_000, 20, 17.0)])
def test_what_is_expected_is_near_what_was_measured(rows: int, labels: int, taken: float) -> None:
    assert taken / 2.5 < cost(rows, labels, labels).fit < taken * 2.5  # docs/research/fine-tune.md, Time


def test_the_pace_comes_from_the_newest_whole_version(project: Project) -> None:
    assert pace_of(project) == 1.0
    add(project, seconds=6.0, settings={"expected_seconds": 3.0})
    add(project, seconds=0.1, settings={"expected_seconds": 3.0}, metrics={"cut_short": True})
    assert pace_of(project) == 2.0
