"""Rows in the order of a column, by its values, by what cells contain and by bounds; against plain Python."""

from __future__ import annotations

import itertools
import random
import tracemalloc

import numpy as np
import pytest

from sce_desktop.core import folding
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import CellFilter, RowOrder, RowQuery
from sce_desktop.core.readings import Kind
from sce_desktop.store.content import column_values, columns, row_tests
from sce_desktop.store.project import Project

HOSTILE = (
    "plain",
    "Plain",
    "PLAIN é",
    "plain e",
    "",
    None,
    " ",
    "a\0b",
    "a\0c",
    "\0",
    "\ud800",
    "وصلت الشحنة",
    "🙂",
    "x" * 20_000,
    "'; DROP TABLE rows; --",
    '$[0]"',
    "%_\\",
    "line\nbreak\ttab",
    "\u202eturned",
)


def fill(project: Project, cells: list[str | None], *, text_at: int = 1) -> None:
    """Import rows whose columns all hold ``cells``, the text too."""
    columns = ["a", "", "a"]
    project.add_rows(columns, [[(cell,) * 3 for cell in cells]], text_columns=[text_at], source={})


def ordered(project: Project, column: int, *, descending: bool = False) -> list[int]:
    query = RowQuery(order=RowOrder.COLUMN, order_column=column, descending=descending)
    return project.row_ids(query).tolist()


def kept(project: Project, column: int, **conditions: object) -> list[int]:
    cell = CellFilter(column, **conditions)  # type: ignore[arg-type]
    return project.row_ids(RowQuery(cells=(cell,))).tolist()


@pytest.mark.parametrize("text_at", [0, 1, 2])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_text_order_puts_blank_cells_last_both_ways(project: Project, column: int, text_at: int) -> None:
    fill(project, list(HOSTILE), text_at=text_at)
    cells = [(cell or "").replace("\ud800", "\ufffd") for cell in HOSTILE]
    filled = [row for row, cell in enumerate(cells, 1) if cell.strip()]
    blank = [row for row, cell in enumerate(cells, 1) if not cell.strip()]
    wanted = sorted(filled, key=lambda row: (folding.bare(cells[row - 1]), cells[row - 1]))
    assert ordered(project, column) == wanted + blank
    assert ordered(project, column, descending=True) == wanted[::-1] + blank
    assert project.reading(column).kind is Kind.TEXT


@pytest.mark.parametrize("column", [0, 1, 2])
def test_every_value_finds_its_rows_and_no_others(project: Project, column: int) -> None:
    fill(project, list(HOSTILE))
    for value in HOSTILE:
        same = [row for row, cell in enumerate(HOSTILE, 1) if (cell or "") == (value or "")]
        assert kept(project, column, values=(value or None,)) == same
        rest = [row for row in range(1, len(HOSTILE) + 1) if row not in same]
        assert kept(project, column, values=(value or None,), without=True) == rest


@pytest.mark.parametrize(
    "needle", ["PLAIN", "é", "e", "\0", "a\0b", "%", "_", "'", "شحن", "🙂", "x" * 11_000, "\n"]
)
def test_contains_compares_as_the_search_does(project: Project, needle: str) -> None:
    fill(project, list(HOSTILE))
    found = project.row_ids(RowQuery(search=needle)).tolist()
    assert kept(project, 0, contains=needle) == kept(project, 1, contains=needle) == found
    assert needle in ("\n",) or found


def test_numbers_are_ordered_by_value_and_ties_by_the_file(project: Project) -> None:
    cells = ["10", "9", "1.0", "", "-3", "1", "1,000", None]
    fill(project, cells)
    assert project.reading(0).kind is Kind.NUMBER
    assert ordered(project, 0) == [5, 3, 6, 2, 1, 7, 4, 8]
    assert ordered(project, 0, descending=True) == [7, 1, 2, 3, 6, 5, 4, 8]
    assert kept(project, 0, low="1", high="10") == [1, 2, 3, 6]
    assert kept(project, 0, low="10") == [1, 7]
    assert kept(project, 0, high="0.5") == [5]
    assert kept(project, 0, low="no number") == []


def test_dates_are_ordered_by_day_and_a_last_day_is_whole(project: Project) -> None:
    fill(project, ["25/04/2024", "03/05/2024 23:59", "", "03/05/2024", "31/12/1999"])
    assert project.reading(0).kind is Kind.DATE
    assert ordered(project, 0) == [5, 1, 4, 2, 3]
    assert kept(project, 0, low="2024-04-25", high="2024-05-03") == [1, 2, 4]
    assert kept(project, 0, high="03/05/2024 12:00") == [1, 4, 5]


