"""`project` from the command line, with a real tiny model; killed in the middle too."""

from __future__ import annotations

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sce_desktop import cli
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.store.file.migrations import schema_version
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring import sample_first, scoring
from tests.ml.tiny import tiny_sce
from tests.store.test_migrations import make_format

LABELS = ["--label", "damaged", "--label", "late"]
TABLE = "id;text;topic\n3;the parcel was damaged;damaged\n1;late, so late;late\n2;;\n9;thanks;damaged\n"


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_sce(tmp_path_factory.mktemp("models")))


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "in.csv"
    path.write_bytes(TABLE.encode())
    return str(path)


@pytest.fixture
def project(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = str(tmp_path / "p.sce")
    assert cli.main(["project", "create", path, table, "--text", "text", *LABELS]) == 0
    capsys.readouterr()
    return path


def run(*arguments: str) -> int:
    return cli.main(["project", *arguments])


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:  # type: ignore[type-arg]
    assert run(*arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


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


def test_backup_verify_repair(project: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy, repaired = str(tmp_path / "copy.sce"), str(tmp_path / "repaired.sce")
    assert run("backup", project, copy) == 0
    capsys.readouterr()
    assert as_json(capsys, "verify", copy) == {"ok": True, "problems": []}
    with sqlite3.connect(copy) as database:
        database.execute("UPDATE rows SET text = 'changed outside' WHERE id = 1")
    assert run("verify", copy) == 2
    assert capsys.readouterr().out == "The text of 1 row was changed by another program (row 1).\n"
    assert run("repair", copy, repaired) == 0
    assert "4 rows" in capsys.readouterr().out
    with Project.open(repaired) as project_again:
        assert project_again.row_count() == 4


@pytest.mark.parametrize("action", ["info", "verify", "score", "add", "export", "backup", "repair"])
def test_what_is_no_project(
    action: str, table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"add": [table], "export": ["-o", str(tmp_path / "o.csv")]}.get(action, [])
    if action in ("backup", "repair"):
        more = [str(tmp_path / "copy.sce")]
    for path in (table, str(tmp_path), str(tmp_path / "absent.sce")):
        assert run(action, path, *more) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_open_elsewhere(project: str, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Project.open(project):
        assert run("add", project, table) == 2
        assert "open elsewhere" in capsys.readouterr().err
        assert run("info", project) == 0  # looking is allowed


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_killed_in_the_middle_of_scoring(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = 600
    table = tmp_path / "in.csv"
    table.write_text("text\n" + "".join(f"parcel {n} is late\n" for n in range(rows)), encoding="utf-8")
    path = str(tmp_path / "p.sce")
    assert run("create", path, str(table), "--text", "text", *LABELS) == 0
    code = """
        import sys, time
        from sce_desktop import cli
        from sce_desktop.ml.sce.model import SCEModel
        from sce_desktop.tasks.scoring import scoring

        plain = SCEModel.probabilities
        def slow(*arguments, **options):
            time.sleep(0.05)
            return plain(*arguments, **options)
        SCEModel.probabilities = slow
        scoring.LARGEST_CHUNK = 16
        sys.exit(cli.main(sys.argv[1:]))
    """
    arguments = ["project", "score", path, "--model", model]
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=os.environ,
    )
    try:
        kept = 0
        deadline = time.monotonic() + 60
        while kept < 40 and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.05)
            with Project.open(path, read_only=True) as project:
                kept = sum(one.scored for one in project.runs())
    finally:
        child.kill()
        child.wait()
    assert child.returncode == -signal.SIGKILL
    with Project.open(path) as project:
        assert project.verify() == []
        one = project.active_run("sce")
        assert one is not None
        assert 40 <= one.scored < rows
        before = project.run_matrix(one.id)
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert run("score", path, "--model", model) == 0
    with Project.open(path) as project:
        assert [(run.id, run.scored) for run in project.runs()] == [(one.id, rows)]
        ids, after = project.run_matrix(one.id)
        place = {row: number for number, row in enumerate(ids.tolist())}
        kept_rows = after[[place[row] for row in before[0].tolist()]]
    np.testing.assert_array_equal(kept_rows, before[1])


def test_ctrl_c_keeps_what_is_scored(
    project: str, model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sce_desktop.tasks.scoring import scoring

    monkeypatch.setattr(scoring, "FIRST_CHUNK", 1)
    monkeypatch.setattr(scoring, "SMALLEST_CHUNK", 1)
    monkeypatch.setattr(scoring, "LARGEST_CHUNK", 1)
    add = Project.add_scores

    def interrupted(self: Project, *arguments: object) -> None:
        add(self, *arguments)  # type: ignore[arg-type]
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Project, "add_scores", interrupted)
    assert run("score", project, "--model", model) == 130
    assert "keep their scores" in capsys.readouterr().err
    monkeypatch.undo()
    with Project.open(project, read_only=True) as opened:
        assert [one.scored for one in opened.runs()] == [1]


OLDER = range(1, schema_version())


@pytest.mark.parametrize(
    ("action", "version"),
    [
        *((action, version) for action in ("info", "verify", "export", "backup") for version in OLDER),
        *((action, version) for action in ("evaluate", "findings", "queue") for version in (1, OLDER[-1])),
    ],
)
def test_project_of_an_older_format_is_read_and_left_alone(
    action: str, version: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "old.sce"
    make_format(old, version)
    before = old.read_bytes()
    out = tmp_path / ("out.csv" if action == "export" else "copy.sce")
    more = {"export": ["-o", str(out)], "backup": [str(out)]}.get(action, [])
    assert run(action, str(old), *more) == 0, capsys.readouterr().err
    assert old.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(
        ["old.sce", *([out.name] if more else [])]
    )


def test_cut_project_is_reported_by_verify_and_repaired(
    project: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path(project).open("r+b") as stream:
        stream.truncate(stream.seek(0, 2) - 8192)
    assert run("verify", project) == 2
    told = capsys.readouterr()
    assert "is damaged" in told.out + told.err
    facts = as_json(capsys, "repair", project, str(tmp_path / "repaired.sce"))
    assert facts["rows"] == 4
    assert {"table": "rows", "kept": 4, "lost": 0, "complete": True} in facts["tables"]
    assert run("verify", str(tmp_path / "repaired.sce")) == 0


@pytest.mark.parametrize("left", [0, 60, 5_000])
def test_nothing_to_repair_is_one_sentence_without_the_command(
    project: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], left: int
) -> None:
    with Path(project).open("r+b") as stream:
        stream.truncate(left)
    assert run("repair", project, str(tmp_path / "repaired.sce")) == 2
    (sentence,) = capsys.readouterr().err.strip().splitlines()
    assert "repair" not in sentence
    assert not (tmp_path / "repaired.sce").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["create", "pr\udce9.sce", "TABLE", "--text", "text"],
        ["create", f"{'n' * 241}.sce", "TABLE", "--text", "text"],
        ["create", f"{'n' * 300}.sce", "TABLE", "--text", "text"],
        ["create", "p.sce", "TABLE", "--text", "text", "--label", "Caf\udce9", "--label", "b"],
        ["create", "p.sce", "TABLE", "--text", "Caf\udce9"],
        ["create", "p.sce", f"{'n' * 300}.csv", "--text", "text"],
        ["info", "pr\udce9.sce"],
        ["info", f"{'n' * 300}.sce"],
        ["repair", "pr\udce9.sce", "copy.sce"],
    ],
)
def test_names_that_no_file_or_label_can_have(
    arguments: list[str],
    table: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert cli.main(["project", *(table if one == "TABLE" else one for one in arguments)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("sce-desktop: ")
    assert error.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_an_output_with_too_long_a_name(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["project", "create", "p.sce", table, "--text", "text"]) == 0
    for arguments in (["export", "p.sce", "-o", f"{'n' * 300}.csv"], ["backup", "p.sce", f"{'n' * 241}.sce"]):
        assert cli.main(["project", *arguments]) == 2
        assert "too long" in capsys.readouterr().err


def test_damaged_lists_are_reported_and_labels_given_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = ['["Late"]'] * 5 + ["[null,3]", '["late", "Praise"]', '[""]']
    path = tmp_path / "in.tsv"
    path.write_text("text\ttags\n" + "".join(f"t{n}\t{cell}\n" for n, cell in enumerate(cells)))
    target = str(tmp_path / "p.sce")
    arguments = (
        "--text",
        "text",
        "--gold",
        "tags",
        "--label",
        "Damaged",
        "--label",
        "late",
        "--merge-labels",
    )
    assert run("create", target, str(path), *arguments) == 0
    told = capsys.readouterr().err
    assert "row 6: “[null,3]”" in told
    assert 'row 8: “[""]”' in told
    with Project.open(target) as opened:
        assert [label.name for label in opened.label_set().labels] == ["Damaged", "late", "Praise"]  # type: ignore[union-attr]
        assert sorted(opened.annotations(opened.row_ids())) == [1, 2, 3, 4, 5, 7]


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_a_row_that_is_gone_is_reported_with_the_way_out(
    project: str, tmp_path: Path, model: str, capsys: pytest.CaptureFixture[str], gone: int
) -> None:
    with closing(sqlite3.connect(project, isolation_level=None)) as plain:
        plain.execute("DELETE FROM rows WHERE id = ?", (gone,))
    for arguments in (
        ("export", project, "-o", str(tmp_path / "o.csv")),
        ("score", project, "--model", model),
    ):
        assert run(*arguments) == 2
        told = capsys.readouterr().err
        assert "p.sce is damaged (rows of it are missing): rescue what can be read" in told
        assert "Traceback" not in told
    assert not (tmp_path / "o.csv").exists()
