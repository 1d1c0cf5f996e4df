from __future__ import annotations

from pathlib import Path

import pytest

from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.findings import by_value
from sce_desktop.tasks.tables.parts import columns, part


def project_with(path: Path, header: tuple[str, ...], rows: list[tuple[str | None, ...]]) -> Project:
    project = Project.create(path / "p.sce")
    project.add_rows(header, [rows], text_columns=[header.index("text")], source={})
    return project


def test_the_first_offers_are_a_column_of_few_values_and_one_of_dates(tmp_path: Path) -> None:
    rows = [
        (f"T-{n}", f"text {n}", f"{1 + n % 28}.03.2024" if n % 10 else "soon", ("mail", "chat")[n % 2])
        for n in range(60)
    ]
    with project_with(tmp_path, ("ticket", "text", "when", "channel"), rows) as project:
        found = columns(project)
    assert found.places == (0, 2, 3)
    assert (found.by_value, found.by_date) == (3, 2)


@pytest.mark.parametrize(
    ("header", "row", "places", "first"),
    [
        (("text",), ("a",), (), None),
        (("id", "text"), ("7", "a"), (0,), 0),
        (("e", "text"), (None, "a"), (0,), 0),
    ],
)
def test_there_is_always_an_offer_where_there_is_a_column(
    tmp_path: Path,
    header: tuple[str, ...],
    row: tuple[str | None, ...],
    places: tuple[int, ...],
    first: int | None,
) -> None:
    with project_with(tmp_path, header, [row] * 3) as project:
        found = columns(project)
    assert (found.places, found.by_value, found.by_date) == (places, first, first)


def test_parts_by_value_and_over_time() -> None:
    cells = ["2024-01-05", "2024-02-06", "soon", "", None, "2024-02-07"]
    found = part(cells, over_time=True, unit="month", progress=SilentProgress())
    assert found.names == ("2024-01", "2024-02")
    assert found.codes.tolist() == [0, 1, -1, -1, -1, 1]
    assert (found.unit, found.unreadable) == ("month", 1)
    assert found.notes == ("2 rows have no date and are in no period.",)
    codes, names = by_value(cells)
    by_cell = part(cells, over_time=False, progress=SilentProgress())
    assert (by_cell.codes.tolist(), by_cell.names, by_cell.unit) == (codes.tolist(), names, None)
