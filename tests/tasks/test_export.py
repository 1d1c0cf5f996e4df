from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.scoring import score_project
from sce_desktop.tasks.tables.export import columns_to_export, export_table, rows_to_export
from tests.tasks.fakes import FakeModel, RecordingProgress, StoppingProgress

DECIDED = ["label", "decided", "unsure", "flag", "note", "decided_at"]
ROWS = 1000


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """1,000 rows in the order 1000..1, of which 5 have no text."""
    rows = [
        (str(ROWS - n), "" if n % 200 == 7 else f"{'damage' if n % 2 else 'delay'} {n}") for n in range(ROWS)
    ]
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(["id", "text"], [rows], text_columns=[1], source={"delimiter": ";"})
        labels = project.set_labels(clean_labels(["damage", "delay"])).labels
        damage, delay = (label.id for label in labels)
        assert damage is not None
        assert delay is not None
        project.decide(range(1, 201), Decision.LABEL, [damage])
        project.decide(range(201, 301), Decision.LABEL, [delay], origin=Origin.BULK)
        project.decide([400], Decision.NONE)
        project.decide([401], Decision.SKIPPED)
        for row in range(10, 20):
            project.set_marks(row, flag=True)
        project.set_marks(500, unsure=True, note="ask, please")
        yield project


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def export(project: Project, path: Path, **options: object) -> list[dict[str, str]]:
    arguments = {"progress": SilentProgress(), **options}
    count = export_table(project, path, **arguments)  # type: ignore[arg-type]
    rows = read(path)
    assert len(rows) == count
    return rows


def test_all_rows_in_import_order_with_what_was_decided(project: Project, tmp_path: Path) -> None:
    rows = export(project, tmp_path / "out.csv")
    assert list(rows[0]) == ["id", "text", *DECIDED]
    assert [row["id"] for row in rows] == [str(n) for n in range(ROWS, 0, -1)]
    assert (rows[0]["label"], rows[0]["decided"]) == ("damage", "hand")
    assert (rows[250]["label"], rows[250]["decided"]) == ("delay", "bulk")
    assert (rows[399]["label"], rows[399]["decided"]) == ("", "none")
    assert (rows[400]["label"], rows[400]["decided"]) == ("", "skipped")
    assert (rows[401]["label"], rows[401]["decided"], rows[401]["decided_at"]) == ("", "", "")
    assert rows[0]["decided_at"].startswith("20")
    assert sum(row["flag"] == "1" for row in rows) == 10
    assert (rows[499]["unsure"], rows[499]["note"]) == ("1", "ask, please")


def test_labelled_only_and_the_number_told_before(project: Project, tmp_path: Path) -> None:
    project.decide([7], Decision.NONE)  # in place of a label
    assert len(rows_to_export(project, "labelled")) == 301
    rows = export(project, tmp_path / "out.csv", only="labelled")
    assert len(rows) == 301
    assert {row["label"] for row in rows} == {"damage", "delay", ""}
    assert [row["id"] for row in rows if row["decided"] == "none"] == [str(ROWS - 6), str(ROWS - 399)]
    assert [int(row["id"]) for row in rows] == sorted((int(row["id"]) for row in rows), reverse=True)
    assert len(export(project, tmp_path / "out.csv", only="flagged")) == 10
    assert len(export(project, tmp_path / "out.csv", only="unlabelled")) == 698


def test_the_rows_shown_in_the_order_shown(project: Project, tmp_path: Path) -> None:
    query = RowQuery(search="damage 1", order=RowOrder.LENGTH, descending=True)
    rows = export(project, tmp_path / "out.csv", only="shown", query=query)
    assert {row["text"][:8] for row in rows} == {"damage 1"}
    lengths = [len(row["text"]) for row in rows]
    assert lengths == sorted(lengths, reverse=True)


def test_chosen_columns_alone(project: Project, tmp_path: Path) -> None:
    rows = export(project, tmp_path / "out.csv", columns=["label", "id"])
    assert list(rows[0]) == ["id", "label"]


def test_scores_of_the_active_model_and_the_baselines(project: Project, tmp_path: Path) -> None:
    models = [
        NamedModel("near", "near", FakeModel("near", kind="similarity")),
        NamedModel("sce", "fake", FakeModel(says_none=True)),
    ]
    score_project(project, models, progress=SilentProgress())
    rows = export(project, tmp_path / "out.csv", threshold=0.8)
    assert list(rows[0])[8:] == [
        *("sce_label", "sce_confidence", "sce_status", "sce_none", "sce_p:damage", "sce_p:delay"),
        *("near_label", "near_confidence", "near_p:damage", "near_p:delay"),
    ]
    assert (rows[1]["sce_label"], rows[1]["sce_confidence"], rows[1]["sce_status"]) == (
        "damage",
        "0.75",
        "unsure",
    )
    assert rows[1]["near_p:delay"] == "0.25"
    assert (rows[7]["sce_status"], rows[7]["sce_label"], rows[7]["near_label"]) == ("blank", "", "")


