"""What is exported by column is, cell by cell, what is exported row by row, whatever stands in the cells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import SilentProgress
from sce_desktop.data.parquet import writing
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables import export
from sce_desktop.tasks.tables.export import export_table
from tests.tasks.fakes import RecordingProgress
from tests.tasks.hostile_export import PART, make

KINDS: dict[str, dict[str, Any]] = {
    "one label": {},
    "several labels": {"multi_label": True},
    "not scored": {"scored": False},
    "200 labels": {"labels": 200},
}


@pytest.fixture(params=list(KINDS))
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Project]:
    for size in ("_FIRST_ROWS", "_CHUNK_ROWS", "_BLOCK_ROWS"):
        monkeypatch.setattr(export, size, PART)
    with make(tmp_path / "p.sce", **KINDS[request.param]) as project:
        yield project


def both(
    project: Project, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[Path, Path, list[str], list[str]]:
    """Export by column and by row; return both paths and what each was told."""
    made: list[Any] = []
    for kind in ("columns", "rows"):
        path, progress = folder / f"{kind}-{name}", RecordingProgress()
        with monkeypatch.context() as patch:
            if kind == "rows":
                patch.setattr(export, "BY_COLUMN", ())
            else:
                patch.setattr(export._Sheet, "rows", None)
            export_table(project, path, progress=progress, **options)
        made += [path, progress.warnings]
    return made[0], made[2], made[1], made[3]


@pytest.mark.parametrize(
    "options",
    [
        {"final": True},
        {"final": True, "excel_safe": True, "threshold": 0.7},
        {"only": "labelled", "columns": ["text", "=note", "label_2", "sce_label", "sce_p:plain"]},
        {"columns": ["text"]},
        {"columns": ["flag", "sce_confidence", "sce_p:plain"]},
    ],
)
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_csv_is_the_same_byte_for_byte(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, options: dict[str, Any]
) -> None:
    found, wanted, said, told = both(project, tmp_path, f"out.{ending}", monkeypatch, **options)
    assert found.read_bytes() == wanted.read_bytes()
    assert said == told


def test_parquet_has_the_same_values_types_and_metadata(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_GROUP_ROWS", 2 * PART)
    found, wanted, said, told = both(project, tmp_path, "out.parquet", monkeypatch, final=True, threshold=0.7)
    one, other = pq.read_table(found), pq.read_table(wanted)
    assert one.schema.equals(other.schema, check_metadata=True)
    assert one.equals(other)
    assert said == told
    assert pq.ParquetFile(found).metadata.num_row_groups > 1


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_it_looks_at_every_block_whether_to_go_on(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in ("_FIRST_ROWS", "_CHUNK_ROWS", "_BLOCK_ROWS"):
        monkeypatch.setattr(export, size, PART)

    class Stop(SilentProgress):
        looks = 0

        def check(self) -> None:
            Stop.looks += 1
            if Stop.looks == 8:
                raise Cancelled

    with make(tmp_path / "p.sce") as project:
        before = sorted(tmp_path.iterdir())
        with pytest.raises(Cancelled):
            export_table(project, tmp_path / f"out.{ending}", progress=Stop())
        assert sorted(tmp_path.iterdir()) == before
