"""Rows and scores in bulk are those that are read one by one, whatever stands in them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sce_desktop.core.errors import DamagedProject
from sce_desktop.core.runs import Scores
from sce_desktop.core.tables import Cell
from sce_desktop.store.content import row_columns
from sce_desktop.store.project import Project
from sce_desktop.store.runs import bulk
from tests.store.conftest import fill, use_labels
from tests.store.test_importing import COLUMNS, ODD_CELLS


def cells_of(column: Any) -> list[Cell]:
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def asked_for(count: int) -> list[list[int]]:
    shuffled = random.Random(2).sample(range(1, count + 1), count)
    return [list(range(1, count + 1)), [], [7], [3, 4, 5], [5, 4, 3], [1, 9, 2], shuffled]


@pytest.mark.parametrize("text_columns", [(0,), (2,), (0, 2)])
@pytest.mark.parametrize("odd", [False, True])
def test_rows_by_column(project: Project, text_columns: Sequence[int], odd: bool) -> None:
    drawn = random.Random(1)
    usual: list[Cell] = [cell for cell in ODD_CELLS if cell is not None and "\0" not in cell]
    cells = ODD_CELLS if odd else usual
    table = [tuple(drawn.choice(cells) for _ in COLUMNS) for _ in range(60)]
    project.add_rows(COLUMNS, [table], text_columns=text_columns, source={})
    for ids in asked_for(len(table)):
        found = project.row_columns(np.array(ids, np.int64))
        rows = project.rows(ids)
        assert list(zip(*map(cells_of, found.columns), strict=True)) == [row.cells for row in rows]
        assert cells_of(found.texts) == [row.text for row in rows]
        assert len(found.columns) == len(COLUMNS)
    with pytest.raises(KeyError):
        project.row_columns(np.array([60, 61], np.int64))


def test_usual_rows_take_one_step(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(project, ["one", "two, three", "", "Zoë 日本", "last"])
    monkeypatch.setattr(row_columns.rows, "fetch", None)  # one by one is for what is unusual
    assert cells_of(project.row_columns(np.arange(1, 6)).texts) == [
        "one",
        "two, three",
        "",
        "Zoë 日本",
        "last",
    ]
    assert cells_of(project.row_columns(np.array([4, 1])).texts) == ["Zoë 日本", "one"]


def test_long_texts_are_read_one_by_one(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(project, ["a text", "another text" * 10])
    monkeypatch.setattr(row_columns, "_MOST_BYTES", 100)
    found = project.row_columns(np.arange(1, 3))
    assert found.texts == ["a text", "another text" * 10]  # and not an array
    assert isinstance(project.row_columns(np.arange(1, 2)).texts, pa.StringArray)


@pytest.mark.parametrize("none", ["all", "nobody", "some"])
def test_scores_in_bulk(project: Project, monkeypatch: pytest.MonkeyPatch, none: str) -> None:
    fill(project, [f"text {number}" for number in range(40)])
    use_labels(project, "a", "b", "c")
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels)
    rng = np.random.default_rng(3)
    probabilities = rng.random((40, 3), dtype=np.float32) ** 9
    scored = [row for row in range(1, 41) if row % 4]
    given = rng.random(40, dtype=np.float32) ** 9
    places = np.array(scored) - 1
    half = len(scored) // 2 if none == "some" else len(scored)
    for some in (slice(0, half), slice(half, None)):
        says = none == "all" or (none == "some" and some.start == 0)
        part = places[some]
        if len(part):
            project.add_scores(run.id, part + 1, Scores(probabilities[part], given[part] if says else None))
    for ids in asked_for(40):
        fast = project.scores_of_rows(run.id, np.array(ids, np.int64))
        with monkeypatch.context() as patch:
            patch.setattr(bulk, "_MOST_BYTES", -1)
            slow = project.scores_of_rows(run.id, np.array(ids, np.int64))
        assert np.array_equal(fast.present, slow.present)
        assert np.array_equal(fast.scores.probabilities, slow.scores.probabilities)
        assert (fast.scores.none is None) == (slow.scores.none is None)
        if fast.scores.none is not None and slow.scores.none is not None:
            assert np.array_equal(fast.scores.none, slow.scores.none, equal_nan=True)


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("UPDATE rows SET text = ? WHERE id = 2", b"bytes"),
        ("UPDATE rows SET cells = ? WHERE id = 2", '["a", 1]'),
        ("UPDATE rows SET cells = ? WHERE id = 2", "[]"),
        ("UPDATE scores SET probabilities = ? WHERE row_id = 2", b"1234"),
        ("UPDATE scores SET probabilities = ? WHERE row_id = 2", "a text"),
    ],
)
def test_what_no_program_of_ours_writes_is_named(
    project: Project, path: Path, statement: str, value: object
) -> None:
    fill(project, ["one", "two", "three"])
    use_labels(project, "a", "b")
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels)
    project.add_scores(run.id, [1, 2, 3], Scores(np.full((3, 2), 0.5, np.float32)))
    project.close()
    with closing(sqlite3.connect(path)) as plain, plain:
        plain.execute(statement, (value,))
    of_scores = "scores" in statement
    with Project.open(path) as again, pytest.raises(DamagedProject):
        again.scores_of_rows(run.id, np.arange(1, 4)) if of_scores else again.row_columns(np.arange(1, 4))
