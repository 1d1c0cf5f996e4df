"""`project use`, `evaluate`, `label`, `findings`, `queue` and `export --format`, and the same in Python."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import sce_desktop
from sce_desktop import cli
from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.errors import UserError
from sce_desktop.project import Project
from tests.ml.tiny import tiny_sce

TEXTS = [
    "football team",
    "match goal",
    "player match",
    "stock market",
    "bank stock",
    "market company",
    "late",
]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    table = tmp_path / "in.csv"
    lines = [f"k{n},{text},{'north' if n % 2 else 'south'}" for n, text in enumerate(TEXTS)]
    table.write_text("key,text,region\n" + "\n".join(lines) + "\n", encoding="utf-8")
    path = tmp_path / "p.sce"
    Project.from_table(path, table, text="text", labels=["wet", "blue"]).close()
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert cli.main(["project", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["project", *arguments]) == 2
    return capsys.readouterr().err


def test_it_is_offered_by_the_package() -> None:
    assert sce_desktop.Project is Project


def test_a_queue_is_labelled_elsewhere_and_comes_back(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = made.with_name("next.csv")
    found = run(capsys, "queue", str(made), "--order", "file", "-n", "3", "-o", str(table))
    assert [row["row"] for row in found["rows"]] == [1, 2, 3]
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["row", "label", "key", "text", "region"]
    for row, label in zip(rows, ["wet", "", "blue"], strict=True):
        row["label"] = label
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    found = run(capsys, "label", str(made), str(table))
    assert (found["rows"], found["blank"], found["relabelled"], found["unknown"]) == (2, 1, 0, 0)
    assert run(capsys, "label", str(made), str(table))["relabelled"] == 0
    with Project.open(made) as project:
        assert project.labels_of([1, 2, 3]) == {1: ("wet",), 3: ("blue",)}
        assert project.annotations([1])[1].origin is Origin.IMPORTED
        assert len(project.queue("file")) == 5
        project.undo()  # the same labels again
        project.undo()
        assert project.labels_of([1, 2, 3]) == {}


def test_labels_by_a_key_of_ones_own(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = made.with_name("labels.csv")
    table.write_text("key,label\nk2,wet\nk9,wet\nk3,green\n", encoding="utf-8")
    problem = refused(capsys, "label", str(made), str(table), "--key", "key")
    assert "1 row has a label that the project does not have (“green”)" in problem
    with Project.open(made) as project:
        assert project.labels_of(range(1, 8)) == {}
    found = run(capsys, "label", str(made), str(table), "--key", "key", "--new-labels")
    assert (found["rows"], found["unknown"], found["new_labels"]) == (2, 1, ["green"])
    found = run(capsys, "label", str(made), str(table), "--key", "key", "--annotator", "Ann")
    assert (found["annotator"], found["rows"]) == ("Ann", 2)
    assert "no column “nr”" in refused(capsys, "label", str(made), str(table), "--key", "nr")
    with Project.open(made) as project:
        assert project.labels_of(range(1, 8)) == {3: ("wet",), 4: ("green",)}
        assert project.agreement()[0].agreement.rows == 0  # imported labels are compared apart
        assert [coder.name for coder in project.coders()] == ["Ann"]


def test_scores_figures_and_versions(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole way without a window, on a tiny model."""
    model = str(tiny_sce(tmp_path / "models"))
    with Project.open(made) as project:
        assert [run.scored for run in project.score(model=model)] == [7]
        rows = project.queue("least certain")
        assert sorted(rows) == list(range(1, 8))
        assert sorted(project.queue("diverse", 3)) != []
        with pytest.raises(UserError, match="No baseline has scored"):
            project.queue("models disagree")
        with pytest.raises(UserError, match="is not a queue"):
            project.queue("nearest")
        project.label([1, 2, 3], "wet")
        project.label([4, 5, 6], "blue")
        with pytest.raises(UserError, match="has one label"):
            project.label(1, "wet", "blue")
        with pytest.raises(UserError, match="no row 70"):
            project.label(70, "wet")
        project.none_fits(7)
        version = project.finetune(model=model, head="sce")
        assert (version.number, version.train_rows) == (1, 6)
        assert project.active_version() is None
        quality = project.evaluate()
        assert [(part.decided, part.rows) for part in quality.parts] == [(7, 6)]
    found = run(capsys, "use", str(made), "1")
    assert (found["number"], found["base"]) == (1, model)
    assert "has no version 4: choose one of base, 1" in refused(capsys, "use", str(made), "4")
    assert run(capsys, "use", str(made), "base")["number"] is None
    found = run(capsys, "evaluate", str(made))
    assert found["parts"][0]["source"] == "hand"
    assert set(found["parts"][0]["models"]["sce"]) == {"accuracy", "accuracy_interval", "macro_f1", "ece"}
    assert cli.main(["project", "evaluate", str(made)]) == 0
    assert "accuracy" in capsys.readouterr().out
    report = made.with_name("report.html")
    found = run(capsys, "findings", str(made), "--by", "region", "-o", str(report))
    assert found["whole"]["wet"]["labelled"] == 3
    assert {group["name"]: group["rows"] for group in found["groups"]} == {"south": 4, "north": 3}
    assert "<html" in report.read_text(encoding="utf-8")
    assert "must end in .xlsx or .html" in refused(capsys, "findings", str(made), "-o", "report.pdf")
    tasks = made.with_name("tasks.json")
    found = run(capsys, "export", str(made), "-o", str(tasks), "--format", "label-studio")
    assert (found["rows"], found["format"]) == (7, "label-studio")
    first = json.loads(tasks.read_text(encoding="utf-8"))[0]
    assert first["predictions"][0]["model_version"]
    assert "already exists" in refused(capsys, "export", str(made), "-o", str(tasks), "--format", "argilla")


