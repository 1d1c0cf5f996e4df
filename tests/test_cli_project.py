"""`project` from the command line, with a real tiny model: create, add, score, export."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from sce_desktop import cli
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring import sample_first, scoring
from tests.ml.tiny import tiny_sce
from tests.project_bench import (  # noqa: F401
    LABELS,
    TABLE,
    as_json,
    model_fixture,
    project_fixture,
    run,
    table_fixture,
)


@pytest.mark.parametrize("use", ["annotations", "gold"])
def test_lists_of_labels_are_taken_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], use: str
) -> None:
    table = tmp_path / "tags.csv"
    table.write_text('text,tags\na,"[""Desire"", ""Disgust""]"\nb,"[""Disgust""]"\nc,\n', encoding="utf-8")
    create = ("create", str(tmp_path / "a.sce"), str(table), "--text", "text", "--gold", "tags")
    assert run(*create, "--gold-as", use, "--json") == 0
    out, err = capsys.readouterr()
    made = json.loads(out)
    assert (made["labels"], made["multi_label"]) == (["Desire", "Disgust"], True)
    assert made["decided"]["labelled"] == (2 if use == "annotations" else 0)
    assert "“tags” has lists of labels. Each name in them is a label" in err
    other = as_json(capsys, "create", str(tmp_path / "b.sce"), *create[2:], "--gold-as", use, "--no-lists")
    assert (other["labels"], other["multi_label"]) == (['["Desire", "Disgust"]', '["Disgust"]'], False)


def test_create_and_info(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "проект.sce")
    made = as_json(capsys, "create", path, table, "--text", "text", "--gold", "topic")
    assert (made["rows"], made["blank"], made["labels"]) == (4, 1, ["damaged", "late"])
    assert made["decided"] == {"labelled": 3, "none": 0, "skipped": 0}
    assert as_json(capsys, "info", path) == made
    assert run("info", path) == 0
    assert "проект: 4 rows" in capsys.readouterr().out
    assert run("create", path, table, "--text", "text") == 2
    assert "already exists" in capsys.readouterr().err
    with sqlite3.connect(path) as database:  # the search index is there
        assert database.execute("SELECT searchable_to FROM project").fetchone() == (4,)


def test_joint_scores_and_what_is_kept_of_it(
    project: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown(*arguments: str) -> str:
        scored = as_json(capsys, "score", project, "--model", model, *arguments)
        (active,) = (run["model"] for run in scored["runs"] if run["active"])
        return str(active)

    assert shown() == model
    assert shown("--joint") == f"{model}, whole table"
    assert shown() == f"{model}, whole table"  # as the window goes on with it
    assert shown("--no-joint") == model
    assert shown() == model
    assert shown("--joint") == f"{model}, whole table"
    assert shown("--label", "damaged") == model  # one label is asked by itself
    assert run("score", project, "--model", model, "--joint") == 2
    assert "Joint prediction is not available with one label" in capsys.readouterr().err


def test_a_model_folder_that_is_called_so_is_an_ordinary_one(
    project: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(tiny_sce(tmp_path, name="x, whole table"))
    counted = []
    for option in ("--no-joint", "--joint"):
        found = as_json(capsys, "score", project, "--model", model, option)
        counted.append((found["whole_table"], found["runs"][-1]["model"], found["runs"][-1]["whole_table"]))
        assert as_json(capsys, "info", project) == found
    assert counted == [(False, model, False), (True, f"{model}, whole table", True)]


def test_info_has_the_figures_of_sessions(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "p.sce")
    assert run("create", path, table, "--text", "text", "--label", "Late") == 0
    capsys.readouterr()
    with Project.open(path) as project:
        late = project.set_labels([Label("Late"), Label("Lost")]).labels[0].id
        project.decide([1, 2], Decision.LABEL, [late or 0])
        project.add_repeat(1, [late or 0])
    assert as_json(capsys, "info", path)["session"] == {
        "labelled_today": 2,
        "labelled_in_session": 2,
        "median_seconds": None,
        "rows_an_hour": None,
        "repeats": 1,
        "repeats_agree": 1.0,
        "kappa": None,
    }


def test_info_says_whether_rows_are_predicted_jointly(
    project: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for on, said in ((False, "off"), (True, "on")):
        with Project.open(project) as opened:
            opened.use_whole_table(on)
        assert as_json(capsys, "info", project)["whole_table"] is on
        assert run("info", project) == 0
        assert f"\njoint prediction: {said}\n" in capsys.readouterr().out
    with Project.open(project) as opened:
        opened.set_labels([Label("damaged")])  # is asked by itself
    assert as_json(capsys, "info", project)["whole_table"] is False


def test_a_refused_choice_is_not_kept(
    table: str, tmp_path: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "p.sce")
    assert run("create", path, table, "--text", "text") == 0
    assert run("score", path, "--model", model, "--joint") == 2
    assert "give at least one label" in capsys.readouterr().err
    with Project.open(path, read_only=True) as project:
        assert not project.whole_table()


def test_create_with_right_answers(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "p.sce")
    made = as_json(capsys, "create", path, table, "--text", "text", "--gold", "topic", "--gold-as", "gold")
    assert made["labels"] == ["damaged", "late"]
    assert made["decided"] == {"labelled": 0, "none": 0, "skipped": 0}
    assert made["coders"] == {"gold": 3}
    assert run("info", path) == 0
    assert "annotations of gold: 3 rows" in capsys.readouterr().out


@pytest.mark.parametrize("use", ["annotations", "gold"])
def test_labels_that_look_the_same_are_reported_and_merged_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], use: str
) -> None:
    table = tmp_path / "in.csv"
    table.write_text("text,gold\na,Late\nb,late\nc,late\nd,Lost\ne,LATE\n")
    columns = [str(table), "--text", "text", "--gold", "gold", "--gold-as", use]
    assert run("create", str(tmp_path / "p.sce"), *columns) == 0
    assert "Some labels look the same: add --merge-labels to merge them." in capsys.readouterr().err
    assert run("create", str(tmp_path / "q.sce"), *columns, "--merge-labels", "--json") == 0
    found = capsys.readouterr()
    assert "add --merge-labels" not in found.err
    assert "Merged into the label" in found.err
    made = json.loads(found.out)
    assert len(made["labels"]) == 2
    assert {label.lower() for label in made["labels"]} == {"late", "lost"}
    assert made["coders"] == ({"gold": 5} if use == "gold" else {})
    assert made["decided"]["labelled"] == (5 if use == "annotations" else 0)


def test_create_with_a_column_without_a_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.csv"
    path.write_text("text,gold\nlate,\ndamaged,\n")
    assert (
        run("create", str(tmp_path / "p.sce"), str(path), "--text", "text", "--gold", "gold", "--json") == 0
    )
    assert "Column “gold” has no labels: no row was labelled." in capsys.readouterr().err


def test_score_tells_of_scripts_that_the_model_cannot_read(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "ru.csv"
    table.write_text("text\nпосылка пришла поздно\nit is late\n")
    project = str(tmp_path / "p.sce")
    assert run("create", project, str(table), "--text", "text", *LABELS) == 0
    assert "script" not in capsys.readouterr().err
    assert run("score", project, "--model", model, "--json") == 0
    found = capsys.readouterr()
    said = f"1 of 2 texts is in Cyrillic script, which {model} cannot read: do not rely on"
    assert said in found.err
    assert [said in warning for warning in json.loads(found.out)["warnings"]] == [True]


def test_add(project: str, table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    added = as_json(capsys, "add", project, table)
    assert (added["added"], added["rows"]) == (4, 8)
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n", encoding="utf-8")
    assert run("add", project, str(other)) == 2
    assert "columns" in capsys.readouterr().err


def test_the_random_sample_of_a_large_table_is_reported(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_first, "SAMPLE_FROM", 100)
    monkeypatch.setattr(sample_first, "SAMPLE_ROWS", 40)
    monkeypatch.setattr(scoring, "REPORT_FROM_S", 0.0)
    table = tmp_path / "large.csv"
    table.write_text("text\n" + "".join(f"row {n} is late\n" for n in range(150)), encoding="utf-8")
    project = str(tmp_path / "p.sce")
    assert run("create", project, str(table), "--text", "text", *LABELS) == 0
    capsys.readouterr()
    assert run("score", project, "--model", model, "--baseline", f"similarity:{model}", "--json") == 0
    found = capsys.readouterr()
    (line,) = (line for line in found.err.splitlines() if "scored at random" in line)
    assert line.startswith("40 of 150 rows scored at random: ")
    assert "disagree with Similarity. The rest takes about " in line
    sample = json.loads(found.out)["sample"]
    assert sample["rows"] == 40
    assert sum(sample["shares"].values()) == pytest.approx(1)
    assert 0 <= sample["disagree"]["similarity"] <= 1
    assert run("score", project, "--model", model, "--json") == 0  # nothing is left
    assert "sample" not in json.loads(capsys.readouterr().out)


def test_score_and_export(
    project: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored = as_json(capsys, "score", project, "--model", model, "--baseline", f"tiny=similarity:{model}")
    assert [(run["alias"], run["scored"], run["finished"]) for run in scored["runs"]] == [
        ("sce", 3, True),
        ("tiny", 3, True),
    ]
    assert run("score", project, "--model", model) == 0
    assert capsys.readouterr().out == f"{project}: scored 3 rows by sce.\n"
    out = tmp_path / "out.csv"
    assert as_json(capsys, "export", project, "-o", str(out)) == {"rows": 4, "output": str(out)}
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert [row["id"] for row in rows] == ["3", "1", "2", "9"]
    assert list(rows[0])[3:9] == ["label", "decided", "unsure", "flag", "note", "decided_at"]
    assert [row["sce_label"] for row in rows[:2]] == ["damaged", "late"]
    assert (rows[2]["sce_status"], rows[2]["tiny_label"]) == ("blank", "")
    assert as_json(capsys, "export", project, "-o", str(out), "--only", "labelled")["rows"] == 0


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "jsonl"])
def test_an_older_export_is_replaced_and_nothing_else(
    project: str, model: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"out.{ending}"
    out.touch()  # as a script makes a file of its own
    for options in ([], ["--only", "labelled"], ["--excel-safe"]):  # the second has no rows
        assert run("export", project, "-o", str(out), *options) == 0
    assert run("score", project, "--model", model) == 0
    assert run("export", project, "-o", str(out)) == 0
    assert run("export", project, "-o", str(out)) == 0
    capsys.readouterr()
    mine = (TABLE.encode(), b"not a table \x00\xff", b'{"id": 1, "label": "mine"}\n', b"sce_label\nmine\n")
    for content in mine:
        out.write_bytes(content)
        assert run("export", project, "-o", str(out)) == 2
        said = f"{out} already exists and is not an earlier export of this project: choose another name, "
        said += "or add --force to replace it."
        assert said in capsys.readouterr().err
        assert out.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir() if "out" in path.name) == [out.name]
    assert run("export", project, "-o", str(out), "--force") == 0
    assert run("export", project, "-o", str(out)) == 0


def test_a_note_replaces_a_note_and_nothing_else(
    project: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, about = tmp_path / "out.csv", tmp_path / "out.csv.about.txt"
    assert run("export", project, "-o", str(out), "--note") == 0
    assert run("export", project, "-o", str(out), "--note") == 0
    before = out.read_bytes()
    about.write_text("What I found out.", encoding="utf-8")
    assert run("export", project, "-o", str(out), "--note", "--only", "labelled") == 2
    assert f"{about} already exists and is not a note of an export" in capsys.readouterr().err
    assert (out.read_bytes(), about.read_text(encoding="utf-8")) == (before, "What I found out.")
    assert run("export", project, "-o", str(out), "--only", "labelled") == 0  # nothing is written there


def test_a_project_gives_the_same_numbers_as_classify(
    project: str, table: str, model: str, tmp_path: Path
) -> None:
    assert run("score", project, "--model", model) == 0
    assert run("export", project, "-o", str(tmp_path / "project.csv")) == 0
    arguments = ["classify", table, "--text", "text", "--model", model, *LABELS]
    assert cli.main([*arguments, "-o", str(tmp_path / "classify.csv")]) == 0
    found = []
    for name in ("project.csv", "classify.csv"):
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, delimiter=";")
            found.append([[float(row[f"sce_p:{label}"] or 0) for label in LABELS[1::2]] for row in rows])
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_new_labels_when_scoring(project: str, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("score", project, "--model", model) == 0
    capsys.readouterr()
    scored = as_json(capsys, "score", project, "--model", model, *LABELS, "--label", "lost")
    assert scored["labels"] == ["damaged", "late", "lost"]
    assert [(one["scored"], one["active"]) for one in scored["runs"]] == [(3, False), (3, True)]
    alone = as_json(capsys, "score", project, "--model", model, "--label", "alone")
    assert alone["labels"] == ["alone"]
