"""What an export says about decisions comes back: export, import, export again."""

from __future__ import annotations

import csv
import itertools
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.core.annotations import Annotation, Decision, Label, Origin, RowMarks
from sce_desktop.core.progress import SilentProgress
from sce_desktop.data.tables import open_table
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.scoring import score_project
from sce_desktop.tasks.tables.decided import DECISION_COLUMNS
from sce_desktop.tasks.tables.export import export_table
from sce_desktop.tasks.tables.round_trip import our_columns
from sce_desktop.tasks.tables.tables import import_table, read_labels, write_labels
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


# --- cells of ours that say something else

HEADER = ["text", *DECISION_COLUMNS, "origin", "labels", "label:a", "label:b"]


def taken_back(folder: Path, rows: list[dict[str, str]]) -> tuple[Project, list[str]]:
    """Import a table with our columns, and return the project and what was told."""
    with (folder / "1.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, HEADER, restval="")
        writer.writeheader()
        writer.writerows({"text": f"text {place}", **row} for place, row in enumerate(rows))
    progress = SilentProgress()
    project = import_table(
        folder / "2.sce", folder / "1.csv", text_columns=["text"], take_back=True, progress=progress
    )
    return project, progress.warnings


def names_of(project: Project, row_id: int) -> list[str]:
    label_set = project.label_set()
    found = project.annotations([row_id])
    assert label_set is not None
    return [
        label.name for label in label_set.labels if row_id in found and label.id in found[row_id].label_ids
    ]


@pytest.mark.parametrize(
    ("cells", "names", "told"),
    [
        ({"label": " "}, [], ""),
        ({"label": "\u200b", "decided": "hand"}, [], ""),
        ({"labels": '[""]'}, [], '“[""]” is not a list of labels'),
        ({"label": "a", "labels": '[" "]'}, ["a"], '“[" "]” is not a list of labels'),
        ({"label": "a", "labels": "[]"}, [], ""),
        ({"labels": '["b", "", "b", "a "]'}, ["a", "b"], ""),
        ({"labels": "['b', 'a']"}, ["a", "b"], ""),
        ({"labels": '"abc"'}, [], '“"abc"” is not a list of labels'),
        ({"label": "a", "labels": "abc"}, ["a"], "“abc” is not a list of labels"),
        ({"label": "a", "labels": "[null, 3]"}, ["a"], "“[null, 3]” is not a list of labels"),
        ({"label": "a", "labels": '{"a": 1}'}, ["a"], "is not a list of labels"),
        ({"label": "a", "labels": "[" * 5000}, ["a"], "[…” is not a list of labels"),
        ({"label": "a", "decided": "by me"}, ["a"], "“by me” is not a kind of annotation"),
        ({"label": "a", "unsure": "yes"}, ["a"], "“yes” is neither 1 nor 0"),
        ({"decided": "none", "origin": "them"}, [], "“them” is not an origin of an annotation"),
        ({"label": "a", "decided_at": "yesterday"}, ["a"], "“yesterday” is not a date and time"),
        ({"label": "a", "decided_at": "2026-13-01T00:00:00"}, ["a"], "is not a date and time"),
    ],
)
def test_bad_cells_are_reported_by_row_and_nothing_else_is_lost(
    tmp_path: Path, cells: dict[str, str], names: list[str], told: str
) -> None:
    fine = {"label": "a", "decided": "hand", "labels": '["a"]', "decided_at": "2026-01-02T03:04:05.678+00:00"}
    project, warnings = taken_back(tmp_path, [fine, cells])
    with project:
        assert (names_of(project, 1), names_of(project, 2)) == (["a"], names)
        assert project.row_count() == 2
        assert [label.name for label in project.label_set().labels] == ["a", "b"]  # type: ignore[union-attr]
        found = project.annotations([2])
        if 2 in found:
            datetime.fromisoformat(found[2].decided_at)
        said = [warning for warning in warnings if "earlier export" in warning]
        assert [("row 2: " in one and told in one) for one in said] == ([True] if told else [])
        assert all(len(one) < 200 for one in said)


def test_many_bad_cells_are_counted(tmp_path: Path) -> None:
    project, warnings = taken_back(tmp_path, [{"label": "a", "decided_at": "?"}] * 12)
    project.close()
    (said,) = (warning for warning in warnings if "earlier export" in warning)
    assert said.startswith("12 cells")
    assert said.endswith("; and 7 more.")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("2026-01-02T03:04:05.678+00:00", "2026-01-02T03:04:05.678+00:00"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05.000+00:00"),
        ("2026-01-02 03:04:05", "2026-01-02T03:04:05.000+00:00"),
        ("2026-01-02", "2026-01-02T00:00:00.000+00:00"),
    ],
)
def test_moments_are_kept_in_utc(tmp_path: Path, written: str, kept: str) -> None:
    project, warnings = taken_back(tmp_path, [{"label": "a", "decided": "hand", "decided_at": written}])
    with project:
        assert project.annotations([1])[1].decided_at == kept
    assert warnings == []


def test_names_that_differ_in_spaces_are_one_label_and_told(tmp_path: Path) -> None:
    rows = [{"labels": '["a"]'}, {"labels": '["a "]'}, {"labels": '[" b", "a", "a "]'}]
    project, warnings = taken_back(tmp_path, rows)
    with project:
        assert [names_of(project, row) for row in (1, 2, 3)] == [["a"], ["a"], ["a", "b"]]
    assert any("“a” and “a ”" in warning for warning in warnings), warnings
