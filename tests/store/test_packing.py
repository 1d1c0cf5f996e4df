"""Rows that come by column are stored as the same rows one by one are."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sce_desktop.core.column_rows import ColumnRows
from sce_desktop.store.content import importing
from sce_desktop.store.content.rows import Shape
from sce_desktop.store.project import Project

COLUMNS = ("id", "text", "country")
CELLS = (
    *("", " ", "\u3000", "\ufe0f", "~", "!", "plain", "a,b", 'He said "no"', "back\\slash", "line\nbreak"),
    *("tab\t", "\x7f", "\x1f", "Müsli", "日本語", "👩‍👩‍👧", "%s %_", "[1]", "'=1", "word " * 900),
)  # fmt: skip


def by_column(rows: list[tuple[str, ...]]) -> ColumnRows:
    return ColumnRows([pa.array(column, pa.string()) for column in zip(*rows, strict=True)])


@pytest.mark.parametrize("text_columns", [(0,), (1,), (2,), (0, 2)])
def test_the_same_records_are_made(text_columns: tuple[int, ...]) -> None:
    drawn = random.Random(5)
    rows = [tuple(drawn.choice(CELLS) for _ in COLUMNS) for _ in range(400)]
    shape = Shape(COLUMNS, text_columns)
    expected = importing._pack(rows, shape)
    assert importing._pack(by_column(rows), shape) == expected
    part = by_column([("before", "it", "all"), *rows, ("after", "it", "all")])[1:-1]
    assert importing._pack(part, shape) == expected
    blank = importing._pack([(cell, cell, cell) for cell in ("", "", "")], shape)
    assert importing._pack(by_column([("", "", "")] * 3), shape) == blank


def test_a_project_of_columns_has_the_rows(tmp_path: Path) -> None:
    drawn = random.Random(6)
    rows = [tuple(drawn.choice(CELLS) for _ in COLUMNS) for _ in range(300)]
    found: list[Any] = []
    for name, batches in (
        ("rows", [rows]),
        ("columns", [by_column(rows[:120]), rows[120:200], by_column(rows[200:])]),
    ):
        with Project.create(tmp_path / f"{name}.sce") as project:
            report = project.add_rows(COLUMNS, batches, text_columns=[1], source={})
            found.append((report, project.rows(project.row_ids())))
    assert found[0] == found[1]
