"""What the cells of rows of JSON were is kept beside their texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce_desktop.core.errors import Cancelled, DamagedProject
from sce_desktop.core.tables import Cell, TypedCells
from sce_desktop.store.content import importing
from sce_desktop.store.file import schema
from sce_desktop.store.project import Project
from tests.store.test_importing import CancelAfter

COLUMNS = ("id", "text", "tags")


def add(project: Project, rows: Sequence[Sequence[Cell]], size: int = 2) -> None:
    batches = [rows[start : start + size] for start in range(0, len(rows), size)]
    project.add_rows(COLUMNS, batches, text_columns=[1], source={})


def typed(types: str, number: int = 1) -> TypedCells:
    cells = (str(number), f"text {number}", "[1]")
    return TypedCells([None if kind == "-" else cell for cell, kind in zip(cells, types, strict=True)], types)


@settings(deadline=None, max_examples=6)
@given(st.lists(st.sampled_from(["", "jtj", "jt-", "jjj"]), min_size=1, max_size=12), st.integers(1, 5))
def test_every_row_keeps_its_own(
    tmp_path_factory: pytest.TempPathFactory, types: list[str], size: int
) -> None:
    with Project.create(tmp_path_factory.mktemp("p") / "a.sce") as project:
        add(project, [typed(one) if one else ("1", "plain", None) for one in types], size)
        add(project, [("2", "more", "x")])
        kept = {place: one for place, one in enumerate(types, start=1) if one}
        ids = list(range(1, len(types) + 2))
        assert project.cell_types(ids) == kept
        assert project.cell_types(ids[::-1][:2]) == {i: kept[i] for i in ids[::-1][:2] if i in kept}
        assert project.rows([1])[0].cells == (tuple(typed(types[0])) if types[0] else ("1", "plain", None))
        assert project.verify() == []


def test_rows_that_are_alike_share_a_record(project: Project) -> None:
    add(project, [typed("jtj", number) for number in range(1000)], size=1000)
    with closing(sqlite3.connect(project.path)) as plain:
        assert plain.execute("SELECT * FROM cell_types").fetchall() == [(1, 1000, "jtj")]


def test_an_import_that_breaks_off_leaves_none(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_BATCH_ROWS", 2)
    monkeypatch.setattr(importing, "_PART_ROWS", 2)
    add(project, [typed("jtj")])
    with pytest.raises(Cancelled):
        project.add_rows(COLUMNS, [[typed("jt-")] * 10], text_columns=[1], source={}, progress=CancelAfter(3))
    with closing(sqlite3.connect(project.path)) as plain:
        assert plain.execute("SELECT first_row FROM cell_types").fetchall() == [(1,)]
    add(project, [("2", "plain", None), typed("jjj")])
    assert project.cell_types([1, 2, 3]) == {1: "jtj", 3: "jjj"}


@pytest.mark.parametrize("types", ["xyz", b"jtj"])
def test_what_no_cell_can_be_is_damage(project: Project, types: object) -> None:
    add(project, [typed("jtj")])
    project.close()
    with closing(sqlite3.connect(project.path)) as plain:
        plain.execute("UPDATE cell_types SET types = ?", (types,))
        plain.commit()
    with (
        pytest.raises(DamagedProject, match="record 1 of table cell_types has an invalid “types”"),
        Project.open(project.path) as again,
    ):
        again.cell_types([1])


@pytest.mark.parametrize("types", ["jt", "jtjj", "", None])
def test_what_does_not_fit_counts_for_nothing(project: Project, types: object) -> None:
    add(project, [typed("jtj")])
    project.close()
    with closing(sqlite3.connect(project.path)) as plain:
        plain.execute("UPDATE OR IGNORE cell_types SET types = ?", (types,))
        plain.commit()
        (kept,) = plain.execute("SELECT types FROM cell_types").fetchone()
    with Project.open(project.path) as again:
        assert again.cell_types([1]) == ({1: "jtj"} if kept == "jtj" else {})


def test_repair_and_backup_bring_them_along(project: Project, tmp_path: Path) -> None:
    add(project, [typed("jtj"), ("2", "plain", None), typed("j--")])
    project.backup(tmp_path / "backup.sce")
    project.close()
    assert Project.repair_file(project.path, tmp_path / "repaired.sce").problems == ()
    for name in ("backup.sce", "repaired.sce"):
        with Project.open(tmp_path / name) as copy:
            assert copy.cell_types([1, 2, 3]) == {1: "jtj", 3: "j--"}


def test_the_record_is_part_of_the_format() -> None:
    assert schema.cell_types.info["since"] == 5