def test_conditions_are_joined_with_each_other_and_with_other_filters(project: Project) -> None:
    fill(project, ["10 apples", "10 pears", "apples", ""])
    both = RowQuery(
        search="10", cells=(CellFilter(0, contains="apple"), CellFilter(2, ("apples",), without=True))
    )
    assert project.row_ids(both).tolist() == [1]
    assert kept(project, 0, values=("10 apples", "apples"), contains="10") == [1]


def test_values_are_counted_among_the_rows_asked_for(project: Project) -> None:
    fill(project, ["b", "a", "a", "", None, "B", "c\0d", "c\0e"])
    every = project.row_ids()
    counts, distinct = project.cell_counts(0, every, most=10)
    assert dict(counts) == {"b": 1, "a": 2, "": 2, "B": 1, "c\0d": 1, "c\0e": 1}
    assert [count for _value, count in counts] == [2, 2, 1, 1, 1, 1]
    assert distinct == 6
    assert project.cell_counts(0, every, most=1)[1] == 6
    assert project.cell_counts(0, every[:3], most=10) == ([("a", 2), ("b", 1)], 2)
    assert dict(project.cell_counts(0, every, most=10, containing="B")[0]) == {"b": 1, "B": 1}


def test_many_long_cells_are_counted_too(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sce_desktop.store.content.column_values.MOST_CHARACTERS", 10)
    fill(project, ["a long cell", "another", "a long cell", ""])
    assert project.cell_counts(0, project.row_ids(), most=9) == (
        [("a long cell", 2), ("", 1), ("another", 1)],
        3,
    )


@pytest.mark.parametrize(
    "cells",
    [
        list(HOSTILE),
        ["10", "9", "1.0", "", "-3", "1", "1,000", None, " ", "9"],
        ["10", "9", "1.5", "", "-3", "1", ".5", "5.", "+2", "1e3"],
        ["1", "inf", "nan"],
        ["1.234,5", "2", None, "0,5"],
        ["25/04/2024", "03/05/2024 23:59", "", "03/05/2024", "31/12/1999"],
        ["b", "a", "B", "b", "", "a"],
        ["", None, "", " "],
    ],
)
def test_very_many_distinct_cells_are_ordered_as_few_are(
    project: Project, monkeypatch: pytest.MonkeyPatch, cells: list[str | None]
) -> None:
    fill(project, cells)
    for column in (0, 1):
        with project._database.read() as connection:
            few = columns.ColumnCache().get(connection, column)
            monkeypatch.setattr(column_values, "MOST_DISTINCT", 0)
            many = columns.ColumnCache().get(connection, column)
            monkeypatch.undo()
            ids = np.arange(1, len(cells) + 1)
            counts = columns.ColumnCache().counts(connection, column, ids, most=20)[0]
            monkeypatch.setattr(column_values, "MOST_DISTINCT", 0)
            assert sorted(columns.ColumnCache().counts(connection, column, ids, most=20)[0]) == sorted(counts)
            one = columns.ColumnCache().counts(connection, column, ids, most=20, containing="A")
            monkeypatch.undo()
            assert one == columns.ColumnCache().counts(connection, column, ids, most=20, containing="A")
        assert (few.codes is None, many.codes is None) == (False, True)
        assert few.reading == many.reading
        for descending in (False, True):
            wanted = few.ordered(ids, descending=descending)
            assert many.ordered(ids, descending=descending).tolist() == wanted.tolist()
            first = many.ordered(ids, descending=descending, count=2)
            assert first.tolist() == wanted[: len(first)].tolist()
        assert many.between("1", "10")[1:].tolist() == few.between("1", "10")[1:].tolist()


def test_a_damaged_row_is_named_whichever_way_cells_are_read(project: Project) -> None:
    fill(project, ["a", "b", "c"])
    with project._database.write() as connection:
        connection.exec_driver_sql("UPDATE rows SET cells = '[\"x' WHERE id = 2")
    with pytest.raises(UserError):
        project.row_ids(RowQuery(order=RowOrder.COLUMN, order_column=0))


@pytest.mark.parametrize("column", [0, 1, 2])
def test_cells_are_found_alike_by_sqlite_in_stretches_and_by_the_whole_column(
    project: Project, column: int
) -> None:
    fill(project, list(HOSTILE))
    needles = ("PLAIN", "é", "e", "\0", "%", "شحن", "\n", "\u0301")
    wanted = [
        *(CellFilter(column, (value or None,)) for value in HOSTILE),
        *(CellFilter(column, (value or None,), without=True) for value in HOSTILE),
        *(CellFilter(column, contains=needle) for needle in needles),
        CellFilter(column, ("plain", "Plain"), contains="pla"),
    ]
    ids = np.arange(1, len(HOSTILE) + 1)
    for one in wanted:
        test = row_tests.CellTest(one)
        with project._database.read() as connection:
            each = sorted(test.meeting(connection, ids).tolist())
            assert test.meeting_between(connection, 1, len(HOSTILE)).tolist() == each
            some = [row_id for row_id in each if 3 <= row_id <= 9]
            assert test.meeting_between(connection, 3, 9).tolist() == some
        assert project.row_ids(RowQuery(cells=(one,))).tolist() == each
        with project._database.read() as connection:
            assert project._columns.known(connection, column) is not None


def test_a_column_of_very_many_distinct_cells_is_not_held_for_a_filter(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(project, list(HOSTILE))
    expected = kept(project, 0, contains="plain")
    monkeypatch.setattr(column_values, "MOST_DISTINCT", 3)
    begun: list[int] = []
    plain = columns.coded_batches

    def coded_batches(connection: object, column: int, *rest: object) -> object:
        begun.append(column)
        return plain(connection, column, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(columns, "coded_batches", coded_batches)
    for _time in range(2):
        assert kept(project, 2, contains="plain") == expected
    assert begun == [2]  # and it is known from then on that it is of no use


def test_columns_that_take_much_memory_are_let_go_and_read_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(project, ["b", "a", "", "c"])
    by_column = RowQuery(order=RowOrder.COLUMN, order_column=0)
    assert ordered(project, 0) == [2, 1, 4, 3]
    project.free_columns()
    assert not project.must_read(by_column)  # it is small
    monkeypatch.setattr(columns, "_LARGE", 1)
    project.free_columns()
    assert project.must_read(by_column)
    assert ordered(project, 0) == [2, 1, 4, 3]


def test_rows_that_are_added_are_in_the_order(project: Project) -> None:
    fill(project, ["2", "1"])
    assert ordered(project, 0) == [2, 1]
    fill(project, ["0", "x"])
    assert ordered(project, 0) == [3, 2, 1, 4]
    assert project.reading(0).kind is Kind.TEXT


def test_a_column_that_there_is_not_hides_nothing(project: Project) -> None:
    fill(project, ["b", "a"])
    assert ordered(project, 7) == [1, 2]
    assert kept(project, 7, values=("b",)) == [1, 2]
    with pytest.raises(IndexError):
        project.reading(7)


def test_three_hundred_columns(project: Project) -> None:
    rows = [tuple(str((row * column) % 7) for column in range(300)) for row in range(20)]
    project.add_rows(["same"] * 300, [rows], text_columns=[150], source={})
    for column in (0, 149, 150, 151, 299):
        wanted = sorted(range(20), key=lambda row: int(rows[row][column]))
        assert ordered(project, column) == [row + 1 for row in wanted]
        assert kept(project, column, values=("3",)) == [
            n + 1 for n, row in enumerate(rows) if row[column] == "3"
        ]


def test_sorting_is_stable_and_complete(project: Project) -> None:
    rng = random.Random(5)
    cells: list[str | None] = [rng.choice(["a", "B", "b", "", None, "ä"]) for _ in range(500)]
    fill(project, cells)
    for descending in (False, True):
        found = ordered(project, 0, descending=descending)
        assert sorted(found) == list(range(1, 501))
        for one, other in itertools.pairwise(found):
            assert cells[one - 1] != cells[other - 1] or one < other


def test_reading_a_column_can_be_stopped(project: Project) -> None:
    class Stopping(SilentProgress):
        def check(self) -> None:
            raise Cancelled

    fill(project, ["a"])
    with pytest.raises(Cancelled):
        project.cell_counts(0, np.array([1]), most=1, progress=Stopping())
    assert project.cell_counts(0, np.array([1]), most=1) == ([("a", 1)], 1)


def test_ranks_of_numbers_take_a_copy_of_them_and_no_list_of_places() -> None:
    count = 1 << 20
    numbers = np.round(np.random.default_rng(0).normal(size=count) * 1e6)
    numbers[::7] = np.nan
    tracemalloc.start()
    try:
        ranks = column_values._ranks(numbers, ~np.isnan(numbers))
        _now, taken = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    known = ~np.isnan(numbers)
    assert not ranks[~known].any()
    assert (np.unique(numbers[known], return_inverse=True)[1] + 1 == ranks[known]).all()
    assert taken < 24 * count  # 8 of the copy, 4 of the ranks, 1 of who is there, and 8 while equal ones go


def test_texts_that_are_longer_than_sixteen_bits_tell_are_ordered_too(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "_BATCH", 2)
    fill(project, ["short", "z" * 65_535, "x" * 70_000, "y" * 65_536, "longer"])
    ids = project.row_ids(RowQuery(order=RowOrder.LENGTH, descending=True))
    assert ids.tolist() == [3, 4, 2, 5, 1]
