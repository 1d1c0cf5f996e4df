"""Steps between queries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sce_desktop.controllers.queries import (
    depends_on_people,
    depends_on_scores,
    follow_runs,
    has_filters,
    in_audit,
    order_by,
    order_by_column,
    order_name,
    queue_name,
    sorted_column,
    without_filters,
)
from sce_desktop.core.annotations import Label
from sce_desktop.core.query import AUDIT, RowOrder, RowQuery, RowState
from sce_desktop.core.runs import Run


def run(number: int, alias: str) -> Run:
    return Run(number, alias, "sce", "m", "f", (Label("A", id=1), Label("B", id=2)), False, "")


SCE, SIMILARITY, OTHER = run(1, "sce"), run(2, "similarity"), run(3, "other")
SCORED = RowQuery(run_id=1, compare=(1, 2), confidence=(0, 0.6), disagree=True, order=RowOrder.CONFIDENCE)


@pytest.mark.parametrize(
    "query",
    [
        RowQuery(search="x"),
        RowQuery(state=RowState.FLAGGED),
        RowQuery(label_ids=(1,)),
        RowQuery(run_id=1, predicted_ids=(1,)),
        RowQuery(run_id=1, confidence=(0, 1)),
        RowQuery(compare=(1, 2), disagree=False),
        RowQuery(blank=False),
    ],
)
def test_every_filter_counts_and_can_be_taken_away(query: RowQuery) -> None:
    assert has_filters(query)
    assert without_filters(query) == RowQuery()


def test_the_order_stays_without_filters() -> None:
    query = without_filters(SCORED)
    assert (query.order, query.run_id, query.compare) == (RowOrder.CONFIDENCE, 1, None)
    assert not has_filters(query)


def test_a_second_click_turns_the_order_round() -> None:
    once = order_by_column(RowQuery(), 3, [SCE])
    assert once == RowQuery(run_id=1, order=RowOrder.CONFIDENCE)
    twice = order_by_column(once, 3, [SCE])
    assert twice is not None
    assert twice.descending
    assert sorted_column(twice) == 3
    assert order_by_column(RowQuery(), 3, []) is None
    assert order_by_column(RowQuery(), 5, [SCE]) == once  # final labels: those to review come first
    assert order_by_column(RowQuery(), 6, [SCE]) is None


def test_each_baseline_has_its_own_disagreement() -> None:
    query = order_by_column(RowQuery(), 7, [SCE, SIMILARITY, OTHER])
    assert query is not None
    assert query.compare == (1, 3)
    assert order_by(RowQuery(), RowOrder.DISAGREE, [SCE, SIMILARITY]).compare == (1, 2)  # type: ignore[union-attr]


def test_queries_follow_new_runs_and_lose_what_needs_missing_ones() -> None:
    followed = follow_runs(SCORED, [run(7, "sce"), run(8, "similarity")])
    assert (followed.run_id, followed.compare, followed.confidence) == (7, (7, 8), (0, 0.6))
    alone = follow_runs(SCORED, [run(7, "sce")])
    assert (alone.run_id, alone.compare, alone.disagree) == (7, None, None)
    assert follow_runs(SCORED, []) == RowQuery()
    assert follow_runs(RowQuery(search="x"), [SCE]) == RowQuery(search="x")


def test_what_a_query_hangs_on() -> None:
    assert depends_on_scores(SCORED)
    assert not depends_on_scores(RowQuery(state=RowState.FLAGGED))
    assert depends_on_people(RowQuery(order=RowOrder.ANNOTATION))
    assert not depends_on_people(SCORED)


def test_orders_have_names_both_ways() -> None:
    assert order_name(RowQuery()) == "File order"
    assert order_name(RowQuery(order=RowOrder.LENGTH, descending=True)) == "Longest text"
    upwards = RowQuery(order=RowOrder.ANNOTATION, descending=True)
    assert order_name(upwards) == "Your label (reversed)"
    assert (queue_name(upwards), queue_name(RowQuery())) == ("your label, reversed", "file")


def test_a_selection_is_no_queue() -> None:
    chosen = RowQuery(among=(3, 1), order=RowOrder.GIVEN, given=(3, 1))
    assert (order_name(chosen), queue_name(chosen)) == ("Chosen rows", "chosen rows")
    assert without_filters(chosen) == RowQuery()
    audit = replace(chosen, name=AUDIT)
    assert (order_name(audit), queue_name(audit), in_audit(audit)) == ("Audit sample", "audit", True)
    assert in_audit(replace(audit, state=RowState.UNLABELLED))
    assert not in_audit(chosen)
    by_length = order_by(audit, RowOrder.LENGTH, ())
    assert by_length is not None
    assert (queue_name(by_length), in_audit(by_length)) == ("shortest text", False)
    assert without_filters(audit).name == ""
    spread = replace(chosen, given=(1, 3))  # of the same rows
    assert (order_name(spread), queue_name(spread)) == ("Diverse", "diverse")
    assert without_filters(spread) == RowQuery(order=RowOrder.GIVEN, given=(1, 3))
