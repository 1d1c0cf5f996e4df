"""What a key of a review asks of a project stays a handful of statements, none of which looks at all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels
from tests.store.statements import scans, statements

ROWS = 300


@pytest.fixture
def reviewed(project: Project) -> Project:
    fill(project, [f"text {number % 200}" for number in range(ROWS)])
    a, *_ = use_labels(project, *(f"label {number}" for number in range(20)))
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels)
    raw = np.random.default_rng(0).random((ROWS, 20)).astype(np.float32)
    project.add_scores(run.id, range(1, ROWS + 1), Scores(raw / raw.sum(axis=1, keepdims=True)))
    project.decide([1, 2, 3], Decision.LABEL, [a])
    return project


@pytest.mark.parametrize(
    ("do", "most"),
    [
        (lambda p: p.decide([7], Decision.LABEL, [2]), 15),
        (lambda p: p.decide([8], Decision.NONE), 13),
        (lambda p: p.decide([1], Decision.SKIPPED), 13),
        (lambda p: p.set_marks(5, flag=True), 11),
        (lambda p: p.annotations([1, 5]), 4),
        (lambda p: p.annotations([5]), 3),
        (lambda p: p.rows([5]), 4),
        (lambda p: p.scores(1, [5]), 3),
        (lambda p: p.same_text_ids(5), 3),
        (lambda p: p.marks([5]), 3),
        (lambda p: p.first_open(range(1, ROWS + 1)), 3),
        (lambda p: p.label_set(), 3),
        (lambda p: p.undo_text(), 4),
    ],
)
def test_a_step_of_a_review_is_few_statements(
    reviewed: Project, do: Callable[[Project], Any], most: int
) -> None:
    do(reviewed)  # the first time a connection is told how durable it has to be
    with statements(reviewed) as told:
        do(reviewed)
    assert told[0].startswith("BEGIN")
    assert told[-1] == "COMMIT"
    assert len(told) <= most, "\n".join(told)
    assert not scans(reviewed, told)


def test_the_first_open_row_is_found_in_the_order_asked_for(project: Project) -> None:
    fill(project, ["one", "two", " ", "four", "five", "six"])
    a, b = use_labels(project, "a", "b")
    project.decide([1], Decision.LABEL, [a])
    project.decide([2], Decision.LABEL, [b])
    project.decide([5], Decision.SKIPPED)
    assert project.first_open([5, 3, 2, 6, 4]) == 6
    assert project.first_open([1, 2, 3, 5]) is None
    assert project.first_open([]) is None
    use_labels(project, "a")  # what was answered with b is open again
    assert project.first_open([1, 2, 4]) == 2


def test_a_scan_is_found(reviewed: Project) -> None:
    with statements(reviewed) as told, reviewed._database.read() as connection:
        connection.exec_driver_sql("SELECT id FROM rows WHERE NOT blank AND length > 3").all()
    assert len(scans(reviewed, told)) == 1


def test_undo_looks_at_what_it_touches_alone(reviewed: Project) -> None:
    reviewed.decide([9], Decision.NONE)
    with statements(reviewed) as told:
        reviewed.undo()
        reviewed.redo()
    assert scans(reviewed, told) == []


def test_queues_read_no_record_of_a_row_once_they_are_known(reviewed: Project) -> None:
    queries = [
        RowQuery(order=order, run_id=1)
        for order in (RowOrder.CONFIDENCE, RowOrder.MARGIN, RowOrder.PREDICTED, RowOrder.RARE)
    ]
    for query in queries:
        reviewed.row_ids(query)
    with statements(reviewed) as told:
        for query in queries:
            reviewed.row_ids(query)
    assert not [one for one in told if "FROM scores" in one or "FROM rows" in one]


def test_decisions_stay_durable_at_a_power_cut(reviewed: Project) -> None:
    """The setting is kept on the connection and not told each time: it has to be right all the same."""
    database = reviewed._database
    for durable in (True, False, True, True, False):
        with database.write(durable=durable) as connection:
            (level,) = connection.exec_driver_sql("PRAGMA synchronous").one()
            assert level == (2 if durable else 1)
    for keys in (True, False, True):
        with database.write(foreign_keys=keys) as connection:
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == keys


def test_the_history_is_cut_back_now_and_then(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from sce_desktop.store.annotations import history

    fill(project, [f"text {number}" for number in range(40)])
    monkeypatch.setattr(history, "KEPT_ACTIONS", 20)
    held = []
    for row_id in range(1, 41):
        project.decide([row_id], Decision.NONE)
        with project._database.read() as connection:
            held.append(connection.exec_driver_sql("SELECT count(*) FROM actions").scalar_one())
    assert max(held) == 22
    assert held.count(20) > 2
