"""Which model and version gave what an export or a report says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow.parquet as pq
import pytest

from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.core.tables import TableOptions
from sce_desktop.core.training import FinetuneSettings, TrainingReport
from sce_desktop.data.tables import open_table
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.export import export_table
from sce_desktop.tasks.tables.provenance import about


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(["text"], [[("one",), ("two",)]], text_columns=[0], source={})
        project.set_labels(clean_labels(["a", "b"]))
        yield project


def score(project: Project, alias: str, model: str, fingerprint: str) -> None:
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run(alias, "sce", model, fingerprint, label_set.labels)
    project.add_scores(run.id, [1, 2], Scores(np.full((2, 2), 0.5, dtype=np.float32)))
    project.activate(run.id)


def add_version(project: Project) -> str:
    version = project.add_version(
        name="Autumn",
        base="sce-mini",
        base_fingerprint="f",
        data_hash="d",
        train_rows=180,
        held_out_rows=20,
        settings=FinetuneSettings(),
        report=TrainingReport(),
        seconds=1.0,
        weights=b"w",
    )
    return version.title


def test_models_and_versions_are_named(project: Project) -> None:
    assert about(project)[-1] == "No model has scored the rows."
    title = add_version(project)
    score(project, "sce", title, "abc123")
    score(project, "similarity", "all-MiniLM-L6-v2", "def456")
    *_, sce, similarity = about(project)
    day = project.versions()[0].created_at[:10]
    assert sce.startswith(
        f"sce: sce-mini + version 1, “Autumn”, fine-tuned from sce-mini on 180 rows on {day}; "
    )
    assert "2 rows scored with 2 labels" in sce
    assert sce.endswith("fingerprint abc123")
    assert similarity.startswith("similarity: all-MiniLM-L6-v2; ")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "xlsx", "parquet"])
def test_every_kind_of_table_can_say_it(project: Project, tmp_path: Path, ending: str) -> None:
    score(project, "sce", add_version(project), "abc123")
    out, beside = tmp_path / f"out.{ending}", tmp_path / f"out.{ending}.about.txt"
    export_table(project, out, progress=SilentProgress())
    assert not beside.exists()  # one file was asked for
    export_table(project, out, note=True, progress=SilentProgress())
    if ending == "xlsx":
        said = "\n".join(str(cell.value) for cell in openpyxl.load_workbook(out)["About"]["A"])
    elif ending == "parquet":
        said = (pq.read_schema(out).metadata or {})[b"about"].decode()
    else:
        said = beside.read_text(encoding="utf-8")
    assert beside.exists() == (ending not in ("xlsx", "parquet"))
    assert said.rstrip() == "\n".join(about(project))
    assert open_table(out, TableOptions()).columns[:1] == ("text",)  # the table comes first in a workbook
