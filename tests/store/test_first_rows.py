"""The first rows of an order without the rest: they are those that the whole order begins with."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Connection

from sce_desktop.core.annotations import Decision
from sce_desktop.core.arrays import IdArray, narrow_range, true_places
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.core.runs import Scores
from sce_desktop.store.content import first_rows, found_rows, ordering, row_tests
from sce_desktop.store.file import schema
from sce_desktop.store.project import Project
from sce_desktop.store.runs import scored
from tests.store.conftest import fill, use_labels

ROWS = 400
HEAD = 30


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    rng = np.random.default_rng(3)
    with Project.create(tmp_path_factory.mktemp("first") / "first.sce") as project:
        fill(project, ["x" * int(size) for size in rng.integers(1, 40, ROWS)])
        labels = use_labels(project, "a", "b", "c")
        label_set = project.label_set()
        assert label_set is not None
        for alias, count in (("sce", ROWS - 20), ("similarity", ROWS)):
            run = project.open_run(alias, "sce", "m", alias, label_set.labels)
            raw = rng.integers(1, 9, (count, 3)).astype(np.float32)  # with many ties
            ids = rng.permutation(np.arange(1, ROWS + 1))[:count]
            project.add_scores(run.id, ids, Scores(raw / raw.sum(axis=1, keepdims=True)))
        project.decide(list(range(5, ROWS, 7)), Decision.LABEL, [labels[1]])
        yield project


FILTERS = (
    RowQuery(),
    RowQuery(state=RowState.UNLABELLED),
    RowQuery(run_id=1, confidence=(0.0, 0.6)),
    RowQuery(search="xxxxxxxxxxxxxxx"),
)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("order", list(RowOrder))
def test_the_first_rows_are_those_of_the_whole_order(
    project: Project, order: RowOrder, descending: bool
) -> None:
    for one in FILTERS:
        query = replace(
            one, order=order, descending=descending, run_id=1, compare=(1, 2), order_column=0, given=(9, 3)
        )
        whole = project.row_ids(query)
        first, count = project.first_ids(query, HEAD, least=2 * HEAD)
        assert count == (None if query.search else len(whole))  # texts are read for the first rows alone
        assert query.search or len(first) >= min(HEAD, len(whole))
        assert first.tolist() == whole[: len(first)].tolist(), query


def test_of_score_orders_they_are_few(project: Project) -> None:
    for order in (RowOrder.CONFIDENCE, RowOrder.PREDICTED, RowOrder.RARE, RowOrder.RANDOM):
        first, count = project.first_ids(RowQuery(order=order, run_id=1), HEAD, least=2 * HEAD)
        assert count is not None
        assert len(first) < count, order
    whole, count = project.first_ids(RowQuery(order=RowOrder.CONFIDENCE, run_id=1), HEAD, least=ROWS + 1)
    assert len(whole) == count


@pytest.mark.parametrize("seed", range(5))
def test_keys_sort_as_numbers_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ids = np.flatnonzero(rng.random(5_000) < 0.7)
    values = np.round(rng.normal(size=len(ids)), int(rng.integers(0, 4))).astype(np.float32)
    values[rng.integers(0, len(ids), 50)] = -0.0
    groups = rng.integers(0, 9, len(ids))
    keys = ordering.of_floats(values)
    for down in (False, True):
        wanted = ids[np.argsort(-values if down else values, kind="stable")]
        assert ordering.by_key(ids, keys, descending=down).tolist() == wanted.tolist()
        first = ordering.first_by_key(ids, keys, 40, descending=down)
        assert first.tolist() == wanted[: len(first)].tolist()
        assert 40 <= len(first) < len(ids)
        wanted = ids[np.lexsort((-values, -groups if down else groups))]
        assert ordering.grouped(ids, groups, keys, descending=down).tolist() == wanted.tolist()
        first = ordering.first_grouped(ids, groups, keys, 40, descending=down)
        assert first.tolist() == wanted[: len(first)].tolist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("labels", [3, 300])
def test_labels_take_turns_as_sorting_by_their_turn_has_it(seed: int, labels: int) -> None:
    rng = np.random.default_rng(seed)
    ids = np.flatnonzero(rng.random(4_000) < 0.8)
    groups = rng.integers(0, labels - 1, len(ids)).astype(np.int16)
    values = np.round(rng.random(len(ids)), 2).astype(np.float32)
    before = rng.integers(0, 40, labels)
    order = np.lexsort((-values, groups))
    sizes = np.bincount(groups, minlength=labels)
    turns = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + before[groups[order]]
    wanted = ids[order[np.lexsort((-values[order], turns))]]
    assert ordering.in_turns(ids, groups, ordering.of_floats(values), before).tolist() == wanted.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_turns_say_how_many_rows_of_each_label_come_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before, count = rng.integers(0, 30, rng.integers(1, 9)), int(rng.integers(1, 200))
    turns = 0
    while np.maximum(0, turns - before).sum() < count:
        turns += 1
    assert ordering.turns_of_first(before, count).tolist() == np.maximum(0, turns - before).tolist()


def test_a_sample_that_misleads_costs_time_and_no_row() -> None:
    """The bound is guessed by every second key; the small ones stand at the others."""
    values = np.ones(40_000, np.float32)
    values[1::2] = np.linspace(0, 0.5, 20_000)
    ids = np.arange(1, 40_001)
    first = ordering.first_by_key(ids, ordering.of_floats(values), 25_000)
    assert len(first) >= 25_000
    groups = np.zeros(40_000, np.int64)
    groups[1::500] = 1
    found = first_rows.surest(groups, values, np.full(3, 30), np.ones(len(values), bool))
    for group in (0, 1):
        best = np.sort(values[groups == group])[::-1][:30]
        kept = np.sort(values[found][groups[found] == group])[::-1][:30]
        assert kept.tolist() == best.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_one_pass_over_arrays_finds_what_sorting_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.random(9_000), int(rng.integers(1, 5))).astype(np.float32)
    if seed == 3:
        values = rng.integers(-9, 90, 9_000).astype(np.int32)
    inside = rng.random(len(values)) < (0.02, 0.3, 0.9, 1.0)[seed]
    ids = np.flatnonzero(inside)
    for down in (False, True):
        wanted = ids[np.argsort(-values[ids] if down else values[ids], kind="stable")]
        first = first_rows.by_value(values, inside, 40, descending=down)
        assert first is not None
        assert first.tolist() == wanted[: len(first)].tolist()
        assert len(first) >= 40
        in_file = ids[::-1] if down else ids
        for count in (0, 1, 40, len(ids), len(ids) + 5):
            assert first_rows.first_of(inside, count, descending=down).tolist() == in_file[:count].tolist()


def test_a_pass_that_a_sample_misleads_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.linspace(0, 0.5, 200_000, dtype=np.float32)
    values[:25_000] = 1
    inside = np.ones(len(values), bool)
    monkeypatch.setattr(first_rows, "_sample", lambda _size, count: np.arange(count))  # ones alone
    assert first_rows.by_value(values, inside, 50_000, descending=True) is None
    found = first_rows.surest(
        np.zeros(len(values), np.int64), values, np.array([50_000]), np.ones(len(values), bool)
    )
    assert np.sort(values[found])[::-1][:50_000].tolist() == np.sort(values)[::-1][:50_000].tolist()


def test_a_sample_meets_rows_that_come_at_regular_distances() -> None:
    values, inside = np.linspace(0, 1, 400_000, dtype=np.float32), np.ones(400_000, bool)
    inside[::5] = False  # every fifth row is decided
    first = first_rows.by_value(values, inside, 40)
    assert first is not None
    assert first[:3].tolist() == [1, 2, 3]


@pytest.mark.parametrize("share", [0.002, 0.5])
def test_the_surest_of_each_label_are_sought_inside_alone(share: float) -> None:
    rng = np.random.default_rng(1)
    groups = rng.integers(-1, 4, 30_000).astype(np.int16)
    groups[groups == 2] = 1  # no row at all has that label
    values = rng.random(len(groups)).astype(np.float32)
    inside = (rng.random(len(groups)) < share) & (groups >= 0)
    found = first_rows.surest(groups, values, np.full(4, 25), inside)
    assert inside[found].all()
    assert (np.diff(found) > 0).all()
    for group in range(4):
        best = np.sort(values[inside & (groups == group)])[::-1][:25]
        assert np.sort(values[found][groups[found] == group])[::-1][:25].tolist() == best.tolist()


def test_scores_come_back_whole_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A float32 is read as a whole number; very small ones lack digits then, and are read again."""
    monkeypatch.setattr(scored, "_PART", 7)
    monkeypatch.setattr(scored, "_LOOKED_AT", 20)
    rng = np.random.default_rng(0)
    probabilities = rng.random((90, 3), dtype=np.float32)
    probabilities[::3] *= np.float32(1e-13)
    probabilities[1::9] = 0
    probabilities[2::9, 1] = 1
    with Project.create(tmp_path / "parts.sce") as project:
        fill(project, [f"text {number}" for number in range(100)])
        use_labels(project, "a", "b", "c", multi_label=True)
        label_set = project.label_set()
        assert label_set is not None
        run = project.open_run("sce", "sce", "m", "f", label_set.labels, multi_label=True)
        project.add_scores(run.id, np.arange(5, 95), Scores(probabilities))
    with Project.open(tmp_path / "parts.sce") as project:
        arrays = project.run_arrays(run.id)
        ordered = np.sort(probabilities, axis=1)
        assert arrays.row_ids.tolist() == list(range(5, 95))
        assert arrays.top.tolist() == probabilities.argmax(axis=1).tolist()
        assert arrays.confidence.tolist() == ordered[:, -1].tolist()
        assert arrays.margin.tolist() == (ordered[:, -1] - ordered[:, -2]).tolist()