def test_a_prediction_never_becomes_a_decision(project: Project, tmp_path: Path) -> None:
    before = [(row["label"], row["decided"]) for row in export(project, tmp_path / "out.csv")]
    score_project(project, [NamedModel("sce", "fake", FakeModel())], progress=SilentProgress())
    assert [(row["label"], row["decided"]) for row in export(project, tmp_path / "out.csv")] == before


def test_rows_that_are_not_scored_yet_have_empty_cells(project: Project, tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        score_project(project, [NamedModel("sce", "fake", FakeModel())], progress=StoppingProgress(5))
    rows = export(project, tmp_path / "out.csv")
    assert {row["sce_status"] for row in rows} == {"scored", "blank", ""}


def test_several_labels_as_a_list_and_as_columns(tmp_path: Path) -> None:
    names = ["Food, drink", "C# / .NET", "a|b"]
    with Project.create(tmp_path / "p.sce") as project:
        text = 'Soup, hot; and "fresh"\n2nd line'
        project.add_rows(["text"], [[(text,), ("other",), ("third",)]], text_columns=[0], source={})
        labels = project.set_labels(clean_labels(names), multi_label=True).labels
        project.decide([1], Decision.LABEL, [labels[2].id, labels[0].id])  # type: ignore[list-item]
        project.decide([2], Decision.NONE)
        export_table(project, tmp_path / "out.csv", progress=SilentProgress())
        with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    assert rows[0]["text"] == text
    assert rows[0]["label"] == "Food, drink"
    assert json.loads(rows[0]["labels"]) == [
        "Food, drink",
        "a|b",
    ]  # in the label set's order, not the clicks'
    assert [rows[0][f"label:{name}"] for name in names] == ["1", "0", "1"]
    assert [rows[1][f"label:{name}"] for name in names] == ["0", "0", "0"]
    assert [rows[2][f"label:{name}"] for name in names] == ["", "", ""]
    assert (rows[1]["labels"], rows[2]["labels"]) == ("[]", "")


def test_our_names_give_way_to_original_columns(tmp_path: Path) -> None:
    progress = SilentProgress()
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(["text", "label", "note"], [[("x", "mine", "n")]], text_columns=[0], source={})
        export_table(project, tmp_path / "out.csv", progress=progress)
    header = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert header == ["text", "label", "note", "label_2", "decided", "unsure", "flag", "note_2", "decided_at"]
    assert "label as label_2" in progress.warnings[0]


def test_excel_safe_when_asked_exact_otherwise(tmp_path: Path) -> None:
    cells = ["=1+1", "+49 30 123", "-5 stars", "@home", "\t=cmd"]
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(["text"], [[(cell,) for cell in cells]], text_columns=[0], source={})
        export_table(project, tmp_path / "exact.csv", progress=SilentProgress())
        progress = SilentProgress()
        export_table(project, tmp_path / "safe.csv", excel_safe=True, progress=progress)
    with (tmp_path / "exact.csv").open(encoding="utf-8", newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == cells
    with (tmp_path / "safe.csv").open(encoding="utf-8-sig", newline="") as file:
        assert all(row["text"].startswith("'") for row in csv.DictReader(file))
    assert "5 cells" in progress.warnings[0]


def test_an_empty_project_has_a_header(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(["text"], [], text_columns=[0], source={})
        assert export_table(project, tmp_path / "out.csv", progress=SilentProgress()) == 0
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == ",".join(["text", *DECIDED]) + "\n"


def test_cancel_and_failure_leave_the_old_file(project: Project, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old", encoding="utf-8")
    with pytest.raises(Cancelled):
        export_table(project, out, progress=StoppingProgress(1))
    with pytest.raises(UserError):
        export_table(project, tmp_path / "out.docx", progress=SilentProgress())
    with pytest.raises(UserError):
        export_table(project, tmp_path / "no" / "out.csv", progress=SilentProgress())
    assert out.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.glob("*out*")) == ["out.csv"]


def test_progress(project: Project, tmp_path: Path) -> None:
    progress = RecordingProgress()
    export_table(project, tmp_path / "out.csv", progress=progress)
    assert progress.reports[-1] == (ROWS, ROWS, "exporting")


def test_columns_are_reported_as_they_will_be_written(project: Project, tmp_path: Path) -> None:
    labels = project.label_set()
    assert labels is not None
    named = [
        NamedModel("sce", "fake", FakeModel()),
        NamedModel("similarity", "fake", FakeModel("similarity")),
    ]
    score_project(project, named, progress=SilentProgress())
    groups = columns_to_export(project)
    assert [group for group, _ in groups] == ["original", "decided", "sce", "similarity"]
    assert groups[1][1] == tuple(DECIDED)
    out = tmp_path / "out.csv"
    export_table(project, out, progress=SilentProgress())
    assert [name for _, names in groups for name in names] == list(read(out)[0])
