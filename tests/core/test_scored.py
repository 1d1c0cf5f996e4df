"""What has changed in the scores shown, from the runs before and after and the chunks in between."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.runs import Run, Scores
from sce_desktop.core.scored import (
    ALL_SCORES,
    ScoredChunk,
    ScoredRows,
    about_row,
    chunks_of,
    other_runs,
    scores_since,
)

LABELS = (Label("Late", id=1), Label("Lost", id=2))
MAIN = Run(1, "sce", "sce", "sce-mini", "m", LABELS, multi_label=False, created_at="", scored=8)
BESIDE = Run(2, "similarity", "similarity", "s", "s", LABELS, multi_label=False, created_at="", scored=8)
NEW = replace(MAIN, id=3, scored=0)


def chunk(run: Run, *row_ids: int) -> ScoredChunk:
    return ScoredChunk(run, np.array(row_ids), Scores(np.full((len(row_ids), 2), 0.5, np.float32)))


def changed(change: object) -> ScoredRows:
    assert isinstance(change, ScoredRows)
    return change


def test_nothing_has_come() -> None:
    change = changed(scores_since([MAIN, BESIDE], [MAIN, BESIDE], []))
    assert change.empty
    assert not other_runs(change)
    assert not about_row(change, 1)


def test_rows_of_a_run_that_goes_on() -> None:
    more = replace(MAIN, scored=10)
    change = changed(scores_since([MAIN, BESIDE], [more, BESIDE], [chunk(MAIN, 9, 4)]))
    assert (change.empty, other_runs(change)) == (False, False)
    assert [about_row(change, row_id) for row_id in (4, 5, 9)] == [True, False, True]
    assert change.among(np.array([1, 2, 9]))
    assert not change.among(np.array([1, 2, 3]))
    assert not change.among(np.array([], np.int64))


def test_a_new_run_whose_scores_have_all_come() -> None:
    change = changed(scores_since([MAIN, BESIDE], [replace(NEW, scored=2), BESIDE], [chunk(NEW, 4, 9)]))
    assert change.new_runs == {3}
    assert other_runs(change)
    assert about_row(change, 5)  # what the run before said of it is out of date


def test_a_new_run_that_has_scored_nothing_yet() -> None:
    change = changed(scores_since([MAIN], [NEW], []))
    assert (change.chunks, change.new_runs, change.empty) == ((), {3}, False)


def test_scores_from_earlier_are_not_in_chunks() -> None:
    back = replace(NEW, scored=5)
    assert scores_since([MAIN], [back], []) is ALL_SCORES
    assert scores_since([MAIN], [back], [chunk(replace(NEW, scored=3), 4, 9)]) is ALL_SCORES


def test_other_columns() -> None:
    assert scores_since([MAIN], [MAIN, BESIDE], [chunk(MAIN, 4)]) is ALL_SCORES
    assert scores_since([MAIN, BESIDE], [MAIN], []) is ALL_SCORES
    assert scores_since([], [NEW], [chunk(NEW, 4)]) is ALL_SCORES


def test_chunks_of_runs_that_are_not_shown_are_dropped() -> None:
    change = changed(scores_since([NEW], [NEW], [chunk(MAIN, 4), chunk(NEW, 5)]))
    assert [part.row_ids.tolist() for part in change.chunks] == [[5]]


def test_whatever_is_no_list_of_rows_is_about_every_row() -> None:
    for change in (ALL_SCORES, None):
        assert other_runs(change)
        assert about_row(change, 7)
        assert chunks_of(change) == ()
