"""Cells of a column read by the quotes of their lists are those that parsing reads; else they are parsed."""

from __future__ import annotations

import json
import random
import sqlite3

import numpy as np
import pytest

from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.content import column_codes
from sce_desktop.store.content.column_cells import cells_between
from sce_desktop.store.content.column_codes import cells_at, coded_batches
from sce_desktop.store.content.listed_cells import columns_in
from sce_desktop.store.file.connections import raw
from sce_desktop.store.project import Project


def lines(lists: list[list[str]]) -> bytes:
    written = (json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in lists)
    return "\n".join(written).encode()


@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_plain_cells_are_read_by_their_quotes(width: int, seed: int) -> None:
    choose = random.Random(seed)
    words = ["", "a", "b,c", "[x]", "','", "é 日本", "x" * 300, "],["]
    lists = [[choose.choice(words) for _ in range(width)] for _ in range(200)]
    for place in range(width):
        found = cells_at(lines(lists), len(lists), width, place)
        assert found is not None
        texts, codes = found
        assert len(set(texts)) == len(texts)
        assert [texts[code] for code in codes.tolist()] == [one[place] for one in lists]


@pytest.mark.parametrize(
    "odd",
    [
        '["a",null,"c"]',
        '["a","b"]',
        '["a","b","c","d"]',
        '["a","b\\"","c"]',
        '["a", "b","c"]',
        '["a";"b","c"]',
        '["a","b","c"],',
        ' ["a","b","c"]',
        '["a\tb","b","c"]',
        '["a\nb","b","c"]',
        '["a","b","c"}',
        '[1,"b","c"]',
        "",
        "[]",
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_written_otherwise_is_not_guessed(odd: str, place: int) -> None:
    rows = ['["a","b","c"]'] * 3
    rows[place] = odd
    assert cells_at("\n".join(rows).encode(), 3, 3, 1) is None


def test_lists_that_are_such_only_together_are_not_guessed() -> None:
    assert columns_in(b'["a","b"]\n["c","d"]', 2, 2) is not None
    assert columns_in(b'["a"\n"b"],["c","d"]', 2, 2) is None
    assert columns_in(b'["a","b"],["c","d"]', 2, 2) is None


def test_cells_that_are_no_text_are_not_guessed() -> None:
    assert cells_at(b'["a\xff","b"]', 1, 2, 0) is None
    assert cells_at(None, 0, 2, 0) is None
    assert cells_at(b"[]\n[]", 2, 0, 0) is None


@pytest.mark.parametrize("text_at", [0, 1, 2])
def test_batches_say_what_parsing_says(
    project: Project, text_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some batches are plain, one has an escape, one a null, one is too long for one piece."""
    monkeypatch.setattr(column_codes, "_BATCH", 10)
    monkeypatch.setattr(column_codes, "_MOST_BYTES", 2_000)
    rows = [[f"a{n % 3}", f"b{n}", f"c{n // 2}"] for n in range(67)]
    rows[15][0] = 'said "so"'
    rows[25] = ["x", None, None]  # type: ignore[list-item]
    rows[36][2] = "long" * 600
    rows[47][1] = "é"
    project.add_rows(["a", "b", "c"], [rows], text_columns=[text_at], source={})
    with project._database.read() as connection:
        for column in range(3):
            wanted = [
                pair
                for batch in cells_between(connection, column, 0, 67)
                for pair in zip(*batch, strict=True)
            ]
            found = [
                (int(row_id), some.texts[code])
                for some in coded_batches(connection, column, 67, SilentProgress())
                for row_id, code in zip(some.ids, some.codes, strict=True)
            ]
            assert found == wanted
        assert raw(connection).getlimit(sqlite3.SQLITE_LIMIT_LENGTH) > 10_000


def test_plain_rows_are_not_parsed_one_by_one(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_codes, "_BATCH", 100)
    project.add_rows(["a", "b"], [[["x", str(n % 7)] for n in range(1_000)]], text_columns=[0], source={})

    def never(*_: object) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(column_codes, "cells_between", never)
    with project._database.read() as connection:
        batches = list(coded_batches(connection, 1, 1_000, SilentProgress()))
    assert len(batches) == 10
    assert all(len(some.texts) == 7 for some in batches)
    assert np.array_equal(np.concatenate([some.ids for some in batches]), np.arange(1, 1_001))
