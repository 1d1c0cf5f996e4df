"""What an export says about decisions comes back: export, import, export again."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.types import Annotation, Decision, Label, Origin, RowMarks
from sce_desktop.data.tables import open_table
from sce_desktop.store.project import Project
from sce_desktop.tasks.carried import our_columns
from sce_desktop.tasks.export import DECISION_COLUMNS, export_table
from sce_desktop.tasks.models import NamedModel
from sce_desktop.tasks.scoring import score_project
from sce_desktop.tasks.tables import import_table, read_labels, write_labels
from tests.tasks.fakes import FakeModel

QUIET = SilentProgress()
LABELS = [
    Label("Food, drink", "what people eat", ("meal", "soup; bread"), "#112233", "f"),
    Label("C# / .NET"),
    Label('50% "off"', colour="#aabbcc"),
    Label("unused > label"),
    Label("a_2"),
]
TEXTS = ['Soup, hot; and "fresh"\n2nd line', "", "=1+1", " spaces ", "日本語 🍜", "naïve", "x", "مرحبا"]


def a_project(path: Path, *, multi_label: bool, columns: tuple[str, ...]) -> Project:
    """Rows decided in every way that there is."""
    project = Project.create(path)
    rows = [tuple(f"{text}|{place}" if place else text for place in range(len(columns))) for text in TEXTS]
    project.add_rows(columns, [rows], text_columns=[0], source={"delimiter": ";"})
    ids = [label.id for label in project.set_labels(LABELS, multi_label=multi_label).labels if label.id]
    several = (ids[2], ids[0]) if multi_label else (ids[0],)
    moments = (f"2026-01-02T03:04:{second:02}.678+00:00" for second in itertools.count())
    ways = [
        (Decision.LABEL, several, Origin.HAND),
        (Decision.NONE, (), Origin.HAND),
        (Decision.LABEL, (ids[1],), Origin.BULK),
        (Decision.SKIPPED, (), Origin.HAND),
        (Decision.LABEL, (ids[4],), Origin.IMPORTED),
        (Decision.NONE, (), Origin.BULK),
    ]
    project.annotate(
        (
            Annotation(row_id, decision, label_ids, origin, next(moments))
            for row_id, (decision, label_ids, origin) in enumerate(ways, start=1)
        ),
        [RowMarks(1, unsure=True), RowMarks(2, flag=True, note='ask; "her"\nsoon'), RowMarks(8, note="0")],
    )
    return project


def facts(project: Project) -> Any:
    label_set = project.label_set()
    assert label_set is not None
    ids = project.row_ids()
    names = {label.id: label.name for label in label_set.labels}
    return (
        [[cell or "" for cell in row.cells] for row in project.rows(ids)],  # a workbook has no empty text
        label_set.multi_label,
        [(a.row_id, a.decision, [names[i] for i in a.label_ids], a.origin, a.decided_at)
         for a in project.annotations(ids).values()],
        project.marks(ids),
    )  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "jsonl"])
@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize(
    "columns", [("text", "ref"), ("text", "label", "label:unused > label", "origin", "labels")]
)
@pytest.mark.parametrize("scored", [False, True])
def test_export_import_export(
    tmp_path: Path, ending: str, multi_label: bool, columns: tuple[str, ...], scored: bool
) -> None:
    first, second, labels = tmp_path / f"1.{ending}", tmp_path / f"2.{ending}", tmp_path / "labels.json"
    with a_project(tmp_path / "1.sce", multi_label=multi_label, columns=columns) as project:
        if scored:
            score_project(project, [NamedModel("sce", "fake", FakeModel())], progress=QUIET)
        export_table(project, first, progress=QUIET)
        label_set = project.label_set()
        assert label_set is not None
        write_labels(labels, label_set.labels)
        before = facts(project)
    with import_table(
        tmp_path / "2.sce",
        first,
        text_columns=["text"],
        take_back=True,
        labels=read_labels(labels),
        progress=QUIET,
    ) as project:
        assert facts(project) == before
        again = project.label_set()
        assert again is not None
        assert again.labels == label_set.labels
        if scored:
            score_project(project, [NamedModel("sce", "fake", FakeModel())], progress=QUIET)
        export_table(project, second, progress=QUIET)
    if ending == "xlsx":  # a workbook notes when it was made
        tables = [open_table(path) for path in (first, second)]
        assert tables[0].columns == tables[1].columns
        cells = [list(itertools.chain.from_iterable(table.batches())) for table in tables]
        assert cells[0] == cells[1]
    else:
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(("multi_label", "scored"), [(True, False), (False, True)])
def test_labels_come_back_in_their_order_from_the_header_alone(
    tmp_path: Path, multi_label: bool, scored: bool
) -> None:
    with a_project(
        tmp_path / "1.sce", multi_label=multi_label, columns=("text", "label:C# / .NET")
    ) as project:
        if scored:
            score_project(project, [NamedModel("sce", "fake", FakeModel())], progress=QUIET)
        export_table(project, tmp_path / "1.csv", progress=QUIET)
    with import_table(
        tmp_path / "2.sce", tmp_path / "1.csv", text_columns=["text"], take_back=True, progress=QUIET
    ) as project:
        label_set = project.label_set()
        assert label_set is not None
        assert [label.name for label in label_set.labels] == [label.name for label in LABELS]
        assert project.undo_text() == "Import annotations"


def test_columns_of_ours_are_known_beside_original_ones_of_the_same_name() -> None:
    ours = list(DECISION_COLUMNS)
    assert our_columns(["text", *ours]) == 1
    assert our_columns(["label", "note", "label_2", "decided", "unsure", "flag", "note_2", "decided_at"]) == 2
    assert our_columns(["text", "label_2", *ours[1:]]) is None
    assert our_columns(ours[:-1]) is None


def test_cells_edited_by_hand_do_no_harm(tmp_path: Path) -> None:
    header = ["text", *DECISION_COLUMNS, "origin", "labels", "label:a"]
    lines = ["x,a,hand,1,maybe,,,nobody,[broken,1", "y,,none,,,,,nobody,,", "z,b,?,,,,,,,"]
    (tmp_path / "1.csv").write_text("\n".join([",".join(header), *lines]), encoding="utf-8")
    with import_table(
        tmp_path / "2.sce", tmp_path / "1.csv", text_columns=["text"], take_back=True, progress=QUIET
    ) as project:
        found = project.annotations([1, 2, 3])
        assert [found[i].decision for i in (1, 2)] == [Decision.LABEL, Decision.NONE]
        assert found[2].origin is Origin.HAND
        assert project.marks([1]) == {1: RowMarks(1, unsure=True)}
