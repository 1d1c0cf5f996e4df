"""Predictions accepted in bulk, another person's answers, values of a column, what a threshold rests on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import CellFilter, RowOrder, RowQuery
from sce_desktop.core.runs import Run, Scores
from sce_desktop.store.file import schema
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.review import accept, acceptable, column_values, examples, threshold_facts
from tests.store.test_versions import add as add_version

TABLE = [
    [0.9, 0.06, 0.04],
    [0.3, 0.6, 0.1],
    [0.05, 0.05, 0.9],
    [0.1, 0.85, 0.05],
    [0.2, 0.2, 0.6],
]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    rows = [[(str(place), f"text {place}", "DE" if place % 2 else "") for place in range(5)]]
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(("id", "text", "country"), rows, text_columns=[1], source={})
        project.set_labels([Label("A"), Label("B"), Label("C")])
        yield project


def score(project: Project, *, multi_label: bool = False) -> Run:
    label_set = project.set_labels(project.label_set().labels, multi_label=multi_label)  # type: ignore[union-attr]
    run = project.open_run("sce", "sce", "m", "f", label_set.labels, multi_label=multi_label)
    project.activate(run.id)
    project.add_scores(run.id, np.arange(1, 6), Scores(np.array(TABLE, np.float32)))
    project.finish_run(run.id)
    return run


def test_only_undecided_rows_that_are_certain_are_accepted(project: Project) -> None:
    run = score(project)
    a, b, c = (label.id or 0 for label in run.labels)
    project.decide([1], Decision.SKIPPED)
    found = acceptable(project, run, RowQuery(), 0.8)
    assert found.row_ids.tolist() == [3, 4]
    assert found.counts == {b: 1, c: 1}
    assert accept(project, found, queue="file", progress=SilentProgress()).rows == 2
    said = project.annotations(range(1, 6))
    assert {row: (x.label_ids, x.origin) for row, x in said.items() if x.decision is Decision.LABEL} == {
        3: ((c,), Origin.BULK),
        4: ((b,), Origin.BULK),
    }
    project.undo()
    assert set(project.annotations(range(1, 6))) == {1}
    assert len(acceptable(project, run, RowQuery(predicted_ids=(a, c), run_id=run.id), 0.5)) == 2


def test_filters_leave_the_rows_that_both_say(project: Project) -> None:
    run = score(project)
    a, b, c = (label.id or 0 for label in run.labels)
    project.decide([4], Decision.LABEL, [b])
    assert acceptable(project, run, RowQuery(among=(1, 2, 4, 5)), 0.6).row_ids.tolist() == [1, 2, 5]
    assert acceptable(project, run, RowQuery(cells=(CellFilter(2, ("DE",)),)), 0.0).row_ids.tolist() == [2]
    for order in (RowOrder.RANDOM, RowOrder.CONFIDENCE):  # they come in file order all the same
        query = RowQuery(order=order, seed=1, run_id=run.id, predicted_ids=(a, c), descending=True)
        found = acceptable(project, run, query, 0.6)
        assert (found.row_ids.tolist(), found.counts) == ([1, 3, 5], {a: 1, c: 2})
    assert acceptable(project, run, RowQuery(), 0.0, among=np.array([5, 2])).row_ids.tolist() == [2, 5]
    assert not len(acceptable(project, run, RowQuery(), 1.0))


def test_a_random_sample_is_never_accepted(project: Project) -> None:
    run = score(project)
    project.create_audit([3, 5], seed=0)
    assert acceptable(project, run, RowQuery(), 0.0).row_ids.tolist() == [1, 2, 4]


def test_a_label_that_is_gone_is_not_accepted(project: Project) -> None:
    run = score(project)
    project.delete_label(run.labels[2].id or 0)
    assert acceptable(project, run, RowQuery(), 0.5).row_ids.tolist() == [1, 2, 4]


def test_of_several_labels_every_likely_one_is_accepted(project: Project) -> None:
    run = score(project, multi_label=True)
    a, b, _ = (label.id or 0 for label in run.labels)
    found = acceptable(project, run, RowQuery(), 0.3)
    assert [found.labels_of(place) for place in range(2)] == [(a,), (a, b)]
    accept(project, found, progress=SilentProgress())
    assert project.annotations([2])[2].label_ids == (a, b)
    shown = {row.id: (labels, round(share, 3)) for row, labels, share in examples(project, found)}
    assert shown[2] == ((a, b), 0.3)
    assert len(shown) == 5


def test_values_of_a_column_are_counted(project: Project) -> None:
    found = column_values(project, 2, RowQuery(), most=10, progress=SilentProgress())
    assert (found.values, found.distinct) == ((("", 3), ("DE", 2)), 2)
    found = column_values(project, 2, RowQuery(), most=1, progress=SilentProgress())
    assert (found.values, found.distinct) == ((("", 3),), 2)


def test_a_threshold_rests_on_what_was_decided_by_hand(project: Project) -> None:
    run = score(project)
    a, b, _ = (label.id or 0 for label in run.labels)
    project.decide([1], Decision.LABEL, [a])
    project.decide([2], Decision.LABEL, [a])
    project.decide([3], Decision.NONE)
    project.decide([4], Decision.LABEL, [b], origin=Origin.BULK)
    every, known, right = threshold_facts(project, run)
    assert every.shape == (5,)
    assert known.tolist() == pytest.approx([0.9, 0.6, 0.9])
    assert right.tolist() == [True, False, False]


def test_a_threshold_is_not_judged_by_what_a_version_learned_from(project: Project) -> None:
    run = score(project)
    a = run.labels[0].id or 0
    project.decide([1, 2], Decision.LABEL, [a])
    version = add_version(project, base="m", settings={"row_ids": [1]})
    with project._database.write() as connection:
        connection.execute(sa.update(schema.runs).values(model=version.title))
    (run,) = project.runs()
    _, known, right = threshold_facts(project, run)
    assert known.tolist() == pytest.approx([0.6])
    assert right.tolist() == [False]