@pytest.mark.parametrize("bits", [0, 3, 30, 63])
def test_rows_by_a_hash_stand_as_sorting_by_all_of_it_has_them(bits: int) -> None:
    """Few bits that differ: then most of the first 40 are equal."""
    ids = true_places(np.random.default_rng(bits).random(9_000) < 0.5)
    by_id = np.random.default_rng(1).integers(0, 1 << bits, 9_000).astype(np.uint64)
    wanted = ids[np.argsort(by_id[ids], kind="stable")]
    assert ordering.by_hash(ids, by_id.__getitem__).tolist() == wanted.tolist()
    far = ids.astype(np.int64) + (1 << 24)
    wanted = far[np.argsort(by_id[ids], kind="stable")]
    assert ordering.by_hash(far, lambda some: by_id[some - (1 << 24)]).tolist() == wanted.tolist()


def test_sorting_all_rows_takes_little_beside_the_rows() -> None:
    """Of ten million rows each 64-bit array is 80 MB: one is sorted in place, with no list of places."""
    count = 1 << 21
    ids = narrow_range(count)
    values = np.random.default_rng(0).random(count, np.float32)
    groups = (ids % 20).astype(np.int16)
    before = np.zeros(20, np.int64)
    for most, sort in (  # bytes a row: 8 of the number that is sorted, 4 of the rows, 4 of other keys or rows
        (14, lambda: ordering.by_key(ids, ordering.of_floats(values))),
        (16, lambda: ordering.grouped(ids, groups, ordering.of_floats(values))),
        (20, lambda: ordering.in_turns(ids, groups, ordering.of_floats(values), before)),
        (15, lambda: found_rows._by_random(ids, 7, None)),
    ):
        tracemalloc.start()
        try:
            found = sort()
            _now, taken = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert found.dtype == ids.dtype
        assert taken < most * count


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each step has read; steps are small."""
    monkeypatch.setattr(found_rows, "_STEP", 8)
    monkeypatch.setattr(found_rows, "_SCREENS", 10)
    monkeypatch.setattr(found_rows, "_TESTED", (50, 100, 200))
    by_ids, between = row_tests.SqlTest.meeting, row_tests.SqlTest.meeting_between
    rows: list[int] = []

    def meeting(self: row_tests.SqlTest, connection: Connection, ids: IdArray) -> IdArray:
        rows.append(len(ids))
        return by_ids(self, connection, ids)

    def meeting_between(self: row_tests.SqlTest, connection: Connection, low: int, high: int) -> IdArray:
        rows.append(high - low + 1)
        return between(self, connection, low, high)

    monkeypatch.setattr(row_tests.SqlTest, "meeting", meeting)
    monkeypatch.setattr(row_tests.SqlTest, "meeting_between", meeting_between)
    return rows


@pytest.mark.parametrize("order", [RowOrder.FILE, RowOrder.CONFIDENCE, RowOrder.RANDOM])
@pytest.mark.parametrize(("length", "most"), [(3, 40), (20, 80), (35, 160), (39, 200)])
def test_texts_are_read_until_a_few_screens_are_found(
    project: Project, read: list[int], order: RowOrder, length: int, most: int
) -> None:
    """Of a common word few: how many of the first rows have it says how many more to read."""
    query = RowQuery(search="x" * length, order=order, run_id=1)
    first, count = project.first_ids(query, HEAD, least=100)
    steps = list(read)
    whole = project.row_ids(query).tolist()
    assert count is None
    assert first.tolist() == whole[: len(first)]
    assert len(first) >= 10 or sum(steps) == 200
    assert steps[0] == 8
    assert sum(steps) <= most
    assert len(steps) <= 7


def test_rows_that_follow_each_other_are_read_in_one_go(project: Project, read: list[int]) -> None:
    query = RowQuery(search="xxxxx", state=RowState.UNLABELLED)  # all but every seventh
    test = row_tests.SqlTest(schema.rows.c.length > 20)
    ids = project.row_ids(query)
    with project._database.read() as connection:
        wanted = [row.id for row in project.rows(ids) if len(row.text) > 20]
        read.clear()
        assert row_tests.passing(connection, [test], ids).tolist() == wanted
        assert read == [int(ids[-1] - ids[0]) + 1]
        assert row_tests.passing(connection, [test], ids[::-1]).tolist() == wanted[::-1]
        read.clear()
        assert row_tests.passing(connection, [test], ids[::3]).tolist() == [
            one for one in ids[::3].tolist() if one in wanted
        ]
        assert read == [len(ids[::3])]


def test_a_row_that_is_to_be_among_the_first_has_all_texts_read(project: Project, read: list[int]) -> None:
    query = RowQuery(search="xxxxx")
    whole = project.row_ids(query).tolist()
    other = next(row_id for row_id in range(ROWS, 0, -1) if row_id not in whole)
    for near, all_of_them in ((None, False), (whole[3], False), (other, False), (whole[-1], True)):
        read.clear()
        first, count = project.first_ids(query, HEAD, least=ROWS + 1, readable=60, near=near)
        assert (count == len(whole)) is all_of_them
        assert first.tolist() == (whole if all_of_them else whole[: len(first)])
        assert (sum(read) > 100) is all_of_them
    first, count = project.first_ids(query, HEAD, least=ROWS + 1, readable=ROWS + 1)
    assert (first.tolist(), count) == (whole, len(whole))
    first, count = project.first_ids(query, HEAD, least=ROWS + 1)
    assert (first.tolist(), count) == (whole, len(whole))