def test_a_workbook_has_a_frozen_filtered_header_and_a_legend(made: Path) -> None:
    with Project.open(made) as project:
        project.set_labels([Label("wet", description="=rain"), Label("blue")])
        project.decide([1], Decision.LABEL, [1])
        project.export(made.with_name("out.xlsx"))
    book = openpyxl.load_workbook(made.with_name("out.xlsx"))
    assert book.sheetnames == ["Sheet1", "Legend", "About"]
    sheet = book["Sheet1"]
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", "A1:I8")
    legend = {row[0]: row[1] for row in book["Legend"].iter_rows(values_only=True)}
    assert legend["label"] == "Your label; empty if there is none"
    assert legend["wet"] == "=rain"  # as text, not as a formula
    assert "region" not in legend
    with Project.from_table(
        made.with_name("q.sce"), made.with_name("out.xlsx"), text="text", restore=True
    ) as again:
        assert again.labels_of([1]) == {1: ("wet",)}


def test_labels_are_suggested_and_rows_mapped(tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    lines = [f"{text} {n}" for n in range(8) for text in TEXTS[:6]]
    table.write_text("text\n" + "\n".join(lines) + "\n", encoding="utf-8")
    model = str(tiny_sce(tmp_path / "models"))
    with Project.from_table(tmp_path / "q.sce", table, text="text", labels=["wet", "blue"]) as project:
        project.use_model(model, chosen=True)
        found = project.suggest_labels(2, rows=40)
        assert (len(found.clusters), found.sampled, found.total) == (2, 40, 48)
        assert sum(one.rows for one in found.clusters) == 40
        assert [one.name for one in project.label_set().labels] == ["wet", "blue"]  # type: ignore[union-attr]
        with pytest.raises(UserError, match="the labels cover the table"):
            project.suggest_labels(2, rows=40, covering=True)
        project.score(model=model)
        laid = project.map()
        assert laid.places.shape == (48, 2)
        assert laid.missing == 0
