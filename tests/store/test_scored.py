"""What runs say about all rows, kept beside the file: always as the file has it, and asked for once."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import Cancelled
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.store.runs import scored
from tests.store.conftest import fill, use_labels
from tests.store.statements import statements


def score(project: Project, run_id: int, ids: list[int], seed: int = 0) -> None:
    raw = np.random.default_rng([seed, *ids]).random((len(ids), 3)).astype(np.float32)
    project.add_scores(run_id, ids, Scores(raw / raw.sum(axis=1, keepdims=True)))


def new_run(project: Project, alias: str = "sce", fingerprint: str = "f") -> int:
    label_set = project.label_set()
    assert label_set is not None
    return project.open_run(alias, "sce", "m", fingerprint, label_set.labels).id


@pytest.fixture
def filled(project: Project) -> Project:
    fill(project, [f"text {number}" for number in range(30)])
    use_labels(project, "a", "b", "c")
    return project


def said(project: Project, run_id: int) -> dict[int, tuple[int, float, float]]:
    """What the arrays say, by row."""
    arrays = project.run_arrays(run_id)
    columns = (
        arrays.row_ids.tolist(),
        arrays.top.tolist(),
        arrays.confidence.tolist(),
        arrays.margin.tolist(),
    )
    return {row_id: tuple(rest) for row_id, *rest in zip(*columns, strict=True)}


def recorded(project: Project, run_id: int) -> dict[int, tuple[int, float, float]]:
    """What the records say."""
    found = project.scores(run_id, list(range(1, 31)))
    return {row_id: (one.top, one.confidence, one.margin) for row_id, one in found.items()}


def test_arrays_grow_with_the_run_and_never_differ_from_it(filled: Project) -> None:
    first, other = new_run(filled), new_run(filled, "similarity")
    assert said(filled, first) == {}
    for ids in ([7, 3], [30, 1, 12], [3, 8]):  # a row that is scored again keeps what it has
        score(filled, first, ids)
        score(filled, other, ids[:1], seed=9)
        assert said(filled, first) == recorded(filled, first)
        assert said(filled, other) == recorded(filled, other)
    assert sorted(said(filled, first)) == [1, 3, 7, 8, 12, 30]


def test_what_was_asked_once_is_not_read_again(filled: Project) -> None:
    run = new_run(filled)
    score(filled, run, list(range(1, 21)))
    order = RowQuery(order=RowOrder.RARE, run_id=run, confidence=(0.1, 0.9))
    filled.row_ids(order)
    filled.decide([4], Decision.NONE)
    with statements(filled) as told:
        filled.row_ids(order)
        filled.row_ids(RowQuery(order=RowOrder.MARGIN, run_id=run, descending=True))
        filled.predicted_counts(run)
    assert told
    assert not [one for one in told if "FROM scores" in one]


class Stopping:
    """A progress that notes reports, and stops at the second."""

    def __init__(self) -> None:
        self.reports: list[tuple[int, int | None]] = []

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        self.reports.append((done, total))

    def warn(self, message: str) -> None:
        pytest.fail("nothing is wrong")

    def check(self) -> None:
        if len(self.reports) > 1:
            raise Cancelled


def test_reading_the_scores_of_all_rows_can_be_stopped_and_tried_again(
    filled: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, other = new_run(filled), new_run(filled, "similarity")
    score(filled, run, list(range(1, 31)))
    score(filled, other, list(range(1, 31)), seed=1)
    by_score = RowQuery(order=RowOrder.MARGIN, run_id=run)
    apart = RowQuery(disagree=True, compare=(run, other))
    monkeypatch.setattr(scored, "_MOST_NEW", 10)
    assert filled.must_read(by_score)
    assert not filled.must_read(RowQuery(run_id=run, compare=(run, other)))
    for query in (by_score, apart):
        progress = Stopping()
        with pytest.raises(Cancelled):
            filled.row_ids(query, progress)
        assert [total for _done, total in progress.reports] == [30, 30]
    assert len(filled.row_ids(by_score)) == 30
    assert not filled.must_read(by_score)
    assert filled.must_read(apart)
    filled.row_ids(apart)
    assert not filled.must_read(apart)


def test_only_what_is_new_is_read(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(filled)
    score(filled, run, [1, 2, 3])
    assert len(said(filled, run)) == 3
    monkeypatch.setattr(scored, "_all", lambda *_: pytest.fail("all was read again"))
    score(filled, run, [4, 5])
    assert said(filled, run) == recorded(filled, run)


def test_many_new_rows_are_read_in_parts(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(filled)
    score(filled, run, [1, 2, 3])
    assert len(said(filled, run)) == 3
    monkeypatch.setattr(scored, "_MOST_NEW", 2)
    monkeypatch.setattr(scored, "_since", lambda *_: pytest.fail("they were read at once"))
    score(filled, run, [4, 5, 6])
    assert said(filled, run) == recorded(filled, run)


def test_places_of_a_removed_run_may_be_taken_anew(filled: Project) -> None:
    first, second = new_run(filled), new_run(filled, "similarity")
    score(filled, first, [1, 2])
    score(filled, second, list(range(1, 21)))
    assert len(said(filled, first)) == 2
    filled.remove_run(second)
    score(filled, first, [9, 10])  # the records get numbers that were seen before
    assert said(filled, first) == recorded(filled, first)
    again = new_run(filled, "similarity", "g")
    score(filled, again, [5])
    assert again == second  # the id is given again
    assert said(filled, again) == recorded(filled, again)
    assert list(said(filled, again)) == [5]


def test_no_run_says_nothing(filled: Project) -> None:
    assert said(filled, 99) == {}
    assert list(filled.row_ids(RowQuery(order=RowOrder.CONFIDENCE, run_id=99))) == list(range(1, 31))


def test_more_runs_than_are_kept_are_still_right(filled: Project) -> None:
    runs = [new_run(filled, f"r{number}") for number in range(scored._MOST_KEPT_RUNS + 3)]
    for number, run in enumerate(runs):
        score(filled, run, [1 + number, 20], seed=number)
    for _ in range(2):
        assert all(said(filled, run) == recorded(filled, run) for run in runs)
    assert len(filled._scored._kept) == scored._MOST_KEPT_RUNS


def test_a_snapshot_sees_one_state_and_others_go_on(filled: Project) -> None:
    run = new_run(filled)
    score(filled, run, [1, 2])

    def others_score() -> None:
        score(filled, run, [3])
        filled.decide([3], Decision.NONE)
        assert len(said(filled, run)) == 3

    with filled.snapshot():
        assert len(said(filled, run)) == 2
        thread = threading.Thread(target=others_score)
        thread.start()
        thread.join()
        assert len(said(filled, run)) == 2
        with filled.snapshot():
            assert filled.annotations([3]) == {}
    assert said(filled, run) == recorded(filled, run)
    assert list(filled.annotations([3])) == [3]
