"""Drafts order and filter the table, are never in the file, and give way to what the model says."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from sce_desktop.core.query import FinalSource, RowOrder, RowQuery
from sce_desktop.core.runs import Run, Scores
from sce_desktop.store.project import Project
from sce_desktop.store.runs import drafts, runs
from tests.store.conftest import fill, use_labels


def predict(texts: Sequence[str]) -> Scores:
    """The number at the end of a text says how sure the first of two labels is, in hundredths."""
    first = np.array([int(text.split()[-1]) / 100 for text in texts], np.float32)
    return Scores(np.stack([first, 1 - first], 1), np.full(len(texts), 0.1, np.float32))


@pytest.fixture
def filled(project: Project) -> Project:
    fill(project, ["a 90", "b 10", "", "c 55", "d 30"])
    use_labels(project, "left", "right")
    return project


def run_of(project: Project) -> int:
    label_set = project.label_set()
    assert label_set is not None
    return project.open_run("sce", "sce", "m", "f", label_set.labels).id


def draft(project: Project, run_id: int, ids: list[int]) -> None:
    project.begin_draft(run_id, predict)
    project.add_draft(run_id, np.array(ids), predict(project.texts(ids)))


def test_the_table_is_ordered_and_filtered_by_drafts_and_nothing_else_is(filled: Project) -> None:
    run_id = run_of(filled)
    draft(filled, run_id, [1, 2, 4, 5])
    by_confidence = RowQuery(order=RowOrder.CONFIDENCE, run_id=run_id)
    assert filled.row_ids(by_confidence, draft=True).tolist() == [4, 5, 1, 2]
    assert filled.row_ids(by_confidence).tolist() == [1, 2, 4, 5]  # none is scored: file order
    label_set = filled.label_set()
    assert label_set is not None
    left = RowQuery(predicted_ids=(label_set.labels[0].id or 0,), run_id=run_id)
    assert filled.row_ids(left, draft=True).tolist() == [1, 4]
    assert filled.row_ids(left).tolist() == []


def test_a_row_that_was_looked_at_is_made_once(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, asked = run_of(filled), []

    def noted(texts: Sequence[str]) -> Scores:
        asked.append(list(texts))
        return predict(texts)

    filled.begin_draft(run_id, noted)
    first = filled.draft_scores(run_id, [1, 2, 3])
    assert list(first) == [1, 2]
    again = filled.draft_scores(run_id, [2, 4])
    assert again[2] is first[2]
    assert asked == [["a 90", "b 10"], ["c 55"]]
    monkeypatch.setattr(drafts, "MOST_MADE", 3)
    filled.draft_scores(run_id, [5])
    filled.draft_scores(run_id, [1])
    assert asked[2:] == [["d 30"], ["a 90"]]


def test_what_the_model_says_takes_the_place_of_the_draft(filled: Project) -> None:
    run_id = run_of(filled)
    draft(filled, run_id, [1, 2, 4, 5])
    assert filled.draft_count(run_id) == 4
    filled.add_scores(run_id, [1], Scores(np.array([[0.51, 0.49]], np.float32)))
    by_confidence = RowQuery(order=RowOrder.CONFIDENCE, run_id=run_id)
    assert filled.row_ids(by_confidence, draft=True).tolist() == [1, 4, 5, 2]
    assert filled.draft_count(run_id) == 3
    filled.end_draft()
    assert filled.draft_count(run_id) == 0
    assert filled.row_ids(by_confidence, draft=True).tolist() == [1, 2, 4, 5]


def test_drafts_count_for_nothing_but_the_table(filled: Project) -> None:
    run_id = run_of(filled)
    draft(filled, run_id, [1, 2, 4, 5])
    assert filled.scores(run_id, [1, 2, 4, 5]) == {}
    assert len(filled.run_arrays(run_id).row_ids) == 0
    assert filled.run_matrix(run_id)[0].tolist() == []
    assert sum(filled.predicted_counts(run_id).values()) == 0
    assert filled.unscored_ids(run_id).tolist() == [1, 2, 4, 5]
    assert FinalSource.MODEL not in {
        source
        for source in FinalSource
        if len(filled.row_ids(RowQuery(final=source, run_id=run_id), draft=True))
        and source is not FinalSource.NONE
    }
    other = filled.open_run("similarity", "similarity", "m", "f", filled.label_set().labels).id  # type: ignore[union-attr]
    filled.add_scores(other, [1, 2], Scores(np.array([[0.1, 0.9]] * 2, np.float32)))
    differ = RowQuery(compare=(run_id, other), disagree=True, run_id=run_id)
    assert filled.row_ids(differ, draft=True).tolist() == []


def test_single_rows_have_a_draft_before_the_pass_has_reached_them(filled: Project) -> None:
    run_id = run_of(filled)
    assert filled.draft_scores(run_id, [1]) == {}
    filled.begin_draft(run_id, predict)
    found = filled.draft_scores(run_id, [5, 3, 1])
    assert sorted(found) == [1, 5]  # row 3 has no text
    assert (found[5].top, found[1].top) == (1, 0)
    assert found[5].confidence == pytest.approx(0.7)
    assert filled.draft_scores(run_id + 1, [1]) == {}  # the draft is of another run


def test_a_model_that_is_gone_leaves_no_drafts_of_single_rows(filled: Project) -> None:
    run_id = run_of(filled)
    filled.begin_draft(run_id, lambda _texts: None)
    assert filled.draft_scores(run_id, [1]) == {}


def test_rows_that_come_later_have_no_draft(filled: Project) -> None:
    run_id = run_of(filled)
    draft(filled, run_id, [1, 2])
    fill(filled, ["e 20"])
    by_confidence = RowQuery(order=RowOrder.CONFIDENCE, run_id=run_id)
    assert filled.row_ids(by_confidence, draft=True).tolist() == [1, 2, 4, 5, 6]


def test_nothing_of_a_draft_is_in_the_file(filled: Project, path: Path) -> None:
    run_id = run_of(filled)
    draft(filled, run_id, [1, 2, 4, 5])
    filled.close()
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT count(*) FROM scores").fetchone() == (0,)
    with Project.open(path) as again:
        assert not again.has_draft(run_id)


def test_a_draft_that_ends_during_a_query_counts_to_its_end(
    filled: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = run_of(filled)
    label_set = filled.label_set()
    assert label_set is not None
    left = (label_set.labels[0].id or 0,)
    get = runs.get

    def ending(connection: sa.Connection, wanted: int) -> Run:
        filled.end_draft()  # as another thread may
        return get(connection, wanted)

    monkeypatch.setattr(runs, "get", ending)
    for query, wanted in (
        (RowQuery(predicted_ids=left, run_id=run_id), [1, 4]),
        (RowQuery(order=RowOrder.PREDICTED, run_id=run_id), [1, 4, 2, 5]),
        (RowQuery(order=RowOrder.CONFIDENCE, run_id=run_id, predicted_ids=left), [4, 1]),
    ):
        draft(filled, run_id, [1, 2, 4, 5])
        assert filled.row_ids(query, draft=True).tolist() == wanted
