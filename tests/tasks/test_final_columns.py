"""The columns of final labels in every export, and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.store.project import Project
from sce_desktop.store.runs.final import SOURCES
from sce_desktop.tasks.tables.export import columns_to_export, export_table
from sce_desktop.tasks.tables.replaceable import check_export
from sce_desktop.tasks.tables.tables import import_table

FORMATS = (".csv", ".tsv", ".xlsx", ".jsonl", ".parquet")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Rows: yours, none of these, skipped, sure, unsure, no label fits, no text, in bulk."""
    with Project.create(tmp_path / "p.sce") as project:
        texts = [("one",), ("two",), ("three",), ("four",), ("five",), ("six",), ("",), ("eight",)]
        project.add_rows(("text",), [texts], text_columns=[0], source={})
        labels = project.set_labels([Label("late"), Label("damaged")]).labels
        run = project.open_run("sce", "sce", "sce-mini", "f", labels)
        sure = np.asarray([0.9, 0.9, 0.9, 0.8, 0.6, 0.9, 0.9], np.float32)
        none = np.asarray([0, 0, 0, 0, 0, 0.9, 0], np.float32)
        scores = Scores(np.stack([sure, 1 - sure], axis=1), none)
        project.add_scores(run.id, [1, 2, 3, 4, 5, 6, 8], scores)
        project.set_threshold(0.7)
        project.decide([1], Decision.LABEL, [labels[1].id or 0])
        project.decide([2], Decision.NONE)
        project.decide([3], Decision.SKIPPED)
        project.decide([8], Decision.LABEL, [labels[0].id or 0], origin=Origin.BULK)
        yield project


WANTED = [
    ("damaged", "annotator"),
    ("", "annotator"),
    ("", "none"),
    ("late", "model"),
    ("", "none"),
    ("", "none"),
    ("", "none"),
    ("late", "annotator"),
]


def written(path: Path) -> list[tuple[str, str]]:
    """Return the cells of the last two columns."""
    table = open_table(path, TableOptions())
    places = [table.columns.index(name) for name in ("final_label", "final_source")]
    rows = [cells for batch in table.batches() for cells in batch]
    return [(cells[places[0]] or "", cells[places[1]] or "") for cells in rows]


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_says_the_final_label_and_who_gives_it(
    project: Project, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"out{ending}"
    export_table(project, path, final=True, progress=SilentProgress())
    assert written(path) == WANTED


def test_they_stand_last_and_only_if_asked_for(project: Project, tmp_path: Path) -> None:
    assert columns_to_export(project)[-1] == ("final", ("final_label", "final_source"))
    export_table(project, tmp_path / "out.csv", progress=SilentProgress())
    assert not any(name.startswith("final") for name in open_table(tmp_path / "out.csv").columns)
    assert check_export(project, tmp_path / "out.csv")  # an export without them may be replaced by one with
    export_table(project, tmp_path / "out.csv", final=True, progress=SilentProgress())
    assert open_table(tmp_path / "out.csv").columns[-2:] == ("final_label", "final_source")
    assert check_export(project, tmp_path / "out.csv")


def test_another_threshold_than_the_projects_own(project: Project, tmp_path: Path) -> None:
    export_table(project, tmp_path / "out.csv", final=True, threshold=0.5, progress=SilentProgress())
    assert written(tmp_path / "out.csv")[4] == ("late", "model")
    export_table(project, tmp_path / "out.csv", final=True, threshold=0.95, progress=SilentProgress())
    assert written(tmp_path / "out.csv")[3] == ("", "none")


@pytest.mark.parametrize("ending", FORMATS)
def test_an_export_with_them_comes_back_as_it_was(project: Project, tmp_path: Path, ending: str) -> None:
    """The annotations come back; what the model said in the columns is no annotation."""
    path = tmp_path / f"out{ending}"
    export_table(project, path, final=True, progress=SilentProgress())
    with import_table(
        tmp_path / "again.sce", path, text_columns=["text"], take_back=True, progress=SilentProgress()
    ) as again:
        assert again.columns == ("text",)
        ids = list(range(1, 9))
        before, after = project.annotations(ids), again.annotations(ids)
        assert {row: one.decision for row, one in after.items()} == {
            row: one.decision for row, one in before.items()
        }
        label_set = again.label_set()
        assert label_set is not None
        assert [label.name for label in label_set.labels] == ["late", "damaged"]


def test_a_name_that_the_table_has_already_is_written_beside_it(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(("text", "final_label"), [[("one", "mine")]], text_columns=[0], source={})
        project.set_labels([Label("late")])
        export_table(project, tmp_path / "out.csv", final=True, progress=SilentProgress())
    table = open_table(tmp_path / "out.csv")
    assert table.columns[-2:] == ("final_label_2", "final_source")
    (cells,) = (cells for batch in table.batches() for cells in batch)
    assert (cells[1], cells[-2] or "", cells[-1]) == ("mine", "", "none")


def test_several_labels_a_row_are_a_list(tmp_path: Path) -> None:
    with Project.create(tmp_path / "m.sce") as project:
        rows = [("one",), ("two",), ("three",), ("four",)]
        project.add_rows(("text",), [rows], text_columns=[0], source={})
        labels = project.set_labels([Label("a"), Label("b")], multi_label=True).labels
        run = project.open_run("sce", "sce", "m", "f", labels, multi_label=True)
        given = np.asarray([[0.9, 0.8], [0.9, 0.4], [0.2, 0.1], [0.9, 0.9]], np.float32)
        project.add_scores(run.id, [1, 2, 3, 4], Scores(given))
        project.decide([4], Decision.LABEL, [labels[1].id or 0])
        export_table(project, tmp_path / "out.jsonl", final=True, progress=SilentProgress())
        assert written(tmp_path / "out.jsonl") == [
            ('["a", "b"]', "model"),
            ('["a"]', "model"),
            ("", "none"),
            ('["b"]', "annotator"),
        ]


@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("threshold", [None, 0.55])
def test_row_by_row_they_say_what_all_rows_at_once_do(
    tmp_path: Path, multi_label: bool, threshold: float | None
) -> None:
    rng = np.random.default_rng(4)
    with Project.create(tmp_path / "p.sce") as project:
        texts = [(f"text {place}" if place % 9 else "",) for place in range(300)]
        project.add_rows(("text",), [texts], text_columns=[0], source={})
        label_set = project.set_labels([Label("a"), Label("b"), Label("c")], multi_label=multi_label)
        run = project.open_run("sce", "sce", "m", "f", label_set.labels, multi_label=multi_label)
        raw = rng.random((280, 3)).astype(np.float32)
        shares = raw if multi_label else raw / raw.sum(axis=1, keepdims=True)
        none = rng.random(280).astype(np.float32)
        project.add_scores(run.id, np.arange(1, 281), Scores(shares, none))
        project.activate(run.id)
        first = label_set.labels[0].id or 0
        project.decide(list(range(3, 300, 11)), Decision.LABEL, [first])
        project.decide(list(range(4, 300, 11)), Decision.SKIPPED)
        project.decide(list(range(5, 300, 11)), Decision.NONE)
        project.delete_label(label_set.labels[1].id or 0)
        for given in (threshold, 0.7):
            ids, codes = project.final_sources(run.id, given)
            wanted = {int(row): SOURCES[code].value for row, code in zip(ids, codes, strict=True)}
            export_table(
                project, tmp_path / "out.csv", final=True, threshold=given, progress=SilentProgress()
            )
            found = [source for _label, source in written(tmp_path / "out.csv")]
            assert found == [wanted.get(row, "none") for row in range(1, 301)]
            assert len(set(found)) == 3
