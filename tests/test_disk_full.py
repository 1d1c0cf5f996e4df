"""No room on the disk: the cause is told, nothing half done stays, nothing that is done is to be done again.

A limit on the size of files stands in for a disk that fills up: any user can set one.
"""

from __future__ import annotations

import contextlib
import resource
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

from sce_desktop import cli
from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import LeftInLog, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.content import search
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.annotators import GOLD
from sce_desktop.tasks.tables import tables

ROWS = 9_000
Usage = namedtuple("Usage", "total used free")


@contextlib.contextmanager
def no_file_above(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk has a megabyte left, where anybody asks."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(10**9, 10**9, 10**6))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = tmp_path_factory.mktemp("tables") / "large.csv"
    rows = (f"{number},{f'text {number} ' * 100}\n" for number in range(ROWS))
    table.write_text("id,text\n" + "".join(rows), encoding="utf-8")
    return table


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_text("id,text,gold\n1,late,Late\n2,crushed,Damaged\n", encoding="utf-8")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# The least is not enough for a page; with the next the log breaks off; with the last it comes in once, fits
# again, and cannot be brought into the file at the end.
@pytest.mark.parametrize("limit", [5_000, 1_000_000, 9_000_000])
def test_a_project_that_finds_no_room_leaves_nothing(
    tmp_path: Path, large: Path, limit: int, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "p.sce"
    out.parent.mkdir()
    create = ["project", "create", str(out), str(large), "--text", "text"]
    with no_file_above(limit):
        assert cli.main(create) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert "free space" in told
    assert names(out.parent) == []
    assert cli.main(create) == 0
    with Project.open(out) as project:
        assert project.row_count() == ROWS


@pytest.mark.parametrize("way", ["backup", "repair"])
def test_a_copy_that_finds_no_room_leaves_nothing(
    tmp_path: Path, large: Path, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, copy = tmp_path / "p.sce", tmp_path / "copies" / "copy.sce"
    copy.parent.mkdir()
    tables.import_table(source, large, text_columns=["text"], progress=SilentProgress()).close()
    with no_file_above(2_000_000):
        assert cli.main(["project", way, str(source), str(copy)]) == 2
    assert "free space" in capsys.readouterr().err
    assert names(copy.parent) == []


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "jsonl"])
def test_a_table_that_finds_no_room_leaves_the_older_one(
    tmp_path: Path, table: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    project, out = str(tmp_path / "p.sce"), tmp_path / "out" / f"out.{ending}"
    out.parent.mkdir()
    assert cli.main(["project", "create", project, str(table), "--text", "text"]) == 0
    assert cli.main(["project", "export", project, "-o", str(out)]) == 0
    before = out.read_bytes()
    with no_file_above(100):
        assert cli.main(["project", "export", project, "-o", str(out)]) == 2
    assert f"There is no room for {out}" in capsys.readouterr().err
    assert out.read_bytes() == before
    assert names(out.parent) == [out.name]


def test_a_project_that_cannot_be_brought_into_one_file_says_so(tmp_path: Path, large: Path) -> None:
    path = tmp_path / "p.sce"
    with Project.create(path) as project:
        project.add_rows(["text"], [[("a",)]], text_columns=[0], source={})
    project = Project.open(path)
    project.add_rows(["text"], [[(f"{n} " * 1000,) for n in range(500)]], text_columns=[0], source={})
    with (
        no_file_above(500_000),
        pytest.raises(LeftInLog, match=r"Everything is saved, but keep p.sce-wal beside it"),
    ):
        project.close()
    project.close()
    assert path.with_name("p.sce-wal").stat().st_size > 1_000_000
    with Project.open(path) as project:
        assert project.row_count() == 501
        assert project.verify() == []
    assert names(tmp_path) == ["p.sce"]


def test_a_failure_at_closing_does_not_hide_the_one_before(tmp_path: Path) -> None:
    def fail() -> None:
        with Project.open(path) as project:
            rows = [(f"{n} " * 1000,) for n in range(500)]
            project.add_rows(["text"], [rows], text_columns=[0], source={})
            resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, limit[1]))
            raise UserError("The table is not right.")

    path, limit = tmp_path / "p.sce", resource.getrlimit(resource.RLIMIT_FSIZE)
    Project.create(path).close()
    try:
        with pytest.raises(UserError, match="The table is not right"):
            fail()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)


def test_a_command_that_is_through_is_not_to_be_repeated(
    tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its project could not be closed well: a script that took that for a failure would add rows twice."""
    path = str(tmp_path / "p.sce")
    assert cli.main(["project", "create", path, str(table), "--text", "text"]) == 0

    def close(self: Project) -> None:
        plain(self)
        raise LeftInLog("There is too little room.")

    plain = Project.close
    monkeypatch.setattr(Project, "close", close)
    assert cli.main(["project", "add", path, str(table)]) == 0
    out, err = capsys.readouterr()
    assert "2 rows added" in out
    assert "There is too little room." in err


def test_without_room_the_search_index_is_left_for_later(
    tmp_path: Path,
    table: Path,
    full: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = str(tmp_path / "p.sce")
    for arguments, done in (
        (["create", path, str(table), "--text", "text"], "The project was created. "),
        (["add", path, str(table)], "The rows were added. "),
    ):
        assert cli.main(["project", *arguments]) == 0
        told = capsys.readouterr().err
        assert f"Note: {done}There is not enough disk space for the search index. Search still works" in told
        assert "again" not in told
    monkeypatch.undo()
    with Project.open(path) as project:
        assert project.row_count() == 4
        project.build_search_index()
        assert project.verify() == []


def test_an_index_that_finds_no_room_does_not_say_to_add_the_rows_again(
    tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "p.sce")

    def fail(*_: object) -> bool:
        raise UserError("The disk is full: free some space, then try again. Everything saved so far is safe.")

    monkeypatch.setattr(search, "_write", fail)
    assert cli.main(["project", "create", path, str(table), "--text", "text"]) == 0
    told = capsys.readouterr().err
    failed = "The search index was not built (The disk is full). Search still works"
    assert f"The project was created. {failed}" in told
    assert "try again" not in told


def test_gold_labels_that_find_no_room_do_not_make_one_add_the_rows_again(
    tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise UserError("The disk is full: free some space, then try again. Everything saved so far is safe.")

    with Project.create(tmp_path / "p.sce") as project:
        progress = SilentProgress()
        first = tables.append_table
        project.add_rows(["id", "text", "gold"], [[("0", "x", "Late")]], text_columns=[1], source={})
        monkeypatch.setattr(tables, "keep_gold", fail)
        report = first(project, table, gold_column=2, as_gold=True, progress=progress)
        assert (report.rows, project.row_count()) == (2, 3)
        (told,) = progress.warnings
        assert told == (
            "The rows were added, but their gold labels were not (The disk is full). "
            "Do not add the table again."
        )
        assert GOLD not in {coder.name for coder in project.coders()}


def test_a_decision_that_finds_no_room_is_refused_and_undone(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(["text"], [[("a",)] * 3], text_columns=[0], source={})
        project.decide([1], Decision.NONE)
        with no_file_above(10_000), pytest.raises(UserError, match="free space"):
            project.set_marks(2, note="x" * 100_000)
        assert (sorted(project.annotations([1, 2])), project.marks([2])) == ([1], {})
        project.set_marks(2, note="x")
        assert project.verify() == []
