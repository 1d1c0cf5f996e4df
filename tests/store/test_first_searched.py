"""Words are sought in the first rows of the file before the index is asked about all others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sce_desktop.core.annotations import Decision
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.store.content import search, select, trigrams
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels

ROWS = 3_000
EVERYWHERE, RARE, LATE = "parcel", "zephyr", "quartz"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with Project.create(tmp_path_factory.mktemp("searched") / "searched.sce") as project:
        texts = [f"row {number} about a{' parcel' if number % 2 else ' letter'}" for number in range(ROWS)]
        texts[::600] = [f"{text} with {RARE}" for text in texts[::600]]
        texts[2_500::3] = [f"{text} of {LATE}" for text in texts[2_500::3]]
        fill(project, texts)
        labels = use_labels(project, "a", "b")
        project.decide(list(range(1, ROWS, 50)), Decision.LABEL, [labels[0]])
        project.build_search_index()
        yield project


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Up to which row the index is asked; heads of the file are small here."""
    monkeypatch.setattr(select, "_HEADS", (200, 1_000))
    monkeypatch.setattr(select, "_ENOUGH", 20)
    found = list[int]()
    whole = search.candidates

    def candidates(connection: object, needle: str, last: int) -> NDArray[np.bool_] | None:
        found.append(last)
        return whole(connection, needle, last)  # type: ignore[arg-type]

    monkeypatch.setattr(search, "candidates", candidates)
    return found


def _first(project: Project, query: RowQuery, near: int | None = None) -> tuple[list[int], int | None]:
    ids, count = project.first_ids(query, 50, least=ROWS, near=near, readable=100)
    return ids.tolist(), count


@pytest.mark.parametrize(
    ("words", "reached"),
    [
        (EVERYWHERE, [200]),
        (f"{EVERYWHERE} about", [200, 200]),  # an index for each word
        (f"-{EVERYWHERE}", [200]),
        (RARE, [200, 1_000, ROWS]),
        (LATE, [200, 1_000, ROWS]),
        ("nowhere", [200, 1_000, ROWS]),
    ],
)
def test_no_more_of_the_index_is_read_than_a_screen_takes(
    project: Project, asked: list[int], words: str, reached: list[int]
) -> None:
    query = RowQuery(search=words)
    first, count = _first(project, query)
    assert asked == reached
    whole = project.row_ids(query).tolist()
    assert first == whole[: len(first)]
    assert (len(first) >= 20) or len(first) == len(whole)
    assert count == (len(whole) if len(whole) < 100 else None)


def test_the_rest_is_found_where_the_current_row_is_among_it(project: Project, asked: list[int]) -> None:
    query = RowQuery(search=EVERYWHERE)
    whole = project.row_ids(query).tolist()
    for near, all_of_them in ((whole[3], False), (1, False), (2_901, False), (2_900, True)):
        asked.clear()
        first, count = _first(project, query, near)
        assert (near in whole) is (near % 2 == 0)
        assert count == (len(whole) if all_of_them else None)
        assert first == (whole if all_of_them else whole[: len(first)])
        assert (ROWS in asked) is all_of_them


@pytest.mark.parametrize(
    "query",
    [
        RowQuery(search=f"{EVERYWHERE} label:a"),
        RowQuery(search=EVERYWHERE, state=RowState.UNLABELLED),
        RowQuery(search=EVERYWHERE, order=RowOrder.LENGTH),
        RowQuery(search=EVERYWHERE, descending=True),
    ],
)
def test_other_queries_are_asked_of_the_whole_file(
    project: Project, asked: list[int], query: RowQuery
) -> None:
    first, _count = _first(project, query)
    assert asked == [ROWS]
    assert first == project.row_ids(query).tolist()[: len(first)]


def test_an_order_that_needs_a_run_is_none_of_its_business(project: Project) -> None:
    query = RowQuery(order=RowOrder.CONFIDENCE, run_id=1)
    ids, count = project.first_ids(query, 50, least=10 * ROWS, readable=100)
    assert len(ids) == count == ROWS


def test_rows_that_were_deleted_for_good_are_not_found(tmp_path: Path, asked: list[int]) -> None:
    with Project.create(tmp_path / "gaps.sce") as project:
        fill(project, [f"{EVERYWHERE} {number}" for number in range(ROWS)])
        project.build_search_index()
        with project._database.write() as connection:
            connection.exec_driver_sql("DELETE FROM rows WHERE id BETWEEN 11 AND 20")
        first, _count = _first(project, RowQuery(search=EVERYWHERE))
        assert asked == [200]
        assert first[:12] == [*range(1, 11), 21, 22]


def test_few_rows_are_read_before_more_of_the_index(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = list[int]()
    whole = trigrams.rows_of_blocks

    def rows_of_blocks(blocks: NDArray[np.int64], records: list[bytes], size: int) -> NDArray[np.bool_]:
        codes.append(len(records))
        return whole(blocks, records, size)

    monkeypatch.setattr(trigrams, "rows_of_blocks", rows_of_blocks)
    row = 7
    with project._database.read() as connection:
        text = project.rows([row])[0].text
        found = search.candidates(connection, text, ROWS)
    assert found is not None
    assert found[row]
    assert 1 < len(codes) < len(trigrams.codes_of(text, 16))  # one row is left before all of them are read
    assert project.row_ids(RowQuery(search=f'"{text}"')).tolist() == [row]
