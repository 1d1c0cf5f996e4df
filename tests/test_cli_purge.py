"""`project purge` from the command line: told before, asked for, told after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sce_desktop import cli
from sce_desktop.core.annotations import Decision
from sce_desktop.core.purging import PurgeScope
from sce_desktop.store.project import Project
from sce_desktop.store.purge import pending

TABLE = "id;text\n" + "".join(f"{number};text number {number}\n" for number in range(1, 11))


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    table, path = tmp_path / "in.csv", tmp_path / "p.sce"
    table.write_text(TABLE, encoding="utf-8")
    create = [
        "project",
        "create",
        str(path),
        str(table),
        "--text",
        "text",
        "--label",
        "late",
        "--label",
        "lost",
    ]
    assert cli.main(create) == 0
    with Project.open(path) as project:
        project.decide([2, 3], Decision.LABEL, [1])
        project.set_marks(5, note="a note")
        project.add_coder("Anna", "file.csv", {1: "late", 2: "lost"})
    capsys.readouterr()
    return path


def purge(project: Path, *arguments: str) -> int:
    return cli.main(["project", "purge", str(project), *arguments])


def left(project: Path) -> list[int]:
    with Project.open(project) as opened:
        return opened.row_ids().tolist()  # type: ignore[no-any-return]


def test_nothing_goes_unless_asked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = project.read_bytes()
    assert purge(project, "--rows", "3,5-9") == 2
    out, _ = capsys.readouterr()
    assert out.splitlines() == [
        "6 rows are deleted, with their cells and scores.",
        "1 annotation is deleted.",
        "1 note is deleted.",
        "The undo history is deleted, too (4 steps).",
        "Exported files, the original table and copies in other folders are not changed.",
        "Nothing was deleted yet. It cannot be undone: add --yes to delete.",
    ]
    assert left(project) == list(range(1, 11))
    assert before[100:] == project.read_bytes()[100:]


def test_rows(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert purge(project, "--rows", "3,5-9,12-5000,9", "--yes") == 2
    assert "There is no row 12–5,000 in this project" in capsys.readouterr().err
    assert purge(project, "--rows", "3,5-9,8-500", "--yes", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["deleted"], found["rows"], found["annotations"]) == (True, 7, 1)
    assert left(project) == [1, 2, 4]
    with Project.open(project) as opened:
        assert opened.verify() == []


@pytest.mark.parametrize("rows", ["0", "3-", "5-3", "a", "-2", "", "1,,2"])
def test_numbers_that_are_none(project: Path, rows: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert purge(project, f"--rows={rows}", "--yes") == 2
    assert "must be row numbers such as 3,5-9" in capsys.readouterr().err


def test_rows_by_label_a_label_notes_and_an_annotator(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert purge(project, "--notes", "--yes") == 0
    assert purge(project, "--annotator", "Anna", "--yes") == 0
    assert "The annotator “Anna” is deleted." in capsys.readouterr().out
    assert purge(project, "--where-label", "late", "--yes") == 0
    assert left(project) == [1, 4, 5, 6, 7, 8, 9, 10]
    assert purge(project, "--label", "late", "--yes") == 0
    assert "The label “late” is deleted.\n" in capsys.readouterr().out
    with Project.open(project) as opened:
        assert [label.name for label in opened.label_set().labels] == ["lost"]  # type: ignore[union-attr]
        assert opened.coders() == ()
        assert opened.marks([5]) == {}
    for words in (b"late", b"Anna", b"a note"):
        assert words not in project.read_bytes()
    for option in ("--annotator", "--label", "--where-label"):
        assert purge(project, option, "late", "--yes") == 2
        assert "check the name" in capsys.readouterr().err


def test_copies(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = project.with_name("copy.sce")
    assert cli.main(["project", "backup", str(project), str(copy)]) == 0
    assert purge(project, "--rows", "1", "--keep-copies", "--yes") == 0
    out, _ = capsys.readouterr()
    assert "1 copy of this project was found: “copy.sce”." in out
    assert "1 copy still has it: “copy.sce”." in out
    assert purge(project, "--rows", "2", "--yes") == 0
    assert "1 copy was cleaned, too." in capsys.readouterr().out
    assert (left(project), left(copy)) == (list(range(3, 11)), [1, *range(3, 11)])


def test_what_was_removed_undoably(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Project.open(project) as opened:
        opened.set_marks(5, note="")
    assert b"a note" in project.read_bytes()
    assert purge(project, "--history", "--yes") == 0
    assert b"a note" not in project.read_bytes()
    assert left(project) == list(range(1, 11))


def test_an_interrupted_one_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Project.open(project) as opened, opened._database.read() as connection:
        made = connection.exec_driver_sql("SELECT created_at FROM project").scalar_one()
    pending.write(project, pending.Pending(made, 1, PurgeScope(rows=(4,)), copies=True))
    assert cli.main(["project", "score", str(project), "--model", "no such model"]) == 2
    assert "Deleting for good was interrupted. It is finished now" in capsys.readouterr().err
    assert 4 not in left(project)
