"""`project` from the command line where files are damaged or older, and when it is killed."""

from __future__ import annotations

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
from sce_desktop.store.file.migrations import schema_version
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring import scoring
from tests.project_bench import (  # noqa: F401
    LABELS,
    as_json,
    model_fixture,
    project_fixture,
    run,
    table_fixture,
)
from tests.store.test_migrations import make_format


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
